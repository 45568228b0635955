"""What the tools of the library share: the sources of a call, and notes on what is not read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result
from toolcrib.documents.kinds import NAMES
from toolcrib.documents.library import (
    IndexedPath,
    JobOwner,
    Library,
    OnProgress,
    SyncReport,
    beneath,
)
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.search.globs import Globs
from toolcrib.retrieval.entries import EntryFilter
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted, printable, some_of

NO_KEY = "\0"
"""The key of no entry."""
MAX_NAMED = 5
KINDS = frozenset([*NAMES, "code"])


async def real_path(path: SafePath, ctx: Ctx) -> str:
    """Where a path leads, without links.

    Raises:
        NotFound, PathDenied: it cannot be opened.
    """

    def opened() -> str:
        with path.open() as handle:
            return handle.absolute

    return await in_thread(lambda _: opened(), ctx.deadline)


async def answered_whole(work: Callable[[], Awaitable[Result]], ctx: Ctx) -> Result:
    """Answer from the index; once more where it was found broken meanwhile and begun anew.

    Args:
        work: brings the index up to date and answers from it.
        ctx: the call.
    """
    index = ctx.use(Library).index
    before = index.warnings
    try:
        result = await work()
    except ToolError:
        if index.warnings == before:
            raise
        return await work()
    return result if index.warnings == before else await work()


async def up_to_date(
    path: SafePath | None, glob: str, tool: str, ctx: Ctx
) -> tuple[SyncReport, EntryFilter]:
    """Read what is new at a path, or in all that is indexed, and the filter for a search there.

    What was not indexed yet is now: the path, or the current directory. What somebody had indexed
    instead of the whole directory is all that is searched, and a note says so.

    Args:
        path: where is searched; None for all that is indexed.
        glob: which of its files alone; empty for all.
        tool: the tool that is called.
        ctx: the call.

    Raises:
        NotFound, PathDenied: the path cannot be opened.
    """
    library = ctx.use(Library)
    sources = await library.sources()
    place = await real_path(path or ctx.use(Workspace).start(ctx.session.directory), ctx)
    covering = [source for source in sources if source.covers(place)]
    taken = sources
    if path is not None:
        taken = [replace(source, path=place, watched=False) for source in covering]
        beyond = IndexedPath(place)
        taken += [s for s in sources if s not in covering and beyond.covers(s.path)]
    note = ""
    if all(source.glob not in ("", glob) for source in covering):
        picked = [s for s in (covering if path is not None else sources) if s.chosen]
        if picked:
            note = _only(picked, place, ctx)
        else:
            # With a second glob all of the place: one source for each would be walked each time.
            added = IndexedPath(place, "" if covering else glob, chosen=False)
            taken = [*taken, added]
            await library.add(added)
    report = await library.sync_all(taken, JobOwner(ctx.session.id, tool), progress_of(ctx))
    report.notes += [note] if note else []
    entries = beneath(place) if path is not None else EntryFilter()
    if path is not None:
        # A file that is named itself: that it cannot be read is the answer, each time.
        for entry in await library.index.entries(EntryFilter(keys=(place,))):
            if error := entry.facts.get("error"):
                report.notes.append(f"{path.display} could not be read: {error}")
    return report, await _fitting(entries, place, glob, library) if glob else entries


def path_name(path: str, ctx: Ctx) -> str:
    """How a call names what is indexed under an absolute path."""
    try:
        return printable(ctx.use(Workspace).resolve(path, ctx.session.directory).display)
    except ToolError:
        return printable(path)


def _only(picked: list[IndexedPath], place: str, ctx: Ctx) -> str:
    """What is said where less is indexed than a place, since somebody picked that."""
    names = [
        path_name(source.path, ctx) + (f" ({source.glob})" if source.glob else "")
        for source in picked
    ]
    is_part = any(source.covers(place) for source in picked)
    wider = "" if is_part else ' path="." searches all of the current directory.'
    return f"Only what was indexed is searched: {some_of(names, MAX_NAMED)}.{wider}"


async def _fitting(entries: EntryFilter, place: str, glob: str, library: Library) -> EntryFilter:
    """A filter for those of some entries whose files fit a glob."""
    globs = Globs([glob])
    keys = await library.index.fingerprints(entries)
    start = len(place.rstrip("/")) + 1 if place else 1
    fitting = tuple(key for key in keys if key == place or globs.fits(key[start:]))
    return EntryFilter(keys=fitting or (NO_KEY,))


def progress_of(ctx: Ctx) -> OnProgress:
    """Progress for the caller."""

    async def tell(what: str, done: int, total: int) -> None:
        await ctx.progress(f"{what}: {done:,} of {total:,} files", done, total)

    return tell


def with_kind(entries: EntryFilter, kind: str) -> EntryFilter:
    """A filter for one kind (`pdf`, `code`) or one ending (`md`) too."""
    wanted = kind.strip().lower().lstrip(".")
    if not wanted:
        return entries
    if wanted in KINDS:
        return replace(entries, kinds=(wanted,))
    return replace(entries, labels=(wanted,))


def sync_notes(report: SyncReport) -> list[str]:
    """What is not in the index (yet), for a reader."""
    notes = [printable(note) for note in report.notes]
    if report.job and report.left:
        notes.append(
            f"{counted(report.left, 'file')} are still being indexed by job {report.job}; "
            "what is found now is not all."
        )
    elif report.left:
        notes.append(f"{counted(report.left, 'file')} are not indexed yet.")
    return notes
