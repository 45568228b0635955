"""The way to a model server for requests that are passed on as they came."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.core.config import Config, secret
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.transport import client_context
from toolcrib.net.egress.url import Target, parse_url, web_origin
from toolcrib.net.models.connection import connection_lost, proxy_for

if TYPE_CHECKING:
    import httpcore2

RawHeaders = Sequence[tuple[bytes, bytes]]
IDLE_SECONDS = 2.0
"""Before servers close a connection that is not used, most after five seconds."""
START = "Start the model server, or set proxy.upstreams to where it listens."


@dataclass(frozen=True, slots=True)
class UpstreamReply:
    """The head of an answer as it came, and its body in the pieces in which it comes."""

    status: int
    headers: RawHeaders
    chunks: AsyncIterator[bytes]

    def header(self, name: bytes) -> str:
        """The value of a header by its name in small letters; "" without it."""
        for key, value in self.headers:
            if key.lower() == name:
                return value.decode("latin-1")
        return ""


class Upstream:
    """Passes requests on to one model server, and nowhere else.

    Redirects are not followed, nothing is decoded, and nothing is added. There is no limit of
    time: whoever asked may leave, which ends the request.

    Args:
        base_url: as configured, such as `http://127.0.0.1:1234/v1`.
        config: the whole tree.
        egress: the guard, whose policy judges the origin and every address of it.
        api_key_env: the variable that holds the key of the server; "" for none.

    Raises:
        BadInput: the URL is none.
        Blocked: it is no http or https URL.
        NotConfigured: the key is named and not set.
    """

    def __init__(
        self, base_url: str, config: Config, egress: Egress, api_key_env: str = ""
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._config = config
        self._egress = egress
        self._policy = egress.policy("proxy", (self.base_url,))
        self._target = parse_url(self.base_url)
        self._host_header = web_origin(self._target.href).partition("://")[2].encode("ascii")
        self.key = secret(api_key_env, "The model server") if api_key_env else ""
        path = self.base_url.split("://", 1)[-1].partition("/")[2]
        base, _, version = path.rpartition("/")
        is_versioned = version[:1] == "v" and version[1:].isdigit()
        self._root = f"/{base}".rstrip("/") if is_versioned else f"/{path}".rstrip("/")
        self._version = f"/{version}/" if is_versioned else "/v1/"
        self._pool: httpcore2.AsyncConnectionPool | None = None

    async def close(self) -> None:
        """Close what is open."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await pool.aclose()

    def path_of(self, path: bytes) -> bytes:
        """Where a path of the client lies on this server."""
        if self._version != "/v1/" and path.startswith(b"/v1/"):
            path = self._version.encode() + path[4:]
        return self._root.encode("ascii", "ignore") + path

    @asynccontextmanager
    async def request(
        self,
        method: str,
        path: bytes,
        headers: RawHeaders,
        body: bytes | AsyncIterable[bytes] | None = None,
    ) -> AsyncIterator[UpstreamReply]:
        """Send a request; the body of the answer is read within the context.

        Args:
            method: any.
            path: of the client, with its query.
            headers: as they are to be sent, but for `Host`.
            body: what is sent; None for nothing.

        Raises:
            Blocked: the policy refuses the address.
            ConnectionFailed, DnsFailure, TlsFailure, TimedOut: the server cannot be reached,
                or went away.
        """
        target = self._target
        self._policy.check(target)
        addresses = await self._egress.addresses(target, self._policy)
        hosts = [str(address) for address in addresses] or [target.host.strip("[]")]
        response = await self._sent(method, target, hosts, path, headers, body)
        try:
            yield UpstreamReply(response.status, response.headers, self._chunks(response, target))
        finally:
            await response.aclose()

    async def _sent(
        self,
        method: str,
        target: Target,
        hosts: Sequence[str],
        path: bytes,
        headers: RawHeaders,
        body: bytes | AsyncIterable[bytes] | None,
    ) -> httpcore2.Response:
        import httpcore2

        extensions: dict[str, Any] = {"timeout": {"connect": self._config.egress.connect_timeout}}
        if target.scheme == "https":
            extensions["sni_hostname"] = target.host
        lines = [(b"host", self._host_header), *headers]
        for number, host in enumerate(hosts):
            url = httpcore2.URL(
                scheme=target.scheme, host=host, port=target.port, target=self.path_of(path)
            )
            request = httpcore2.Request(
                method, url, headers=lines, content=body, extensions=extensions
            )
            try:
                return await self._open(target).handle_async_request(request)
            except httpcore2.ConnectError as error:
                if number == len(hosts) - 1:
                    raise connection_lost(target, error, START) from None
            except _failures() as error:
                raise connection_lost(target, error, START) from None
        raise AssertionError("a target has a host")

    async def _chunks(self, response: httpcore2.Response, target: Target) -> AsyncIterator[bytes]:
        try:
            async for chunk in response.aiter_stream():
                yield chunk
        except _failures() as error:
            raise connection_lost(target, error, START) from None

    def _open(self, target: Target) -> httpcore2.AsyncConnectionPool:
        if self._pool is None:
            import httpcore2

            egress = self._config.egress
            proxy = proxy_for(target, egress)
            context = client_context(egress.ca_file) if target.scheme == "https" else None
            self._pool = httpcore2.AsyncConnectionPool(
                ssl_context=context,
                proxy=httpcore2.Proxy(proxy) if proxy else None,
                max_connections=None,
                keepalive_expiry=IDLE_SECONDS,
            )
        return self._pool


def _failures() -> tuple[type[Exception], ...]:
    import httpcore2

    return (
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
        httpcore2.TimeoutException,
        httpcore2.ProxyError,
    )
