"""A checked path: the only thing that a tool is given, and the only way to touch a file."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Annotated, TypeAlias

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotFound, PathDenied, TooLarge, ToolError
from toolcrib.core.params import Param
from toolcrib.files.handles import Entry, Handle, Place
from toolcrib.files.path_gate import Gate, Order
from toolcrib.files.path_rules import parts_beneath, tidied
from toolcrib.files.roots import Root


@dataclass(frozen=True, slots=True)
class SafePath:
    """A place inside the workspace, existing or not.

    The methods block: a tool runs them in a thread. None of them opens by name what
    was checked before; each finds the way anew beneath the root.

    Attributes:
        root: the folder that it lies beneath.
        parts: the names that lead there, without `..`; links in them are still links.
        base: how many parts the current directory of the conversation has, where it
            lies on the way; -1 otherwise.
    """

    root: Root
    parts: tuple[str, ...]
    gate: Gate = field(repr=False, compare=False)
    base: int = 0

    @property
    def absolute(self) -> str:
        """The whole path, in the spelling of the configuration."""
        return self.root.absolute(self.parts)

    @property
    def display(self) -> str:
        """The shortest path that names this place when it is sent back."""
        if self.base < 0:
            return self.absolute
        return "/".join(self.parts[self.base :]) or "."

    @property
    def name(self) -> str:
        """The last name; that of the root for the root."""
        return self.parts[-1] if self.parts else self.root.name.rpartition("/")[2]

    def __str__(self) -> str:
        return self.absolute

    def granted(self) -> SafePath:
        """The same place, which may be written though its name is protected from that.

        See `Gate.granting`: only for what was judged by its content.
        """
        return replace(self, gate=self.gate.granting(self))

    def spellings(self) -> list[str]:
        """The path as it was written, and where its links lead, both as the root is written."""
        real = os.path.realpath(self.absolute)
        if real == self.root.real or real.startswith(f"{self.root.real}/"):
            real = self.root.name.rstrip("/") + real[len(self.root.real.rstrip("/")) :]
        return list(dict.fromkeys((self.absolute, real)))

    @property
    def parent(self) -> SafePath:
        """The folder that holds it; the root is its own."""
        return self.ancestor(max(len(self.parts) - 1, 0))

    def ancestor(self, depth: int) -> SafePath:
        """The folder on the way whose path has so many parts."""
        base = self.base if self.base <= depth else -1
        return SafePath(self.root, self.parts[:depth], self.gate, base)

    def seen_from(self, folder: SafePath) -> SafePath:
        """The same place, to be named as from that folder where it lies beneath it."""
        depth = len(folder.parts)
        beneath = self.root == folder.root and self.parts[:depth] == folder.parts
        return replace(self, base=depth if beneath else -1)

    def child(self, name: str) -> SafePath:
        """What a folder's listing names `name`."""
        if "/" in name or "\0" in name or name in ("", ".", ".."):
            raise BadInput(f"{name!r} is not a name.")
        return SafePath(self.root, (*self.parts, name), self.gate, self.base)

    def open(self) -> Handle:
        """Open a file or a folder; see `Gate.open` for what is raised."""
        return self.gate.open(self)

    def open_read(self) -> Handle:
        """Open a plain file.

        Raises:
            BadInput: it is a folder.
            PathDenied, NotFound: see `Gate.open`.
        """
        handle = self.open()
        if handle.kind != "file":
            handle.close()
            raise BadInput(f"{self.display} is a folder, not a file.")
        return handle

    def read_bytes(self, max_bytes: int, within: Handle | None = None) -> bytes:
        """The whole file.

        Args:
            max_bytes: at most so many.
            within: a folder that holds it somewhere, open, where many are read.

        Raises:
            TooLarge: it has more than `max_bytes`.
            BadInput, PathDenied, NotFound: as `open_read`.
        """
        with (within and self._in(within)) or self.open_read() as handle:
            data = handle.file.read(max_bytes + 1)
            if len(data) > max_bytes:
                size = max(handle.size, len(data))
                raise TooLarge(f"{self.display} has {size:,} bytes, more than {max_bytes:,}.")
            return data

    def _in(self, folder: Handle) -> Handle | None:
        way = parts_beneath(self.root.real_path(self.parts), folder.absolute)
        return self.gate.open_in(folder, "/".join(way), self) if way else None

    def stat(self) -> os.stat_result:
        """What the system says about it, links followed; see `Gate.status`."""
        return self.gate.status(self)

    def link(self) -> str:
        """The target of a link, as written; "" for what is none. See `Gate.link`."""
        return self.gate.link(self)

    def count(self) -> int:
        """How many names the folder holds; see `Gate.count`."""
        return self.gate.count(self)

    def list(self, order: Order | None = None, most: int = 0) -> list[Entry]:
        """What the folder holds, in no order; see `Gate.entries`."""
        return self.gate.entries(self, order, most)

    def place(self, *, whole: bool = False) -> AbstractContextManager[Place]:
        """Where to write it, see `Gate.place`."""
        return self.gate.place(self, whole=whole)

    def settled(self) -> SafePath:
        """The same place with each link on the way to it followed, itself not.

        What does not exist yet is taken as it is spelt.

        Raises:
            PathDenied: the way leads outside, or through something that is no folder.
        """
        for depth in range(len(self.parts) - 1, -1, -1):
            with suppress(NotFound), self.ancestor(depth).open() as handle:
                if handle.kind != "folder":
                    raise PathDenied(
                        f"Access denied: {handle.display} is not a folder.",
                        hint="Use another folder.",
                    )
                real = parts_beneath(handle.absolute, self.root.real) or []
                return SafePath(self.root, (*real, *self.parts[depth:]), self.gate, -1)
        return self


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


def _resolve(value: str, ctx: Ctx) -> SafePath:
    from toolcrib.files.workspace import Workspace

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
        return _resolve(value, ctx)
    except (PathDenied, BadInput) as error:
        return RefusedPath(value[:200], error)


def resolve_writable(value: str, ctx: Ctx) -> SafePath:
    """The check of `WritablePath`, for paths that stand inside of another argument.

    Raises:
        BadInput, PathDenied, NotConfigured: as for an argument that is a path.
    """
    path = _resolve(value, ctx)
    path.gate.check(path, "write")
    return path


WorkspacePath: TypeAlias = Annotated[
    SafePath, Param(kind="path", check=_resolve, json_type="string")
]
"""A path to read: inside the roots, and not protected from reading. It need not exist."""

WritablePath: TypeAlias = Annotated[
    SafePath,
    Param(kind="path", check=resolve_writable, json_type="string"),
]
"""A path to write: what is protected from reading or writing is refused."""

EachPath: TypeAlias = Annotated[
    SafePath | RefusedPath,
    Param(kind="path", check=_resolve_each, json_type="string"),
]
"""For a list of paths to read of which one that is refused does not keep the others."""
