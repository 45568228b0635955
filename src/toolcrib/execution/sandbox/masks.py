"""Masks: places in what a run sees that it must not read, change or move away."""

from __future__ import annotations

import math
import os
import stat
import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from toolcrib.execution.toolchains import is_among
from toolcrib.files.handles import read_plain
from toolcrib.files.path_rules import GENERATED_FOLDERS, Protection
from toolcrib.files.real_paths import real_path
from toolcrib.files.repositories.credentials import (
    MAX_SETTINGS_BYTES,
    may_be_settings,
    settings_in,
    without_credentials,
)
from toolcrib.files.repositories.places import is_repository, led_to
from toolcrib.files.trees import names_beneath

OBEYED_BY_GIT = frozenset({"config", "config.worktree", "commondir", "hooks"})

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError


Kind = Literal["hidden file", "hidden folder", "fixed", "pinned", "copy"]
"""fixed: it can be read and not changed; pinned: it can be changed and not be moved away;
copy: another content is read in its place, and not changed."""
Barring = Callable[[str], str]
"""Gives of a name in a folder the pattern that protects it; "" where none does."""
MAX_FOLDERS = 50_000
MAX_LINK_ENTRIES = 1_000
"""Files in a masked folder whose other names are looked for."""


@dataclass(frozen=True, slots=True)
class Mask:
    """One place to mask."""

    path: str
    kind: Kind
    data: bytes = b""


@dataclass(slots=True)
class _Folder:
    """What is known of a folder for as long as nothing in it was renamed, made or removed."""

    changed: tuple[int, int]
    folders: tuple[str, ...] = ()
    masks: tuple[Mask, ...] = ()
    files: array[int] = field(default_factory=partial(array, "Q"))
    """The numbers of its files, by which second names of a masked one are found."""


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
        self._above: set[str] = set()

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
            self._above = {name for pattern in patterns[1] for name in pattern.names[:-1]}
        above = [part for part in top.split("/") if part]
        found: list[Mask] = []
        # What lies near the top is looked at first, and last what programs fill.
        waiting: deque[tuple[str, ...]] = deque([()])
        generated: deque[tuple[str, ...]] = deque()
        visited: dict[str, _Folder] = {}
        while (waiting or generated) and len(visited) < max_folders:
            parts = (waiting or generated).popleft()
            folder = self._folder(top, above, parts)
            visited["/".join((top.rstrip("/"), *parts)) or "/"] = folder
            found += folder.masks
            is_generated = not GENERATED_FOLDERS.isdisjoint(parts)
            for name in folder.folders:
                late = is_generated or (name in GENERATED_FOLDERS and name != ".git")
                (generated if late else waiting).append((*parts, name))
        if len(self._known) > 4 * MAX_FOLDERS:
            self._known.clear()
        return [*found, *_second_names(found, visited)], not (waiting or generated)

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
        entries = _entries(path or "/")
        if is_repository([entry.name for entry in entries]):
            masks += [Mask(e.path, "fixed") for e in entries if _is_of_git(e)]
        barring = tuple(
            self._protection.of_folder((*above, *parts), use) for use in ("read", "write")
        )
        for entry in entries:
            mask, go_in = self._classify(entry, top, *barring)
            masks += mask
            if go_in:
                folders.append(entry.name)
        files = array("Q", (e.inode() for e in entries if e.is_file(follow_symlinks=False)))
        fresh = _Folder(changed, tuple(folders), tuple(masks), files)
        if not any(m.path != f"{path}/{PurePosixPath(m.path).name}" for m in masks):
            # Where a link leads may change without a change here, so that is looked at anew.
            self._known[top, path] = fresh
        return fresh

    def _classify(
        self, entry: os.DirEntry[str], top: str, unread: Barring, unwritten: Barring
    ) -> tuple[list[Mask], bool]:
        is_folder = entry.is_dir(follow_symlinks=False)
        if unread(entry.name):
            return _hidden(entry, top), False
        if unwritten(entry.name):
            if entry.name == ".git" and is_folder:
                return [Mask(entry.path, "pinned")], True
            return [Mask(entry.path, "fixed")] if not entry.is_symlink() else [], is_folder
        if not is_folder:
            # A server's socket would be a way out.
            is_socket = not entry.is_symlink() and not entry.is_file(follow_symlinks=False)
            return (
                [Mask(entry.path, "hidden file")] if is_socket and _socket(entry) else []
            ), False
        # A protected name could be made beneath it by putting it elsewhere.
        pinned = entry.name.casefold() in self._above
        return ([Mask(entry.path, "pinned")] if pinned else []), True


def _is_of_git(entry: os.DirEntry[str]) -> bool:
    """Whether it is what git obeys in a repository, or another version of settings."""
    if entry.name in OBEYED_BY_GIT:
        return True
    return may_be_settings(entry.name) and entry.is_file(follow_symlinks=False)


def _entries(path: str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(path) as scan:
        return list(scan)
    return []


def _socket(entry: os.DirEntry[str]) -> bool:
    try:
        return stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return False


def _hidden(entry: os.DirEntry[str], top: str) -> list[Mask]:
    path = entry.path
    if entry.is_symlink():
        # The link can be read; it is what it leads to that must not be, if it is in here.
        path = real_path(path)
        if not path.startswith(f"{top.rstrip('/')}/"):
            return []
    try:
        mode = os.stat(path, follow_symlinks=False).st_mode  # noqa: PTH116
    except OSError:
        return []
    return [Mask(path, "hidden folder" if stat.S_ISDIR(mode) else "hidden file")]


def _second_names(masks: Sequence[Mask], visited: Mapping[str, _Folder]) -> list[Mask]:
    """Masks of other names of masked files (hard links), which would show or change them too.

    Args:
        masks: those found by name.
        visited: the folders that were looked at, by path.
    """
    wanted: dict[tuple[int, int], Kind] = {}
    for mask in masks:
        if mask.kind == "pinned":
            continue
        kind: Kind = "fixed" if mask.kind == "fixed" else "hidden file"
        for path in _files_of(mask.path):
            with suppress(OSError):
                status = os.lstat(path)
                if status.st_nlink > 1 and stat.S_ISREG(status.st_mode):
                    wanted[status.st_dev, status.st_ino] = kind
    if not wanted:
        return []
    numbers = {number for _, number in wanted}
    named = {mask.path for mask in masks}
    found: list[Mask] = []
    for folder in (path for path, known in visited.items() if not numbers.isdisjoint(known.files)):
        for entry in _entries(folder):
            if entry.inode() not in numbers or entry.path in named:
                continue
            with suppress(OSError):
                status = os.lstat(entry.path)
                other = wanted.get((status.st_dev, status.st_ino))
                found += [Mask(entry.path, other)] if other else []
    return found


def _files_of(path: str) -> Iterator[str]:
    """What is masked, and what is in it: so much that nobody can make a run wait for it."""
    many = MAX_LINK_ENTRIES
    inner = names_beneath([path], max_folders=many, max_seconds=math.inf, max_depth=many)
    yield from (path, *islice(inner, many))


# Settings of git with credentials, those that are included too: runs read copies without them.

IN_REPOSITORY = ("config", "config.worktree", "commondir", "hooks", "info/attributes")
SUBMODULES = ("*/*config*", "*/*/*config*", "*/modules/*/*config*")
WORKTREES = ("*/*config*",)
MAX_INCLUDED = 50


def masks_of_settings(masks: Iterable[Mask], tops: Sequence[str]) -> list[Mask]:
    """Masks, with copies in the place of settings that hold credentials.

    Args:
        masks: what is protected in what a run sees; settings of git are among that.
        tops: the folders that it sees.
    """
    found: dict[str, Mask] = {}
    for mask in masks:
        found.setdefault(mask.path, mask)
        for path in _behind(mask, tops):
            found.setdefault(path, Mask(path, "fixed"))
    fixed = (mask.path for mask in found.values() if mask.kind == "fixed")
    waiting = [path for path in fixed if may_be_settings(PurePosixPath(path).name)]
    for number, path in enumerate(waiting):
        data = b""
        with suppress(OSError):
            data = read_plain(path, MAX_SETTINGS_BYTES, follow=False)
        clean = without_credentials(data)
        if b"\0" in data:  # what an editor keeps of them
            found[path] = Mask(path, "hidden file")
        elif clean != data:
            found[path] = Mask(path, "copy", clean)
        if number < MAX_INCLUDED:
            waiting += [p for p in _included(data, path, tops) if p not in waiting]
    return list(found.values())


def _behind(mask: Mask, tops: Sequence[str]) -> Iterator[str]:
    """Settings in folders that are masked as a whole, or that a `.git` file leads to."""
    name = PurePosixPath(mask.path).name
    if mask.kind == "fixed" and name in ("modules", "worktrees"):
        for level in SUBMODULES if name == "modules" else WORKTREES:
            found = filter(Path.is_file, Path(mask.path).glob(level))
            yield from (str(path) for path in found if may_be_settings(path.name))
    elif mask.kind == "fixed" and name == ".git":
        folder = led_to(mask.path)
        for place in (folder, led_to(f"{folder}/commondir") if folder else ""):
            if place and is_among(place, tops):
                yield from filter(os.path.lexists, (f"{place}/{n}" for n in IN_REPOSITORY))


def _included(data: bytes, path: str, tops: Sequence[str]) -> Iterator[str]:
    """Files that settings include, as far as a run sees them."""
    for section, key, value in settings_in(data):
        if section in (b"include", b"includeif") and key == b"path" and b"\0" not in value:
            named = os.path.expanduser(os.fsdecode(value))  # noqa: PTH111 - no user is no error
            place = real_path(Path(path).parent / named)
            if is_among(place, tops) and os.path.isfile(place):  # noqa: PTH113
                yield place
