"""Another process on the same store: `python state_process.py ACTION …`.

The store is the one that `TOOLCRIB_DATA` names. Each action prints one line a step, so
that a test can follow it and end it at any point.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from toolcrib.core.config import Config, data_folder
from toolcrib.core.context import Services
from toolcrib.core.errors import NotFound
from toolcrib.core.result import Result
from toolcrib.execution.jobs import JobHandle, Jobs
from toolcrib.net.cache import Cache
from toolcrib.net.egress.client import Egress
from toolcrib.retrieval.chunks import TextChunk
from toolcrib.retrieval.embedders import configured_embedder
from toolcrib.retrieval.entries import IndexEntry
from toolcrib.retrieval.index import Index
from toolcrib.retrieval.indexes import Indexes
from toolcrib.state.approvals import Approvals
from toolcrib.state.history import History, HistoryEntry
from toolcrib.state.sessions import Sessions


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def entry(name: str) -> HistoryEntry:
    return HistoryEntry(name, time.time(), "mcp", "client", "s", "echo", "{}", "ok", 1.0)


async def history(services: Services, prefix: str, count: str) -> None:
    """Record calls; each is said once it is acknowledged."""
    keeper = services.use(History)
    for number in range(int(count)):
        await keeper.record(entry(f"{prefix}-{number}"))
        say(keeper.warning or f"{prefix}-{number}")


async def retrieval(services: Services, prefix: str, count: str) -> None:
    """Put entries of three chunks into one index; each is said once it is acknowledged."""
    index = services.use(Indexes).index("shared")
    for number in range(int(count)):
        chunks = [TextChunk(f"windmill {prefix} {number} {part}") for part in range(3)]
        await index.put([IndexEntry(f"{prefix}-{number}", chunks)])
        say(f"{prefix}-{number}")


async def embedding(services: Services, origin: str) -> None:
    """Have the vectors of an index made by a server; how many there are is said batch by batch."""
    wanted = {"use": "server", "base_url": f"{origin}/v1", "model": "words"}
    config = Config.load({"embeddings": wanted})
    embedder = configured_embedder(config, services.use(Egress))
    index = Index(data_folder() / "embedded.db", embedder)

    async def tell(done: int) -> None:
        say(done)

    await index.embed_missing(tell)
    await index.close()


async def gated(services: Services, prefix: str) -> None:
    """Record one call for each line of input."""
    keeper = services.use(History)
    for number, _ in enumerate(sys.stdin):
        await keeper.record(entry(f"{prefix}-{number}"))
        say(keeper.warning or f"{prefix}-{number}")


async def full(services: Services) -> None:
    """Record with a disk that is full, then with room again."""
    keeper = services.use(History)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    await keeper.record(entry("before"))
    say(keeper.warning or "written")
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    for number in range(200):
        await keeper.record(entry(f"full-{number}"))
    say(keeper.warning or "written")
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    deadline = time.monotonic() + 15
    while keeper.warning and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    say(keeper.warning or "written")
    say(len(await keeper.query(limit=1000)))


async def fetch(services: Services, log: str, seconds: str) -> None:
    """Fetch one value; making it leaves a line in the log."""

    async def make() -> dict[str, int]:
        with Path(log).open("a") as file:
            file.write(f"{os.getpid()}\n")
        say("making")
        await asyncio.sleep(float(seconds))
        return {"made_by": os.getpid()}

    found = await services.use(Cache).fetch("page", "the key", make, ttl=60)
    say("hit" if found.hit else "made", found.value["made_by"])


async def job(services: Services, mark: str) -> None:
    """Run a job until it is stopped; its clean-up leaves a file."""

    async def work(handle: JobHandle) -> Result:
        handle.write("first line\n")
        try:
            await asyncio.sleep(3600)
        finally:
            Path(mark).write_text("cleaned")
        return Result()

    jobs = services.use(Jobs)
    name = await jobs.start("command", "sleep", work, "s", "run_command")
    say(name)
    say((await jobs.read(name, "exit", timeout=60)).record.state)


async def grant(services: Services, mark: str, count: str) -> None:
    """Try to use grants; says how many there were."""
    approvals = services.use(Approvals)
    say("ready")
    sys.stdin.readline()
    used = [await approvals.is_granted(mark, "push", "other") for _ in range(int(count))]
    say(sum(used))


async def session(services: Services, name: str) -> None:
    """Note things in a session."""
    sessions = services.use(Sessions)
    state = await sessions.load(name)
    state.taint(untrusted=True)
    state.remember_read("/theirs", "t1")
    state.remember_link("https://theirs.example/")
    await sessions.save(state)
    say("saved")


ACTIONS: dict[str, Callable[..., Awaitable[None]]] = {
    action.__name__: action
    for action in (history, retrieval, embedding, gated, full, fetch, job, grant, session)
}


async def main() -> None:
    services = Services(Config.load())
    try:
        await ACTIONS[sys.argv[1]](services, *sys.argv[2:])
    except NotFound as error:
        say(error.message)
    finally:
        await services.close()


if __name__ == "__main__":
    asyncio.run(main())
