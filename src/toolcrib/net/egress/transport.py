"""What a client library must do for us: one request to checked addresses, no more."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from toolcrib.core.settings import EgressConfig
from toolcrib.net.egress.addresses import IPAddress
from toolcrib.net.egress.headers import Headers
from toolcrib.net.egress.url import Target

MAX_CLIENTS = 256


@dataclass(frozen=True, slots=True)
class PinnedRequest:
    """One request. Only `addresses` may be connected to; none means: by the proxy."""

    method: str
    target: Target
    addresses: tuple[IPAddress, ...]
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


class StreamingResponse(Protocol):
    """An answer whose headers have come. Its body is still coded, and is read once.

    `peer` is the address at the other end, None where the client does not tell.
    `length` is the exact number of bytes to come, None where that is not certain.
    """

    status: int
    headers: Headers
    http_version: str
    peer: IPAddress | None
    length: int | None

    async def read(self) -> bytes:
        """The whole body; for a `length` that is known and small enough."""
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes, no faster than it is taken."""
        ...

    async def close(self) -> None:
        """Give the connection up; what was not read is never fetched."""
        ...


class Transport(Protocol):
    """Sends requests. Follows no redirect, decodes nothing, keeps no cookies, retries nothing."""

    async def send(self, request: PinnedRequest) -> StreamingResponse:
        """Send one request and wait for the headers.

        Raises:
            ToolError: one of `failures`.
        """
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


def open_transport(config: EgressConfig) -> Transport:
    """The transport that the configuration names; `auto` takes wreq where it is installed."""
    if config.transport == "wreq" or (config.transport == "auto" and find_spec("wreq")):
        from toolcrib.net.egress.transport_wreq import WreqTransport

        return WreqTransport(config)
    from toolcrib.net.egress.transport_aiohttp import AiohttpTransport

    return AiohttpTransport(config)
