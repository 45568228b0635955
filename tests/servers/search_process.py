"""Searches in another process: `python search_process.py SETTINGS COUNT`, settings as JSON.

The same search is sent COUNT times at once; one line says how many worked.
"""

from __future__ import annotations

import asyncio
import json
import sys

from toolcrib.toolbox import Toolbox


async def main(settings: str, count: str) -> None:
    async with Toolbox(config=json.loads(settings)) as box:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        calls = (box.call("web_search", {"query": "q"}) for _ in range(int(count)))
        done = await asyncio.gather(*calls)
    worked = [r for r in done if not r.error]
    codes = sorted({r.error.code for r in done if r.error})
    sys.stdout.write(f"{len(worked)} {','.join(codes)}\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
