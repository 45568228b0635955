"""HTTP/2: what a server says about its body is not believed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.servers.authority import Authority
from tests.servers.http2 import Http2Server
from toolcrib.core.errors import Blocked, ConnectionFailed, TooLarge
from toolcrib.net.egress.client import Egress

Make = Callable[..., Egress]


@pytest.fixture
def transport() -> str:
    return "wreq"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Http2Server]:
    async with Http2Server(Authority(tmp_path).context("127.0.0.2")) as server:
        yield server


@pytest.fixture
def trusting(make_egress: Make, tmp_path: Path, server: Http2Server) -> Make:
    return lambda **settings: make_egress(ca_file=str(tmp_path / "ca.pem"), **settings)


@pytest.mark.parametrize("path", ["/page", "/unsized"])
async def test_pages(trusting: Make, server: Http2Server, path: str) -> None:
    answer = await trusting().fetch(server.url(path))
    assert answer.http_version == "2"
    assert answer.body == b"z" * 20_000


async def test_one_connection_for_many(trusting: Make, server: Http2Server) -> None:
    egress = trusting()
    await egress.fetch(server.url("/page"))
    await asyncio.gather(*(egress.fetch(server.url("/page")) for _ in range(20)))
    assert server.connections == 1


@pytest.mark.parametrize("path", ["/lies", "/short"])
async def test_a_wrong_length_is_a_failure(trusting: Make, server: Http2Server, path: str) -> None:
    with pytest.raises(ConnectionFailed):
        await trusting().fetch(server.url(path))


async def test_headers_have_a_cap(trusting: Make, server: Http2Server) -> None:
    with pytest.raises(TooLarge):
        await trusting().fetch(server.url("/headers"))


async def test_an_endless_stream_stops_at_the_cap(trusting: Make, server: Http2Server) -> None:
    egress = trusting(max_wire_bytes=2_000_000)
    with pytest.raises(TooLarge):
        await egress.fetch(server.url("/endless"))
    part = await egress.fetch(server.url("/endless"), allow_truncated=True)
    assert (len(part.body), part.truncated) == (2_000_000, True)
    assert (await egress.fetch(server.url("/page"))).status == 200


async def test_redirects_are_judged(trusting: Make, server: Http2Server) -> None:
    with pytest.raises(Blocked):
        await trusting(allow_downgrade=True).fetch(server.url("/redirect"))
