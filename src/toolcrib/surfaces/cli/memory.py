"""`toolcrib memory`: what is remembered, for the person that it belongs to."""

from __future__ import annotations

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.core.errors import BadInput
from toolcrib.memory.context_entries import ContextEntries
from toolcrib.memory.exchange import ParsedMemory, to_json_lines, to_markdown
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import USER, Memory, Origin, project_scope, session_scope
from toolcrib.memory.place import refuse_secrets
from toolcrib.memory.plans import Plans
from toolcrib.memory.projects import Projects
from toolcrib.memory.session_records import SessionRecords
from toolcrib.memory.times import day
from toolcrib.memory.work_state import WorkStates
from toolcrib.surfaces.cli.flags import Flags
from toolcrib.surfaces.cli.foreign_memories import memories_of
from toolcrib.surfaces.cli.screen import visible
from toolcrib.text.display import counted, moment

if TYPE_CHECKING:
    from toolcrib.core.context import Services

EVERYTHING = 1_000_000
MIN_SCORE = 0.15


def arguments(parser: ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("what", nargs="?", choices=tuple(_ACTIONS), default="list")
    parser.add_argument("words", nargs="*", metavar="ARG", help="words, ids or files")
    parser.add_argument("--tag", metavar="TAG", default="", help="list: only those with it")
    parser.add_argument("--limit", type=int, metavar="N", default=50, help="how many (50)")
    parser.add_argument("--all", action="store_true", help="delete: everything that is kept")
    parser.add_argument("--jsonl", action="store_true", help="export as JSONL, not Markdown")
    parser.add_argument("--project", action="store_true", help="import: for this folder alone")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask first")
    parser.epilog = (
        "show without an id shows everything that is kept: memories, plans, what was noted of the "
        "work, sessions, projects, states of the work; delete --all removes all of it for "
        "good. export writes to FILE "
        "or the screen; import takes Markdown, JSON or JSONL, all of it or nothing. undo takes "
        "back the last change of memories, one more each time."
    )


def run(options: Namespace, flags: Flags) -> int:
    """Show or change what is remembered."""
    from toolcrib.core.context import Services

    config = flags.load()

    async def work() -> int:
        async with Services(config) as services:
            return await _ACTIONS[options.what](services, options)

    return asyncio.run(work())


async def _list(services: Services, options: Namespace) -> int:
    found = await services.use(Memories).listed(tag=options.tag, limit=max(options.limit, 1))
    _print(found.memories)
    if found.count > len(found.memories):
        print(f"{len(found.memories)} of {found.count}; --limit shows more.")
    return 0


async def _search(services: Services, options: Namespace) -> int:
    question = " ".join(options.words)
    found = await services.use(Memories).search(question, max(options.limit, 1), None, MIN_SCORE)
    _print([hit.memory for hit in found.hits])
    return 0 if found.hits else 1


async def _show(services: Services, options: Namespace) -> int:
    if not options.words:
        return await _show_everything(services)
    for number in _numbers(options.words):
        memory, changes = await services.use(Memories).history(number, None)
        print(f"{number}: {visible(memory.fact) if memory else 'deleted'}")
        for change in changes:
            before = f"; before: {visible(change.before.fact)}" if change.before else ""
            print(f"  {moment(change.time)} {change.kind} by {visible(change.caller)}{before}")
    return 0


async def _show_everything(services: Services) -> int:
    from toolcrib.state.store import Store

    memories = await services.use(Memories).listed(limit=EVERYTHING)
    entries = await services.use(ContextEntries).listed(None, limit=EVERYTHING)
    kinds = {
        "Memories": [_line(memory) for memory in memories.memories],
        "Plans": [f"{p.id}: {p.goal} ({p.percent} %)" for p in await services.use(Plans).all()],
        "Noted of the work": [
            f"{e.id}: {day(e.used)} {e.type}: {e.title}" for e in entries.entries
        ],
        "Sessions": [
            f"{r.id}: {day(r.changed)} {r.title}"
            for r in await services.use(SessionRecords).listed(limit=EVERYTHING)
        ],
        "Projects": [f"{p.id}: {p.name}: {p.path}" for p in await services.use(Projects).all()],
        "States of the work": [
            f"{scope}: {'; '.join(f'{name} {text}' for name, text in state.packed().items())}"
            for scope, state in (await services.use(WorkStates).all()).items()
        ],
    }
    for title, lines in kinds.items():
        print(f"{title}: {len(lines)}")
        for line in lines:
            print(f"  {visible(' '.join(line.split()))}")
    print(f"All of it lies in {services.use(Store).path or 'memory'}.")
    return 0


async def _edit(services: Services, options: Namespace) -> int:
    from toolcrib.system.editor import edit_text
    from toolcrib.text.cleaner import clean

    memories = services.use(Memories)
    for number in _numbers(options.words):
        memory = await memories.get(number)
        text = await asyncio.to_thread(edit_text, f"{memory.fact}\n", f"memory-{number}.md")
        fact = clean(text).text.strip()
        if fact == memory.fact.strip():
            print(f"Memory {number} stays as it is.")
            continue
        refuse_secrets(fact)
        await memories.update(number, None, _origin(), fact=fact)
        print(f"Changed memory {number}; toolcrib memory undo takes it back.")
    return 0


async def _delete(services: Services, options: Namespace) -> int:
    if options.all:
        return await _delete_everything(services, options)
    numbers = _numbers(options.words)
    memories = services.use(Memories)
    if not await _agreed(f"Delete {counted(len(numbers), 'memory', 'memories')}?", options):
        return 1
    await memories.delete(numbers, None, _origin())
    deleted = counted(len(numbers), "memory", "memories")
    print(f"Deleted {deleted}. Within 30 days, toolcrib memory undo brings back what was deleted.")
    return 0


async def _delete_everything(services: Services, options: Namespace) -> int:
    if not await _agreed("Delete everything that is kept here, for good?", options):
        return 1
    counts = {
        ("memory", "memories"): await services.use(Memories).clear(),
        ("plan", "plans"): await services.use(Plans).clear(),
        ("entry", "entries"): await services.use(ContextEntries).clear(),
        ("session", "sessions"): await services.use(SessionRecords).clear(),
        ("state", "states"): await services.use(WorkStates).forget(),
        ("project", "projects"): await services.use(Projects).clear(),
    }
    deleted = ", ".join(counted(n, one, many) for (one, many), n in counts.items())
    print(f"Deleted for good: {deleted}.")
    print("What calls were given stays in the record of calls: toolcrib history, history.keep.")
    return 0


async def _export(services: Services, options: Namespace) -> int:
    found = await services.use(Memories).listed(tag=options.tag, limit=EVERYTHING)
    memories = sorted(found.memories, key=lambda m: (m.scope, m.id))
    name = options.words[0] if options.words else ""
    projects = {project_scope(p.id): (p.path, p.name) for p in await services.use(Projects).all()}
    is_jsonl = options.jsonl or name.lower().endswith((".jsonl", ".ndjson"))
    text = (to_json_lines if is_jsonl else to_markdown)(memories, projects)
    if not name:
        sys.stdout.write(text)
        return 0
    await asyncio.to_thread(_write_new, _file(name), text)
    print(f"{counted(len(memories), 'memory', 'memories')} in {_file(name)}.")
    return 0


def _file(name: str) -> Path:
    return Path(name).expanduser()


def _write_new(file: Path, text: str) -> None:
    """Write a file that is not there yet.

    Raises:
        BadInput: it is there, or cannot be written.
    """
    try:
        with file.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except OSError as error:
        raise BadInput(
            f"{file} cannot be written: {error.strerror}.", hint="Name a file that is not there."
        ) from None


async def _import(services: Services, options: Namespace) -> int:
    if not options.words:
        raise BadInput("Which file?", hint="Such as: toolcrib memory import memories.md")
    for name in options.words:
        await take_in(services, _file(name), for_project=options.project)
    return 0


async def take_in(services: Services, file: Path, *, for_project: bool) -> None:
    """Import the memories of a file, all or none, and say what became of them.

    Args:
        services: of the toolbox.
        file: Markdown, JSON or JSONL, or a database of another system; it stays as it is.
        for_project: keep them for the project of the current folder, not for the user.

    Raises:
        BadInput: the file is broken; the message names the line.
    """
    parsed = memories_of(file)
    projects = services.use(Projects)
    here = project_scope((await projects.current()).id)
    named = {
        p.project
        for p in parsed.memories
        if p.project is not None and p.scope == "project" and not for_project
    }
    known = {one: project_scope((await projects.in_folder(*one)).id) for one in sorted(named)}
    drafts = [
        replace(p.draft, scope=here if for_project else _scope_of(p, known, here))
        for p in parsed.memories
    ]
    saved = await services.use(Memories).save_all(drafts, _origin(file.name))
    for place, reason in parsed.left_out:
        print(f"  left out, line or item {place}: {reason}")
    counts = {status: sum(s.status == status for s in saved) for status in ("known", "replaced")}
    fresh = len(saved) - sum(counts.values())
    undo = " toolcrib memory undo takes it back." if fresh + counts["replaced"] else ""
    print(
        f"{visible(str(file))}: {counted(fresh, 'memory', 'memories')} taken over, "
        f"{counts['known']} known already, {counts['replaced']} in place of older ones; "
        f"the file stays as it is.{undo}"
    )


def _scope_of(parsed: ParsedMemory, projects: Mapping[tuple[str, str], str], here: str) -> str:
    """The scope that a file says, of a project that it does not name that of this folder."""
    if parsed.scope == "session" and parsed.session:
        return session_scope(parsed.session)
    if parsed.scope == "project":
        return projects[parsed.project] if parsed.project is not None else here
    return USER


async def _undo(services: Services, options: Namespace) -> int:
    del options
    done = await services.use(Memories).undo()
    if not done:
        print("Nothing is left that can be taken back.")
        return 1
    for kind, memory in done:
        print(f"Taken back ({kind}): {_line(memory)}")
    return 0


def _print(memories: Sequence[Memory]) -> None:
    for memory in memories:
        print(_line(memory))
    if not memories:
        print("Nothing is remembered.")


def _line(memory: Memory) -> str:
    facts = [day(memory.changed), memory.scope.partition(":")[0], *memory.tags]
    facts += [f"from {memory.source}"] if memory.source else []
    text = memory.path or " ".join(memory.fact.split())
    return f"{memory.id}: {visible(text)} ({visible(', '.join(facts))})"


def _origin(source: str = "") -> Origin:
    return Origin("cli:memory", "cli", source)


def _numbers(words: Sequence[str]) -> list[int]:
    """Ids as they were typed.

    Raises:
        BadInput: there are none, or one is no number.
    """
    if not words or not all(word.isdecimal() for word in words):
        raise BadInput(
            f"Which memory? {' '.join(words)[:60]}".rstrip(),
            hint="Give its id; toolcrib memory list shows them.",
        )
    return list(dict.fromkeys(int(word) for word in words))


async def _agreed(question: str, options: Namespace) -> bool:
    from toolcrib.surfaces.cli import person

    if options.yes:
        return True
    if not person.is_there():
        print("Nothing was changed: --yes says that it is meant.", file=sys.stderr)
        return False
    if await person.confirm(question):
        return True
    print("Nothing was changed.")
    return False


_ACTIONS = {
    "list": _list,
    "search": _search,
    "show": _show,
    "edit": _edit,
    "delete": _delete,
    "export": _export,
    "import": _import,
    "undo": _undo,
}
