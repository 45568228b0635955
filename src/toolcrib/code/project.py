"""The source files of a workspace, as they are read to find every use of a name.

Reading blocks: do it in a thread. One `Project` serves one call: it remembers what it read,
and what it read is what a change is compared with before it is written.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from toolcrib.code.languages import LANGUAGES, MIXED, language_of
from toolcrib.code.trial_parse import PYTHON_PARSER, TRIAL_FUNCTION
from toolcrib.core.context import Ctx
from toolcrib.core.errors import (
    MissingExtra,
    NotFound,
    TimedOut,
    TooLarge,
    ToolError,
    UnsupportedContent,
)
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.content.faithful import FaithfulText
from toolcrib.files.content.kinds import SAMPLE_BYTES, kind_of
from toolcrib.files.content.outline import ending_of
from toolcrib.files.paths import SafePath
from toolcrib.files.search.scope import SearchScope, scope_of, suspects, walk
from toolcrib.system.threads import Checkpoint, in_thread

if TYPE_CHECKING:
    from toolcrib.core.context import Services


# Sources that a parser takes too long for

MAX_UNCHECKED_CHARS = 4_000
"""Characters that no known text makes a parser work on for long."""
MAX_PARSE_SECONDS = 1.5
"""Of the processor, for a text that is parsed in this process."""
MAX_KNOWN_TEXTS = 20_000
TOO_SLOW_HINT = (
    "search_files finds text in it, and read_file shows it; or leave it out by .gitignore."
)
TASK = Task(
    TRIAL_FUNCTION, "Understanding the source", seconds=6.0, megabytes=2_000, hint=TOO_SLOW_HINT
)
ParseCheck = Callable[[str, str, str], None]
"""Takes a text, its language and the name to show; raises when it must not be parsed here."""


class ParseGuard:
    """Remembers which texts were parsed well; each is tried once."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._known: OrderedDict[bytes, bool] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """No child before the first text."""
        return cls(services.use(Workers))

    def by_thread(self, deadline: float | None) -> ParseCheck:
        """A trial for the threads of a call, whose event loop must be the running one."""
        loop = asyncio.get_running_loop()

        def trial(text: str, language: str, display: str) -> None:
            if len(text) <= MAX_UNCHECKED_CHARS:
                return
            if language == "python" and not _has_parser():
                language = PYTHON_PARSER
            data = text.encode("utf-8", "replace")
            key = blake2b(data, digest_size=16, person=language.encode()).digest()
            if key in self._known:
                ok = self._known[key]
            else:
                if language != PYTHON_PARSER and not _has_parser():
                    raise MissingExtra("code", "Understanding the structure of code")
                question = self._ask(language, data, deadline)
                ok = self._known[key] = asyncio.run_coroutine_threadsafe(question, loop).result()
                while len(self._known) > MAX_KNOWN_TEXTS:
                    self._known.popitem(last=False)
            if not ok:
                raise TooLarge(f"{display} takes too long to understand.", hint=TOO_SLOW_HINT)

        return trial

    async def _ask(self, language: str, data: bytes, deadline: float | None) -> bool:
        loop = asyncio.get_running_loop()
        try:
            answer, _ = await self._workers.run(TASK, {"language": language}, data, deadline)
        except TimedOut:
            if deadline is not None and loop.time() >= deadline:
                raise
            return False
        except (TooLarge, UnsupportedContent):  # out of memory, or a crash
            return False
        return float(answer["seconds"]) <= MAX_PARSE_SECONDS


def _has_parser() -> bool:
    return find_spec("ast_grep_py") is not None


MAX_FILES = 20_000
MAX_BYTES = 2_000_000
"""Bytes of a source file that is looked into."""
SMALLER_FOLDER_HINT = "Start toolcrib in a smaller folder, or name ignored folders in .gitignore."


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A source file as it was read. `display` is how a call names it."""

    path: SafePath
    display: str
    faithful: FaithfulText
    fingerprint: str

    @property
    def text(self) -> str:
        """Its text; each line end is a line feed."""
        return self.faithful.text


class Project:
    """Source files beneath a folder, by their paths from it, with `/`.

    Attributes:
        ctx: the call that it serves.
        scope: the folder and what of it is left out.
        paths: the files of known languages in order, and those that mix languages.
        check: called between two steps of blocking work; raises when it should stop.
    """

    def __init__(
        self,
        ctx: Ctx,
        scope: SearchScope,
        paths: Iterable[str],
        check: Checkpoint,
        trial: ParseCheck,
    ) -> None:
        self.ctx = ctx
        self.scope = scope
        self.paths = tuple(paths)
        self.check: Callable[[], None] = check
        self._trial = trial
        self._known = frozenset(self.paths)
        self._raw: dict[str, tuple[bytes, str] | ToolError] = {}
        self._sources: dict[str, SourceFile] = {}

    @classmethod
    async def open(cls, ctx: Ctx, folder: SafePath) -> Project:
        """List the source files of a folder.

        Raises:
            TooLarge: there are more than MAX_FILES.
            NotFound, PathDenied: as opening the folder does.
        """
        check = Checkpoint(ctx.deadline)
        trial = ctx.use(ParseGuard).by_thread(ctx.deadline)
        return await in_thread(lambda _: cls._listed(ctx, folder, check, trial), ctx.deadline)

    @classmethod
    def _listed(cls, ctx: Ctx, folder: SafePath, check: Checkpoint, trial: ParseCheck) -> Project:
        scope = scope_of(folder)
        paths: list[str] = []
        with scope.real.open() as top:
            for level in walk(scope, top, check):
                for name in level.files:
                    ending = ending_of(name)
                    if ending in LANGUAGES or ending in MIXED:
                        paths.append(f"{level.prefix}{name}")
                if len(paths) > MAX_FILES:
                    raise TooLarge(
                        f"{folder.display} has more than {MAX_FILES:,} source files.",
                        hint=SMALLER_FOLDER_HINT,
                    )
        barred = suspects(scope, paths)
        return cls(ctx, scope, sorted(path for path in paths if path not in barred), check, trial)

    def __contains__(self, path: str) -> bool:
        return path in self._known

    def name_of(self, file: SafePath) -> str:
        """How the project names a file.

        Raises:
            NotFound: it is not among its source files.
        """
        real, depth = self.scope.real, len(self.scope.real.parts)
        for parts in (file.parts, self._real_parts(file)):
            name = "/".join(parts[depth:])
            if parts[:depth] == real.parts and name in self._known:
                return name
        raise NotFound(
            f"{file.display} is not one of the source files here.",
            hint="Ignored, hidden, vendored and protected files are left out.",
        )

    def _real_parts(self, file: SafePath) -> tuple[str, ...]:
        absolute = file.spellings()[-1]
        root = file.root.name.rstrip("/") + "/"
        return tuple(absolute.removeprefix(root).split("/"))

    def display(self, path: str) -> str:
        """A path as a call names it."""
        return self.scope.display(path)

    def text(self, path: str) -> str:
        """The text of a file.

        Raises:
            UnsupportedContent, TooLarge, NotFound, PathDenied: it cannot be read as text.
        """
        return self.source(path).text

    def parsable(self, path: str, by: str = "") -> str:
        """The text of a file, when it can be parsed soon. Only in a thread.

        Args:
            path: the file.
            by: another parser than that of its language, see `toolcrib.code.trial_parse`.

        Raises:
            TooLarge: a parser takes too long for it. Else as `text` does.
            MissingExtra: the parser is not installed.
        """
        text = self.text(path)
        self._trial(text, by or language_of(path), self.display(path))
        return text

    def source(self, path: str) -> SourceFile:
        """A file with all that is needed to change it; raises as `text` does."""
        known = self._sources.get(path)
        if known is None:
            data, fingerprint = self._bytes(path)
            file, display = self.scope.file(path), self.display(path)
            known = SourceFile(file, display, FaithfulText.of(data, display), fingerprint)
            self._sources[path] = known
        return known

    def _bytes(self, path: str) -> tuple[bytes, str]:
        found = self._raw.get(path)
        if found is None:
            try:
                found = self._read(path)
            except ToolError as error:
                found = error
            self._raw[path] = found
        if isinstance(found, ToolError):
            raise found
        return found

    def _read(self, path: str) -> tuple[bytes, str]:
        self.check()
        display = self.display(path)
        with self.scope.file(path).open_read() as handle:
            data = handle.file.read(MAX_BYTES + 1)
            fingerprint = handle.fingerprint
        if len(data) > MAX_BYTES:
            raise TooLarge(
                f"{display} has more than {MAX_BYTES:,} bytes.", hint="Search it with search_files."
            )
        kind = kind_of(data[:SAMPLE_BYTES])
        if kind is not None:
            raise UnsupportedContent(f"{display} is not text: {kind.name}.", hint="Leave it out.")
        return data, fingerprint

    def mentioning(self, word: str, languages: Iterable[str] = ()) -> tuple[list[str], list[str]]:
        """The files with a text in them, and those that nobody could look into.

        Args:
            word: found as it is, case matters, also inside longer words.
            languages: only files of these; files that mix languages are always looked into.
        """
        wanted = frozenset(languages)
        raw = word.encode("utf-8", "surrogateescape")
        found: list[str] = []
        closed: list[str] = []
        for path in self.paths:
            language = language_of(path)
            if wanted and language and language not in wanted:
                continue
            try:
                data, _ = self._bytes(path)
                simple = not data[:1] or data[0] not in b"\xfe\xff"
                if raw in data or ((not simple or not word.isascii()) and word in self.text(path)):
                    found.append(path)
            except (TooLarge, UnsupportedContent) as error:
                closed.append(f"{self.display(path)}: {error.message}")
            except ToolError:
                closed.append(f"{self.display(path)}: it cannot be read.")
        return found, closed


async def is_file(place: SafePath, ctx: Ctx) -> bool:
    """Whether a path is that of a file; raises as opening it does."""

    def opened(_: object) -> bool:
        with place.open() as handle:
            return handle.kind == "file"

    return await in_thread(opened, ctx.deadline)
