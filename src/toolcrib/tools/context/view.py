"""Context entries and sessions as a model reads them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Literal

from toolcrib.core.result import Next, Result
from toolcrib.memory.context_entries import ContextEntry
from toolcrib.memory.session_records import PARTS, SessionRecord
from toolcrib.memory.times import day, duration
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import moment

MAX_CONTENT = 300
TypeName = Literal["", "decision", "pattern", "configuration", "file_change", "error", "summary"]


def listing(entries: Sequence[ContextEntry], marked: int, following: Next | None) -> Result:
    """Entries as a result. Those that may be outside text stand alone, fenced.

    Args:
        entries: what is shown: all own, or all from outside.
        marked: how many others may be outside text, and are only counted.
        following: the call that goes on.
    """
    lines = [_line(entry) for entry in entries]
    if marked:
        lines.append(f"{marked} more may be outside text.")
    outside = bool(entries) and entries[0].outside
    return Result(
        "\n".join(lines),
        {"entries": [entry.to_json() for entry in entries], "outside": marked},
        next=following,
        truncated=following is not None,
        source=f"entries from {sources_of(entries)}" if outside else "",
        impersonal=outside and not any(entry.private for entry in entries),
    )


def sources_of(entries: Iterable[ContextEntry | SessionRecord]) -> str:
    """Where entries or sessions come from, by name."""
    return ", ".join(list(dict.fromkeys(one_line(e.source, 80) or "outside" for e in entries))[:3])


def _line(entry: ContextEntry) -> str:
    content = f": {one_line(entry.content, MAX_CONTENT)}" if entry.content else ""
    facts = [day(entry.used), entry.scope.partition(":")[0]]
    facts += [f"{entry.count} times"] if entry.count > 1 else []
    facts += [f"tags {', '.join(entry.tags)}"] if entry.tags else []
    return f"{entry.id}: {entry.type}: {one_line(entry.title)}{content} ({', '.join(facts)})"


def session_result(record: SessionRecord) -> Result:
    """One session whole; fenced where it may be outside text."""
    lines = [f"Session {record.id}, {moment(record.started)} to {moment(record.changed)}"]
    lines += [f"{part}: {text}" for part in PARTS if (text := record.parts.get(part, ""))]
    lines += [f"note: {one_line(note)}" for note in record.notes]
    if len(lines) == 1:
        lines.append("It was not summarized; restore_session shows what was noted.")
    source = f"a session that had read {sources_of([record])}" if record.outside else ""
    impersonal = record.outside and not record.private
    return Result("\n".join(lines), record.to_json(), source=source, impersonal=impersonal)


def session_line(record: SessionRecord) -> str:
    """One session in a line; of one that may be outside text only when it was."""
    title = "may be outside text; get_session shows it" if record.outside else ""
    title = title or one_line(record.title, 160) or "not summarized"
    return f"{record.id}: {duration(time.time() - record.changed)} ago: {title}"
