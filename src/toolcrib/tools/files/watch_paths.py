"""`watch_paths`: what changes in files and folders."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, Seconds, tool
from toolcrib.files.paths import Workspace, WorkspacePath
from toolcrib.files.watches import MAX_EVENTS, PathWatch, PathWatches, WatchEvent
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted, printable
from toolcrib.tools.files.argument_adapters import adapt_watch

MAX_LISTED_EVENTS = 10
SETTLE_SECONDS = 0.5
"""In which a change of just now is noticed."""
POLL_SECONDS = 0.1
Action = Literal["start", "read", "stop", "list"]


@tool(
    group="files",
    rights=READ,
    keywords=("monitor", "changes", "notify", "events", "observe"),
    aliases=("watch_path",),
    argument_aliases={"directory": "path", "file": "path", "file_path": "path", "watch_id": "id"},
    argument_adapter=adapt_watch,
)
async def watch_paths(
    action: Action = "list",
    path: Annotated[WorkspacePath | None, Param("File or folder.")] = None,
    id: Annotated[str, Param("Of a watch, for read and stop.")] = "",  # noqa: A002 - as callers say
    recursive: Annotated[bool, Param("With what is in its folders.")] = True,
    wait: Annotated[Seconds, Param("For read: seconds to wait for a change.", maximum=40)] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Watch files or folders and read what changed since the last look.

    A watch ends with the server. Git's own folder and protected names are not told.
    """
    watches = ctx.use(PathWatches)
    session = ctx.session.id
    if action == "list":
        if path is not None:
            await in_thread(lambda _: path.open().close(), ctx.deadline)
        running = watches.of(session)
        return _listed([w for w in running if path is None or w.path == path])
    if action == "start":
        if ctx.session.single:
            raise Unavailable("A watch needs a server that runs.", hint="Use it over MCP or HTTP.")
        place = path or ctx.use(Workspace).start(ctx.session.directory)
        started = await in_thread(
            lambda _: watches.start(place, session, recursive=recursive), ctx.deadline
        )
        return Result(f"Watching {place.display}; id {started.id}", _as_json(started))
    if path is not None and id:
        raise BadInput("path and id are both there.", hint="Send one of them.")
    watch = watches.get(path.display if path is not None else id, session)
    if action == "stop":
        await in_thread(lambda _: watches.stop(watch), ctx.deadline)
        return Result(f"Stopped {watch.id}: {watch.path.display}", _as_json(watch))
    return _read(watch, *(await _fresh(watch, ctx.remaining(max(wait, SETTLE_SECONDS)))))


async def _fresh(watch: PathWatch, wait: float) -> tuple[list[WatchEvent], int]:
    until = time.monotonic() + wait
    while watch.count == watch.read and not watch.ended and time.monotonic() < until:  # noqa: ASYNC110 - a thread tells
        await asyncio.sleep(POLL_SECONDS)
    return watch.unread()


def _read(watch: PathWatch, events: list[WatchEvent], lost: int) -> Result:
    listed = events[-MAX_LISTED_EVENTS:]
    total = len(events) + lost
    head = f"{watch.path.display}: {counted(total, 'change')}"
    if len(listed) < total:
        head += f"; the last {len(listed)} of them"
    if watch.ended:
        head += f"; the watch ended: {watch.ended}"
    lines = [f"{_clock(e.when)} {e.change} {printable(e.path)}" for e in listed]
    data = _as_json(watch) | {
        "events": [{"change": e.change, "path": e.path, "when": e.when} for e in listed],
        "total": total,
        "kept": MAX_EVENTS,
    }
    return Result("\n".join((head, *lines)), data)


def _listed(running: list[PathWatch]) -> Result:
    lines = [
        f"{w.id}: {w.path.display}, {counted(w.count, 'change')}"
        + (f", ended: {w.ended}" if w.ended else "")
        for w in running
    ]
    text = "\n".join(lines) or "No watch runs."
    return Result(text, {"watches": [_as_json(watch) for watch in running]})


def _as_json(watch: PathWatch) -> dict[str, Any]:
    return {
        "id": watch.id,
        "path": watch.path.display,
        "changes": watch.count,
        "ended": watch.ended,
    }


def _clock(when: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(when))
