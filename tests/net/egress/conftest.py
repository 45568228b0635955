"""In these tests 127.0.0.2 plays the public internet and 127.0.0.1 the inside."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.servers.listening import PUBLIC
from tests.servers.wire import INTERNAL, WireServer, reply
from toolcrib.core.config import Config
from toolcrib.net.egress.client import Egress


@pytest.fixture(params=["wreq", "aiohttp"])
def transport(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def names() -> dict[str, list[str]]:
    """What host names resolve to in the test; it may be changed on the way."""
    return {"public.test": [PUBLIC], "other.test": [PUBLIC], "internal.test": [INTERNAL]}


@pytest.fixture
async def make_egress(
    transport: str, names: dict[str, list[str]]
) -> AsyncIterator[Callable[..., Egress]]:
    made: list[Egress] = []

    async def lookup(host: str) -> list[str]:
        if host not in names:
            raise OSError(f"no such name: {host}")
        return names[host]

    def make(rest: dict[str, Any] | None = None, **egress: Any) -> Egress:
        options = {"transport": transport, "allow_networks": [f"{PUBLIC}/32"], **egress}
        egress_service = Egress(Config.load({**(rest or {}), "egress": options}), lookup=lookup)
        made.append(egress_service)
        return egress_service

    yield make
    for each in made:
        await each.close()


@pytest.fixture
def egress(make_egress: Callable[..., Egress]) -> Egress:
    return make_egress()


@pytest.fixture
async def public() -> AsyncIterator[WireServer]:
    async with WireServer({"/": reply(b"public")}) as server:
        yield server


@pytest.fixture
async def internal() -> AsyncIterator[WireServer]:
    """Must never be asked."""
    async with WireServer({"/": reply(b"SECRET")}, host=INTERNAL) as server:
        yield server
        assert server.connections == 0, "the inside was reached"
