"""The readers of the proxy languages: any split, any junk."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from toolcrib.core.errors import ToolError
from toolcrib.net.egress import guard_protocol as wire

CONNECT = (
    b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nProxy-Authorization: Basic "
)
LOGIN = base64.b64encode(b"user:pass:word")


def request(line: bytes, *fields: bytes) -> wire.HttpRequest:
    found = wire.read_http(b"\r\n".join([line, *fields, b"", b""]))
    assert found is not None
    return found


def test_reads_a_tunnel_and_its_credentials() -> None:
    head = CONNECT + LOGIN + b"\r\n\r\n"
    found = wire.read_http(head + b"early")
    assert found is not None
    assert (found.is_tunnel, found.size) == (True, len(head))
    assert found.credentials() == ("user", "pass:word")
    assert found.target().authority == "example.com:443"


@given(st.integers(0, len(CONNECT)))
def test_half_a_head_is_not_enough(cut: int) -> None:
    assert wire.read_http(CONNECT[:cut]) is None


def test_forwards_in_origin_form_without_what_is_the_proxys() -> None:
    found = request(
        b"GET http://Example.com:8080/a%2Fb?c HTTP/1.1",
        b"Host: evil.test",
        b"Proxy-Authorization: Basic eDp5",
        b"Connection: keep-alive, X-Other",
        b"Upgrade: h2c",
        b"Accept: */*",
    )
    assert found.forward(found.target()) == (
        b"GET /a%2Fb?c HTTP/1.1\r\nhost: example.com:8080\r\nconnection: close\r\n"
        b"Accept: */*\r\n\r\n"
    )


@each_case(
    "line",
    [
        b"CONNECT example.com HTTP/1.1",
        b"CONNECT example.com:x HTTP/1.1",
        b"CONNECT :443 HTTP/1.1",
        b"CONNECT a@b:443 HTTP/1.1",
        b"CONNECT a/b:443 HTTP/1.1",
        b"CONNECT a:99999 HTTP/1.1",
        b"GET /relative HTTP/1.1",
        b"GET https://example.com/ HTTP/1.1",
        b"GET ftp://example.com/ HTTP/1.1",
        b"GET file:///etc/passwd HTTP/1.1",
        b"GET http://a:b@example.com/ HTTP/1.1",
    ],
)
def test_refuses_targets_that_are_none(line: bytes) -> None:
    with pytest.raises(ToolError):
        request(line).target()


@each_case(
    "head",
    [
        b"GET\r\n\r\n",
        b"get http://a/ HTTP/1.1\r\n\r\n",
        b"GET http://a/ HTTP/2\r\n\r\n",
        b"GET http://a/ b HTTP/1.1\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\nA : b\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\n folded: x\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\nA: \0\r\n\r\n",
        b"x" * (wire.MAX_HEAD + 1),
    ],
)
def test_refuses_heads_that_are_not_http(head: bytes) -> None:
    with pytest.raises(ValueError):
        wire.read_http(head)


@each_case(
    "fields",
    [
        [b"Transfer-Encoding: chunked"],
        [b"Content-Length: 1", b"Content-Length: 2"],
        [b"Content-Length: +1"],
        [b"Content-Length: 1, 1"],
    ],
)
def test_refuses_bodies_of_unclear_length(fields: list[bytes]) -> None:
    with pytest.raises(ValueError):
        request(b"POST http://a.test/ HTTP/1.1", *fields).body_length()


@given(st.binary(max_size=80))
def test_socks_readers_take_any_bytes(data: bytes) -> None:
    wire.read_socks_methods(data)
    wire.read_socks_login(data)
    try:
        wire.read_socks_request(data)
    except ValueError:
        assert data[3] not in (1, 3, 4)


@each_case(
    ("tail", "host", "port"),
    [
        (b"\x01\x7f\x00\x00\x01\x00\x50", "127.0.0.1", 80),
        (b"\x03\x09name.test\x01\xbb", "name.test", 443),
        (b"\x04" + bytes(15) + b"\x01\x00\x50", "::1", 80),
    ],
)
def test_reads_socks_requests(tail: bytes, host: str, port: int) -> None:
    whole = b"\x05\x01\x00" + tail
    assert all(wire.read_socks_request(whole[:n]) is None for n in range(len(whole)))
    found = wire.read_socks_request(whole + b"early")
    assert found == wire.SocksRequest(1, host, port, len(whole))


def test_reads_socks_logins() -> None:
    whole = b"\x01\x04user\x04pass"
    assert all(wire.read_socks_login(whole[:n]) is None for n in range(len(whole)))
    assert wire.read_socks_login(whole + b"x") == ("user", "pass", len(whole))
