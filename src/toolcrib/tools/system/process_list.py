"""`process_list`: what runs on this machine."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.state.redaction import HIDDEN, redact_text
from toolcrib.system.machine import ProcessInfo, processes
from toolcrib.system.threads import in_thread
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import size_of

COMMAND_CHARS = 120
MAX_COMMAND_CHARS = 2_000


@tool(
    group="system",
    rights=READ,
    keywords=("ps", "top", "htop", "tasklist", "running programs", "pid", "cpu hog"),
    aliases=("list_system_processes", "ps", "top"),
    argument_aliases={"name": "filter", "query": "filter", "sort_by": "sort"},
)
async def process_list(
    filter: Annotated[str, Param("Part of name, command or user.")] = "",  # noqa: A002 - as elsewhere
    sort: Literal["cpu", "memory", "started"] = "cpu",
    limit: Annotated[Count, Param(maximum=200, plain=True)] = 20,
    *,
    ctx: Ctx,
) -> Result:
    """List the running programs of this machine, the busiest first.

    Secrets in their commands are hidden. Jobs of toolcrib itself are in list_jobs.
    """
    every = await in_thread(lambda _: processes(), ctx.deadline)
    wanted = filter.casefold().strip()
    found = [one for one in every if _fits(one, wanted)]
    keys = {"cpu": lambda p: p.cpu, "memory": lambda p: p.memory, "started": lambda p: p.started}
    found.sort(key=keys[sort], reverse=True)
    listed = [(one, _command(one)) for one in found[:limit]]
    lines = [
        f"{len(found):,} of {len(every):,} processes" if wanted else f"{len(every):,} processes"
    ]
    if len(found) > limit:
        lines[0] += f", {limit} shown (by {sort})"
    for one, command in listed:
        use = f"{one.cpu:g} % {size_of(one.memory)}"
        text = _whole_marks(one_line(command, COMMAND_CHARS))
        lines.append(f"{one.pid} {one.user or '?'} {use} {text}")
    data = [
        {
            "pid": one.pid,
            "name": one.name,
            "user": one.user,
            "status": one.status,
            "cpu_percent": one.cpu,
            "memory": one.memory,
            "started": datetime.fromtimestamp(one.started, UTC).isoformat(timespec="seconds"),
            "command": command,
        }
        for one, command in listed
    ]
    return Result("\n".join(lines), {"processes": data, "found": len(found)})


def _fits(one: ProcessInfo, wanted: str) -> bool:
    if not wanted or wanted == str(one.pid):
        return True
    return any(wanted in part.casefold() for part in (one.name, one.user, " ".join(one.command)))


def _whole_marks(cut: str) -> str:
    """A command that was cut within the mark of a hidden secret, with the mark whole."""
    start = cut.rfind(HIDDEN[0])
    partial = start >= 0 and HIDDEN.startswith(cut[start:])
    return cut[:start] + HIDDEN if partial else cut


def _command(one: ProcessInfo) -> str:
    words = " ".join(one.command)[:MAX_COMMAND_CHARS].strip()
    return redact_text(words) if words else f"[{one.name}]"
