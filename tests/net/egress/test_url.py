"""One parser, one canonical form; tricks of spelling end here."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.core.errors import BadInput, Blocked, ToolError
from toolcrib.net.egress.url import complete_url, host_target, join_url, parse_url, web_origin

LOOPBACK_SPELLINGS = """
127.0.0.1 127.0.0.1. 2130706433 017700000001 0177.0.0.1 0177.0.0.01 0x7f000001 0x7f.1 0X7F.0.0.1
127.1 127.0.1 127.%30.0.1 %31%32%37%2e0.0.1 １２７.0.0.1 ①②⑦.0.0.1 127。0。0。1 127．0．0．1
127｡0｡0｡1 00000177.1 0x000000007f.0x1
""".split()  # noqa: SIM905, RUF001


@pytest.mark.rows("A37", "D14", "D16")
@each_case("spelling", LOOPBACK_SPELLINGS)
def test_every_spelling_of_an_address_is_that_address(spelling: str) -> None:
    target = parse_url(f"http://{spelling}/x")
    assert target.host == "127.0.0.1"
    assert str(target.literal) == "127.0.0.1"
    assert target.href == "http://127.0.0.1/x"


@each_case("text", ["http://0/", "http://0x0/", "http://00.0/", "http://0.0.0.0/"])
def test_zero_is_the_unspecified_address(text: str) -> None:
    assert str(parse_url(text).literal) == "0.0.0.0"


NOT_URLS = """
http: http:/ http:// http:/// http:///x // /x http:127.0.0.1 http:/127.0.0.1 http:\\\\127.0.0.1
http://[::1 http://::1/ http://[fe80::1%25eth0]/ http://[::1]x/ http://256.1.1.1/
http://1.2.3.4.5/ http://h:65536/ http://h:x/ http://a..b/ http://.a/ http://./ http://../
http://a\\@b/ http://a/\\b
http://%00/ http://a%0ab/ http://%2f@127.0.0.1/ http://foo.0x7f/ http://<a>/ http://a|b/
""".split()  # noqa: SIM905


@pytest.mark.rows("A37", "D14")
@each_case("text", [*NOT_URLS, "http://a b/", "http://" + "a" * 64 + ".com/"])
def test_refuses_what_is_no_url(text: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_url(text)
    assert caught.value.stable_code in {"bad_input", "blocked_host"}
    assert caught.value.hint


@each_case("character", ["\t", "\n", "\r", "\0", "\x1b", "\x7f"])
@each_case("place", ["{}http://a/", "ht{}tp://a/", "http://a{}b/", "http://a/{}"])
def test_refuses_control_characters(character: str, place: str) -> None:
    with pytest.raises(BadInput):
        parse_url(place.format(character))


SCHEMES = """
file:///etc/passwd gopher://a/ dict://a:11211/ ftp://a/ jar:http://a!/ data:text/html,x
javascript:alert(1) view-source:http://a/ blob:http://a/x ws://a/ wss://a/ unix:///run/x
http+unix://x/ mailto:a@b ldap://a/ tftp://a/ smb://a/ about:blank FILE:///etc/passwd
""".split()  # noqa: SIM905


@pytest.mark.rows("A37", "D14", "E132")
@each_case("text", SCHEMES)
def test_refuses_other_schemes(text: str) -> None:
    with pytest.raises(Blocked) as caught:
        parse_url(complete_url(text))
    assert caught.value.stable_code == "blocked_scheme"
    assert "Destination not allowed" in caught.value.message


@pytest.mark.rows("D14", "A37")
@each_case("text", ["http://a@b/", "http://a:p@b/", "http://:p@b/", "http://good.test@127.0.0.1/"])
def test_refuses_credentials(text: str) -> None:
    with pytest.raises(Blocked) as caught:
        parse_url(text)
    assert caught.value.stable_code == "blocked_host"
    assert "user name or password" in caught.value.message


@each_case(
    ("text", "canonical"),
    [
        ("HTTP://EXAMPLE.com:80", "http://example.com/"),
        ("https://example.com.:443/x", "https://example.com/x"),
        ("http://ex_ample.test:8080/", "http://ex_ample.test:8080/"),
        ("http://x/a%2Fb%2fc%41?q=%26%3d%23&r=a+b%20c", None),
        ("http://x/a/../b/./c", "http://x/b/c"),
        ("http://x/%zz%", None),
        ("http://bücher.example/ü?ü", "http://xn--bcher-kva.example/%C3%BC?%C3%BC"),
        ("http://faß.de/", "http://xn--fa-hia.de/"),
        ("http://[2606:4700:0:0::1111]:8080/", "http://[2606:4700::1111]:8080/"),
        ("http://x/~u/;p=1/@a:b,c!$'()*+=&", None),
        ("http://x/?next=http://y/#top", "http://x/?next=http://y/"),
    ],
)
def test_keeps_the_url_as_written(text: str, canonical: str | None) -> None:
    assert parse_url(text).href == (canonical or text)


def test_keeps_the_fragment_apart() -> None:
    target = parse_url("http://x/a#b%20c")
    assert (target.href, target.fragment, target.full) == (
        "http://x/a",
        "#b%20c",
        "http://x/a#b%20c",
    )


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_parsing_is_stable(tail: str) -> None:
    try:
        target = parse_url(f"https://example.com/{tail}")
    except ToolError:
        return
    assert parse_url(target.full) == target
    assert target.origin == ("https", "example.com", 443)


@given(st.text(max_size=40))
def test_never_fails_in_another_way(text: str) -> None:
    for given_text in (text, f"http://{text}", complete_url(text)):
        with suppress(ToolError):
            assert parse_url(given_text).scheme in {"http", "https"}


@each_case(
    ("typed", "meant"),
    [
        ("example.com/x", "https://example.com/x"),
        ("example.com:8080/x", "http://example.com:8080/x"),
        ("example.com:443/x", "https://example.com:443/x"),
        ("example.com:8443", "https://example.com:8443"),
        ("localhost:3000", "http://localhost:3000"),
        ("localhost/x?a=1", "http://localhost/x?a=1"),
        ("app.localhost", "http://app.localhost"),
        ("localhost:443", "https://localhost:443"),
        ("localhost.example.com", "https://localhost.example.com"),
        ("127.0.0.1:9100/login", "http://127.0.0.1:9100/login"),
        ("127.0.0.1.example.com/x", "https://127.0.0.1.example.com/x"),
        ("[::1]:8000/", "http://[::1]:8000/"),
        ("//example.com/x", "https://example.com/x"),
        (" <https://example.com/> ", "https://example.com/"),
        ("example.com/?u=http://y/", "https://example.com/?u=http://y/"),
        ("http://example.com", "http://example.com"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("mailto:a@b.c", "mailto:a@b.c"),
    ],
)
def test_completes_what_a_model_types(typed: str, meant: str) -> None:
    assert complete_url(typed) == meant


@each_case(
    ("reference", "joined"),
    [
        ("/b?c", "http://x:8080/b?c"),
        ("b", "http://x:8080/a/b"),
        ("?q", "http://x:8080/a/p?q"),
        ("//y/z", "http://y/z"),
        ("https://y/%26", "https://y/%26"),
        ("\\\\y\\z", "http://y/z"),
    ],
)
def test_joins_like_a_browser(reference: str, joined: str) -> None:
    assert join_url(parse_url("http://x:8080/a/p?k"), reference).href == joined


@each_case(("host", "literal"), [("2130706433", "127.0.0.1"), ("::1", "::1"), ("[::1]", "::1")])
def test_tunnel_hosts_are_parsed_like_urls(host: str, literal: str) -> None:
    assert str(host_target(host, 443).literal) == literal


@each_case("host", ["", "a/b", "a@b", "a b", "a#b", "a?b", "a\\b", "a\nb"])
def test_refuses_tunnel_hosts_that_are_none(host: str) -> None:
    with pytest.raises(BadInput):
        host_target(host, 443)


@each_case(
    ("url", "origin"),
    [
        ("https://Example.com/a?b#c", "https://example.com"),
        ("https://example.com:443/", "https://example.com"),
        ("http://example.com:8080/", "http://example.com:8080"),
        ("http://user:word@example.com:80/", "http://example.com"),
        ("http://[::1]:80/", "http://[::1]"),
        ("about:blank", ""),
        ("file:///etc/passwd", ""),
        ("ssh://git@example.com/a", ""),
    ],
)
def test_the_origin_of_a_web_address(url: str, origin: str) -> None:
    assert web_origin(url) == origin
