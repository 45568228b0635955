"""Useful calls a second of the HTTP server, with as many clients as it serves well and many more.

    python bench/load.py [seconds]

The server runs in a process of its own. Each client is a conversation that sends one call after
the other, and waits as told after a 429.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import aiohttp

CLIENTS = (16, 200, 16, 200)
FILES = 400
MAX_PAUSE_SECONDS = 5


async def client(session: aiohttp.ClientSession, base: str, number: int, until: float) -> list[int]:
    """Useful calls, refused ones."""
    useful = refused = 0
    headers = {"x-toolcrib-session": f"c{number}"}
    while time.monotonic() < until:
        arguments = {"pattern": f"needle {number % 7}", "limit": 20}
        async with session.post(
            f"{base}/tools/search_files", json=arguments, headers=headers
        ) as answer:
            body = await answer.json()
            if answer.status == 429:
                refused += 1
                await asyncio.sleep(min(int(answer.headers["retry-after"]), MAX_PAUSE_SECONDS))
            elif body.get("error"):
                refused += 1
            else:
                useful += 1
    return [useful, refused]


async def measure(base: str, count: int, seconds: float) -> tuple[float, float, list[int]]:
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=90)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        began = time.monotonic()
        until = began + seconds
        each = await asyncio.gather(*(client(session, base, n, until) for n in range(count)))
    useful, refused = (sum(column) for column in zip(*each, strict=True))
    seconds = time.monotonic() - began  # with the calls that were under way
    return useful / seconds, refused / max(useful + refused, 1), [one[0] for one in each]


async def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "ws"
        tree.mkdir()
        for number in range(FILES):
            (tree / f"f{number}.txt").write_text(f"needle {number % 7}\n" + "some line\n" * 200)
        env = os.environ | {
            "TOOLCRIB_DATA": f"{folder}/state",
            "TOOLCRIB_WORKSPACE__ROOTS": f'["{tree}"]',
            "TOOLCRIB_HTTP__PORT": "0",
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "toolcrib", "serve"),
            env=env,
            cwd=tree,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        try:
            base = ""
            while not base:
                line = (await process.stderr.readline()).decode()
                base = line.partition("MCP ")[2].partition("/mcp")[0]
            await measure(base, 4, 2)
            rates: dict[int, list[float]] = {}
            for count in CLIENTS:
                rate, refused, each = await measure(base, count, seconds)
                rates.setdefault(count, []).append(rate)
                print(
                    f"{count:4} clients: {rate:6.1f} useful calls a second, "
                    f"{refused:5.1%} refused, {min(each)} to {max(each)} a client"
                )
            few, many = (statistics.mean(rates[count]) for count in sorted(rates))
            print(f"many to few: {many / few:.2f}x")
        finally:
            process.terminate()
            await process.wait()


if __name__ == "__main__":
    asyncio.run(main())
