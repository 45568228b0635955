"""A checked path: the only thing that a tool is given, and the only way to touch a file."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, TooLarge
from toolcrib.core.params import Param
from toolcrib.kit.paths.gate import Gate, Root
from toolcrib.kit.paths.handle import Entry, Handle, Place


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

    def read_bytes(self, max_bytes: int) -> bytes:
        """The whole file.

        Raises:
            TooLarge: it has more than `max_bytes`.
            BadInput, PathDenied, NotFound: as `open_read`.
        """
        with self.open_read() as handle:
            data = handle.file.read(max_bytes + 1)
            if len(data) > max_bytes:
                size = max(handle.size, len(data))
                raise TooLarge(f"{self.display} has {size:,} bytes, more than {max_bytes:,}.")
            return data

    def stat(self) -> os.stat_result:
        """What the system says about it, links followed; see `Gate.status`."""
        return self.gate.status(self)

    def list(self) -> list[Entry]:
        """What the folder holds, in no order; see `Gate.entries`."""
        return self.gate.entries(self)

    def place(self) -> AbstractContextManager[Place]:
        """Where to write it, see `Gate.place`."""
        return self.gate.place(self)


def _resolve(value: str, ctx: Ctx) -> SafePath:
    from toolcrib.kit.paths.workspace import Workspace

    path = ctx.use(Workspace).resolve(value, ctx.session.directory)
    path.gate.check(path, "read")
    return path


def _resolve_writable(value: str, ctx: Ctx) -> SafePath:
    path = _resolve(value, ctx)
    path.gate.check(path, "write")
    return path


WorkspacePath: TypeAlias = Annotated[
    SafePath, Param("Path in the workspace.", kind="path", check=_resolve, json_type="string")
]
"""A path to read: inside the roots, and not protected from reading. It need not exist."""

WritablePath: TypeAlias = Annotated[
    SafePath,
    Param("Path in the workspace.", kind="path", check=_resolve_writable, json_type="string"),
]
"""A path to write: what is protected from reading or writing is refused."""
