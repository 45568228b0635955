"""The library: documents of the workspace in one index, brought up to date and searched.

What was asked to be indexed is remembered (a `IndexedPath`). Before a search the files there are
compared with the index by how they look, and what is new or changed is read: a few files
within the call, more in a job. What a job did not get to is done by the next one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Self

from toolcrib.core.errors import Cancelled, NotFound, PathDenied, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE
from toolcrib.documents.documents import Documents
from toolcrib.documents.file_entries import (
    FileListing,
    FileState,
    NoDocument,
    chunk_size_of,
    list_files,
    read_entry,
)
from toolcrib.execution.jobs import JobHandle, Jobs
from toolcrib.files.paths import Workspace
from toolcrib.files.watches import watch_changes
from toolcrib.retrieval.chunks import ChunkSize
from toolcrib.retrieval.entries import EntryFilter, IndexEntry
from toolcrib.retrieval.indexes import Indexes
from toolcrib.state.store import Area, Schema, Store
from toolcrib.system.threads import content_id, in_thread
from toolcrib.text.display import counted

if TYPE_CHECKING:
    from toolcrib.core.context import Services
    from toolcrib.core.document_settings import DocumentsConfig
    from toolcrib.retrieval.index import Index

SCHEMA = Schema(
    "documents",
    (
        """
        CREATE TABLE document_source (
            library TEXT NOT NULL, path TEXT NOT NULL, glob TEXT NOT NULL,
            chars INTEGER, overlap INTEGER, watched INTEGER NOT NULL, added REAL NOT NULL,
            PRIMARY KEY (library, path, glob)
        ) WITHOUT ROWID;
        """,
        "ALTER TABLE document_source ADD COLUMN chosen INTEGER NOT NULL DEFAULT 1",
    ),
)
INLINE_FILES = 50
"""Files that are read within a call."""
INLINE_SECONDS = 20.0
BATCH_FILES = 24
READ_AT_ONCE = 3
JOB_SECONDS = 24 * 3600.0
OnProgress = Callable[[str, int, int], Awaitable[None]]
"""Takes what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class IndexedPath:
    """A path that is indexed: the real path of a file or folder, and which files of it.

    `chosen` is one that somebody had indexed, and not one that a search looked at.
    """

    path: str
    glob: str = ""
    size: ChunkSize | None = None
    watched: bool = False
    chosen: bool = field(default=True, compare=False)

    def covers(self, path: str) -> bool:
        """Whether a path lies in it, whichever of its files are wanted."""
        return path == self.path or PurePosixPath(path).is_relative_to(self.path)


@dataclass(slots=True)
class SyncReport:
    """What bringing the index up to date did, and what is left to do.

    Attributes:
        files: files that there are.
        read: files that were read now.
        removed: entries of files that are gone.
        failed: files that could not be read now, with the reason.
        left: files that are not read yet.
        job: the job that reads them; empty for none.
        notes: what the user should know.
    """

    files: int = 0
    read: int = 0
    removed: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    left: int = 0
    job: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JobOwner:
    """For whom a job is begun: the conversation and the tool."""

    session: str
    tool: str


class Library:
    """A service: see the module."""

    def __init__(
        self,
        workspace: Workspace,
        indexes: Indexes,
        documents: Documents,
        jobs: Jobs,
        area: Area,
        config: DocumentsConfig,
    ) -> None:
        roots = sorted(root.real for root in workspace.roots)
        self.name = f"documents-{content_id(*roots)}"
        self._workspace = workspace
        self._indexes = indexes
        self._documents = documents
        self._jobs = jobs
        self._area = area
        self._config = config
        self._no_documents: dict[str, str] = {}
        self._running: dict[IndexedPath, str] = {}
        self._watches: dict[IndexedPath, asyncio.Task[None]] = {}

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is looked at yet."""
        return cls(
            services.use(Workspace),
            services.use(Indexes),
            services.use(Documents),
            services.use(Jobs),
            services.use(Store).area(SCHEMA),
            services.config.documents,
        )

    @property
    def index(self) -> Index:
        """The index of this workspace."""
        return self._indexes.index(self.name)

    @property
    def embedder_note(self) -> str:
        """Why there are no vectors although they are configured; empty for no reason."""
        error = self._indexes.embedder_error
        return f"No vectors are made: {error.message}" if error else ""

    async def sources(self) -> list[IndexedPath]:
        """What is indexed, by path."""
        rows = await self._area.fetch(
            "SELECT path, glob, chars, overlap, watched, chosen FROM document_source"
            " WHERE library = ? ORDER BY path, glob",
            (self.name,),
        )
        return [
            IndexedPath(path, glob, ChunkSize(chars, overlap) if chars else None, *map(bool, flags))
            for path, glob, chars, overlap, *flags in rows
        ]

    async def add(self, source: IndexedPath) -> None:
        """Remember what is to be indexed."""
        size = source.size
        row = (self.name, source.path, source.glob, size and size.chars, size and size.overlap,
               source.watched, time.time(), source.chosen)  # fmt: skip
        await self._area.execute(
            "INSERT OR REPLACE INTO document_source VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row
        )

    async def remove(self, path: str = "") -> int:
        """Forget what is indexed at a path, or everything; how many entries there were."""
        self.end_watches(path)
        if not path:
            sql = "DELETE FROM document_source WHERE library = ?"
            await self._area.execute(sql, (self.name,))
            return await self.index.clear()
        rows = [
            (self.name, source.path, source.glob)
            for source in await self.sources()
            if IndexedPath(path).covers(source.path)
        ]
        sql = "DELETE FROM document_source WHERE library = ? AND path = ? AND glob = ?"
        await self._area.write(lambda c: c.executemany(sql, rows))
        return await self.index.remove(await self.index.fingerprints(beneath(path)))

    async def sync(
        self, source: IndexedPath, caller: JobOwner, on_progress: OnProgress
    ) -> SyncReport:
        """Bring the index up to date with the files of a source, a few now and more by a job.

        Raises:
            NotFound, PathDenied: the path cannot be opened.
            StorageFailure: the index cannot be written.
        """
        report = SyncReport()
        todo = await self._outdated(source, report)
        deadline = time.monotonic() + INLINE_SECONDS
        running = self._running.get(source, "")
        if running in self._jobs.running:
            report.job, report.left = running, len(todo)
            return report
        if len(todo) <= INLINE_FILES:
            await self._read(todo, source, report, on_progress, deadline)
        else:
            report.left = len(todo)
        if report.left:
            report.job = await self._begin_job(source, caller)
        self._indexes.embed_soon(self.name)
        if source.watched:
            self._watch(source)
        return report

    async def sync_all(
        self, sources: Sequence[IndexedPath], caller: JobOwner, on_progress: OnProgress
    ) -> SyncReport:
        """As `sync`, for several sources; one that is gone is taken out of the index."""
        total = SyncReport()
        for source in sources:
            try:
                report = await self.sync(source, caller, on_progress)
            except NotFound:
                total.removed += await self.remove(source.path)
                total.notes.append(f"{source.path} is gone; its files are out of the index.")
                continue
            total.files += report.files
            total.read += report.read
            total.removed += report.removed
            total.left += report.left
            total.job = total.job or report.job
            total.failed |= report.failed
            total.notes += report.notes
        return total

    async def close(self) -> None:
        """End the watches."""
        tasks = list(self._watches.values())
        self.end_watches("")
        await asyncio.gather(*tasks, return_exceptions=True)

    def end_watches(self, path: str) -> None:
        """Watch no longer what lies at a path, or anything."""
        for source in [s for s in self._watches if not path or IndexedPath(path).covers(s.path)]:
            self._watches.pop(source).cancel()

    # Bringing up to date.

    async def _outdated(self, source: IndexedPath, report: SyncReport) -> list[FileState]:
        """The files of a source that must be read; entries of those that are gone are removed."""
        place = self._workspace.resolve(source.path)
        place.gate.check(place, "read")
        listing = await in_thread(lambda check: list_files(place, source.glob, check))
        known = await self.index.fingerprints(beneath(source.path))
        report.files = len(listing.files)
        gone = [key for key in known if key not in listing.files and key not in listing.others]
        gone = [key for key in gone if not _is_unread(key, listing)]
        if gone and listing.complete:
            report.removed = await self.index.remove(await self._without_inner(gone, source))
        if listing.unread:
            report.notes.append(f"{len(listing.unread):,} folders could not be looked into.")
        if not listing.complete:
            report.notes.append(f"Only {len(listing.files):,} of the files were looked at.")
        return [
            state
            for key, state in listing.files.items()
            if not self._is_current(state, known.get(key, ""), source)
        ]

    async def _without_inner(self, gone: list[str], source: IndexedPath) -> list[str]:
        """Files that a source does not list, without those that are there by one inside of it.

        A folder that .gitignore names is listed where it is named itself.
        """
        inner = [s for s in await self.sources() if s.path != source.path and source.covers(s.path)]
        if not inner:
            return gone

        def stays(key: str) -> bool:
            if not any(other.covers(key) for other in inner):
                return False
            with suppress(NotFound, PathDenied):
                self._workspace.resolve(key).stat()
                return True
            return False

        return await in_thread(lambda _: [key for key in gone if not stays(key)])

    def _is_current(self, state: FileState, known: str, source: IndexedPath) -> bool:
        if self._no_documents.get(state.key) == state.mark:
            return True
        if known.partition("|")[0] != state.mark:
            return False
        return source.size is None or chunk_size_of(known) == source.size

    async def _read(
        self,
        todo: Sequence[FileState],
        source: IndexedPath,
        report: SyncReport,
        on_progress: OnProgress,
        deadline: float | None = None,
    ) -> None:
        """Read files into the index, batch by batch; what there is no time for stays left."""
        limit = asyncio.Semaphore(READ_AT_ONCE)
        for start in range(0, len(todo), BATCH_FILES):
            batch = todo[start : start + BATCH_FILES]
            await on_progress(f"Indexing {source.path}", start, len(todo))
            if deadline is not None and time.monotonic() > deadline:
                report.left = len(todo) - start
                return
            full = await self._full()
            if full:
                report.notes.append(full)
                return
            known = await self.index.fingerprints(EntryFilter(keys=tuple(s.key for s in batch)))
            wanted = [s for s in batch if not self._is_current(s, known.get(s.key, ""), source)]
            read = await asyncio.gather(
                *(self._one(state, known.get(state.key, ""), source, limit) for state in wanted)
            )
            entries = [entry for entry in read if isinstance(entry, IndexEntry)]
            await self.index.put(entries)
            same = {s.key: new for s, new in zip(wanted, read, strict=True) if isinstance(new, str)}
            if same:
                await self.index.set_fingerprints(same)
            report.read += len(entries)
            report.failed |= {
                entry.key: entry.facts["error"] for entry in entries if "error" in entry.facts
            }

    async def _one(
        self, state: FileState, known: str, source: IndexedPath, limit: asyncio.Semaphore
    ) -> IndexEntry | str | None:
        size = source.size or chunk_size_of(known) or ChunkSize()
        async with limit:
            try:
                return await read_entry(state, size, self._documents, known)
            except NoDocument:
                self._no_documents[state.key] = state.mark
            except NotFound:
                pass  # it went away meanwhile; the next comparison takes it out
        return None

    async def _full(self) -> str:
        """Why no more may get into the index; empty where it may."""
        status = await self.index.status()
        if status.entries >= self._config.index_files:
            return f"The index has {status.entries:,} files, which is documents.index_files."
        if status.bytes >= self._config.index_bytes:
            return f"The index has {status.bytes:,} bytes, which is documents.index_bytes."
        return ""

    async def _begin_job(self, source: IndexedPath, caller: JobOwner) -> str:
        async def work(handle: JobHandle) -> Result:
            async def tell(what: str, done: int, total: int) -> None:
                handle.write(f"{what}: {done:,} of {total:,} files\n")

            report = SyncReport()
            todo = await self._outdated(source, report)
            await self._read(todo, source, report, tell)
            self._indexes.embed_soon(self.name)
            return Result(
                "\n".join(report_lines(report)), {"files": report.files, "read": report.read}
            )

        job = await self._jobs.start(
            "index",
            f"indexing {source.path}"[:200],
            work,
            caller.session,
            caller.tool,
            READ | WRITE,
            JOB_SECONDS,
        )
        self._running[source] = job
        return job

    # Watching.

    def _watch(self, source: IndexedPath) -> None:
        running = self._watches.get(source)
        if running is None or running.done():
            self._watches[source] = asyncio.create_task(self._follow(source))

    async def _follow(self, source: IndexedPath) -> None:
        """Read what changes, for as long as the server runs."""
        place = self._workspace.resolve(source.path)

        async def quiet(_what: str, _done: int, _total: int) -> None:
            return None

        async for _ in watch_changes(place):
            report = SyncReport()
            try:
                await self._read(await self._outdated(source, report), source, report, quiet)
                self._indexes.embed_soon(self.name)
            except (NotFound, Cancelled):
                return
            except ToolError:
                continue  # the next change or search tries again


def beneath(path: str) -> EntryFilter:
    """The entries of a file, or of what lies in a folder."""
    return EntryFilter(prefix=(f"{path.rstrip('/')}/",), keys=(path,))


def _is_unread(key: str, listing: FileListing) -> bool:
    """Whether a file lies in a folder that could not be looked into: it may be there still."""
    return any(key.startswith(f"{listing.prefix}{folder}") for folder in listing.unread)


def report_lines(report: SyncReport) -> list[str]:
    """What was done, for a reader."""
    parts = [counted(report.files, "file"), f"{report.read:,} read now"]
    parts += [f"{report.removed:,} that are gone removed"] if report.removed else []
    parts += [f"{len(report.failed):,} could not be read"] if report.failed else []
    return [", ".join(parts) + ".", *report.notes]
