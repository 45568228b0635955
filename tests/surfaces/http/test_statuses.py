"""The status of a call over HTTP says what kind of error it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.conditions import until
from tests.servers.asgi import served
from tests.servers.mcp_tools import TOOLS
from tests.servers.mcp_wire import written
from toolcrib.core import errors
from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, tool
from toolcrib.surfaces.http.app import create_app
from toolcrib.toolbox import Toolbox

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type)]
EXPECTED = {
    "bad_input": 422, "unknown_tool": 404, "denied": 403, "needs_approval": 403,
    "tool_disabled": 403, "path_denied": 403, "robots_denied": 403, "blocked_address": 403,
    "not_found": 404, "no_results": 404, "conflict": 409, "timeout": 504, "cancelled": 503,
    "busy": 429, "network": 502, "dns_failure": 502, "connection_failed": 502, "tls_failure": 502,
    "too_many_redirects": 502, "http_status": 502, "rate_limited": 429, "challenge_page": 502,
    "too_large": 413, "unsupported_content": 415, "unavailable": 503, "missing_extra": 503,
    "not_configured": 503, "storage_failure": 500, "config_error": 500, "internal": 500,
}  # fmt: skip


@tool(group="test")
async def fail(code: str, *, ctx: Ctx) -> Result:
    """Fail with the error of this code."""
    del ctx
    kind = errors.error_class(code)
    if kind is errors.MissingExtra:
        raise errors.MissingExtra("nothing", "It")
    raise kind("It failed.", hint="Do something else.", where="here")


@tool(group="test", rights=READ)
async def hold(note: str, *, ctx: Ctx) -> Result:
    """Say that it runs, and run until the file is gone."""
    del ctx
    Path(note).write_text("began\n")
    await until(lambda: not Path(note).exists())
    return Result(text="done")


@asynccontextmanager
async def asking(config: dict[str, Any]) -> AsyncIterator[httpx2.AsyncClient]:
    toolbox = Toolbox(config, tools=[*TOOLS, fail, hold])
    async with (
        served(create_app(toolbox)) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as client,
    ):
        yield client


async def test_the_status_is_that_of_the_kind_and_the_body_is_the_same() -> None:
    codes = {kind.code for kind in KINDS if issubclass(kind, errors.ToolError)} - {"error"}
    assert codes == EXPECTED.keys()
    async with asking({}) as client:
        worked = (await client.post("/tools/echo", json={"text": "x"})).json()
        for code, status in EXPECTED.items():
            answer = await client.post("/tools/fail", json={"code": code})
            assert (code, answer.status_code) == (code, status)
            assert answer.json().keys() == worked.keys()
            assert answer.json()["error"]["code"] == code
            text = await client.post(
                "/tools/fail", json={"code": code}, headers={"Accept": "text/plain"}
            )
            assert (text.status_code, text.headers["content-type"][:10]) == (status, "text/plain")
        assert (await client.post("/tools/crash")).status_code == 500
        nothing = await client.post("/tools/no_such_tool")
        assert (nothing.status_code, nothing.json()["error"]["code"]) == (404, "unknown_tool")
        requested = await client.post("/tools/post", json={"text": "x"})
        assert (requested.status_code, requested.json()["error"]["code"]) == (403, "needs_approval")
        # What is refused before a tool is looked for has the same form.
        refused = await client.post("/tools/echo", content="{}", headers={"Host": "evil.example"})
        assert refused.json().keys() == worked.keys()


async def test_a_path_that_is_none_or_takes_another_method_has_the_same_body() -> None:
    async with asking({}) as client:
        worked = (await client.post("/tools/echo", json={"text": "x"})).json()
        wrong = [
            await client.get("/tools/echo"),
            await client.post("/openapi.json"),
            await client.delete("/health"),
        ]
        for answer in wrong:
            assert (answer.status_code, answer.json().keys()) == (405, worked.keys())
            assert answer.json()["error"]["code"] == "bad_input"
        assert wrong[0].headers["allow"] == "POST"
        assert wrong[0].json()["error"]["hint"].startswith("Send POST;")
        assert wrong[1].json()["error"]["hint"].startswith("Send GET;")
        nothing = await client.get("/no/such/path")
        assert (nothing.status_code, nothing.json().keys()) == (404, worked.keys())
        assert nothing.json()["error"]["code"] == "not_found"


async def test_a_full_queue_says_when_to_come_again(tmp_path: Path) -> None:
    notes = [tmp_path / "first", tmp_path / "second"]
    async with asking({"limits": {"concurrency": 1, "waiting": 1}}) as client:

        def call(note: Path) -> asyncio.Future[httpx2.Response]:
            return asyncio.ensure_future(client.post("/tools/hold", json={"note": str(note)}))

        running = call(notes[0])
        await written(notes[0])
        # One more finds a place to wait; which of the two it is does not matter.
        others = {call(notes[1]), call(notes[1])}
        done, waiting = await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        refused = done.pop().result()
        assert refused.status_code == 429
        assert refused.json()["error"]["code"] == "busy"
        assert int(refused.headers["retry-after"]) >= 1
        assert (await client.get("/health")).status_code == 200
        notes[0].unlink()
        assert (await running).json()["text"] == "done"
        await written(notes[1])
        notes[1].unlink()
        assert (await waiting.pop()).status_code == 200
