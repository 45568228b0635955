"""Masks: the places beneath a folder that a run must not see or change."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from toolcrib.files.protection import Protection

Kind = Literal["hidden file", "hidden folder", "fixed", "pinned"]
"""fixed: it can be read and not changed; pinned: it can be changed and not be moved away."""
MAX_FOLDERS = 50_000


@dataclass(frozen=True, slots=True)
class Mask:
    """One place to mask."""

    path: str
    kind: Kind


@dataclass(slots=True)
class _Folder:
    """What is known of a folder for as long as nothing in it was renamed, made or removed."""

    changed: tuple[int, int]
    folders: tuple[str, ...] = ()
    masks: tuple[Mask, ...] = ()


class Masks:
    """Finds what is protected beneath a folder, and remembers it by the time of its folders.

    Blocking: run it in a thread.

    Args:
        protection: the names.
    """

    def __init__(self, protection: Protection) -> None:
        self._protection = protection
        self._known: dict[tuple[str, str], _Folder] = {}
        self._patterns: object = None

    def beneath(self, top: str, max_folders: int = MAX_FOLDERS) -> tuple[list[Mask], bool]:
        """The places to mask beneath a folder, and whether all of it could be looked at.

        Args:
            top: its real path. What leads there was the user's own choice.
            max_folders: so many folders are looked into.
        """
        patterns = (self._protection.patterns("read"), self._protection.patterns("write"))
        if patterns != self._patterns:
            self._known.clear()
            self._patterns = patterns
        above = [part for part in top.split("/") if part]
        found: list[Mask] = []
        waiting: list[tuple[str, ...]] = [()]
        visited = 0
        while waiting:
            parts = waiting.pop()
            visited += 1
            if visited > max_folders:
                return found, False
            folder = self._folder(top, above, parts)
            found += folder.masks
            waiting += [(*parts, name) for name in folder.folders]
        if len(self._known) > 4 * MAX_FOLDERS:
            self._known.clear()
        return found, True

    def _folder(self, top: str, above: list[str], parts: tuple[str, ...]) -> _Folder:
        path = "/".join((top.rstrip("/"), *parts))
        try:
            status = os.stat(path, follow_symlinks=False)  # noqa: PTH116
        except OSError:
            return _Folder((0, 0))
        changed = (status.st_mtime_ns, status.st_ctime_ns)
        known = self._known.get((top, path))
        if known is not None and known.changed == changed:
            return known
        folders: list[str] = []
        masks: list[Mask] = []
        for entry in _entries(path or "/"):
            mask, go_in = self._classify(entry, [*above, *parts, entry.name], len(parts) + 1, top)
            masks += mask
            if go_in:
                folders.append(entry.name)
        fresh = _Folder(changed, tuple(folders), tuple(masks))
        if not any(m.path != f"{path}/{PurePosixPath(m.path).name}" for m in masks):
            # Where a link leads may change without a change here, so that is looked at anew.
            self._known[top, path] = fresh
        return fresh

    def _classify(
        self, entry: os.DirEntry[str], parts: Sequence[str], inside: int, top: str
    ) -> tuple[list[Mask], bool]:
        is_folder = entry.is_dir(follow_symlinks=False)
        if self._protection.match(parts, inside, "read"):
            return _hidden(entry, top), False
        if self._protection.match(parts, inside, "write"):
            if entry.name == ".git" and is_folder:
                return [Mask(entry.path, "pinned")], True
            return [Mask(entry.path, "fixed")] if not entry.is_symlink() else [], False
        if not is_folder:
            # A server's socket would be a way out.
            is_socket = not entry.is_symlink() and not entry.is_file(follow_symlinks=False)
            return (
                [Mask(entry.path, "hidden file")] if is_socket and _socket(entry) else []
            ), False
        pinned = self._leads(parts, inside)
        return ([Mask(entry.path, "pinned")] if pinned else []), True

    def _leads(self, parts: Sequence[str], inside: int) -> bool:
        """Whether a protected name could be made beneath this one by putting it elsewhere."""
        del inside
        name = parts[-1].casefold()
        return any(
            len(pattern.names) > 1 and name in pattern.names[:-1]
            for pattern in self._protection.patterns("write")
        )


def _entries(path: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(path) as scan:
            yield from list(scan)
    except OSError:
        return


def _socket(entry: os.DirEntry[str]) -> bool:
    try:
        return stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return False


def _hidden(entry: os.DirEntry[str], top: str) -> list[Mask]:
    path = entry.path
    if entry.is_symlink():
        # The link can be read; it is what it leads to that must not be, if it is in here.
        path = os.path.realpath(path)
        if not path.startswith(f"{top.rstrip('/')}/"):
            return []
    try:
        mode = os.stat(path, follow_symlinks=False).st_mode  # noqa: PTH116
    except OSError:
        return []
    return [Mask(path, "hidden folder" if stat.S_ISDIR(mode) else "hidden file")]
