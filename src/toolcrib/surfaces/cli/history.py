"""`toolcrib history`: the calls that were made, newest first."""

from __future__ import annotations

import asyncio
import json
from argparse import ArgumentParser, Namespace
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import BadInput, NotFound, ToolDisabled, UnknownTool
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.screen import json_text, local_time, table, visible
from toolcrib.text.json_values import json_object

if TYPE_CHECKING:
    from toolcrib.core.config import Config
    from toolcrib.state.history import HistoryEntry

DEFAULT_LIMIT = 20


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "--limit", type=int, metavar="N", help=f"how many (default: {DEFAULT_LIMIT})"
    )
    parser.add_argument("--tool", metavar="NAME", help="only calls of this tool")
    parser.add_argument(
        "--outcome", metavar="CODE", help="ok, an error code, or error for all that failed"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON array")
    form.add_argument(
        "--ndjson",
        action="store_true",
        help="print one JSON object a line; without --limit all calls, oldest first",
    )
    form.add_argument("--trace", metavar="ID", help="show one call whole, with its trace")


def run(options: Namespace, flags: Flags) -> int:
    """Print the records."""
    config = flags.load()
    if options.ndjson and options.limit is None:
        asyncio.run(_export(config, options))
        return 0
    entries = asyncio.run(_records(config, options))
    if options.trace is not None:
        _show(_chosen(entries, options.trace))
    elif options.json:
        objects = [_as_object(entry.to_json()) for entry in entries]
        print(json_text(objects, indent=2))
    elif options.ndjson:
        for entry in entries:
            print(json_text(_as_object(entry.to_json())))
    else:
        print("\n".join(_table(entries)) or _none(options))
    return 0


def _none(options: Namespace) -> str:
    if not options.tool and not options.outcome:
        return "No calls yet."
    of = f" of {options.tool}" if options.tool else ""
    outcome = f" with the outcome {options.outcome}" if options.outcome else ""
    return f"No calls{of}{outcome} yet."


async def _records(config: Config, options: Namespace) -> list[HistoryEntry]:
    limit = DEFAULT_LIMIT if options.limit is None else options.limit
    if limit < 1:
        raise BadInput(
            "--limit must be at least 1.", hint=f"Without it, {DEFAULT_LIMIT} are shown."
        )
    found = await _query(config, options, options.tool, limit)
    if found or not options.tool:
        return found
    recorded = await _recorded_name(config, options.tool)
    return found if recorded == options.tool else await _query(config, options, recorded, limit)


async def _query(
    config: Config, options: Namespace, tool: str | None, limit: int
) -> list[HistoryEntry]:
    from toolcrib.core.context import Services
    from toolcrib.state.history import History

    async with Services(config) as services:
        return await services.use(History).query(
            limit=limit,
            tool=tool,
            outcome=options.outcome,
            prefix=(options.trace or "").strip().lower(),
        )


async def _recorded_name(config: Config, name: str) -> str:
    """The name under which calls of a tool are recorded, from that or an alias.

    Raises:
        UnknownTool: there is no such tool.
    """
    from toolcrib.toolbox import Toolbox

    async with Toolbox(config) as box:
        try:
            return box.registry.resolve(name).name
        except ToolDisabled:
            return name
        except UnknownTool as error:
            message = f"{error.message} No call has that name."
            raise UnknownTool(message, hint="toolcrib tools all shows every tool.") from None


async def _export(config: Config, options: Namespace) -> None:
    from toolcrib.core.context import Services
    from toolcrib.state.history import History

    async with Services(config) as services:
        async for line in services.use(History).export(options.tool, options.outcome):
            print(json_text(_as_object(line)))


def _as_object(line: str) -> dict[str, Any]:
    """A record whose arguments are an object too, where they were not cut."""
    record: dict[str, Any] = json.loads(line)
    with suppress(json.JSONDecodeError):
        record["arguments"] = json.loads(record["arguments"])
    return record


def _table(entries: list[HistoryEntry]) -> list[str]:
    rows = [("id", "time", "tool", "outcome", "took", "tokens", "arguments")]
    # As short as they are, all columns together fit into 80.
    rows += [
        (
            entry.id[:6],
            local_time(entry.time).strftime("%m-%d %H:%M"),
            entry.tool[:15],
            entry.outcome[:15],
            _took(entry.ms),
            f"{entry.tokens:,}",
            _brief(entry.arguments),
        )
        for entry in entries
    ]
    return table(rows, right=(4, 5)) if entries else []


def _took(ms: float) -> str:
    if ms < 1000:
        return f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 100_000 else f"{ms / 60_000:.0f} min"


def _brief(arguments: str) -> str:
    values = json_object(arguments)
    if values is None:
        return arguments
    return " ".join(
        f"{name}={v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)}"
        for name, v in values.items()
        if v is not None
    )


def _chosen(entries: list[HistoryEntry], wanted: str) -> HistoryEntry:
    """The one record that was found.

    Raises:
        NotFound: none does.
        BadInput: several do.
    """
    if not entries:
        raise NotFound(
            f"The history has no call {wanted[:40]}.", hint="toolcrib history lists them."
        )
    if len(entries) > 1:
        raise BadInput(f"Several calls start with {wanted[:40]}; give more of the id.")
    return entries[0]


def _show(entry: HistoryEntry) -> None:
    facts = {
        "id": entry.id,
        "time": local_time(entry.time).isoformat(sep=" ", timespec="milliseconds"),
        "caller": " ".join(filter(None, (entry.surface, entry.client))),
        "session": entry.session,
        "tool": entry.tool,
        "arguments": entry.arguments,
        "outcome": entry.outcome,
        "took": f"{entry.ms:,.1f} ms",
        "answer": f"{entry.tokens:,} tokens, {entry.bytes_:,} bytes",
    }
    for name, value in facts.items():
        print(f"{name:<10} {visible(value)}")
    if entry.note:
        print(f"\n{visible(entry.note.rstrip())}")
