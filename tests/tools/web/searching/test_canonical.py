from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.web.search.fusion import identity, is_within

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


@each_case(("one", "other"), SAME)
def test_these_are_one_page(one, other):
    assert identity(one) == identity(other)


@each_case(("one", "other"), OTHER)
def test_these_are_two(one, other):
    assert identity(one) != identity(other)


@each_case("odd", ["", "x", "https://", "https://[::1", "http://a:b/", "//a", "mailto:a"])
def test_what_is_no_web_address_is_itself(odd):
    assert identity(f" {odd} ") == odd


@given(st.text(alphabet=string.printable + "üж页\u202e", max_size=60))
def test_it_takes_anything_and_is_settled(text):
    once = identity(f"https://example.org/{text}")
    assert identity(f"https://{once}") == once


@each_case(
    ("url", "site", "within"),
    [
        ("https://example.org/a", "example.org", True),
        ("https://DOCS.Example.org/a", "example.ORG", True),
        ("https://example.org./a", "example.org", True),
        ("https://notexample.org/", "example.org", False),
        ("https://example.org.evil.example/", "example.org", False),
        ("https://evil.example/?x=example.org", "example.org", False),
        ("https://example.org@evil.example/", "example.org", False),
        ("https://example.org/", "docs.example.org", False),
        ("https://example.org:8080/", "example.org", True),
        ("https://example.org:8080/", "example.org:8080", True),
        ("https://example.org/", "example.org:443", True),
        ("https://example.org/", "example.org:8080", False),
        ("https://xn--bcher-kva.example/", "b\u00fccher.example", True),
        ("https://[::1", "example.org", False),
        ("https://example.org/", "", False),
    ],
)
def test_a_domain_and_what_is_below_it(url, site, within):
    assert is_within(url, site) is within
