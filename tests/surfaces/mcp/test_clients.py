"""The official Python client, in both revisions, over stdio and HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.servers.asgi import served
from tests.servers.mcp_tools import TOOLS
from tests.servers.mcp_wire import MODERN, ROOT, written
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox

pytestmark = pytest.mark.timeout(60)

LEGACY = "legacy"
Requested = list[types.ElicitRequestParams]
WAYS = [(LEGACY, "stdio"), (MODERN, "stdio"), (LEGACY, "http"), (MODERN, "http")]
every_method = pytest.mark.parametrize(
    ("mode", "transport"), WAYS, ids=[f"{transport}, {mode}" for mode, transport in WAYS]
)


@asynccontextmanager
async def connected(
    mode: str, transport: str, config: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[Client]:
    """A client of a server with the tools of `mcp_tools`."""
    if transport == "stdio":
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "tests.servers.mcp_tools"],
            env=dict(os.environ),
            cwd=ROOT,
        )
        async with Client(stdio_client(parameters), mode=mode, **options) as client:
            yield client
    else:
        async with (
            served(create_app(Toolbox(config, tools=TOOLS))) as base,
            Client(f"{base}/mcp", mode=mode, **options) as client,
        ):
            yield client


def person(action: str, *, allow: bool, requested: Requested) -> Callable[..., Any]:
    """Somebody who answers every question in one way."""

    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        requested.append(params)
        content = {"allow": allow} if action == "accept" else None
        return types.ElicitResult(action=action, content=content)

    return answer


def text_of(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


def code_of(result: types.CallToolResult) -> str:
    return str((result.meta or {})["toolcrib/error"]["code"])


@every_method
async def test_listing_calling_and_failing(mode: str, transport: str) -> None:
    async with connected(mode, transport) as client:
        listed = (await client.list_tools()).tools
        assert [t.name for t in listed] == sorted(t.name for t in TOOLS)
        for tool in listed:
            assert tool.annotations is not None
            assert None not in tool.annotations.model_dump().values()
        assert text_of(await client.call_tool("echo", {"text": "hello"})) == "hello"
        lost = await client.call_tool("lose", {})
        assert lost.is_error
        assert code_of(lost) == "not_found"
        assert "Look elsewhere." in text_of(lost)


@every_method
async def test_a_call_that_a_person_allows(mode: str, transport: str) -> None:
    requested: Requested = []
    callback = person("accept", allow=True, requested=requested)
    async with connected(mode, transport, elicitation_callback=callback) as client:
        for _ in range(2):  # each time: leave is given for one call
            result = await client.call_tool("post", {"text": "a letter"})
            assert text_of(result) == "posted a letter"
    assert len(requested) == 2
    assert "post" in requested[0].message
    assert "a letter" in requested[0].message


@every_method
@pytest.mark.parametrize(("action", "allow"), [("accept", False), ("decline", True)])
async def test_a_call_that_a_person_refuses(
    mode: str, transport: str, action: str, allow: bool
) -> None:
    callback = person(action, allow=allow, requested=[])
    async with connected(mode, transport, elicitation_callback=callback) as client:
        result = await client.call_tool("post", {"text": "a letter"})
    assert result.is_error
    assert code_of(result) == "denied"


@every_method
async def test_a_client_that_cannot_ask_is_told_how_to_approve(mode: str, transport: str) -> None:
    async with connected(mode, transport) as client:
        result = await client.call_tool("post", {"text": "a letter"})
    assert code_of(result) == "needs_approval"
    assert "toolcrib approve" in text_of(result)


@every_method
async def test_progress_reaches_the_caller(mode: str, transport: str) -> None:
    reported: list[tuple[float, float | None, str | None]] = []

    async def keep(done: float, total: float | None, message: str | None) -> None:
        reported.append((done, total, message))

    async with connected(mode, transport) as client:
        await client.call_tool("steps", {"count": 3}, progress_callback=keep)
    assert reported == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


@every_method
@pytest.mark.rows("A43", "C197")
async def test_a_caller_that_gives_up_ends_the_tool(
    mode: str, transport: str, tmp_path: Path
) -> None:
    note = tmp_path / "note"
    async with connected(mode, transport) as client:
        arguments = {"seconds": 600, "note": str(note)}
        call = asyncio.ensure_future(client.call_tool("wait", arguments))
        await written(note)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        assert await written(note, 2) == ["began", "cleaned up"]
        assert text_of(await client.call_tool("echo", {"text": "still here"})) == "still here"


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_without_sessions_all_but_asking_works(mode: str) -> None:
    config = {"http": {"stateless": True}}
    requested: Requested = []
    callback = person("accept", allow=True, requested=requested)
    async with connected(mode, "http", config, elicitation_callback=callback) as client:
        assert text_of(await client.call_tool("echo", {"text": "hello"})) == "hello"
        result = await client.call_tool("post", {"text": "a letter"})
    # The answer could reach another replica than the one that asked.
    assert code_of(result) == "needs_approval"
    assert requested == []


@pytest.mark.parametrize("token", ["", "s3cret"])
@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_a_header_gives_a_client_a_conversation_of_its_own(
    mode: str, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCRIB_TOKEN", token)
    file = tmp_path / "note.txt"

    bearer = {"Authorization": f"Bearer {token}"} if token else {}

    async def send(base: str, tool: str, who: str, **arguments: Any) -> types.CallToolResult:
        named = {"X-Toolcrib-Session": who} if who else {}
        headers = {**bearer, **named}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=mode) as client,
        ):
            return await client.call_tool(tool, arguments)

    async with served(create_app(Toolbox(workspace=tmp_path))) as base:
        written = {"path": "note.txt", "content": "one"}
        assert not (await send(base, "write_file", "ann", **written)).is_error
        for other in ("bob", "Ann", "ann" * 40, ""):
            assert (await send(base, "undo_changes", other)).is_error, other
            assert file.exists()
        assert not (await send(base, "undo_changes", "ann")).is_error, "it goes on by its name"
        assert not file.exists()


@pytest.mark.parametrize("mode", [LEGACY, MODERN])
async def test_the_bearer_token(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLCRIB_TOKEN", "s3cret")
    async with served(create_app(Toolbox(tools=TOOLS))) as base:
        async with httpx2.AsyncClient(base_url=base) as stranger:
            for given in (None, "Bearer", "Bearer wrong", "Basic s3cret", "s3cret"):
                header = {"Authorization": given} if given else {}
                for path in ("/mcp", "/tools/echo"):
                    answer = await stranger.post(path, json={}, headers=header)
                    assert answer.status_code == 401
                    assert answer.headers["www-authenticate"] == "Bearer"
        headers = {"Authorization": "Bearer s3cret"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(f"{base}/mcp", http_client=http), mode=mode) as client,
        ):
            assert text_of(await client.call_tool("echo", {"text": "hello"})) == "hello"
