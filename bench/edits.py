"""Edits that misquote the file: how many are done right, refused, and written wrongly.

    python -m bench.edits [--every N] [--server FOLDER]

Every case of tests/files/edits/drift.py (or each Nth) is sent as a call of `edit_file`, by
toolcrib through its whole pipeline and by the official filesystem server of npm in the same
run. FOLDER is where `npm install @modelcontextprotocol/server-filesystem` was done; without
it the server is left out. The file on the disk afterwards decides.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path

from tests.files.edits.drift import Case, cases

SERVER = "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
Send = Callable[[Path, Case], Awaitable[None]]
COLUMNS = ("done", "not done", "refused", "wrong")


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--server", type=Path)
    options = parser.parse_args()
    chosen = list(cases())[:: options.every]
    right = sum(case.expected is not None for case in chosen)
    print(f"{len(chosen)} cases, {right} with one right answer, {len(chosen) - right} with none")
    with tempfile.TemporaryDirectory() as name:
        async with AsyncExitStack() as stack:
            folder = Path(name).resolve()
            await run(f"toolcrib {version('toolcrib')}", await ours(stack, folder), folder, chosen)
            if options.server:
                send = await theirs(stack, folder, options.server)
                await run("server-filesystem", send, folder, chosen)


async def ours(stack: AsyncExitStack, folder: Path) -> Send:
    from toolcrib import Toolbox

    box = await stack.enter_async_context(Toolbox(workspace=folder))

    async def send(path: Path, case: Case) -> None:
        await box.call("edit_file", {"path": path.name, "old": case.old, "new": case.new})

    return send


async def theirs(stack: AsyncExitStack, folder: Path, installed: Path) -> Send:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    params = StdioServerParameters(command="node", args=[str(installed / SERVER), str(folder)])
    pipes = await stack.enter_async_context(stdio_client(params))
    session = await stack.enter_async_context(ClientSession(pipes[0], pipes[1]))
    await session.initialize()

    async def send(path: Path, case: Case) -> None:
        edits = [{"oldText": case.old, "newText": case.new}]
        await session.call_tool("edit_file", {"path": str(path), "edits": edits})

    return send


async def run(name: str, send: Send, folder: Path, chosen: list[Case]) -> None:
    results: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    started = time.perf_counter()
    for number, case in enumerate(chosen):
        path = folder / f"{number}-{case.file}"
        path.write_bytes(case.data)
        await send(path, case)
        verdict = judge(case, path.read_bytes())
        results[verdict] += 1
        wrong[case.kind] += verdict == "wrong"
        missed[case.kind] += verdict == "not done"
        path.unlink()
    seconds = time.perf_counter() - started
    counts = ", ".join(f"{results[column]} {column}" for column in COLUMNS)
    print(f"\n{name}: {counts} ({1000 * seconds / len(chosen):.1f} ms a call)")
    wanted = sum(case.expected is not None for case in chosen)
    print(f"  done where one answer is right: {results['done'] / wanted:.1%}")
    for title, counter in (("wrong", wrong), ("not done", missed)):
        displayed = ", ".join(f"{kind} {count}" for kind, count in counter.most_common() if count)
        if displayed:
            print(f"  {title}: {displayed}")


def judge(case: Case, found: bytes) -> str:
    """What a call came to, by the bytes of the file."""
    if found == case.expected:
        return "done"
    if found == case.data:
        return "refused" if case.expected is None else "not done"
    return "wrong"


if __name__ == "__main__":
    asyncio.run(main())
