"""The life of the HTTP server as a process."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

import httpx2
import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.conditions import until
from tests.servers.listening import free_port
from tests.servers.mcp_wire import ROOT, alive, written
from toolcrib.surfaces.http.connections import MAX_CONNECTIONS, ClientConnection

pytestmark = pytest.mark.timeout(60)
ENOUGH = 15.0
"""Seconds for an exit that may take five; this machine may be busy."""


@asynccontextmanager
async def serving(
    errors: int | IO[bytes] = asyncio.subprocess.DEVNULL,
) -> AsyncIterator[tuple[asyncio.subprocess.Process, httpx2.AsyncClient]]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.servers.mcp_tools", str(port)),
        cwd=ROOT,
        stderr=errors,
    )
    try:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            await _up(client)
            yield process, client
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _up(client: httpx2.AsyncClient) -> None:
    while True:
        try:
            assert (await client.get("/health")).status_code == 200
        except httpx2.TransportError:
            await asyncio.sleep(0.05)
        else:
            return


@pytest.mark.parametrize("tool", ["spawn", "wait", "burn"])
async def test_a_signal_ends_it_whatever_runs(tmp_path: Path, tool: str) -> None:
    note = tmp_path / "note"
    arguments = {"note": str(note)} | ({"seconds": 600} if tool == "wait" else {})
    async with serving() as (process, client):
        call = asyncio.ensure_future(client.post(f"/tools/{tool}", json=arguments))
        lines = await written(note, 2 if tool == "spawn" else 1)
        process.terminate()
        await process.wait()
        for pid in lines if tool == "spawn" else ():
            await until(lambda pid=pid: not alive(int(pid)))
        await asyncio.gather(call, return_exceptions=True)
    if tool == "wait":
        assert await written(note, 2) == ["began", "cleaned up"]


async def test_a_client_that_hangs_up_ends_its_call(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with serving() as (_, client):
        arguments = {"seconds": 600, "note": str(note)}
        call = asyncio.ensure_future(client.post("/tools/wait", json=arguments))
        await written(note)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert await written(note, 2) == ["began", "cleaned up"]
        answer = await client.post("/tools/echo", json={"text": "still here"})
        assert answer.json()["text"] == "still here"


async def test_each_request_is_a_line_of_the_log_but_those_for_health(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        async with serving(file) as (_, client):
            await client.get("/health?x")
            await client.get("/evil%0A2020-01-01%20forged")
            await client.post("/tools/echo?data", json={"text": "s3cret"})
            await until(lambda: "/tools/echo" in log.read_text())
    lines = [line for line in log.read_text().splitlines() if " HTTP/1.1" in line]
    assert not [line for line in lines if "health" in line or "s3cret" in line]
    assert [line.partition(" ")[2].partition(":")[0] for line in lines] == ["127.0.0.1"] * 2
    assert lines[0].endswith('"GET /evil%0A2020-01-01%20forged HTTP/1.1" 404')
    assert lines[1].endswith('"POST /tools/echo HTTP/1.1" 200')
    assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} ", lines[1])


async def test_connections_that_say_nothing_take_no_more_than_their_number() -> None:
    """They need no token, and would leave the server no descriptor for anything else."""
    async with serving() as (_, client):
        port = client.base_url.port
        opened = [
            await asyncio.open_connection("127.0.0.1", port) for _ in range(MAX_CONNECTIONS + 5)
        ]
        reads = [asyncio.ensure_future(reader.read()) for reader, _ in opened]
        await asyncio.wait(reads, return_when=asyncio.FIRST_COMPLETED)
        for _, writer in opened:
            writer.close()
        await asyncio.gather(*reads, return_exceptions=True)
        await _up(client)


async def _bare(app: ASGIApp) -> asyncio.Server:
    """A server of connections alone, for an application."""
    config = uvicorn.Config(app, http=ClientConnection, lifespan="off")
    loop, state = asyncio.get_running_loop(), uvicorn.server.ServerState()
    return await loop.create_server(lambda: ClientConnection(config, state, {}), "127.0.0.1", 0)


@pytest.mark.parametrize("before", ["", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
async def test_headers_that_do_not_come_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    """Also after a request that was answered, and where a little more comes all the time."""
    monkeypatch.setattr("toolcrib.surfaces.http.connections.HEADER_SECONDS", 0.2)
    async with await _bare(PlainTextResponse("answered")) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        if before:
            writer.write(before.encode())
            assert b"answered" in await reader.readuntil(b"answered")
        writer.write(b"GET / HTTP/1.1\r\nX: ")
        end = asyncio.ensure_future(reader.read())
        while not end.done():
            with suppress(OSError):
                writer.write(b"x")
            await asyncio.sleep(0.02)
        writer.close()
    assert isinstance(end.exception(), OSError) or end.result() == b""


@pytest.mark.parametrize("length", ["Content-Length: 100", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("part", ["", "4\r\nsome"])
async def test_a_body_that_does_not_come_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, length: str, part: str
) -> None:
    monkeypatch.setattr("toolcrib.surfaces.http.connections.BODY_SECONDS", 0.2)
    async with await _bare(_length_of_body) as server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(f"POST / HTTP/1.1\r\nHost: a\r\n{length}\r\n\r\n{part}".encode())
        with suppress(OSError):
            assert await reader.read() == b""
        writer.close()


async def test_slow_bodies_bodies_that_wait_and_long_answers_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One byte at a time; one of which the application reads nothing for long; and its answer."""
    monkeypatch.setattr("toolcrib.surfaces.http.connections.BODY_SECONDS", 3)
    async with await _bare(_length_of_body) as server:
        for path, size in (("/", 8), ("/later", 8_000_000)):
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n"
            writer.write(head.encode())
            for _ in range(8):
                writer.write(b"x" * (size // 8))
                await writer.drain()
                await asyncio.sleep(0.5 if path == "/" else 0)
            await reader.readuntil(f"{size} bytes".encode())
            writer.close()


async def _length_of_body(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer how long the body is, and take time where the path says `later`."""
    if scope["path"] == "/later":
        await asyncio.sleep(3.5)
    body = await Request(scope, receive).body()
    await asyncio.sleep(3.5)
    await PlainTextResponse(f"{len(body)} bytes")(scope, receive, send)
