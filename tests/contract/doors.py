"""Every way into the pipeline, each as one function that sends a call and tells the outcome."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import tomli_w
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.servers.asgi import served
from toolcrib import Toolbox
from toolcrib.core.config import Config
from toolcrib.surfaces.http.app import create_app

MODERN = "2026-07-28"


@dataclass(frozen=True)
class Outcome:
    """What a surface tells of a result. `text` is what a model reads; None: not told here."""

    text: str
    code: str | None
    truncated: bool
    next: tuple[str, tuple[str, ...]] | None
    data: Any = None


Send = Callable[[str, Mapping[str, Any]], Awaitable[Outcome]]


def of_json(result: dict[str, Any]) -> Outcome:
    error, following = result["error"], result["next"]
    parts = [result["text"]] if result["text"] else []
    if error:
        parts.append(f"Error ({error['code']}): {error['message']}")
        parts += [error["hint"]] if error["hint"] else []
    if following:
        arguments = json.dumps(following["arguments"], ensure_ascii=False)
        parts.append(f"To go on: {following['tool']} {arguments}")
    return Outcome(
        "\n".join(parts),
        error and error["code"],
        result["truncated"],
        _next(following),
        result["data"],
    )


def _next(following: dict[str, Any] | None) -> tuple[str, tuple[str, ...]] | None:
    return following and (following["tool"], tuple(sorted(following["arguments"])))


def of_mcp(result: Any) -> Outcome:
    meta = result.meta or {}
    error = meta.get("toolcrib/error")
    assert result.is_error is (error is not None)
    return Outcome(
        "".join(block.text for block in result.content if block.type == "text"),
        error and error["code"],
        meta.get("toolcrib/truncated", False),
        _next(meta.get("toolcrib/next")),
    )


@asynccontextmanager
async def python(config: dict[str, Any]) -> AsyncIterator[Send]:
    async with Toolbox(config) as box:

        async def send(name: str, arguments: Mapping[str, Any]) -> Outcome:
            return of_json((await box.call(name, arguments)).to_json())

        yield send


@asynccontextmanager
async def command_line(config: dict[str, Any], folder: Path) -> AsyncIterator[Send]:
    file = write(config, folder / "cli.toml")

    async def send(name: str, arguments: Mapping[str, Any]) -> Outcome:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "toolcrib", "call", name, "--config", str(file)),
            *("--profile", "all", "--json", "--json-args", json.dumps(arguments)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
        return of_json(json.loads(out))

    yield send


@asynccontextmanager
async def stdio(config: dict[str, Any], folder: Path, mode: str) -> AsyncIterator[Send]:
    file = write(config, folder / f"stdio-{mode}.toml")
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "toolcrib", "mcp", "--config", str(file), "--profile", "all"],
        env=dict(os.environ),
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield _through(client)


@asynccontextmanager
async def http(config: dict[str, Any], mode: str) -> AsyncIterator[Send]:
    async with serving(config) as base, Client(f"{base}/mcp", mode=mode) as client:
        yield _through(client)


def _through(client: Client) -> Send:
    async def send(name: str, arguments: Mapping[str, Any]) -> Outcome:
        return of_mcp(await client.call_tool(name, dict(arguments)))

    return send


@asynccontextmanager
async def openapi(config: dict[str, Any]) -> AsyncIterator[Send]:
    async with serving(config) as base, httpx2.AsyncClient(timeout=30) as client:

        async def send(name: str, arguments: Mapping[str, Any]) -> Outcome:
            response = await client.post(f"{base}/tools/{name}?data", json=dict(arguments))
            reported = of_json(response.json())
            assert response.is_error is (reported.code is not None)
            return reported

        yield send


@asynccontextmanager
async def serving(config: dict[str, Any]) -> AsyncIterator[str]:
    """The real HTTP server on a free port of loopback."""
    tree = Config.load({**config, "http": {"port": 0}})
    async with served(create_app(Toolbox(tree, profile=tree.profile))) as url:
        yield url


def write(config: dict[str, Any], file: Path) -> Path:
    file.write_text(tomli_w.dumps(config))
    return file


@asynccontextmanager
async def every_door(config: dict[str, Any], folder: Path) -> AsyncIterator[dict[str, Send]]:
    """All of them at once, on one store."""
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        yield {
            "python": await enter(python(config)),
            "cli": await enter(command_line(config, folder)),
            "stdio, handshake": await enter(stdio(config, folder, "legacy")),
            "stdio, 2026-07-28": await enter(stdio(config, folder, MODERN)),
            "http, handshake": await enter(http(config, "legacy")),
            "http, 2026-07-28": await enter(http(config, MODERN)),
            "openapi": await enter(openapi(config)),
        }
