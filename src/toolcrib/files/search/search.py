"""Search of a tree for lines: counted by ripgrep or RE2, read again through checked paths."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import BinaryIO, Literal, NamedTuple, Self

from toolcrib.core.context import Services
from toolcrib.core.errors import TooLarge, ToolError, UnsupportedContent
from toolcrib.files.handles import Handle
from toolcrib.files.live_runs import without_runs
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.search.catalog import Catalog, Catalogs
from toolcrib.files.search.hits import (
    BLOCK_BYTES,
    LINE_CHARS,
    Hit,
    hits,
    other_codec,
    spans,
    text_blocks,
    text_of,
    utf8_lines,
)
from toolcrib.files.search.left_out import LeftOut, LeftOutReason, left_out_of
from toolcrib.files.search.pattern import Pattern
from toolcrib.files.search.ripgrep import (
    NOT_UTF8,
    RipgrepCounts,
    can_serve,
    find_program,
    ripgrep_counts,
)
from toolcrib.files.search.scope import SearchScope, suspects, walk
from toolcrib.files.trees import TreeFolder, is_open_to_us, linked
from toolcrib.system.processes import Processes
from toolcrib.system.threads import Checkpoint, in_thread

_MARKS = (b"\xff", b"\xfe", b"\xef")
"""How files begin that may have to be decoded first."""
Engine = Literal["auto", "rg", "python"]
MANY_PATHS = 5_000
"""From so many on, what cannot be searched is not looked for by each search."""
UNSEARCHED_SECONDS = 60.0
"""Seconds for which that holds, as long as no name in the tree changes."""
MAX_LINKED = 500
"""Files with several names of which it is asked whether another one is protected."""
FIRST_ATTEMPT_SHARE = 1 / 3
"""How much of the time the first attempt may take."""


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Files in the order of their paths, each with its number of lines that fit.

    Attributes:
        files: see above.
        aborted: the time was up before all was searched.
        engine: what did the work.
        left_out: what was not looked at; None where that is not known.
        no_file: whether no file fits the globs.
    """

    files: tuple[tuple[str, int], ...]
    aborted: bool
    engine: str
    left_out: LeftOut | None = None
    no_file: bool = False

    @property
    def lines(self) -> int:
        """All lines that fit."""
        return sum(number for _, number in self.files)


class FileLimits(NamedTuple):
    """Which files count in a search, and how many lines of each; None is no limit.

    `depth` counts levels of folders, 1 for the folder itself; `file_bytes` and `file_lines` are
    what a file may have, `per_file` the lines that are shown of one.
    """

    depth: int | None = None
    file_bytes: int | None = None
    file_lines: int | None = None
    per_file: int | None = None


def within_limits(
    scope: SearchScope, counted: MatchCounts, limits: FileLimits, check: Checkpoint
) -> MatchCounts:
    """What of the findings is within limits. It blocks."""
    files = []
    for path, number in counted.files:
        check()
        if limits.depth is not None and path.count("/") >= limits.depth:
            continue
        if (limits.file_bytes or limits.file_lines) and not _is_small(scope.file(path), limits):
            if counted.left_out is not None:
                counted.left_out.add("large", path)
            continue
        files.append((path, min(number, limits.per_file or number)))
    return replace(counted, files=tuple(files))


def _is_small(path: SafePath, limits: FileLimits) -> bool:
    lines = 0
    try:
        with path.open_read() as handle:
            if limits.file_bytes and handle.size > limits.file_bytes:
                return False
            for block in text_blocks(handle.file) if limits.file_lines else ():
                lines += block.count(b"\n") + (not block.endswith(b"\n"))
    except ToolError:
        return False
    return lines <= (limits.file_lines or lines)


class Search:
    """A service: searches trees by the best engine of this machine.

    Args:
        workspace: where paths are checked.
        processes: starts helpers.
        engine: "auto" takes ripgrep where it is there, else this interpreter.
        catalogs: what folders hold, to tell what was left out.
    """

    def __init__(
        self,
        workspace: Workspace,
        processes: Processes,
        engine: Engine = "auto",
        catalogs: Catalogs | None = None,
    ) -> None:
        self._workspace = workspace
        self._catalogs = catalogs or Catalogs()
        self._processes = processes
        self._program: str | None = "" if engine == "python" else None
        self._heavy: set[str] = set()

    @classmethod
    def open(cls, services: Services) -> Self:
        """The best engine that is there."""
        return cls(
            services.use(Workspace), services.use(Processes), catalogs=services.use(Catalogs)
        )

    async def count(self, scope: SearchScope, pattern: Pattern, seconds: float) -> MatchCounts:
        """Count the lines of each file that fit, for some seconds at most."""
        until = time.monotonic() + seconds
        if can_serve(scope, pattern) and await self._found():
            # It opens files by their paths: a run could exchange a folder for a link meanwhile.
            with without_runs() as is_alone:
                found = await self._count_by_ripgrep(scope, pattern, until) if is_alone else None
            if found is not None:
                return found
        return await in_thread(lambda check: _count_by_re2(scope, pattern, until, check))

    async def _count_by_ripgrep(
        self, scope: SearchScope, pattern: Pattern, until: float
    ) -> MatchCounts | None:
        known = await in_thread(lambda check: self._known(scope, check), deadline=None)
        work = in_thread(lambda check: known or self._catalog(scope, check), until)
        cataloged = asyncio.create_task(work)
        try:
            found = await self._named(scope, pattern, until, each=known is None)
            if found is not None and pattern.is_foreign:
                found = await self._in_other_encodings(scope, pattern, found, until)
        except BaseException:
            cataloged.cancel()
            raise
        catalog = await cataloged
        if found is None:
            return None
        return await in_thread(lambda check: _checked_counts(scope, found, catalog, check))

    def _known(self, scope: SearchScope, check: Checkpoint) -> Catalog | None:
        """What there is in a large tree of which it is known what cannot be searched."""
        catalog = self._catalogs.unchanged(scope, check)
        if catalog is None or catalog.unsearched is None or len(catalog.paths) < MANY_PATHS:
            return None
        age = time.monotonic() - catalog.unsearched_at
        return catalog if age < UNSEARCHED_SECONDS else None

    def _catalog(self, scope: SearchScope, check: Checkpoint) -> Catalog | None:
        """What there is, from the tree as it is now; None where it cannot be told in time."""
        try:
            catalog = self._catalogs.of(scope, check, anew=True)
        except ToolError:
            return None
        if not catalog.complete:
            return None
        if catalog.linked is None:
            with scope.real.open() as top:
                catalog.linked = frozenset(linked(top, catalog.files))
        return catalog

    async def _named(
        self, scope: SearchScope, pattern: Pattern, until: float, *, each: bool
    ) -> RipgrepCounts | None:
        """What ripgrep says; the size of each file is asked for only where that is needed."""
        program = await self._found()
        if not program:
            return None
        folder = str(scope.real)
        for sized in (False, True):
            if not sized and folder in self._heavy:
                continue
            left = max(0.0, until - time.monotonic())
            seconds = left if sized else left * FIRST_ATTEMPT_SHARE
            found = await ripgrep_counts(
                program, scope, pattern, self._processes, seconds, sized=sized, each=each
            )
            if found is not None and (sized or found.ended):
                if sized:
                    self._heavy.add(folder)
                return found
        return None

    async def _in_other_encodings(
        self, scope: SearchScope, pattern: Pattern, found: RipgrepCounts, until: float
    ) -> RipgrepCounts:
        """The same with the files that are not UTF-8, which ripgrep names and we read."""
        left = max(0.0, until - time.monotonic())
        odd = await ripgrep_counts(
            await self._found(), scope, NOT_UTF8, self._processes, left, sized=True, each=False
        )
        if odd is None:
            return found
        counts, ended = await in_thread(
            lambda check: _counts_of([path for path, _ in odd.files], scope, pattern, until, check)
        )
        known = dict(found.files)
        files = [*known.items(), *((path, count) for path, count in counts.items() if count)]
        files = list({path: max(count, known.get(path, 0)) for path, count in files}.items())
        return replace(found, files=files, ended=found.ended and odd.ended and ended)

    async def _found(self) -> str:
        if self._program is None:
            self._program = await find_program(self._workspace, self._processes)
        return self._program

    async def count_file(self, path: SafePath, pattern: Pattern) -> MatchCounts:
        """Count the lines of one file that fit.

        Raises:
            PathDenied, NotFound: as reading it does.
        """

        def work(_: Checkpoint) -> MatchCounts:
            with path.open_read() as handle:
                number, reason = _count_stream(handle.file, pattern)
            left_out = LeftOut()
            if reason:
                left_out.add(reason, path.name)
            files = ((path.name, number),) if number else ()
            return MatchCounts(files, aborted=False, engine="python", left_out=left_out)

        return await in_thread(work)


def _counts_of(
    paths: Iterable[str], scope: SearchScope, pattern: Pattern, until: float, check: Checkpoint
) -> tuple[dict[str, int], bool]:
    """The lines of some files that fit, as far as they may be read, and whether time was enough."""
    counts: dict[str, int] = {}
    with scope.real.open() as top:
        for path in paths:
            if not scope.globs.fits(path):
                continue
            check()
            if time.monotonic() > until:
                return counts, False
            with suppress(ToolError, OSError), scope.file(path).open_read(top) as handle:
                counts[path], _ = _count_stream(handle.file, pattern)
    return counts, True


def _checked_counts(
    scope: SearchScope, found: RipgrepCounts, catalog: Catalog | None, check: Checkpoint
) -> MatchCounts:
    """What ripgrep named, without what may not be read, and what it left out."""
    files = _checked_files(scope, found.files, check)
    left_out, no_file = None, False
    if catalog is not None and found.ended:
        fits = scope.globs.fits
        unsearched = _unsearched(catalog, found, keep=not scope.globs)
        with scope.real.open() as top:
            left_out = left_out_of(catalog, unsearched, top, fits, max_bytes=found.max_bytes)
        for path in _second_names(scope, catalog.linked or ()):
            left_out.add("protected", path)
        no_file = bool(scope.globs) and not files and not any(map(fits, catalog.files))
    return MatchCounts(files, not found.ended, "rg", left_out, no_file)


def _unsearched(catalog: Catalog, found: RipgrepCounts, *, keep: bool) -> Iterable[str]:
    """The files that were not searched, as far as it is known."""
    if found.searched is None:
        return (catalog.unsearched or frozenset()).difference(path for path, _ in found.files)
    unsearched = catalog.files - found.searched
    if keep and found.max_bytes is None:
        catalog.unsearched, catalog.unsearched_at = unsearched, time.monotonic()
    return unsearched


def _checked_files(
    scope: SearchScope, files: list[tuple[str, int]], check: Checkpoint
) -> tuple[tuple[str, int], ...]:
    """What an engine named, without what is not wanted."""
    wanted = sorted(
        (item for item in files if item[1] and scope.globs.fits(item[0])), key=itemgetter(0)
    )
    paths = [path for path, _ in wanted]
    barred = suspects(scope, paths)
    check()
    with scope.real.open() as top:
        several = linked(top, paths)
    left_out = barred | {path for path in several if not _may_be_read(scope.file(path))}
    return tuple(item for item in wanted if item[0] not in left_out) if left_out else tuple(wanted)


def _second_names(scope: SearchScope, paths: Iterable[str]) -> list[str]:
    """Those of some files with several names that are protected by another one.

    Asked of all of them and not of those with a hit, which would tell what is in them.
    """
    wanted = list(filter(scope.globs.fits, paths))
    barred = suspects(scope, wanted)
    free = [path for path in sorted(wanted) if path not in barred][:MAX_LINKED]
    return [path for path in free if not _may_be_read(scope.file(path))]


def _may_be_read(path: SafePath) -> bool:
    try:
        path.open_read().close()
    except ToolError:
        return False
    return True


def _count_by_re2(
    scope: SearchScope,
    pattern: Pattern,
    until: float,
    check: Checkpoint,
) -> MatchCounts:
    """This interpreter: each file is opened in the folder that is being walked."""
    walked = _WalkedCounts(scope, pattern, until)
    unread: list[str] = []
    with scope.real.open() as top:
        for level in walk(scope, top, check, unread=unread):
            if not walked.take(level):
                break
        several = linked(top, walked.searched) if walked.ended else ()
        for path in unread:
            walked.left_out.add("deep" if is_open_to_us(top, path) else "unreadable", path)
    for path in _second_names(scope, several):
        walked.left_out.add("protected", path)
    files = _checked_files(scope, walked.found, check)
    left_out = walked.left_out if walked.ended else None
    no_file = walked.ended and bool(scope.globs) and not walked.fitting
    return MatchCounts(files, not walked.ended, "python", left_out, no_file)


@dataclass(slots=True)
class _WalkedCounts:
    """The counts of the files of a walk so far, and what of it was left out."""

    scope: SearchScope
    pattern: Pattern
    until: float
    found: list[tuple[str, int]] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)
    ended: bool = True
    fitting: int = 0

    def take(self, level: TreeFolder) -> bool:
        """Search the files of a folder; False where the time is up."""
        fits, prefix = self.scope.globs.fits, level.prefix
        for name in level.barred:
            if name.endswith("/") or fits(prefix + name):
                self.left_out.add("protected", prefix + name)
        for name in level.links:
            if fits(prefix + name):
                self.left_out.add("link", prefix + name)
        for name in level.files:
            path = prefix + name
            if not fits(path):
                continue
            self.fitting += 1
            number, reason = _count_in(level, name, self.pattern)
            if reason:
                self.left_out.add(reason, path)
            else:
                self.searched.append(path)
            if number:
                self.found.append((path, number))
            if time.monotonic() > self.until:
                self.ended = False
                return False
        return True


def _count_in(level: TreeFolder, name: str, pattern: Pattern) -> tuple[int, LeftOutReason | None]:
    """The lines of a file that fit, or why it was not searched."""
    data = level.read(name, BLOCK_BYTES)
    if data is not None:
        return _count_matches(data, pattern)
    try:
        with level.open(name) as file:
            return _count_stream(file, pattern)
    except PermissionError:
        return 0, "unreadable"
    except FileNotFoundError:
        return 0, None
    except OSError:
        return 0, "unreadable"


def _count_stream(file: BinaryIO, pattern: Pattern) -> tuple[int, LeftOutReason | None]:
    try:
        return sum(1 for block in text_blocks(file) for _ in spans(block, pattern)), None
    except UnsupportedContent:
        return 0, "binary"
    except TooLarge:
        return 0, "long_lines"


def _count_matches(data: bytes, pattern: Pattern) -> tuple[int, LeftOutReason | None]:
    # Most files have nothing: the cheapest question comes first.
    if data[:1] not in _MARKS:
        if b"\0" in data:
            return 0, "binary"
        if pattern.is_foreign and (codec := other_codec(data)):
            data = utf8_lines(data, codec)
        if pattern.bare is not None:
            if pattern.bare not in data:
                return 0, None
        elif pattern.engine.search(data) is None:
            return 0, None
    text = text_of(data)
    return (0, "binary") if text is None else (sum(1 for _ in spans(text, pattern)), None)


def read_hits(
    path: SafePath,
    pattern: Pattern,
    skip: int,
    limit: int,
    context: int,
    within: Handle | None,
    line_chars: int = LINE_CHARS,
) -> list[Hit]:
    """Lines of a file that fit, read through its checked path. It blocks.

    Args:
        path: the file.
        pattern: what to look for.
        skip: how many lines that fit are left out first.
        limit: how many that fit are given.
        context: lines before and after each.
        within: a folder that holds it, open, where many files are read.
        line_chars: characters shown of a line.

    Raises:
        PathDenied, NotFound: as opening it does.
        UnsupportedContent, TooLarge: it is another one by now, that is not searched.
    """
    with path.open_read(within) as handle:
        return hits(text_blocks(handle.file), pattern, skip, limit, context, line_chars)
