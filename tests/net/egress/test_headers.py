"""Headers: in any case, several a name, and never a second request."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from toolcrib.core.errors import BadInput
from toolcrib.net.egress.url import RESERVED, Headers, checked_headers


def test_names_in_any_case_and_several_values() -> None:
    headers = Headers([("Set-Cookie", "a"), ("set-cookie", "b"), ("X", "1, 2")])
    assert headers.get("SET-COOKIE") == "a"
    assert headers.get_all("set-cookie") == ["a", "b"]
    assert headers.tokens("x") == ["1", "2"]
    assert "x" in headers
    assert headers.get("missing", "no") == "no"
    assert headers.size == len("set-cookiea") + len("set-cookieb") + len("x1, 2") + 12


@each_case("name", ["", "a b", "a:b", "a\r\nb", "é", "a\0"])
def test_refuses_names_that_are_none(name: str) -> None:
    with pytest.raises(BadInput):
        checked_headers({name: "x"})


@each_case("value", ["a\r\nHost: b", "a\nb", "a\0b", "\x7f"])
def test_refuses_values_with_a_line_in_them(value: str) -> None:
    with pytest.raises(BadInput):
        checked_headers({"x": value})


@each_case("name", sorted(RESERVED))
def test_refuses_what_the_transport_decides(name: str) -> None:
    with pytest.raises(BadInput):
        checked_headers({name.title(): "x"})
