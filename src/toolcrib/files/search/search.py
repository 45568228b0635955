"""Search of a tree for lines: counted by ripgrep or RE2, read again through checked paths."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, Self

from toolcrib.core.context import Services
from toolcrib.core.errors import ToolError
from toolcrib.files.handles import Handle
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.search.pattern import MAX_SEARCHED_BYTES, Hit, Pattern, hits, spans, text_of
from toolcrib.files.search.ripgrep import RipgrepCounts, can_serve, find_program, ripgrep_counts
from toolcrib.files.search.scope import SearchScope, suspects, walk
from toolcrib.files.trees import linked_and_large
from toolcrib.system.processes import Processes
from toolcrib.system.threads import Checkpoint, in_thread

_MARKS = (b"\xff", b"\xfe", b"\xef")
"""How files begin that may have to be decoded first."""
Engine = Literal["auto", "rg", "python"]
FIRST_ATTEMPT_SHARE = 1 / 3
"""How much of the time the first attempt may take."""


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """Files in the order of their paths, each with its number of lines that fit.

    `aborted`: the time was up before all was searched. `engine` did the work.
    """

    files: tuple[tuple[str, int], ...]
    aborted: bool
    engine: str

    @property
    def lines(self) -> int:
        """All lines that fit."""
        return sum(number for _, number in self.files)


class Search:
    """A service: searches trees by the best engine of this machine.

    Args:
        workspace: where paths are checked.
        processes: starts helpers.
        engine: "auto" takes ripgrep where it is there, else this interpreter.
    """

    def __init__(self, workspace: Workspace, processes: Processes, engine: Engine = "auto") -> None:
        self._workspace = workspace
        self._processes = processes
        self._program: str | None = "" if engine == "python" else None
        self._heavy: set[str] = set()

    @classmethod
    def open(cls, services: Services) -> Self:
        """The best engine that is there."""
        return cls(services.use(Workspace), services.use(Processes))

    async def count(self, scope: SearchScope, pattern: Pattern, seconds: float) -> MatchCounts:
        """Count the lines of each file that fit, for some seconds at most."""
        until = time.monotonic() + seconds
        if can_serve(scope, pattern):
            found = await self._named(scope, pattern, until)
            if found is not None:
                files = await in_thread(lambda check: _checked_files(scope, found.files, check))
                return MatchCounts(files, not found.ended, "rg")
        files, ended = await in_thread(lambda check: _count_by_re2(scope, pattern, until, check))
        return MatchCounts(files, not ended, "python")

    async def _named(
        self, scope: SearchScope, pattern: Pattern, until: float
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
            work = ripgrep_counts(program, scope, pattern, self._processes, seconds, sized=sized)
            found = await work
            if found is not None and (sized or found.ended):
                if sized:
                    self._heavy.add(folder)
                return found
        return None

    async def _found(self) -> str:
        if self._program is None:
            self._program = await find_program(self._workspace, self._processes)
        return self._program

    async def count_file(self, path: SafePath, pattern: Pattern) -> MatchCounts:
        """Count the lines of one file that fit.

        Raises:
            TooLarge, PathDenied, NotFound: as reading it does.
        """
        data = await in_thread(lambda _: path.read_bytes(MAX_SEARCHED_BYTES))
        number = await in_thread(lambda _: _count_matches(data, pattern))
        return MatchCounts(((path.name, number),) if number else (), aborted=False, engine="python")


def _checked_files(
    scope: SearchScope, files: list[tuple[str, int]], check: Checkpoint
) -> tuple[tuple[str, int], ...]:
    """What an engine named, without what is not wanted."""
    fits = scope.globs.fits if scope.globs else None
    wanted = sorted(
        (item for item in files if item[1] and (fits is None or fits(item[0]))), key=itemgetter(0)
    )
    paths = [path for path, _ in wanted]
    barred = suspects(scope, paths)
    check()
    left_out = barred | _unreadable_files(scope, paths)
    return tuple(item for item in wanted if item[0] not in left_out) if left_out else tuple(wanted)


def _unreadable_files(scope: SearchScope, paths: list[str]) -> set[str]:
    """Files that are too large, or have several names of which one may not be read."""
    with scope.real.open() as top:
        several, large = linked_and_large(top, paths, MAX_SEARCHED_BYTES)
    return {path for path in several if not _may_be_read(scope.file(path))} | large


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
) -> tuple[tuple[tuple[str, int], ...], bool]:
    """This interpreter: each file is opened in the folder that is being walked."""
    found: list[tuple[str, int]] = []
    with scope.real.open() as top:
        ended = True
        for path, data in _contents(scope, top, check):
            number = _count_matches(data, pattern)
            if number:
                found.append((path, number))
            if time.monotonic() > until:
                ended = False
                break
    return _checked_files(scope, found, check), ended


def _contents(scope: SearchScope, top: Handle, check: Checkpoint) -> Iterator[tuple[str, bytes]]:
    globs = scope.globs
    for level in walk(scope, top, check):
        for name in level.files:
            path = f"{level.prefix}{name}"
            if globs and not globs.fits(path):
                continue
            data = level.read(name, MAX_SEARCHED_BYTES)
            if data:
                yield path, data


def _count_matches(data: bytes, pattern: Pattern) -> int:
    # Most files have nothing: the cheapest question comes first.
    if data[:1] not in _MARKS:
        if pattern.bare is not None:
            if pattern.bare not in data:
                return 0
        elif pattern.engine.search(data) is None:
            return 0
    text = text_of(data)
    return 0 if text is None else sum(1 for _ in spans(text, pattern))


def read_hits(
    path: SafePath, pattern: Pattern, skip: int, limit: int, context: int, within: Handle | None
) -> list[Hit]:
    """Lines of a file that fit, read through its checked path. It blocks.

    Args:
        path: the file.
        pattern: what to look for.
        skip: how many lines that fit are left out first.
        limit: how many that fit are given.
        context: lines before and after each.
        within: a folder that holds it, open, where many files are read.

    Raises:
        TooLarge, PathDenied, NotFound: as reading it does.
    """
    text = text_of(path.read_bytes(MAX_SEARCHED_BYTES, within))
    return [] if text is None else hits(text, pattern, skip, limit, context)
