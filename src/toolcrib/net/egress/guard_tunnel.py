"""From judged addresses to a connected pipe, directly or by the configured proxy."""

from __future__ import annotations

import asyncio
import base64
import errno
import sys
from collections.abc import Callable
from typing import ClassVar, cast
from urllib.parse import unquote, urlsplit

from toolcrib.core.errors import NotConfigured
from toolcrib.net.egress.addresses import IPAddress, plain
from toolcrib.net.egress.transport import failure
from toolcrib.net.egress.url import Target

# Bytes between two sockets at the level of asyncio protocols, with back-pressure.

WRITE_HIGH = 262_144
MAX_INCOMING = 512
"""Connections from programs that are passed on at the same time, by this whole process."""
DESCRIPTOR_SHARE = 6
"""Each takes two descriptors; a third of those that this process may have is enough for all."""
RUN_SHARE = 2
"""One run may have half of them, so that others have some when it holds all of its own."""


def _max_incoming() -> int:
    if sys.platform == "win32":  # which has no such limit
        return MAX_INCOMING
    import resource

    return min(MAX_INCOMING, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // DESCRIPTOR_SHARE)


class Pipe(asyncio.Protocol):
    """One end of a relay: what it reads, its partner writes.

    A partner that cannot keep up pauses this end. An end of file is passed on, and a
    lost connection closes both ends, after what was read has been written. What is
    read before there is a partner is kept for it.

    `allowance` is how many bytes more may be read; None is any number. `on_read` is told how
    many were read.
    """

    _incoming: ClassVar[dict[Pipe, object]] = {}

    def __init__(self, on_read: Callable[[int], None] | None = None) -> None:
        self._on_read = on_read
        self.transport: asyncio.Transport | None = None
        self.partner: Pipe | None = None
        self.allowance: int | None = None
        self.ended = False
        self.lost = False
        self.early = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=WRITE_HIGH)

    def is_admitted(self, run: object = None) -> bool:
        """Count it as a connection from a program; False where there are too many already.

        Args:
            run: what stands for the run that it comes from or goes to; None where that is unknown.
        """
        maximum, known = _max_incoming(), list(self._incoming.values())
        own = sum(each is run for each in known) if run is not None else 0
        if len(known) >= maximum or own >= maximum // RUN_SHARE:
            return False
        self._incoming[self] = run
        return True

    def join(self, partner: Pipe) -> None:
        """Make the two ends partners, and pass on what came before."""
        self.partner, partner.partner = partner, self
        for end in (self, partner):
            early, end.early = end.early, b""
            if early:
                end.data_received(early)
            if end.transport is not None:
                end.transport.resume_reading()
        for end in (self, partner):
            if end.lost:
                end.connection_lost(None)
            elif end.ended:
                end.eof_received()

    def keep(self, data: bytes) -> None:
        """Hold bytes back for a partner to come."""
        self.early += data
        if self.transport is not None:
            self.transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        """Bytes from this end."""
        if self._on_read is not None:
            self._on_read(len(data))
        partner = self.partner
        if partner is None:
            self.keep(data)
            return
        if self.allowance is not None:
            # A plain HTTP request has come whole: what follows would be another
            # request, which nobody has judged.
            if len(data) > self.allowance:
                self.close()
                return
            self.allowance -= len(data)
        if partner.transport is not None:
            partner.transport.write(data)

    def eof_received(self) -> bool:
        """This end sends no more."""
        self.ended = True
        partner = self.partner
        if partner is None:
            return True
        if partner.transport is None or partner.ended:
            # Both directions are over: close, after the last bytes have gone out.
            if partner.transport is not None:
                partner.transport.close()
            if self.transport is not None:
                self.transport.close()
            return False
        if not partner.transport.is_closing():
            partner.transport.write_eof()
        return True

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the interface
        """This end is gone."""
        self._incoming.pop(self, None)
        self.lost = True
        partner = self.partner
        if partner is not None and partner.transport is not None and not partner.lost:
            partner.transport.close()

    def pause_writing(self) -> None:
        """This end cannot keep up."""
        if self.partner is not None and self.partner.transport is not None:
            self.partner.transport.pause_reading()

    def resume_writing(self) -> None:
        """This end has caught up."""
        if self.partner is not None and self.partner.transport is not None:
            self.partner.transport.resume_reading()

    def close(self) -> None:
        """Drop both ends at once."""
        for end in (self, self.partner):
            if end is not None and end.transport is not None:
                end.transport.abort()


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
