"""What variables of the user's environment name in a workspace: programs, and what they load.

Those of this process are taken for those of the user's shells and other programs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from urllib.parse import unquote

from toolcrib.core.config import environment
from toolcrib.core.package_data import package_table
from toolcrib.files.changes.deltas import Delta
from toolcrib.files.names.python_modules import MODULES_OF_PYTHON, place_of_module
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.files.real_paths import follow, real_path
from toolcrib.files.targets import Targets, folders_above, words_of

NAMES = {
    kind: tuple(text.split())
    for kind, text in package_table("execution/runs/environment.toml")["variables"].items()
}
"""Variables by what they name."""
NO_FOLDERS = re.compile(r"-(?:I|L|isystem|iquote|idirafter)")
"""Options of compilers with folders of sources, which a person may be at work on."""
LISTED_WITH_BLANKS = "TCLLIBPATH"
EMPTY_IS_HERE = "LD_LIBRARY_PATH"
"""Where an empty entry is the folder in which the user is. It is for libraries alone."""
PYTHON_FOLDERS = "PYTHONPATH"
"""Of these, what has the name of a module of Python itself is loaded in its place."""
LIBRARY = re.compile(r"\.so(?:\.\d+)*\Z")
_OPTION = re.compile(r"^(?:-+\w+|@)(?=\.{0,2}/)")
"""Of `-I/path` and `@/path`."""
_FILE = re.compile(r"\w[\w.+-]*\.[A-Za-z]\w*")
"""A name without folders that looks like that of a file."""


class Variables:
    """What they name, there or not. Making one blocks.

    Args:
        workspace: its roots.
    """

    def __init__(self, workspace: Workspace) -> None:
        roots = [root.real for root in workspace.roots]
        self._named, self._modules = _Places(roots), _Places(roots)
        for value in environment(NAMES["files"]).values():
            for path in (value, *value.split(os.pathsep), *(word for _, word in words_of(value))):
                self._named.add(os.path.expanduser(path))  # noqa: PTH111
        for name, value in environment(NAMES["commands"]).items():
            for path in _paths_in(name, value):
                self._named.add(os.path.expanduser(path))  # noqa: PTH111
        for kind, places in (("folders", self._named), ("modules", self._modules)):
            for name, value in environment(NAMES[kind]).items():
                is_narrow = name == EMPTY_IS_HERE
                parts = value.split() if name == LISTED_WITH_BLANKS else value.split(os.pathsep)
                for path in (part for part in parts if part or is_narrow):
                    places.add(path.removesuffix("/*"), is_folder=True, is_narrow=is_narrow)
        self._python = _Folders(workspace, PYTHON_FOLDERS)

    def match(self, delta: Delta) -> bool:
        """Whether a program would run, load or obey what is there now."""
        if self._named.match(delta) or delta.path.real_absolute in self._python.folders:
            return True  # the last is an archive of modules
        is_new = not delta.before or delta.is_link
        return is_new and (self._modules.match(delta) or self._is_module(delta))

    def _is_module(self, delta: Delta) -> bool:
        """Whether Python would load it for one of its own modules, which it did not so far."""
        if not (self._python.folders or self._python.ends):
            return False
        if delta.is_link and self._python.may_redirect(delta.path):
            return True
        path = place_of_module(delta, MODULES_OF_PYTHON)
        is_at_top = path and len(path.parts) == 1 and () in self._python.ends
        return bool(is_at_top or (path and self._python.contain(path)))


def _paths_in(name: str, value: str) -> Iterator[str]:
    """What may be paths in a variable with a command, or options."""
    for _, word in words_of(value):
        path = _OPTION.sub("", word)
        is_folder_of_sources = name.endswith("FLAGS") and NO_FOLDERS.match(word)
        if not is_folder_of_sources and ("/" in path or _FILE.fullmatch(path)):
            yield from {path, unquote(path)}


class _Places:
    """Files and folders that variables name, absolute or relative to wherever the user is."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._targets = Targets(roots)
        self._ends: set[tuple[str, ...]] = set()
        self._folders: set[tuple[str, ...]] = set()
        self._narrow: set[tuple[str, ...]] = set()

    def add(self, path: str, *, is_folder: bool = False, is_narrow: bool = False) -> None:
        """Add one; a file may also be named without its ending, or be a folder of modules.

        Of a narrow folder that is relative, libraries alone count.
        """
        place = os.path.normpath(path) if path else "."
        if place.startswith("/") and place not in self._targets.roots:
            self._targets.add(path)
            self._targets.add(path, is_folder=True)
        elif is_folder:
            folders = self._narrow if is_narrow else self._folders
            folders.add(_names(place) if not place.startswith("/") else ())
        elif path:
            self._ends.add(_names(place))

    def match(self, delta: Delta) -> bool:
        """Whether a change is one of them, or a link by which another thing would be."""
        named = (self._targets.files, self._targets.folders, self._ends, self._folders)
        if not any((*named, self._narrow)):
            return False  # as for nearly everybody
        place, parts = delta.path.real_absolute, delta.path.parts
        stem = place.rpartition(".")[0]
        if self._targets.has(place) or ("/" not in place[len(stem) :] and self._has_stem(stem)):
            return True
        relative = self._ends | self._folders | self._narrow
        if delta.is_link and (self._targets.has_beneath(place) or _may_lead(parts, relative)):
            return True
        stems = (*parts[:-1], parts[-1].rpartition(".")[0]) if parts else ()
        for end in filter(None, self._ends):
            if end in (parts[-len(end) :], stems[-len(end) :], parts[: len(end)]):
                return True
        # An empty entry, or a root, is not taken for all that is in it.
        folders = self._folders - {()}
        if parts and LIBRARY.search(parts[-1]):
            folders = self._folders | self._narrow
        starts = range(len(parts))
        return any(
            parts[n : n + len(each)] == each for each in folders for n in starts[:-1] or (0,)
        )

    def _has_stem(self, stem: str) -> bool:
        return bool(stem) and stem in self._targets.files


def _may_lead(parts: tuple[str, ...], relative: set[tuple[str, ...]]) -> bool:
    """Whether a link of these names may stand on the way to one of some relative paths."""
    starts = {path[:size] for path in relative for size in range(1, len(path) + 1)}
    return any(parts[-len(start) :] == start for start in starts)


def _names(path: str) -> tuple[str, ...]:
    """The names of a relative path that stay, wherever it begins."""
    return tuple(name for name in os.path.normpath(path).split("/") if name not in (".", ".."))


class _Folders:
    """Folders that a variable names in a workspace, there or not, each for what is in it itself."""

    def __init__(self, workspace: Workspace, variable: str) -> None:
        value = environment([variable]).get(variable)
        named = value.split(os.pathsep) if value is not None else []
        named = [os.path.expanduser(folder) for folder in named]  # noqa: PTH111 - as shells do
        absolute = [folder for folder in named if folder.startswith("/")]
        absolute += map(os.path.normpath, tuple(absolute))
        # What is a link by now may have been put there by the run.
        places = filter(None, map(workspace.find, absolute))
        found = [place.real_absolute for place in places]
        followed = [follow("/", folder) for folder in absolute]
        found += [real for real, _ in followed if real and workspace.holds(real)]
        self.links = frozenset(link for _, links in followed for link in links)
        self.folders = frozenset(found)
        self.above = frozenset(each for folder in found for each in folders_above(folder))
        self.ends = {_names(folder) for folder in named if not folder.startswith("/")}
        self._real = cache(real_path)

    def may_redirect(self, path: SafePath) -> bool:
        """Whether a link may stand for one, for a folder above, or on the way to it."""
        place, parts = path.real_absolute, path.parts
        if any(place in each for each in (self.links, self.folders, self.above)):
            return True
        return _may_lead(parts, self.ends)

    def contain(self, path: SafePath) -> bool:
        """Whether something is directly in one of them, an empty entry aside."""
        folder = path.parts[:-1]
        if any(end and folder[-len(end) :] == end for end in self.ends):
            return True
        above = path.real_absolute.rpartition("/")[0] or "/"
        return bool(self.folders) and self._real(above) in self.folders


class SearchPath:
    """The folders of PATH in a workspace, there or not. Making one blocks.

    Args:
        workspace: its roots.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._named = _Folders(workspace, "PATH")

    def matches(self, delta: Delta) -> bool:
        """Whether a file is a program on it, or a link may become such a folder."""
        if delta.is_link and self._named.may_redirect(delta.path):
            return True
        is_run = delta.is_link or (delta.after is not None and bool(delta.after.mode & 0o111))
        if () in self._named.ends and is_run:
            return True  # an empty entry, or ".", is the folder where the user is
        return self.contains(delta.path)

    def contains(self, path: SafePath) -> bool:
        """Whether something is directly in one of them, but for an empty entry."""
        return self._named.contain(path)
