"""Checked paths: the workspace that they lie in, and the types of parameters that are paths.

A `SafePath` is the only thing that a tool is given, and the only way to touch a file.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self, TypeAlias

from toolcrib.core.config import Config, data_folder, environment, store_file, user_config_file
from toolcrib.core.context import Ctx, Services
from toolcrib.core.errors import BadInput, NotConfigured, NotFound, PathDenied, ToolError
from toolcrib.core.tool import Param
from toolcrib.files.handles import NO_ROOTS, ROOTS_HINT, Opener, Root, best_opener
from toolcrib.files.path_gate import PathGate, SafePath
from toolcrib.files.path_rules import (
    MAX_CHARS,
    WINDOWS,
    Protection,
    escaped,
    is_absolute,
    parts_beneath,
    refusal,
    slashed,
    tidied,
)
from toolcrib.files.real_paths import real_path
from toolcrib.files.roots import (
    ScratchFolder,
    configured_roots,
    current_folder,
    home_folder,
    plain_path,
)
from toolcrib.system.installation import code_folders
from toolcrib.system.processes import DEFAULT_PATH

__all__ = ["EachPath", "RefusedPath", "SafePath", "Workspace", "WorkspacePath", "WritablePath"]

STORE_ENDINGS = ("", "-wal", "-shm", "-journal")
"""The store, and what SQLite puts beside it."""

_URL = re.compile(r"https?://", re.IGNORECASE)
MAX_LEVELS = 950
"""Folders that lie in each other in a path of a call."""


class Workspace:
    """The folders that tools may use. A service; see `Workspace.open`.

    Args:
        roots: absolute paths; the first is where a conversation starts.
        protection: the names that are refused inside them too.
        opener: how files are found beneath a root; None is the best opener of this system.
        scratch: the folder that stands in where nobody gave one; removed by `close`.
    """

    def __init__(
        self,
        roots: Iterable[str],
        protection: Protection | None = None,
        opener: Opener | None = None,
        scratch: ScratchFolder | None = None,
    ) -> None:
        self._scratch = scratch
        self.warning = scratch.note if scratch else ""
        self.roots = tuple(dict.fromkeys(_root(name) for name in roots))
        self.gate = PathGate(opener or best_opener(), protection or Protection())

    @classmethod
    def open(cls, services: Services) -> Self:
        """Build it from `config.workspace`.

        Without roots: the current directory, unless it is the home folder, one above
        that, or one of our own; then an empty scratch folder.
        """
        config = services.config.workspace
        own = own_places(services.config)
        roots = chosen_roots(services.config)
        scratch = None if roots else _scratch_folder()
        roots = roots or ([scratch.path] if scratch else [])
        protection = Protection(
            config.protect_read,
            config.protect_write,
            config.unprotect,
            own=[*own, *code_within(roots)],
            hidden=_hidden_places(services.config),
        )
        return cls(roots, protection, scratch=scratch)

    @property
    def is_scratch(self) -> bool:
        """Whether nobody gave a folder, and an empty one of ours stands in."""
        return self._scratch is not None

    def close(self) -> None:
        """Remove the scratch folder, if nothing was left in it."""
        if self._scratch is not None:
            self._scratch.close()

    def start(self, directory: str = "") -> SafePath:
        """The current directory of a conversation.

        Args:
            directory: where the conversation went; the first root where it is not inside.

        Raises:
            NotConfigured: there are no roots.
        """
        self._need_roots("Files")
        found = self._locate(directory) if is_absolute(directory) else None
        root, parts = found or (self.roots[0], ())
        return SafePath(root, parts, self.gate, len(parts))

    def resolve(self, text: str, directory: str = "") -> SafePath:
        """The place that a path in a call means; it need not exist.

        Args:
            text: relative to the current directory, or absolute inside a root. `~` is
                the home folder.
            directory: the current directory of the conversation, absolute.

        Raises:
            BadInput: the path is empty, too long or too deep.
            PathDenied: it is outside the roots, or spelt in a forbidden way.
            NotConfigured: there are no roots.
        """
        if _URL.match(text):
            raise BadInput(f"{text[:200]} is no file.", hint="fetch_url reads web pages.")
        reason = refusal(text, windows=WINDOWS)
        if reason:
            raise _misspelt(text, reason, self._meant(text))
        text = slashed(text)
        self._need_roots(text)
        start = self.start(directory)
        found = self._locate(_absolute(text, start.absolute))
        if found is None:
            raise PathDenied(
                f"Access denied: {text} is outside the workspace.",
                hint=f"{self._meant(text)}Use a path relative to the current directory, like "
                f'"src/main.py". The workspace is {", ".join(r.name for r in self.roots)}. '
                f"{ROOTS_HINT}",
                rule="outside",
            )
        root, parts = found
        if len(parts) > MAX_LEVELS:
            raise BadInput(
                f"'{text[:80]}…' is {len(parts):,} folders deep; {MAX_LEVELS} are allowed."
            )
        beneath = root == start.root and parts[: len(start.parts)] == start.parts
        return SafePath(root, parts, self.gate, len(start.parts) if beneath else -1)

    def _meant(self, text: str) -> str:
        """A question for a path with folders before it that are not here, as models invent."""
        names = tuple(filter(None, re.split(r"[\\/]", text[:MAX_CHARS])))
        for end in (names[first:] for first in range(len(names))):
            for root in self.roots:
                place = SafePath(root, end, self.gate, -1)
                with suppress(ValueError):  # a name that no system has
                    is_there = {"..", "."}.isdisjoint(end) and os.path.lexists(place.absolute)
                    if is_there and not self.gate.pattern(place, "read"):
                        return f"Did you mean {escaped(place.absolute)}? "
        return ""

    def at(self, root: str, parts: Sequence[str]) -> SafePath:
        """A place that was written down, in the user's spelling where a root leads to it.

        Args:
            root: the real path of the root that it lay beneath, now perhaps another's.
            parts: the names from there, without links.
        """
        gone = Root(root, root)
        return self.find(gone.real_path(parts)) or SafePath(gone, tuple(parts), self.gate, -1)

    def find(self, absolute: str) -> SafePath | None:
        """The place that an absolute path names; None where it is in no root."""
        found = self._locate(absolute)
        return SafePath(*found, self.gate, -1) if found is not None else None

    def holds(self, absolute: str) -> bool:
        """Whether a path lies inside one of the roots."""
        return self._locate(absolute) is not None

    def search_path(self) -> list[str]:
        """The folders of PATH where nothing is that a run could have put there.

        Programs that are started outside of the boundary are looked for in these alone, and
        what they start in their turn.
        """
        found = environment(("PATH",)).get("PATH") or DEFAULT_PATH
        own = (real_path(data_folder()), "/dev/shm")  # noqa: S108 - runs write there too
        return [
            folder
            for folder in dict.fromkeys(found.split(os.pathsep))
            if folder.startswith("/") and self.is_outside(folder, own)
        ]

    def outside_program(self, name: str, more: Iterable[str] = ()) -> str:
        """A program that no run could have put there; "" where there is none.

        Args:
            name: its name.
            more: further folders, looked into after those of PATH.
        """
        for folder in (*self.search_path(), *more):
            place = f"{folder.rstrip('/')}/{name}"
            # A folder on PATH may be closed to this user: `is_file` of a Path raises there.
            if os.path.isfile(place) and os.access(place, os.X_OK) and self.is_outside(place):  # noqa: PTH113
                return place
        return ""

    def is_outside(self, place: str, own: Sequence[str] = ()) -> bool:
        """Whether an absolute path leads neither into a root nor into one of some folders."""
        real = real_path(place)
        held = any(parts_beneath(real, folder) is not None for folder in own)
        return not (held or self.holds(place) or self.holds(real))

    def _need_roots(self, wanted: str) -> None:
        if not self.roots:
            raise NotConfigured(
                f"{wanted} cannot be used: no workspace is configured.", hint=NO_ROOTS
            )

    def _locate(self, absolute: str) -> tuple[Root, tuple[str, ...]] | None:
        """The innermost root that holds a path, and the names from it."""
        found: list[tuple[Root, Sequence[str]]] = []
        for root in self.roots:
            for name in (root.name, root.real):
                parts = parts_beneath(absolute, name)
                if parts is not None:
                    found.append((root, parts))
        if not found:
            return None
        root, names = min(found, key=lambda item: len(item[1]))
        return root, tuple(names)


def _root(name: str) -> Root:
    return Root(name, real_path(name))


def chosen_roots(config: Config) -> list[str]:
    """The folders of the configuration, else the current one; none where that is too much."""
    roots = configured_roots(config.workspace.roots)
    here = "" if roots else current_folder(own_places(config))
    return [here] if here else roots


def _scratch_folder() -> ScratchFolder | None:
    try:
        return ScratchFolder()
    except OSError:  # no place for one either: then every path is refused
        return None


def _absolute(text: str, start: str) -> str:
    if text == "~" or text.startswith("~/"):
        return f"{home_folder()}{text[1:]}"
    return text if is_absolute(text) else f"{start}/{text}"


def _misspelt(text: str, reason: str, meant: str) -> BadInput | PathDenied:
    if not text.strip():
        return BadInput("The path is empty.", hint='"." is the current directory.')
    if len(text) > MAX_CHARS:
        return BadInput(f"The path has {len(text):,} characters, more than {MAX_CHARS:,}.")
    return PathDenied(
        f"Access denied: {escaped(text)}: {reason}.",
        hint=f'{meant}Write paths like "src/main.py", relative to the current directory.',
        rule="spelling",
    )


def own_places(config: Config) -> list[str]:
    """Our settings and state: the files, their folder where it is ours alone, the data."""
    file = user_config_file()
    places = [file, data_folder()]
    if config.file is not None:
        places.append(config.file)
    places += _store_files(config)
    if file.parent.name == "toolcrib":
        places.append(file.parent)
    return _spellings(places)


def code_within(roots: Iterable[str]) -> list[str]:
    """The code that this process runs, where it lies in a root or holds one.

    Who changes it is heard outside of every boundary at the next start.
    """
    tops = [root for name in roots for root in (name, real_path(name))]
    return [
        place
        for place in map(slashed, code_folders())
        if any(
            parts_beneath(place, top) is not None or parts_beneath(top, place) is not None
            for top in tops
        )
    ]


def _hidden_places(config: Config) -> list[str]:
    """Stored contents of files and conversations: nobody reads them past what held for those."""
    places = [data_folder() / name for name in ("undo", "backups", "indexes")]
    places += _store_files(config)
    if config.backup.folder:
        places.append(Path(config.backup.folder).expanduser())
    return _spellings(places)


def _store_files(config: Config) -> list[Path]:
    store = store_file(config.store.url)
    return [store.with_name(store.name + end) for end in STORE_ENDINGS] if store else []


def _spellings(places: Iterable[Path]) -> list[str]:
    """Absolute paths as they are written, and without links."""
    absolute = [plain_path(path) for path in places]
    return list(dict.fromkeys([*absolute, *map(real_path, absolute)]))


@dataclass(frozen=True, slots=True)
class RefusedPath:
    """What stands in a list of paths for one that is refused: nothing can be done with it."""

    display: str
    error: ToolError

    def spellings(self) -> list[str]:
        """No target: it is never opened."""
        return []

    def __str__(self) -> str:
        return self.display


def resolve_readable(value: str, ctx: Ctx) -> SafePath:
    """The check of `WorkspacePath`.

    Raises:
        BadInput, PathDenied, NotConfigured: as for an argument that is a path.
    """
    path = resolve_meant(value, ctx)
    path.gate.check(path, "read")
    return path


def resolve_meant(value: str, ctx: Ctx, unprotected: Iterable[str] = ()) -> SafePath:
    """The place that a path means, unchecked: as it is written, else as it was probably meant.

    Args:
        value: the path.
        ctx: of the call.
        unprotected: built-in patterns that do not count; see `SafePath.but_for`.

    Raises:
        BadInput, PathDenied, NotConfigured: as for an argument that is a path.
    """
    workspace = ctx.use(Workspace)

    def place(text: str) -> SafePath:
        found = workspace.resolve(text, ctx.session.directory)
        for pattern in unprotected:
            found = found.but_for(pattern)
        return found

    path, meant = place(value), tidied(value)
    if meant != value and meant and not _stands(path):
        path = place(meant)
    if not value.isascii() and not _stands(path):
        # A name of macOS has its accents apart, and no model can write it so.
        forms = (unicodedata.normalize(form, meant or value) for form in ("NFC", "NFD"))
        path = next(filter(_stands, map(place, forms)), path)
    return path


def _stands(path: SafePath) -> bool:
    """Whether there is something of just this name, however odd."""
    try:
        path.stat()
    except NotFound:
        return False
    except ToolError:
        return True
    return True


def _resolve_each(value: str, ctx: Ctx) -> SafePath | RefusedPath:
    try:
        return resolve_readable(value, ctx)
    except (PathDenied, BadInput) as error:
        return RefusedPath(value[:200], error)


def resolve_writable(value: str, ctx: Ctx) -> SafePath:
    """The check of `WritablePath`, for paths that stand inside of another argument.

    Raises:
        BadInput, PathDenied, NotConfigured: as for an argument that is a path.
    """
    path = resolve_readable(value, ctx)
    path.gate.check(path, "write")
    return path


WorkspacePath: TypeAlias = Annotated[
    SafePath, Param(kind="path", check=resolve_readable, json_type="string")
]
"""A path to read: inside the roots, and not protected from reading. It need not exist."""

WritablePath: TypeAlias = Annotated[
    SafePath, Param(kind="path", check=resolve_writable, json_type="string")
]
"""A path to write: what is protected from reading or writing is refused."""

EachPath: TypeAlias = Annotated[
    SafePath | RefusedPath, Param(kind="path", check=_resolve_each, json_type="string")
]
"""For a list of paths to read of which one that is refused does not keep the others."""
