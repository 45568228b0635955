"""The transport over aiohttp, a plain client for systems where wreq has no wheel.

Connections count what HTTP brings beside the content: the caps on bodies see content only.
Interim answers, chunk sizes and their extensions are parsed below them, and a server could
send those for ever.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections import OrderedDict
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any, cast

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong
from yarl import URL

from toolcrib.core.errors import BadInput, NotConfigured, ToolError
from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.addresses import IPAddress, parse_address
from toolcrib.net.egress.codings import ACCEPTED
from toolcrib.net.egress.transport import MAX_CLIENTS, Request, client_context, failure
from toolcrib.net.egress.url import Headers, Target

USER_AGENT = "Mozilla/5.0 (compatible; toolcrib)"
DEFAULT_HEADERS = {
    "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "accept-encoding": ACCEPTED,
    "accept-language": "en-US,en;q=0.9",
    "user-agent": USER_AGENT,
}

MAX_INTERIM = 10
"""Answers of status 1xx before the real one."""


class FramingError(Exception):
    """More framing than content, or too many interim answers."""


class CountingHandler(ResponseHandler):
    """Stops an answer whose framing exceeds its content by more than `spare` bytes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, spare: int) -> None:
        super().__init__(loop)
        self._spare = spare
        self._start()

    def _start(self) -> None:
        self._earlier = self._payload
        self._received = 0
        self._interim = 0

    def set_response_params(self, **params: Any) -> None:
        """Begin to read the answer to the next request."""
        self._start()
        super().set_response_params(**params)

    def feed_data(self, data: Any, size: int = 0) -> None:
        """Hand on the head of an answer."""
        self._interim += 100 <= data[0].code < 200
        super().feed_data(data, size)

    def data_received(self, data: bytes) -> None:
        """Take bytes off the wire."""
        self._received += len(data)
        super().data_received(data)
        # While reading is paused, content waits in the parser and is not counted yet.
        if self._interim > MAX_INTERIM or (not self._reading_paused and self._is_excessive()):
            self._stop()

    def _is_excessive(self) -> bool:
        payload = None if self._payload is self._earlier else self._payload
        content = payload.total_bytes if payload is not None else 0
        return self._received > 2 * content + self._spare

    def _stop(self) -> None:
        error = FramingError()
        self.set_exception(error)
        if self._payload is not None and self._payload is not self._earlier:
            self._payload.set_exception(error)
        if self.transport is not None:
            self.transport.abort()


class CountingConnector(aiohttp.TCPConnector):
    """A connector whose connections count. `spare` is in bytes for each answer."""

    def __init__(self, *, spare: int, **options: Any) -> None:
        super().__init__(**options)
        factory = partial(CountingHandler, loop=self._loop, spare=spare)
        self._factory = cast("partial[ResponseHandler]", factory)


class _Client:
    """One session, closed when it was dropped and its last request is over."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session
        self.users = 0
        self.dropped = False

    async def leave(self) -> None:
        self.users -= 1
        if self.dropped and self.users == 0:
            await self.session.close()


class AiohttpTransport:
    """One session per host and set of addresses, the least used ones dropped."""

    def __init__(self, config: EgressConfig) -> None:
        if config.proxy and not config.proxy.startswith("http://"):
            raise NotConfigured(
                "The aiohttp transport knows only http:// proxies.",
                hint="Set egress.transport to wreq, or egress.proxy to an http:// address.",
            )
        self._config = config
        self._context: ssl.SSLContext | None = None
        self._clients: OrderedDict[tuple[str, tuple[IPAddress, ...]], _Client] = OrderedDict()

    async def send(self, request: Request) -> AiohttpResponse:
        """Send one request and wait for the headers."""
        target = request.target
        client = await self._client(target.host, request.addresses)
        client.users += 1
        try:
            raw = await client.session.request(
                request.method,
                URL(target.href, encoded=True),
                headers=DEFAULT_HEADERS | dict(request.headers),
                data=request.body,
                allow_redirects=False,
                proxy=None if request.addresses else self._config.proxy or None,
            )
            return AiohttpResponse(raw, target, client)
        except BaseException as error:
            await client.leave()
            if isinstance(error, Exception):
                raise _translated(error, target) from error
            raise

    async def _client(self, host: str, addresses: tuple[IPAddress, ...]) -> _Client:
        key = (host, addresses)
        client = self._clients.get(key)
        if client is not None:
            self._clients.move_to_end(key)
            return client
        client = self._clients[key] = _Client(self._new_session(addresses))
        if len(self._clients) > MAX_CLIENTS:
            oldest = self._clients.popitem(last=False)[1]
            oldest.dropped = True
            oldest.users += 1
            await oldest.leave()
        return client

    def _new_session(self, addresses: tuple[IPAddress, ...]) -> aiohttp.ClientSession:
        config = self._config
        if self._context is None:
            self._context = client_context(config.ca_file)
        connector = CountingConnector(
            spare=2 * config.max_header_bytes,
            resolver=_PinnedResolver(addresses) if addresses else None,
            use_dns_cache=False,
            ssl=self._context,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=config.connect_timeout),
            auto_decompress=False,
            trust_env=False,
            max_line_size=config.max_header_bytes,
            max_field_size=config.max_header_bytes,
        )

    async def close(self) -> None:
        """Close every connection."""
        while self._clients:
            await self._clients.popitem()[1].session.close()


class _PinnedResolver(AbstractResolver):
    """Answers with the checked addresses, whatever name is to be resolved."""

    def __init__(self, addresses: tuple[IPAddress, ...]) -> None:
        self._addresses = addresses

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 - the interface
    ) -> list[ResolveResult]:
        """All of them, as aiohttp wants them."""
        return [
            {
                "hostname": host,
                "host": str(address),
                "port": port,
                "family": socket.AF_INET if address.version == 4 else socket.AF_INET6,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            }
            for address in self._addresses
        ]

    async def close(self) -> None:
        """Nothing is open."""


class AiohttpResponse:
    """An answer of aiohttp, its body as it came over the wire."""

    def __init__(self, raw: aiohttp.ClientResponse, target: Target, client: _Client) -> None:
        self._raw = raw
        self._target = target
        self._client: _Client | None = client
        self.status = raw.status
        self.headers = Headers([(_text(name), _text(value)) for name, value in raw.raw_headers])
        version = raw.version
        self.http_version = f"{version.major}.{version.minor}" if version else "1.1"
        self.peer = _peer(raw)
        self.length = None if "transfer-encoding" in self.headers else raw.content_length

    async def read(self) -> bytes:
        """The whole body."""
        try:
            return await self._raw.read()
        except Exception as error:
            raise _translated(error, self._target) from error

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes."""
        content = self._raw.content
        while True:
            try:
                chunk = await content.readany()
            except Exception as error:
                raise _translated(error, self._target) from error
            if not chunk:
                return
            yield chunk

    async def close(self) -> None:
        """Discard what was not read; a connection read to its end is kept."""
        self._raw.close()
        client, self._client = self._client, None
        if client is not None:
            await client.leave()


def _peer(raw: aiohttp.ClientResponse) -> IPAddress | None:
    connection = raw.connection
    transport = connection.transport if connection else None
    name = transport.get_extra_info("peername") if transport else None
    return parse_address(name[0]) if name else None


def _translated(error: Exception, target: Target) -> ToolError:
    match error:
        case ToolError():
            return error
        case aiohttp.InvalidURL():
            return BadInput(f"The request to {target.host} cannot be built.")
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return failure("proxy", target)
        case aiohttp.ClientConnectorCertificateError():
            return failure("tls", target, _tls_cause(error.certificate_error))
        case aiohttp.ClientSSLError():
            return failure("tls", target)
        case aiohttp.ConnectionTimeoutError():
            return failure("connect_timeout", target)
        case asyncio.TimeoutError():
            return failure("timeout", target)
        case aiohttp.ClientConnectorDNSError():
            return failure("dns", target)
        case aiohttp.ClientConnectorError():
            return failure(_connect_reason(error), target)
    return failure(_reading_reason(error), target)


def _connect_reason(error: aiohttp.ClientConnectorError) -> str:
    number = error.os_error.errno
    if number == errno.ECONNREFUSED:
        return "refused"
    unreachable = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL)
    return "unreachable" if number in unreachable else "connect"


def _reading_reason(error: Exception) -> str:
    causes = _causes(error)
    if any(isinstance(cause, FramingError) for cause in causes):
        return "framing"
    if any(isinstance(cause, LineTooLong) for cause in causes):
        return "headers"
    if any("Not enough data" in str(cause) for cause in causes):
        return "closed_early"
    if any(isinstance(cause, BadHttpMessage | aiohttp.ClientResponseError) for cause in causes):
        return "malformed"
    ended = (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError)
    return "closed_early" if isinstance(error, ended) else "reset"


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


def _tls_cause(error: Exception) -> str:
    return str(getattr(error, "verify_message", "") or "certificate not trusted")


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
