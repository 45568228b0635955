"""The dossier of an earlier conversation: all that helps to go on, within so many characters."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from toolcrib.core.context import Services
from toolcrib.files.changes.changes import Changes
from toolcrib.memory.context_entries import ContextEntries, ContextEntry
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import Memory, project_scope, session_scope
from toolcrib.memory.place import ConversationPlace
from toolcrib.memory.plans import Plans
from toolcrib.memory.recall import RecalledFacts, recall
from toolcrib.memory.session_records import PARTS, SessionRecord, SessionRecords
from toolcrib.memory.times import duration
from toolcrib.memory.work_state import WorkStates
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import moment

TITLES = {
    "task": "Task",
    "done": "Done",
    "pending": "Pending",
    "decisions": "Decisions",
    "next": "Next",
}
FACT_PARTS = ("task", "pending", "next")
"""The parts of a summary whose facts are looked for."""
PROJECT_FACTS = 10
CHARS_OF_A_TOKEN = 3
MAX_FILES = 20
MAX_PROJECT_NOTES = 5
"""Notes of other sessions of the project that are shown."""
INDEXED_SESSIONS = 8
MAX_ENTRIES = 40


@dataclass(frozen=True, slots=True)
class Dossier:
    """What was put together. `left_out` counts what may be outside text and is not in it."""

    record: SessionRecord
    text: str
    stale: bool
    left_out: int
    truncated: bool


async def dossier_of(
    record: SessionRecord,
    place: ConversationPlace,
    max_chars: int,
    services: Services,
    *,
    index: bool,
) -> Dossier:
    """All that is known of an earlier conversation: its summary, plan, facts, entries, files.

    What comes first matters most, so a small number of characters cuts the rest. Nothing that
    may be outside text is in it, so that it taints a conversation as a file does.

    Args:
        record: of the conversation.
        place: of the one that goes on.
        max_chars: how long it may be.
        services: the stores of the room.
        index: whether other conversations of the project are listed.
    """
    now = time.time()
    own, project = session_scope(record.session), project_scope(record.project)
    entries = await services.use(ContextEntries).listed((project, own), limit=MAX_ENTRIES)
    sections = [_head(record, now)]
    if not record.outside:
        sections += _summary(record)
    plan, is_marked = await _plan(record, now, services)
    sections.append(plan)
    outside = sum(entry.outside for entry in entries.entries) + record.outside + is_marked
    if not record.outside:
        facts, marked = await _facts(record, place, max_chars, services)
        outside += marked
        sections.append(facts)
    sections.append(await _place_of_work(record, own, project, services))
    sections.append(await _changed_files(record, services))
    sections.append(_collapsed(entry for entry in entries.entries if not entry.outside))
    if index:
        sections.append(await _other_sessions(record, now, services))
    text = "\n\n".join(filter(None, sections))
    truncated = len(text) > max_chars
    if truncated:
        text = text[: max_chars - 1].rpartition("\n")[0] or text[: max_chars - 1]
        text += "…"
    return Dossier(record, text, record.is_stale(now), outside, truncated)


def _head(record: SessionRecord, now: float) -> str:
    line = f"Session {record.id}, {moment(record.started)} to {moment(record.changed)}"
    if record.is_stale(now):
        ago = duration(now - record.changed)
        line += f"\nSTALE: this was {ago} ago. Look at the files before you rely on it."
    if not record.parts and not record.notes:
        line += "\nIt was not summarized: this is what was noted while it went on."
    return line


def _summary(record: SessionRecord) -> list[str]:
    parts = [f"{TITLES[part]}: {text}" for part in PARTS if (text := record.parts.get(part, ""))]
    notes = [f"- {one_line(note)}" for note in record.notes]
    return [*parts, "\n".join(["Notes:", *notes])] if notes else parts


async def _plan(record: SessionRecord, now: float, services: Services) -> tuple[str, bool]:
    """The plan, and whether it is left out because it may be outside text."""
    plans = services.use(Plans)
    active = await plans.active(record.session)
    plan = active or await plans.own(record.project, record.session)
    if plan is None or plan.outside:
        return "", plan is not None
    # Another conversation's, where this one made none or its own was deleted.
    whose = "" if active else "Of this project, not of this session: "
    return f"{whose}{plan.full(now)}", False


async def _facts(
    record: SessionRecord, place: ConversationPlace, max_chars: int, services: Services
) -> tuple[str, int]:
    """Facts that the task is about, and the newest of its project; how many are left out."""
    budget = max_chars // CHARS_OF_A_TOKEN // 4 // len(FACT_PARTS)
    found: dict[int, Memory] = {}
    outside = 0
    for part in FACT_PARTS:
        # One part at a time: of all of them together a fact is only a little about.
        if record.parts.get(part):
            facts = await recall(services.use(Memories), record.parts[part], place.scopes, budget)
            outside = max(outside, facts.outside)
            found |= {memory.id: memory for memory in facts.memories}
    newest = await services.use(Memories).listed(
        (project_scope(record.project),), limit=PROJECT_FACTS, outside=False
    )
    found |= {memory.id: memory for memory in newest.memories if not memory.path}
    text = RecalledFacts(tuple(found.values())).text
    return (f"Facts:\n{text}" if text else ""), outside


async def _place_of_work(record: SessionRecord, own: str, project: str, services: Services) -> str:
    state = await services.use(WorkStates).get(own, project)
    known = " ".join(one_line(note) for note in record.notes)
    notes = [note for note in state.notes if note not in known]
    lines = [
        f"Directory: {state.directory}" if state.directory else "",
        f"Last address: {one_line(state.address, 300)}" if state.address else "",
        f"Messages of the user: {state.messages}, the last in {state.language}"
        if state.messages
        else "",
        *(f"Noted in this project: {note}" for note in notes[:MAX_PROJECT_NOTES]),
    ]
    if state.files:
        lines.append(f"Files used last: {', '.join(state.files[:MAX_FILES])}")
    return "\n".join(filter(None, lines))


async def _changed_files(record: SessionRecord, services: Services) -> str:
    """Files that were changed in the conversation, and since it ended, by any."""
    steps = await services.use(Changes).since(0.0)
    during = _paths(step.paths for step in steps if step.session == record.session)
    since = _paths(
        s.paths for s in steps if s.session != record.session and s.time > record.changed
    )
    lines = [f"Changed in it: {', '.join(during[:MAX_FILES])}" if during else ""]
    lines += [f"Changed since: {', '.join(since[:MAX_FILES])}" if since else ""]
    return "\n".join(filter(None, lines))


def _paths(listed: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(path for paths in listed for path in paths))


def _collapsed(entries: Iterable[ContextEntry]) -> str:
    """Entries one a line; of summaries that were made by themselves only the last."""
    lines, summaries = [], 0
    for entry in entries:
        summaries += entry.type == "summary"
        if entry.type == "summary" and summaries > 1:
            continue
        content = f": {one_line(entry.content, 300)}" if entry.content else ""
        times = f" ({entry.count} times)" if entry.count > 1 else ""
        lines.append(f"- {entry.type}: {one_line(entry.title)}{content}{times}")
    if summaries > 1:
        lines.append(f"- {summaries - 1} earlier summaries")
    return "\n".join(["Noted:", *lines]) if lines else ""


async def _other_sessions(record: SessionRecord, now: float, services: Services) -> str:
    records = await services.use(SessionRecords).listed(
        record.project, INDEXED_SESSIONS + 1, besides=record.session
    )
    lines = [
        f"- {other.id}: {duration(now - other.changed)} ago, {one_line(other.title, 100)}"
        for other in records
        if not other.outside and other.title
    ]
    return "\n".join(["Other sessions:", *lines[:INDEXED_SESSIONS]]) if lines else ""
