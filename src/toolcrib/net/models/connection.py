"""The way to a configured model server: its origin and no other, its addresses judged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.core.config import Config, secret
from toolcrib.core.errors import ConnectionFailed, TlsFailure
from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.transport import client_context
from toolcrib.net.egress.url import Target, bracketed, parse_url

if TYPE_CHECKING:
    import httpx2

COMPONENT = "agent"
START = "Start the model server, or set agent.base_url to where it listens."
SLOW = "Look at the log of the model server; if it only needs longer, raise {setting}."


def connection_lost(target: Target, error: Exception, start: str) -> ConnectionFailed | TlsFailure:
    """The error for a server that is not reached, or breaks off; `start` says what to do first."""
    where = f"{target.scheme}://{target.authority}"
    text = " ".join(str(error).split())[:200]
    kind = type(error).__name__
    if "ertificate" in text or "SSL" in text:
        return TlsFailure(f"No trusted connection to {where}: {text}", reason="tls")
    if kind == "ConnectTimeout":
        return ConnectionFailed(
            f"{where} does not take the connection.", hint=start, reason="connect"
        )
    if kind == "ConnectError":
        return ConnectionFailed(
            f"{where} cannot be reached: {text.rstrip('.')}.", hint=start, reason="connect"
        )
    hint = "Look at the log of the model server."
    return ConnectionFailed(f"{where} broke off: {text or kind}", hint=hint, reason="closed")


def proxy_for(target: Target, egress: EgressConfig) -> str:
    """The proxy that leads to a model server; one on this machine is not behind it."""
    local = target.literal is not None or target.host == "localhost"
    return "" if local else egress.proxy


@dataclass(frozen=True, slots=True)
class Reply:
    """The head of an answer, and its body as it comes.

    `framed` says that the server told where the body ends, so that a body that ends is whole.
    """

    status: int
    headers: Mapping[str, str]
    framed: bool
    chunks: AsyncIterator[bytes]


class Connection:
    """Sends requests to one base URL, and nowhere else.

    Redirects are not followed, and no proxy of the environment is used.

    Args:
        base_url: as configured, such as `http://127.0.0.1:1234/v1`.
        config: the whole tree.
        egress: the guard, whose policy judges the origin and every address of it.
        api_key_env: the variable that holds its key; None is `agent.api_key_env`.

    Raises:
        BadInput: the URL is none.
        Blocked: it is no http or https URL.
        NotConfigured: the key is named and not set.
    """

    def __init__(
        self, base_url: str, config: Config, egress: Egress, api_key_env: str | None = None
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self._config = config
        self._egress = egress
        self._policy = egress.policy(COMPONENT, (self.base_url,))
        self._headers = {"accept-encoding": "identity", "user-agent": "toolcrib"}
        key_name = config.agent.api_key_env if api_key_env is None else api_key_env
        if key_name:
            key = secret(key_name, "The model server")
            self._headers["authorization"] = f"Bearer {key}"
        self._client: httpx2.AsyncClient | None = None
        self._origin = parse_url(self.base_url).origin

    async def close(self) -> None:
        """Close what is open."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    @asynccontextmanager
    async def request(
        self, method: str, path: str, body: bytes | None = None, *, stall: float = 60.0
    ) -> AsyncIterator[Reply]:
        """Send a request; the body of the answer is read within the context.

        Args:
            method: GET or POST.
            path: below the base URL, with its slash.
            body: JSON to send.
            stall: seconds of silence in the middle of a body that end it. Before the body
                it is `agent.first_seconds`: a model loads and reads before it writes.

        Raises:
            Blocked: the policy refuses the address.
            ConnectionFailed, DnsFailure, TlsFailure, TimedOut: the server cannot be reached,
                or went away.
        """
        target = parse_url(self.base_url + path)
        self._policy.check(target)
        assert target.origin == self._origin
        addresses = await self._egress.addresses(target, self._policy)
        hosts = [bracketed(str(address)) for address in addresses] or [""]
        until = asyncio.get_running_loop().time() + self._config.agent.first_seconds
        try:
            async with asyncio.timeout_at(until):
                response = await self._sent(method, target, hosts, body)
        except TimeoutError:
            raise self._silent(target) from None
        try:
            yield Reply(
                response.status_code,
                response.headers,
                "content-length" in response.headers
                or "chunked" in response.headers.get("transfer-encoding", "").lower(),
                self._chunks(response, target, until, stall),
            )
        finally:
            await response.aclose()

    async def _sent(
        self, method: str, target: Target, hosts: Sequence[str], body: bytes | None
    ) -> httpx2.Response:
        """The head of the answer, from the first of the addresses that takes the request."""
        import httpx2

        for host in hosts[:-1]:
            request = self._request(method, target, host, body)
            try:
                return await self._open(target).send(request, stream=True)
            except httpx2.ConnectError:
                continue
            except httpx2.HTTPError as error:
                raise connection_lost(target, error, START) from None
        request = self._request(method, target, hosts[-1], body)
        try:
            return await self._open(target).send(request, stream=True)
        except httpx2.HTTPError as error:
            raise connection_lost(target, error, START) from None

    async def _chunks(
        self, response: httpx2.Response, target: Target, until: float, stall: float
    ) -> AsyncIterator[bytes]:
        import httpx2

        begun = False
        chunks = response.aiter_raw()
        while True:
            try:
                async with asyncio.timeout_at(until):
                    chunk = await anext(chunks, None)
            except TimeoutError:
                if not begun:
                    raise self._silent(target) from None
                raise ConnectionFailed(
                    f"{target.authority} fell silent for {stall:g} s.",
                    hint=SLOW.format(setting="agent.stall_seconds"),
                    reason="stall",
                ) from None
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                raise connection_lost(target, error, START) from None
            if chunk is None:
                return
            begun = True
            yield chunk
            until = asyncio.get_running_loop().time() + stall

    def _open(self, target: Target) -> httpx2.AsyncClient:
        if self._client is None:
            import httpx2

            egress = self._config.egress
            self._client = httpx2.AsyncClient(
                verify=client_context(egress.ca_file) if target.scheme == "https" else False,
                trust_env=False,
                proxy=proxy_for(target, egress) or None,
                follow_redirects=False,
            )
        return self._client

    def _request(
        self, method: str, target: Target, host: str, body: bytes | None
    ) -> httpx2.Request:
        """The request to one judged address, under the name of the server."""
        import httpx2

        url = httpx2.URL(target.href)
        headers = dict(self._headers)
        extensions: dict[str, Any] = {
            "timeout": {
                "connect": self._config.egress.connect_timeout,
                "read": None,
                "write": 60.0,
                "pool": None,
            }
        }
        if host:
            headers["host"] = url.netloc.decode("ascii")
            if target.scheme == "https":
                extensions["sni_hostname"] = target.host
            url = url.copy_with(host=host.strip("[]"))
        if body is not None:
            headers["content-type"] = "application/json"
        return self._open(target).build_request(
            method, url, headers=headers, content=body, extensions=extensions
        )

    def _silent(self, target: Target) -> ConnectionFailed:
        """Nothing came at all; to ask again would wait as long once more."""
        return ConnectionFailed(
            f"{target.authority} said nothing for {self._config.agent.first_seconds:g} s.",
            hint=SLOW.format(setting="agent.first_seconds"),
            reason="stall",
            retryable=False,
        )
