"""From judged addresses to a connected pipe, directly or by the configured proxy."""

from __future__ import annotations

import asyncio
import base64
import errno
from urllib.parse import unquote, urlsplit

from toolcrib.core.errors import NotConfigured
from toolcrib.net.egress.addresses import IPAddress, plain
from toolcrib.net.egress.failures import failure
from toolcrib.net.egress.guard_relay import Pipe
from toolcrib.net.egress.url import Target

# With several addresses, a silent one must not use up all the time.
SECONDS_PER_ADDRESS = 3.0
MAX_REPLY = 16_384


async def connect(
    pipe: Pipe, target: Target, addresses: tuple[IPAddress, ...], seconds: float
) -> None:
    """Connect the pipe to the first of the addresses that answers.

    Raises:
        ConnectionFailed: none does.
        TimedOut: the time is used up.
    """
    loop = asyncio.get_running_loop()
    reason = "unreachable"
    for number, address in enumerate(addresses, start=1):
        last = number == len(addresses)
        try:
            async with asyncio.timeout(seconds if last else min(seconds, SECONDS_PER_ADDRESS)):
                await loop.create_connection(lambda: pipe, str(plain(address)), target.port)
        except TimeoutError:
            reason = "connect_timeout"
        except OSError as error:
            reason = "refused" if error.errno == errno.ECONNREFUSED else "unreachable"
        else:
            return
    raise failure(reason, target)


async def connect_by_proxy(pipe: Pipe, target: Target, proxy: str, seconds: float) -> None:
    """Connect the pipe through a tunnel of an HTTP proxy.

    Raises:
        NotConfigured: the proxy is of another kind.
        ConnectionFailed: the proxy refuses, or cannot be reached.
    """
    parts = urlsplit(proxy)
    if parts.scheme != "http" or not parts.hostname:
        raise NotConfigured(
            "Programs can be let out only through an http:// proxy.",
            hint="Set egress.proxy to an http:// address.",
        )
    loop = asyncio.get_running_loop()
    request = f"CONNECT {target.authority} HTTP/1.1\r\nHost: {target.authority}\r\n"
    if parts.username:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        request += f"Proxy-Authorization: Basic {base64.b64encode(login.encode()).decode()}\r\n"
    try:
        async with asyncio.timeout(seconds):
            tunnel = _Tunnel(pipe, f"{request}\r\n".encode(), loop.create_future())
            await loop.create_connection(lambda: tunnel, parts.hostname, parts.port or 80)
            await tunnel.opened
    except OSError:
        raise failure("proxy", target) from None


class _Tunnel(asyncio.Protocol):
    """Waits for the proxy's yes, then hands the connection to the pipe."""

    def __init__(self, pipe: Pipe, request: bytes, opened: asyncio.Future[None]) -> None:
        self._pipe = pipe
        self._request = request
        self.opened = opened
        self._reply = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        """Bytes from this end."""
        self._reply += data
        head, end, rest = self._reply.partition(b"\r\n\r\n")
        if not end and len(self._reply) <= MAX_REPLY:
            return
        if self._transport is None or self.opened.done():
            return
        if head.split(b" ")[1:2] != [b"200"]:
            self.opened.set_exception(ConnectionError("the proxy refused"))
            self._transport.close()
            return
        self._transport.set_protocol(self._pipe)
        self._pipe.connection_made(self._transport)
        if rest:
            self._pipe.data_received(rest)
        self.opened.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the interface
        """This end is gone."""
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("the proxy closed"))
