"""A browser that somebody runs, and one like it that knows no proxies for its contexts."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tests.conditions import until
from toolcrib.browser.program import own_sandbox

MAX_MESSAGE_BYTES = 100_000_000


@asynccontextmanager
async def running_browser(program: str) -> AsyncIterator[str]:
    """The address of a browser that listens for programs, as `browser.cdp_url` takes it."""
    with tempfile.TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as profile:
        arguments = [] if own_sandbox() else ["--no-sandbox"]
        process = await asyncio.create_subprocess_exec(
            program,
            "--headless",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            "--no-first-run",
            *arguments,
            "about:blank",
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        port = Path(profile) / "DevToolsActivePort"
        try:
            await until(lambda: port.is_file() and len(port.read_text().split()) == 2)
            yield f"http://127.0.0.1:{port.read_text().split()[0]}"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            await process.wait()


def open_pages(url: str) -> list[str]:
    """What stands in the tabs of that browser, in all its contexts."""
    with urlopen(f"{url}/json/list") as answer:
        return [each["url"] for each in json.load(answer) if each["type"] == "page"]


@asynccontextmanager
async def without_proxies(url: str) -> AsyncIterator[str]:
    """The same browser, but what is said of proxies does not reach it."""
    with urlopen(f"{url}/json/version") as answer:
        real = json.load(answer)["webSocketDebuggerUrl"]

    async def relay(client: ServerConnection) -> None:
        async with connect(real, max_size=MAX_MESSAGE_BYTES, compression=None) as browser:

            async def up() -> None:
                async for message in client:
                    await browser.send(_without_proxy(str(message)))

            async def down() -> None:
                async for message in browser:
                    await client.send(message)

            tasks = [asyncio.ensure_future(each()) for each in (up, down)]
            with suppress(ConnectionClosed):
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async with serve(relay, "127.0.0.1", 0, max_size=MAX_MESSAGE_BYTES) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}/"


def _without_proxy(message: str) -> str:
    if "proxyServer" not in message:
        return message
    request: dict[str, Any] = json.loads(message)
    for name in ("proxyServer", "proxyBypassList"):
        request.get("params", {}).pop(name, None)
    return json.dumps(request)
