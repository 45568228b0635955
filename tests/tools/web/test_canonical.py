from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.tools.web.canonical import identity

SAME = [
    ("https://example.org/a", "http://EXAMPLE.org:80/a/"),
    ("https://example.org", "https://example.org/"),
    ("https://www.example.org/a", "https://example.org/a#part"),
    ("https://example.org/a?utm_source=x&b=1&utm_medium=y", "https://example.org/a?b=1"),
    ("https://example.org/a?gclid=1&fbclid=2&msclkid=3", "https://example.org/a?"),
    ("https://example.org/a?b=1&a=2", "https://example.org/a?a=2&b=1"),
    ("https://example.org/%7Euser/%c3%bc", "https://example.org/~user/%C3%BC"),
    ("https://example.org/ü?q=ж", "https://example.org/%C3%BC?q=%D0%B6"),
    ("https://bücher.example/a", "https://xn--bcher-kva.example/a"),
    ("https://example.org./a", "https://example.org/a"),
    ("https://m.example.org/a", "https://example.org/a"),
    ("https://en.m.wikipedia.org/wiki/Crib", "https://en.wikipedia.org/wiki/Crib"),
    ("https://example.org/a#:~:text=crib", "https://example.org/a"),
    ("https://example.org:443/", "https://example.org"),
]
OTHER = [
    ("https://example.org/a", "https://example.org/b"),
    ("https://example.org/a%2Fb", "https://example.org/a/b"),
    ("https://example.org/?a%26b", "https://example.org/?a&b"),
    ("https://example.org/%23a", "https://example.org/#a"),
    ("https://example.org/A", "https://example.org/a"),
    ("https://example.org:8443/", "https://example.org/"),
    ("https://docs.example.org/", "https://example.org/"),
    ("https://github.com/o/r?ref=main", "https://github.com/o/r"),
    ("https://example.org/#/one", "https://example.org/#/two"),
    ("https://example.org/#!one", "https://example.org/"),
    ("https://example.org/?x=1&x=2", "https://example.org/?x=2&x=1"),
    ("https://www.com/", "https://com/"),
    ("https://example.org/?q=a+b", "https://example.org/?q=a%2Bb"),
    ("https://user@example.org/", "https://example.org/"),
    ("https://[::1]:80/", "https://[::1]/"),
    ("ftp://example.org/a", "https://example.org/a"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_these_are_one_page(one, other):
    assert identity(one) == identity(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_these_are_two(one, other):
    assert identity(one) != identity(other)


@pytest.mark.parametrize(
    "odd", ["", "x", "https://", "https://[::1", "http://a:b/", "//a", "mailto:a"]
)
def test_what_is_no_web_address_is_itself(odd):
    assert identity(f" {odd} ") == odd


@given(st.text(alphabet=string.printable + "üж页\u202e", max_size=60))
def test_it_takes_anything_and_is_settled(text):
    once = identity(f"https://example.org/{text}")
    assert identity(f"https://{once}") == once
