"""Changes of SQLite databases: shown before they are made, and undone like those of any file."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, NotFound, TooLarge, ToolError, Unavailable
from toolcrib.core.tool import Decision
from toolcrib.data.databases import (
    SQLITE_ENDINGS,
    NamedSource,
    OpenSource,
    Source,
    bare_sql,
    open_source,
    task,
)
from toolcrib.data.sql_statement import read_statement
from toolcrib.execution.workers import Workers
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Change, Step
from toolcrib.files.live_runs import without_runs
from toolcrib.files.paths import SafePath
from toolcrib.files.trees import EntryState
from toolcrib.files.writer import drop_name, folder_of, status_of
from toolcrib.system.threads import in_thread

MAX_BYTES = 100_000_000
"""Of a database that is changed: it is copied twice."""
MAX_DISPLAYED = 5
_FIRST_WORD = re.compile(r"(?:(?<=\s)|^)[a-z]+", re.IGNORECASE)
_WRITING = re.compile(r"\b(?:insert|update|delete|replace)\b", re.IGNORECASE)
_CREATING = re.compile(r"\bcreate\s+(?:virtual\s+)?table\b", re.IGNORECASE)
VERBS = {"INSERT": "adds", "UPDATE": "changes", "DELETE": "removes"}


async def preview(source: Source, sql: str, ctx: Ctx) -> Mapping[str, Any]:
    """What statements would do, tried on a copy in memory; see `sqlite_child.preview`.

    Raises:
        BadInput: a statement fails, only reads, or the source is no SQLite file.
    """
    path = _file(source)
    if _only_reads(bare_sql(sql)):
        raise BadInput("This SQL only reads.", hint="query_database shows its rows.")
    if await _makes_file(path, sql, ctx):
        return (await _created(path, sql, ctx))[0]
    with ExitStack() as stack:
        opened = await in_thread(lambda _: stack.enter_context(open_source(path)), ctx.deadline)
        _need_sqlite(opened, path)
        request = {**opened.request, "sql": bare_sql(sql)}
        answer, _ = await ctx.use(Workers).run(
            task("sqlite", "preview", "read"), request, b"", ctx.deadline, opened.descriptors
        )
    return answer


def _only_reads(sql: str) -> bool:
    """Whether it is one SELECT, which would be a step that changes nothing."""
    try:
        text = read_statement(sql, "postgresql").text
    except ToolError:
        return False
    first = _FIRST_WORD.search(text)
    return bool(first and first[0].lower() != "with") or not _WRITING.search(text)


def _file(source: Source) -> SafePath:
    if isinstance(source, NamedSource):
        raise BadInput(
            "Only SQLite files of the workspace are changed.", hint="Name one as 'source'."
        )
    return source


async def _makes_file(path: SafePath, sql: str, ctx: Ctx) -> bool:
    """Whether statements make a table where no file is, under the name of a database."""
    if not path.name.lower().endswith(SQLITE_ENDINGS) or not _CREATING.search(sql):
        return False
    try:
        await in_thread(lambda _: path.stat(), ctx.deadline)
    except NotFound:
        return True
    return False


async def _created(path: SafePath, sql: str, ctx: Ctx) -> tuple[Mapping[str, Any], bytes]:
    """What statements make of an empty database, and the file that it is.

    Raises:
        PathDenied: nothing is written there.
    """
    path.gate.check(path, "write")
    request = {"sql": bare_sql(sql)}
    done, content = await ctx.use(Workers).run(
        task("sqlite", "create", ""), request, b"", ctx.deadline
    )
    return {**done, "file": path.display}, content


def _need_sqlite(opened: OpenSource, path: SafePath) -> None:
    if opened.engine != "sqlite":
        raise BadInput(
            f"{path.display} is no SQLite database.", hint="For text files there is edit_file."
        )
    if opened.size > MAX_BYTES:
        raise TooLarge(
            f"{path.display} has {opened.size:,} bytes, more than {MAX_BYTES:,}.",
            hint="Tell the user that it has to be changed with another program.",
        )


def described(answer: Mapping[str, Any]) -> str:
    """What statements do, in words: counts and the first rows."""
    parts = [f"makes the database {answer['file']}"] if answer.get("file") else []
    parts += [f"{VERBS[action]} {count:,} of {name}" for action, name, count in answer["counts"]]
    for name, (before, after) in answer["tables"].items():
        parts.append(
            f"makes the table {name}"
            if before is None
            else f"drops the table {name} with {before:,} rows"
            if after is None
            else f"takes {name} from {before:,} rows to {after:,}"
        )
    if answer["unseen"]:
        parts.append(f"touches {answer['unseen']:,} more that cannot be shown")
    rows = []
    for action, name, old, new in answer["rows"][:MAX_DISPLAYED]:
        rows.append(f"{action.lower()} {name}: {' -> '.join(filter(None, (old, new)))}")
    return "; ".join([", ".join(parts) or "touches no rows", *rows])


async def change_verdict(arguments: Mapping[str, Any], ctx: Ctx) -> Decision | None:
    """A person is asked, and sees the rows; what fails is not asked about, the call tells it."""
    if arguments.get("dry_run"):
        return None
    try:
        answer = await preview(arguments["source"], str(arguments.get("sql") or ""), ctx)
    except ToolError:
        return None
    return Decision("ask", f"it {described(answer)}", judged=answer["identity"])


async def change(source: Source, sql: str, ctx: Ctx) -> tuple[Mapping[str, Any], int]:
    """Run statements on a database, all or nothing.

    Returns:
        What they did, and the step that `undo_changes` takes back; 0 for none.

    Raises:
        Conflict: it was changed meanwhile, or they do something else than what was judged.
        Busy: another program holds it.
        BadInput, Denied, UnsupportedContent: as the engine says.
    """
    path = _file(source)
    path.gate.check(path, "write")
    changes, workers = ctx.use(Changes), ctx.use(Workers)
    await changes.recover()
    if await _makes_file(path, sql, ctx):
        made_new, content = await _created(path, sql, ctx)
        if made_new["identity"] != ctx.judged:
            raise Conflict("Nothing was changed: the file is gone.", hint="Send the call again.")
        new_file = Step("change_database")
        new_file.write(path, content, expected="")
        return made_new, (await changes.apply(new_file, ctx)).step
    with ExitStack() as stack:
        is_alone = stack.enter_context(without_runs())
        opened = await in_thread(lambda _: stack.enter_context(open_source(path)), ctx.deadline)
        _need_sqlite(opened, path)
        _need_single_name(opened.descriptors[0], path)
        request = {"path": opened.request["path"], "fd": opened.descriptors[0]}
        request |= {"sql": bare_sql(sql), "alone": is_alone}
        # By a journal that a run puts there SQLite would remove whichever file it names.
        access: Literal["write", "change"] = "change" if is_alone else "write"
        only = [opened.descriptors[0]]
        found, before = await workers.run(
            task("sqlite", "snapshot", access), request, b"", ctx.deadline, only
        )
        digest, size = await in_thread(lambda _: changes.blobs.add([before]), ctx.deadline)
        state = EntryState.of(os.fstat(only[0]), digest=digest)
        request |= {"digest": found["digest"], "identity": ctx.judged}
        done, _ = await workers.run(
            task("sqlite", "apply", access), request, b"", ctx.deadline, only
        )
        if not is_alone:
            _remove_empty_journal(path.settled())
        after = EntryState.of(os.fstat(only[0]))
    made = Change("write", path.settled(), number=1)
    made.before, made.after, made.undoable = state, after, bool(done["whole"])
    note = "" if done["whole"] else "another program reads the database, whose log holds the change"
    step = await changes.record("change_database", ctx.session, [made], note, size)
    return done, step


def _remove_empty_journal(path: SafePath) -> None:
    """Remove what SQLite itself was not allowed to."""
    with suppress(ToolError, OSError), folder_of(path) as (folder, name):
        journal = f"{name}-journal"
        status = status_of(folder, journal)
        if status is not None and stat.S_ISREG(status.st_mode) and not status.st_size:
            drop_name(folder, journal)


def _need_single_name(fd: int, path: SafePath) -> None:
    if os.fstat(fd).st_nlink > 1:
        raise Unavailable(
            f"{path.display} has a second name, under which it would change too.",
            hint="Copy it and change the copy.",
        )
