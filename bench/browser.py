"""The browser tools against @playwright/mcp: sizes, tokens of a task, times; in one run, in turns.

    npm install --prefix /tmp/peer @playwright/mcp
    python bench/browser.py --peer /tmp/peer/node_modules/@playwright/mcp/cli.js [--rounds 9]

Both are servers over stdio with the same Chromium and the same client; ours goes through the
guard. The peer's replies link to snapshots in files: a reply is counted with its file, as it was
before files ("inline"), and once more with a file only where the next step needs a ref of it
("needed"). Tokens are by o200k. Times are medians, ours over the peer's.
"""

# ruff: noqa: E402 - the path is set before what is imported by it

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path[0] = str(Path(__file__).parents[1])  # for the apps of the tests; bench/mcp.py is not mcp

import bpe_openai
import tomli_w
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.servers.web_app import web_app

ENCODING = bpe_openai.get_encoding("o200k_base")
LINK = re.compile(r"\[Snapshot\]\(([^)]+\.yml)\)")


class Server:
    """One of the two, with the folder of its files."""

    def __init__(self, client: Client, folder: Path) -> None:
        self.client = client
        self.folder = folder

    async def call(self, name: str, **arguments: Any) -> str:
        """The text of a reply that is no error."""
        result = await self.client.call_tool(name, arguments)
        text = "\n".join(part.text for part in result.content if part.type == "text")
        assert not result.is_error, f"{name} {arguments}: {text}"
        return text

    def file(self, reply: str) -> str:
        """The snapshot that a reply links to."""
        found = LINK.search(reply)
        return (self.folder / found[1]).read_text() if found else ""


@asynccontextmanager
async def ours(url: str) -> AsyncIterator[Server]:
    folder = Path(tempfile.mkdtemp())
    hosts = [urlsplit(url).netloc]
    rule = {"action": "allow", "group": "browser"}
    settings = {
        "web": {"fetch": {"allow_hosts": hosts}},
        "egress": {"allow_hosts": hosts},
        "store": {"url": "sqlite://"},
        "workspace": {"roots": [str(folder)]},
        "policy": {"rules": [rule]},
    }
    config = folder / "config.toml"
    config.write_text(tomli_w.dumps(settings))
    arguments = ["-m", "toolcrib", "mcp", "--config", str(config), "--profile", "browser"]
    async with _serving(sys.executable, arguments, folder) as server:
        yield server


@asynccontextmanager
async def theirs(cli: str, browser: str) -> AsyncIterator[Server]:
    folder = Path(tempfile.mkdtemp())
    arguments = [cli, "--headless", "--isolated", "--executable-path", browser]
    arguments += ["--no-sandbox"] if os.geteuid() == 0 else []
    async with _serving("node", [*arguments, "--output-dir", str(folder)], folder) as server:
        yield server


@asynccontextmanager
async def _serving(command: str, arguments: list[str], folder: Path) -> AsyncIterator[Server]:
    parameters = StdioServerParameters(
        command=command, args=arguments, cwd=str(folder), env=dict(os.environ)
    )
    with Path(os.devnull).open("w") as quiet:
        async with Client(stdio_client(parameters, errlog=quiet)) as client:
            await client.list_tools()
            yield Server(client, folder)


def tokens(text: str) -> int:
    return len(ENCODING.encode(text))


STEPS: list[tuple[str, str, str]] = [
    ("open", "", "/"),
    ("type", "Name", "Ann"),
    ("check", "Agree", ""),
    ("select", "Colour", "blue"),
    ("type", "Notes", "two words"),
    ("click", "Send", ""),
    ("open", "", "/tasks"),
    ("type", "New task", "buy milk"),
    ("click", "Add", ""),
    ("click", "About", ""),
]
"""A task of ten steps, one a call: a form, then an app whose pages are made by scripts."""


async def our_task(server: Server, url: str) -> int:
    total = 0
    for action, target, value in STEPS:
        if action == "open":
            reply = await server.call("browser_open", url=f"{url}{value}")
        else:
            step = {"action": action, "target": target, "value": value}
            step = {name: text for name, text in step.items() if text}
            reply = await server.call("browser_act", actions=[step])
        total += tokens(reply)
    return total


async def their_task(server: Server, url: str) -> tuple[int, int]:
    """Tokens with each snapshot in its reply, and with those alone that a step needs."""
    inline = needed = 0
    displayed, page = "", ""
    for action, target, value in STEPS:
        if action == "open":
            reply = await server.call("browser_navigate", url=f"{url}{value}")
        else:
            if displayed != page:  # the ref is of a snapshot that was not read yet
                needed += tokens(page)
                displayed = page
            ref = _ref(page, target)
            if action == "type":
                reply = await server.call("browser_type", element=target, target=ref, text=value)
            elif action == "select":
                reply = await server.call(
                    "browser_select_option", element=target, target=ref, values=[value]
                )
            else:
                reply = await server.call("browser_click", element=target, target=ref)
        inline += tokens(reply) + tokens(server.file(reply))
        needed += tokens(reply)
        fresh = server.file(reply) or page
        if action == "open" or _refs(fresh) != _refs(page):
            page = fresh
        else:
            displayed = page = fresh  # the refs that were read still hold
    return inline, needed + tokens(page)  # the last page is what the task was for


def _ref(page: str, name: str) -> str:
    found = re.search(rf'"{re.escape(name)}"[^\n]*\[ref=(\w+)\]', page)
    assert found, f"{name} in\n{page}"
    return found[1]


def _refs(page: str) -> set[str]:
    return set(re.findall(r"\[ref=(\w+)\]", page))


async def timed(call: Any) -> float:
    start = time.perf_counter()
    await call
    return time.perf_counter() - start


async def warm(our: Server, their: Server, url: str, rounds: int) -> None:
    for path in ("/", "/list"):
        times: tuple[list[float], list[float]] = ([], [])
        for turn in range(rounds + 1):
            mine = await timed(our.call("browser_open", url=f"{url}{path}?{turn}"))
            peers = await timed(their.call("browser_navigate", url=f"{url}{path}?{turn}"))
            if turn:
                times[0].append(mine)
                times[1].append(peers)
        _show(f"warm navigate + snapshot, {path}", times)


async def first_page(cli: str, browser: str, url: str, rounds: int) -> None:
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        async with ours(url) as server:
            times[0].append(await timed(server.call("browser_open", url=url)))
        async with theirs(cli, browser) as server:
            times[1].append(await timed(server.call("browser_navigate", url=url)))
    _show("first page after launch", times)


def _show(what: str, times: tuple[list[float], list[float]]) -> None:
    mine, peers = map(statistics.median, times)
    print(f"{what}: {mine:.3f} s, peer {peers:.3f} s, {mine / peers:.2f}x")


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", required=True)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    with web_app() as app:
        async with ours(app.url) as our, theirs(given.peer, given.browser) as their:
            mine = await our.call("browser_open", url=f"{app.url}/list")
            await their.call("browser_navigate", url=f"{app.url}/list")
            peers = await their.call("browser_snapshot")
            peers += their.file(peers)
            print(
                f"300 links and 300 buttons: {len(mine):,} characters ({tokens(mine):,} tokens), "
                f"peer {len(peers):,} ({tokens(peers):,})"
            )
            mine_task = await our_task(our, app.url)
            inline, needed = await their_task(their, app.url)
            print(
                f"10 steps: {mine_task:,} tokens, peer inline {inline:,} "
                f"({mine_task / inline:.2f}x), needed {needed:,} ({mine_task / needed:.2f}x)"
            )
            await warm(our, their, app.url, given.rounds)
        await first_page(given.peer, given.browser, app.url, max(3, given.rounds // 2))


if __name__ == "__main__":
    asyncio.run(main())
