"""`toolcrib agent`: what agents did, step by step."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import BadInput, NotFound
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.screen import json_text, local_time, table, visible
from toolcrib.text.json_values import json_object

if TYPE_CHECKING:
    from toolcrib.agents.runs import AgentRun, RunEvent
    from toolcrib.core.config import Config

DEFAULT_LIMIT = 20


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("what", choices=("list", "show"), nargs="?", default="list")
    parser.add_argument("id", nargs="?", default="", help="agent or job, for show; else the last")
    parser.add_argument(
        "--limit", type=int, default=DEFAULT_LIMIT, metavar="N", help="how many to list"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")


def run(options: Namespace, flags: Flags) -> int:
    """Print the runs, or the trace of one."""
    if options.limit < 1:
        raise BadInput("--limit must be at least 1.")
    return asyncio.run(_print(options, flags.load()))


async def _print(options: Namespace, config: Config) -> int:
    from toolcrib.agents.runs import AgentRuns
    from toolcrib.core.context import Services

    async with Services(config) as services:
        runs = services.use(AgentRuns)
        recent = await runs.recent(options.limit)
        if options.what == "list":
            _list(recent, as_json=options.json)
            return 0
        wanted = options.id or (recent[0].id if recent else "")
        if not wanted:
            raise NotFound("No agent has run yet.", hint="delegate_task starts one.")
        found = await runs.find(wanted)
        _show(found, await runs.events(found.id), as_json=options.json)
        return 0


def _list(runs: list[AgentRun], *, as_json: bool) -> None:
    if as_json:
        for found in runs:
            print(json_text(_facts(found)))
        return
    rows = [("id", "time", "status", "steps", "calls", "role", "task")]
    rows += [
        (
            r.id,
            local_time(r.started).strftime("%m-%d %H:%M"),
            r.outcome.status.value,
            str(r.outcome.steps),
            str(r.outcome.tool_calls),
            r.role,
            " ".join(r.task.split()),
        )
        for r in runs
    ]
    print("\n".join(table(rows, right=(3, 4))) if runs else "No agents yet.")


def _show(found: AgentRun, events: list[RunEvent], *, as_json: bool) -> None:
    if as_json:
        print(json_text(_facts(found)))
        for event in events:
            record = {"time": event.time, "kind": event.kind, "text": event.text}
            print(json_text(record))
        return
    print(f"agent {found.id}: {found.outcome.status} {found.outcome.reason}".rstrip())
    print(visible(f"role {found.role}, session {found.session}, job {found.job or '-'}"))
    print(visible(f"task {found.task}"))
    for event in events:
        seconds = event.time - found.started
        print(f"\n--- {seconds:.1f} s {event.kind}")
        print(visible(_laid_out(event.text)))


def _laid_out(text: str) -> str:
    value = json_object(text)
    return text if value is None else json.dumps(value, ensure_ascii=False, indent=1)


def _facts(found: AgentRun) -> dict[str, Any]:
    return {
        "id": found.id,
        "session": found.session,
        "job": found.job,
        "role": found.role,
        "task": found.task,
        "started": found.started,
        "ended": found.ended,
        "outcome": found.outcome.to_json(),
    }
