"""The folders of a run that go with it: its home, and the one for temporary files."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolcrib.execution.sandbox.layout import HOME

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

MAX_ENTRIES = 1_000
TEMPORARY = "/tmp"  # noqa: S108 - that of a run


@dataclass(slots=True)
class TemporaryFolders:
    """A look at them from outside, which also holds those that are in memory until its end."""

    _open: list[tuple[str, int, frozenset[str]]] = field(default_factory=list)

    def open_inside(self, pid: int) -> None:
        """Look at those in the namespaces of a run, which are made; its program has not begun.

        Args:
            pid: its first process.
        """
        self._add("~/", f"/proc/{pid}/root{HOME}")
        self._add(f"{TEMPORARY}/", f"/proc/{pid}/root{TEMPORARY}")

    def open_folder(self, path: str) -> None:
        """Look at those that lie on disk, the home inside the other."""
        self._add("~/", f"{path}/home")
        self._add("$TMPDIR/", path)

    def close(self) -> tuple[str, ...]:
        """Let go of them.

        Returns:
            The files that a person would miss, as a run names them: what lies open in there,
            not what programs store for themselves.
        """
        found: list[str] = []
        while True:
            try:  # two threads may be here
                name, fd, before = self._open.pop(0)
            except IndexError:
                break
            try:
                with suppress(OSError):
                    found += _files(name, fd, before)
            finally:
                os.close(fd)
        return tuple(found)

    def _add(self, name: str, path: str) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        with suppress(OSError):
            before = frozenset(os.listdir(path))  # noqa: PTH208
            self._open.append((name, os.open(path, flags), before))


def _files(name: str, fd: int, before: frozenset[str]) -> list[str]:
    found: list[str] = []
    with os.scandir(fd) as entries:
        for _, entry in zip(range(MAX_ENTRIES), entries, strict=False):
            if entry.name in before or entry.name.startswith((".", "tmp")):
                continue
            if entry.is_file(follow_symlinks=False):
                found.append(f"{name}{entry.name}")
            elif name == "~/" and entry.is_dir(follow_symlinks=False):
                found.append(f"{name}{entry.name}/")
    return sorted(found)
