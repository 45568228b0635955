"""The two proxy languages as pure readers: bytes in, a step or nothing out.

Each reader looks at the start of a buffer and returns None until enough is there.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from toolcrib.core.errors import BadInput
from toolcrib.net.egress.url import Target, host_target, parse_url

MAX_HEAD = 65_536
SOCKS_VERSION = 5
USER_PASSWORD = 2

_HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"host",
        b"keep-alive",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"upgrade",
    }
)
_REQUEST_LINE = re.compile(rb"([A-Z]{1,16}) (\S{1,8192}) HTTP/1\.[01]")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\x00\r\n]*?)[ \t]*")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """The head of a proxy request.

    `size` is what it took of the buffer. For a plain request, `forward` is the head
    to send on and `body_length` what may follow it; a tunnel has neither.
    """

    method: bytes
    uri: str
    fields: tuple[tuple[bytes, bytes], ...]
    size: int

    @property
    def is_tunnel(self) -> bool:
        """Whether the client wants a raw connection."""
        return self.method == b"CONNECT"

    def target(self) -> Target:
        """Where it wants to go.

        Raises:
            ToolError: not a place on the web.
        """
        if not self.is_tunnel:
            target = parse_url(self.uri)
            if target.scheme != "http":
                raise BadInput("For https, ask the proxy for a tunnel (CONNECT).")
            return target
        host, colon, port = self.uri.rpartition(":")
        if not colon or not port.isdecimal() or len(port) > 5:
            raise BadInput("CONNECT needs host:port.")
        return host_target(host, int(port))

    def credentials(self) -> tuple[str, str] | None:
        """User name and password, where they are given."""
        for name, value in self.fields:
            scheme, _, token = value.partition(b" ")
            if name.lower() == b"proxy-authorization" and scheme.lower() == b"basic":
                return _basic(token)
        return None

    def body_length(self) -> int:
        """How many bytes of the client belong to this request.

        Raises:
            ValueError: that cannot be told from the head.
        """
        if any(name.lower() == b"transfer-encoding" for name, _ in self.fields):
            raise ValueError("chunked")
        lengths = {value for name, value in self.fields if name.lower() == b"content-length"}
        if len(lengths) > 1 or not all(value.isdigit() for value in lengths):
            raise ValueError("content-length")
        return int(lengths.pop()) if lengths else 0

    def forward(self, target: Target) -> bytes:
        """The head as the server gets it: its own path, one request a connection."""
        path = target.href.split("/", 3)[3]
        host = target.href.split("/", 3)[2]
        forwarded = b"".join(
            name + b": " + value + b"\r\n"
            for name, value in self.fields
            if name.lower() not in _HOP_BY_HOP
        )
        start = f"/{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n".encode("ascii")
        return self.method + b" " + start + forwarded + b"\r\n"


def read_http(buffer: bytes) -> HttpRequest | None:
    """The request at the start of the buffer.

    Raises:
        ValueError: it is not HTTP, or its head is too long.
    """
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        if len(buffer) > MAX_HEAD:
            raise ValueError("the head is too long")
        return None
    first, *lines = buffer[:end].split(b"\r\n")
    request = _REQUEST_LINE.fullmatch(first)
    fields = [_FIELD.fullmatch(line) for line in lines]
    if request is None or None in fields:
        raise ValueError("not an HTTP request")
    pairs = tuple((field[1], field[2]) for field in fields if field)
    return HttpRequest(request[1], request[2].decode("latin-1"), pairs, end + 4)


def _basic(token: bytes) -> tuple[str, str] | None:
    try:
        user, colon, password = base64.b64decode(token, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (user, password) if colon else None


def http_answer(status: str, text: str = "", extra: str = "") -> bytes:
    """A short answer of the proxy itself, after which it closes."""
    body = text.encode()
    head = (
        f"HTTP/1.1 {status}\r\n{extra}content-type: text/plain; charset=utf-8\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body


def read_socks_methods(buffer: bytes) -> tuple[bytes, int] | None:
    """The login methods that a SOCKS5 client offers, and their size."""
    if len(buffer) < 2 or len(buffer) < 2 + buffer[1]:
        return None
    size = 2 + buffer[1]
    return buffer[2:size], size


def read_socks_login(buffer: bytes) -> tuple[str, str, int] | None:
    """User name, password and size (RFC 1929)."""
    if len(buffer) < 2:
        return None
    middle = 2 + buffer[1]
    if len(buffer) <= middle or len(buffer) < middle + 1 + buffer[middle]:
        return None
    end = middle + 1 + buffer[middle]
    user, password = buffer[2:middle], buffer[middle + 1 : end]
    return user.decode("latin-1"), password.decode("latin-1"), end


@dataclass(frozen=True, slots=True)
class SocksRequest:
    """What a SOCKS5 client wants; `host` is a name or an address."""

    command: int
    host: str
    port: int
    size: int

    def target(self) -> Target:
        """Where it wants to go.

        Raises:
            ToolError: not a host.
        """
        return host_target(self.host, self.port)


def read_socks_request(buffer: bytes) -> SocksRequest | None:
    """The request after the login.

    Raises:
        ValueError: an unknown kind of address.
    """
    if len(buffer) < 5:
        return None
    kind, start = buffer[3], 4
    if kind == 3:
        start, length = 5, buffer[4]
    elif kind in (1, 4):
        length = 4 if kind == 1 else 16
    else:
        raise ValueError("unknown kind of address")
    end = start + length
    if len(buffer) < end + 2:
        return None
    raw = buffer[start:end]
    if kind == 3:
        host = raw.decode("latin-1")
    else:
        host = str(IPv4Address(raw) if kind == 1 else IPv6Address(raw))
    return SocksRequest(buffer[1], host, int.from_bytes(buffer[end : end + 2], "big"), end + 2)


def socks_answer(code: int) -> bytes:
    """The answer to a SOCKS5 request; the bound address is not told."""
    return bytes((SOCKS_VERSION, code, 0, 1)) + bytes(6)
