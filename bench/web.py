"""Reading the web: pages a second against two peers, and what the cache saves.

    python bench/web.py --peers VENV [--rounds 7]

VENV is an environment with the peers: `pip install mcp-server-fetch duckduckgo-mcp-server`;
one that is not there is left out.
Without it only toolcrib is measured. All are spoken to over MCP stdio by the same client,
with the flags that open loopback addresses and lift limits a minute. A round is 20 pages of
50 KB of 20 hosts (127.0.1.1 to 127.0.1.20), all asked for at once and none of them before.
Rounds take turns; each figure is the median, each ratio the median of the rounds' ratios.
The server is a process of its own. Then, in process: the second page of a long document,
equal calls at once, and a document read to its end.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

HOSTS = [f"127.0.1.{n}" for n in range(1, 21)]
PAGE_BYTES = 50_000
LONG_CHARS = 1_990_000
PAUSE = 0.6
"""Seconds between rounds, so that a host is not asked too soon again."""
AIM = 3.0
CLIENT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
TEXT = (
    "the crib keeps every tool in its place and a brass tag hangs where one was taken so that "
    "whoever looks for it knows at once who has it and when it is due again in the evening"
)
WORDS = TEXT.split()


def page(seed: int) -> str:
    """An article as sites send them: menus, styles, scripts, headings, links, lists, a table."""
    rng = random.Random(seed)

    def sentence() -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(8, 20))).capitalize() + "."

    def paragraph() -> str:
        text = " ".join(sentence() for _ in range(rng.randint(3, 6)))
        return f'<p class="text body">{text} <a href="/x/{rng.random()}">more</a></p>'

    menu = "".join(f'<li><a class="nav-link" href="/m/{n}">Menu {n}</a></li>' for n in range(40))
    style = "<style>" + ".a{margin:0;padding:1px}" * 120 + "</style>"
    script = "<script>" + "window.data=window.data||[];" * 100 + "</script>"
    body = ""
    while len(body) < PAGE_BYTES - 12_000:
        rows = "".join(f"<tr><td>{n}</td><td>{rng.random():.4f}</td></tr>" for n in range(6))
        items = "".join(f"<li>{sentence()}</li>" for _ in range(4))
        body += f"<h2>{sentence()[:40]}</h2>" + "".join(paragraph() for _ in range(5))
        body += f"<ul>{items}</ul><table><tr><th>n</th><th>value</th></tr>{rows}</table>"
    return (
        f"<!doctype html><html lang=en><head><title>Page {seed}</title>{style}{script}</head>"
        f"<body><nav><ul>{menu}</ul></nav><main><article><h1>Page {seed}</h1>{body}</article>"
        f"</main><footer>imprint</footer></body></html>"
    )


def long_text() -> str:
    rng = random.Random(3)
    lines = (" ".join(rng.choices(WORDS, k=12)) + f" {n}.\n\n" for n in range(10**6))
    found, size = [], 0
    while size < LONG_CHARS - 200:
        found.append(next(lines))
        size += len(found[-1])
    return "".join(found)


def serve(port: int) -> None:
    """Every path of every host gives the page of that host; `/long` a long text."""
    pages = [page(n).encode() for n in range(len(HOSTS))]
    text = long_text().encode()
    hits = 0

    class Site(asyncio.Protocol):
        def __init__(self, number: int) -> None:
            self.number = number

        def connection_made(self, transport) -> None:
            self.transport = transport
            self.seen = b""

        def data_received(self, data: bytes) -> None:
            nonlocal hits
            self.seen += data
            while b"\r\n\r\n" in self.seen:
                head, _, self.seen = self.seen.partition(b"\r\n\r\n")
                path = head.split(b" ", 2)[1]
                kind, body = b"text/html; charset=utf-8", pages[self.number]
                if path.startswith(b"/hits"):
                    kind, body = b"text/plain", str(hits).encode()
                elif path.startswith(b"/robots.txt"):
                    kind, body = b"text/plain", b""
                else:
                    hits += 1
                    if path.startswith(b"/long"):
                        kind, body = b"text/plain; charset=utf-8", text
                answer = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
                self.transport.write(answer % (kind, len(body)) + body)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        for number, host in enumerate(HOSTS):
            await loop.create_server(lambda n=number: Site(n), host, port)
        print("ready", flush=True)
        await asyncio.Event().wait()

    asyncio.run(run())


@contextlib.contextmanager
def serving() -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind((HOSTS[0], 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", str(port)], stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield port
    finally:
        process.terminate()
        process.wait()


def hits(port: int) -> int:
    """How many pages the server gave out so far."""
    with socket.create_connection((HOSTS[0], port)) as line:
        line.sendall(b"GET /hits HTTP/1.1\r\nHost: x\r\n\r\n")
        return int(line.recv(1000).rpartition(b"\r\n\r\n")[2])


class Peer:
    """An MCP server over plain pipes, which reads pages with one of its tools."""

    def __init__(self, command: list[str], tool: str, least: int) -> None:
        self.tool, self.least = tool, least
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.id = 0
        self._send("initialize", CLIENT)
        self._answers(1)
        self._send("notifications/initialized", {}, answered=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def _send(self, method: str, params: dict[str, Any], *, answered: bool = True) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if answered:
            self.id += 1
            message["id"] = self.id
        self.process.stdin.write(f"{json.dumps(message)}\n".encode())
        self.process.stdin.flush()

    def _answers(self, count: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while len(found) < count:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError(self.tool)
            message = json.loads(line)
            if "result" in message or "error" in message:
                found.append(message)
        return found

    def read(self, urls: list[str]) -> float:
        """Pages a second for all of them at once."""
        began = time.perf_counter()
        for url in urls:
            self._send("tools/call", {"name": self.tool, "arguments": {"url": url}})
        answers = self._answers(len(urls))
        took = time.perf_counter() - began
        for answer in answers:
            result = answer.get("result", {})
            text = "".join(b.get("text", "") for b in result.get("content", []))
            if result.get("isError") or len(text) < self.least:
                raise RuntimeError(f"{self.tool}: {json.dumps(answer)[:300]}")
        return len(urls) / took


def commands(peers: Path | None) -> dict[str, tuple[list[str], str]]:
    found = {"toolcrib": ([sys.executable, "-m", "toolcrib", "mcp"], "fetch_url")}
    if peers is not None:
        folder = peers / "bin"
        found["mcp-server-fetch"] = (
            [str(folder / "mcp-server-fetch"), "--allow-private-ips", "--ignore-robots-txt"],
            "fetch",
        )
        found["duckduckgo-mcp-server"] = (
            [
                *(str(folder / "duckduckgo-mcp-server"), "--allow-private-urls"),
                *("--fetch-rpm", "1000000", "--fetch-host-rpm", "1000000"),
            ],
            "fetch_content",
        )
    return {name: peer for name, peer in found.items() if Path(peer[0][0]).exists()}


def throughput(port: int, peers: Path | None, rounds: int) -> None:
    rates: dict[str, list[float]] = {}
    with contextlib.ExitStack() as stack:
        servers = {
            name: stack.enter_context(Peer(command, tool, 2000))
            for name, (command, tool) in commands(peers).items()
        }
        for number in range(rounds + 1):
            for name, server in servers.items():
                urls = [f"http://{host}:{port}/{name}/{number}.html" for host in HOSTS]
                rate = server.read(urls)
                if number:  # the first round warms up
                    rates.setdefault(name, []).append(rate)
            time.sleep(PAUSE)
    print(f"{len(HOSTS)} pages of {len(HOSTS)} hosts at once, {PAGE_BYTES // 1000} KB each:")
    own = rates["toolcrib"]
    for name, values in rates.items():
        ratios = [mine / theirs for mine, theirs in zip(own, values, strict=True)]
        ratio = statistics.median(ratios)
        verdict = "" if name == "toolcrib" else f"aim >= {AIM}: {met(ratio >= AIM)}"
        spread = f"({min(values):.0f}-{max(values):.0f})"
        print(f"  {name:24} {statistics.median(values):7.1f} pages/s {spread:12}", end="")
        print(f" toolcrib is {ratio:5.2f}x  {verdict}" if verdict else "")


def met(yes: bool) -> str:
    return "met" if yes else "NOT met"


async def in_process(port: int) -> None:
    from toolcrib import Toolbox

    base = f"http://{HOSTS[0]}:{port}"
    async with Toolbox({"results": {"ceiling": 25_000}}) as box:

        async def fetch(**arguments: Any) -> dict[str, Any]:
            result = await box.call("fetch_url", arguments)
            if result.error is not None:
                raise RuntimeError(result.error.render())
            return {"page": result.data["pages"][0], "next": result.next}

        before = hits(port)
        await asyncio.gather(*(fetch(url=f"{base}/same.html") for _ in range(50)))
        upstream = hits(port) - before
        print(f"50 identical calls at once: {upstream} upstream (aim 1: {met(upstream == 1)})")

        before, began = hits(port), time.perf_counter()
        answer = await fetch(url=f"{base}/long.txt", max_tokens=25_000)
        length, at, calls = answer["page"]["length"], answer["page"]["end"], 1
        whole = answer["page"]["offset"] == 0
        while answer["next"] is not None:
            answer = await fetch(**answer["next"].arguments)
            whole = whole and answer["page"]["offset"] == at
            at, calls = answer["page"]["end"], calls + 1
        whole = whole and at == length
        downloads, took = hits(port) - before, time.perf_counter() - began
        print(
            f"{length:,} characters to the end: {calls} calls, {took:.1f} s, {downloads} ", end=""
        )
        print(f"downloads, each character once: {whole} ({met(whole and downloads == 1)})")

        times = []
        for n in range(60):
            began = time.perf_counter()
            await fetch(url=f"{base}/long.txt", offset=16_000 + 20_000 * n)
            times.append((time.perf_counter() - began) * 1000)
        middle = statistics.median(times)
        worst = sorted(times)[-3]
        print(f"cached second page of it: {middle:.2f} ms, 95th percentile {worst:.2f} ms ", end="")
        print(f"(aim <= 5: {met(middle <= 5)})")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--serve", type=int)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    with tempfile.TemporaryDirectory() as state, serving() as port:
        os.environ["TOOLCRIB_DATA"] = state
        os.environ["TOOLCRIB_CONFIG"] = f"{state}/config.toml"
        os.environ["TOOLCRIB_WEB__FETCH__ALLOW_NETWORKS"] = "127.0.1.0/24"
        throughput(port, options.peers, options.rounds)
        asyncio.run(in_process(port))


if __name__ == "__main__":
    main()
