"""An HTTP client of a library, for one address that the user configured, through the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from toolcrib.core.context import Services
from toolcrib.net.egress.guard_proxy import GuardProxy, Lease
from toolcrib.net.egress.transport import client_context

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 30.0


@asynccontextmanager
async def guarded_client(
    services: Services, url: str, headers: Mapping[str, str], read_seconds: float
) -> AsyncIterator[tuple[httpx2.AsyncClient, Lease]]:
    """A client whose connections are all judged: to the origin of the address, and public ones.

    Its own origin is open also where it is not public, since the user wrote it down for this.

    Args:
        services: of the toolbox.
        url: the configured address.
        headers: sent with each request.
        read_seconds: silence after which a response is given up.
    """
    import httpx2

    with await services.use(GuardProxy).lease(endpoints=(url,)) as lease:
        async with httpx2.AsyncClient(
            proxy=lease.http_url,
            verify=client_context(services.config.egress.ca_file),
            headers=dict(headers),
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=read_seconds),
        ) as client:
            yield client, lease
