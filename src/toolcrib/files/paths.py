"""Checked paths: the workspace that they lie in, and the types of parameters that are paths.

A `SafePath` is the only thing that a tool is given, and the only way to touch a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self, TypeAlias

from toolcrib.core.config import Config, data_folder, store_file, user_config_file
from toolcrib.core.context import Ctx, Services
from toolcrib.core.errors import BadInput, NotConfigured, NotFound, PathDenied, ToolError
from toolcrib.core.tool import Param
from toolcrib.files.handles import NO_ROOTS, ROOTS_HINT, Opener, Root, best_opener
from toolcrib.files.path_gate import PathGate, SafePath
from toolcrib.files.path_rules import (
    MAX_CHARS,
    Protection,
    escaped,
    normal_parts,
    parts_beneath,
    refusal,
    tidied,
)
from toolcrib.system.installation import code_folders

__all__ = ["EachPath", "RefusedPath", "SafePath", "Workspace", "WorkspacePath", "WritablePath"]

STORE_ENDINGS = ("", "-wal", "-shm", "-journal")
"""The store, and what SQLite puts beside it."""


class Workspace:
    """The folders that tools may use. A service; see `Workspace.open`.

    Args:
        roots: absolute paths; the first is where a conversation starts.
        protection: the names that are refused inside them too.
        opener: how files are found beneath a root; None is the best opener of this system.
    """

    def __init__(
        self,
        roots: Iterable[str],
        protection: Protection | None = None,
        opener: Opener | None = None,
    ) -> None:
        self.roots = tuple(dict.fromkeys(_root(name) for name in roots))
        self.gate = PathGate(opener or best_opener(), protection or Protection())

    @classmethod
    def open(cls, services: Services) -> Self:
        """Build it from `config.workspace`.

        Without roots: the current directory, unless it is the home folder, one above
        that, or one of our own; then there is no workspace and every path is refused.
        """
        config = services.config.workspace
        own = own_places(services.config)
        roots = [_plain(Path(root).expanduser()) for root in config.roots]
        roots = roots or _current_directory(own)
        protection = Protection(
            config.protect_read,
            config.protect_write,
            config.unprotect,
            own=[*own, *code_within(roots)],
            hidden=_hidden_places(services.config),
        )
        return cls(roots, protection)

    def start(self, directory: str = "") -> SafePath:
        """The current directory of a conversation.

        Args:
            directory: where the conversation went; the first root where it is not inside.

        Raises:
            NotConfigured: there are no roots.
        """
        self._need_roots("Files")
        found = self._locate(directory) if directory.startswith("/") else None
        root, parts = found or (self.roots[0], ())
        return SafePath(root, parts, self.gate, len(parts))

    def resolve(self, text: str, directory: str = "") -> SafePath:
        """The place that a path in a call means; it need not exist.

        Args:
            text: relative to the current directory, or absolute inside a root. `~` is
                the home folder.
            directory: the current directory of the conversation, absolute.

        Raises:
            BadInput: the path is empty or too long.
            PathDenied: it is outside the roots, or spelt in a forbidden way.
            NotConfigured: there are no roots.
        """
        reason = refusal(text, windows=os.name == "nt")
        if reason:
            raise _misspelt(text, reason)
        self._need_roots(text)
        start = self.start(directory)
        found = self._locate(_absolute(text, start.absolute))
        if found is None:
            raise PathDenied(
                f"Access denied: {text} is outside the workspace.",
                hint='Use a path relative to the current directory, like "src/main.py". '
                f"The workspace is {', '.join(r.name for r in self.roots)}. {ROOTS_HINT}",
                rule="outside",
            )
        root, parts = found
        beneath = root == start.root and parts[: len(start.parts)] == start.parts
        return SafePath(root, parts, self.gate, len(start.parts) if beneath else -1)

    def at(self, root: str, parts: Sequence[str]) -> SafePath:
        """A place that was written down, in the user's spelling where a root leads to it.

        Args:
            root: the real path of the root that it lay beneath, now perhaps another's.
            parts: the names from there, without links.
        """
        found = self._locate(Root(root, root).real_path(parts))
        if found is None:
            return SafePath(Root(root, root), tuple(parts), self.gate, -1)
        return SafePath(found[0], found[1], self.gate, -1)

    def holds(self, absolute: str) -> bool:
        """Whether a path lies inside one of the roots."""
        return self._locate(absolute) is not None

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
    return Root(name, os.path.realpath(name))


def _plain(path: Path) -> str:
    """Absolute and without `..`, links left alone."""
    return os.path.abspath(path)  # noqa: PTH100 - resolve() would follow links


def _absolute(text: str, start: str) -> str:
    if text == "~" or text.startswith("~/"):
        return f"{_home()}{text[1:]}"
    return text if text.startswith("/") else f"{start}/{text}"


def _home() -> str:
    try:
        return str(Path.home())
    except RuntimeError:  # a user without an entry in the password file
        return "/"


def _misspelt(text: str, reason: str) -> BadInput | PathDenied:
    if not text.strip():
        return BadInput("The path is empty.", hint='"." is the current directory.')
    if len(text) > MAX_CHARS:
        return BadInput(f"The path has {len(text):,} characters, more than {MAX_CHARS:,}.")
    return PathDenied(
        f"Access denied: {escaped(text)}: {reason}.",
        hint='Write paths like "src/main.py", relative to the current directory.',
        rule="spelling",
    )


def own_places(config: Config) -> list[str]:
    """Our settings and state: the files, their folder where it is ours alone, the data."""
    file = user_config_file()
    places = [file, data_folder()]
    if config.file is not None:
        places.append(config.file)
    store = store_file(config.store.url)
    if store is not None:
        places += [store.with_name(store.name + end) for end in STORE_ENDINGS]
    if file.parent.name == "toolcrib":
        places.append(file.parent)
    return _spellings(places)


def code_within(roots: Iterable[str]) -> list[str]:
    """The code that this process runs, where it lies in a root or holds one.

    Who changes it is heard outside of every boundary at the next start.
    """
    tops = [root for name in roots for root in (name, os.path.realpath(name))]
    return [
        place
        for place in code_folders()
        if any(
            parts_beneath(place, top) is not None or parts_beneath(top, place) is not None
            for top in tops
        )
    ]


def _hidden_places(config: Config) -> list[str]:
    """Stored contents of files: nobody reads them past the rules that held for those."""
    places = [data_folder() / "undo", data_folder() / "backups"]
    if config.backup.folder:
        places.append(Path(config.backup.folder).expanduser())
    return _spellings(places)


def _spellings(places: Iterable[Path]) -> list[str]:
    """Absolute paths as they are written, and without links."""
    absolute = [_plain(path) for path in places]
    return list(dict.fromkeys([*absolute, *map(os.path.realpath, absolute)]))


def _current_directory(own: Sequence[str]) -> list[str]:
    """The current directory as the only root, or none where that would be too much."""
    try:
        here = os.path.realpath(os.getcwd())  # noqa: PTH109 - a Path would hide a deleted one
    except FileNotFoundError:
        return []
    home = os.path.realpath(_home())
    if parts_beneath(home, here) is not None:
        return []
    if any(parts_beneath(here, path) is not None for path in own):
        return []
    return [here] if normal_parts(here) else []


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


def _resolve_readable(value: str, ctx: Ctx) -> SafePath:
    workspace = ctx.use(Workspace)
    path = workspace.resolve(value, ctx.session.directory)
    meant = tidied(value)
    if meant != value and meant and not _stands(path):
        path = workspace.resolve(meant, ctx.session.directory)
    path.gate.check(path, "read")
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
        return _resolve_readable(value, ctx)
    except (PathDenied, BadInput) as error:
        return RefusedPath(value[:200], error)


def resolve_writable(value: str, ctx: Ctx) -> SafePath:
    """The check of `WritablePath`, for paths that stand inside of another argument.

    Raises:
        BadInput, PathDenied, NotConfigured: as for an argument that is a path.
    """
    path = _resolve_readable(value, ctx)
    path.gate.check(path, "write")
    return path


WorkspacePath: TypeAlias = Annotated[
    SafePath, Param(kind="path", check=_resolve_readable, json_type="string")
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
