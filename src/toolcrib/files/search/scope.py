"""The scope of a search: which files of a tree it visits, the same for every engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolcrib.core.errors import ToolError
from toolcrib.files.handles import Handle
from toolcrib.files.path_rules import PathPattern as Name
from toolcrib.files.path_rules import parts_beneath
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.credentials import IN_ANY_FOLDER, may_be_settings
from toolcrib.files.search.expressions import compiled_expression
from toolcrib.files.search.globs import (
    GITIGNORE,
    MAX_RULES_BYTES,
    Globs,
    Ignored,
    IgnoreRule,
    ignore_rules,
    translate,
)
from toolcrib.files.trees import TreeFolder, walk_folders
from toolcrib.system.threads import Checkpoint

SETTINGS = frozenset(
    start + name + end
    for start in ("", "[.#]*")
    for name in ("config", "hgrc")
    for end in ("", "[!a-z]*")
)
"""Files of a repository that may have settings of git: see `may_be_settings`."""
SKIPPED = frozenset(
    ["node_modules", "bower_components", "dist", "build", "__pycache__", "vendor", "venv"]
)
"""Folders of things that were made or fetched, beside those whose names begin with a dot."""
SKIPPED_WORDS = "hidden folders, node_modules, dist, build, vendor and what .gitignore names"


@dataclass(frozen=True, slots=True)
class SearchScope:
    """A folder, and what of it is looked at.

    Attributes:
        folder: as it was asked for.
        real: the same place without links.
        globs: which files are wanted, by their path from the folder.
        named: names of folders, in lower case, that are not skipped because they were named.
        above: the patterns of .gitignore files above the folder.
    """

    folder: SafePath
    real: SafePath
    globs: Globs
    named: frozenset[str] = frozenset()
    above: tuple[IgnoreRule, ...] = ()

    def display(self, path: str) -> str:
        """A path from the folder, as it is sent back to name the same file."""
        start = self.folder.display
        return path if start == "." else f"{start.rstrip('/')}/{path}"

    def file(self, path: str) -> SafePath:
        """The file that a path from the folder names."""
        parts = (*self.real.parts, *path.split("/"))
        return SafePath(self.real.root, parts, self.real.gate, -1)

    def protected(self, path: str) -> str:
        """The pattern that keeps a path from being read, or ""."""
        file = self.file(path.rstrip("/"))
        found = self.real.gate.pattern(file, "read")
        if not found and file.parts and may_be_settings(file.parts[-1]):
            with suppress(ToolError):
                file.open().close()
                return ""
            return file.name
        return found


def scope_of(folder: SafePath, globs: Sequence[str] = (), named: Sequence[str] = ()) -> SearchScope:
    """What to look at in a folder. It blocks.

    Raises:
        BadInput, NotFound, PathDenied: as opening the folder does.
    """
    with folder.open() as handle:
        parts = parts_beneath(handle.absolute, folder.root.real) or []
    real = SafePath(folder.root, tuple(parts), folder.gate, -1)
    wanted = Globs(globs)
    names = wanted.names | {name.lower() for name in named}
    shut = frozenset(name for name in names if name in SKIPPED or name.startswith("."))
    return SearchScope(folder, real, wanted, shut, _rules_above(real))


def _rules_above(real: SafePath) -> tuple[IgnoreRule, ...]:
    """What the .gitignore files between the root and the folder say of what is in it."""
    lines: list[IgnoreRule] = []
    for depth, name in enumerate(real.parts):
        with suppress(ToolError):
            lines += ignore_rules(real.ancestor(depth).child(GITIGNORE).read_bytes(MAX_RULES_BYTES))
        lines = [left for line in lines for left in line.beneath(name)]
    return tuple(lines)


def walk(
    scope: SearchScope,
    handle: Handle,
    check: Checkpoint,
    *,
    marked: bool = False,
    unread: list[str] | None = None,
) -> Iterator[TreeFolder]:
    """The levels of the folder with what the scope leaves out taken away.

    Args:
        scope: what is wanted. Its globs are not looked at here.
        handle: the folder, open.
        check: called for each level.
        marked: leave protected files in the list; their names may be told. Nobody reads such
            a file. Protected folders are taken out, and are in `barred`, in any case.
        unread: see `walk_folders`.
    """
    ignored = Ignored(scope.above)
    coarse = _coarse(scope.real.gate.protection.patterns("read"))
    for level in walk_folders(handle, unread):
        check()
        rules = level.read(GITIGNORE, MAX_RULES_BYTES) if GITIGNORE in level.files else None
        ignored.enter(level.prefix, rules)
        level.files = ignored.unignored(level.prefix, level.files)
        level.links = ignored.unignored(level.prefix, level.links)
        opened = [name for name in level.folders if is_open(name, scope.named)]
        unignored = ignored.unignored(level.prefix, opened, "/")
        if scope.named and len(unignored) < len(opened):
            unignored = [n for n in opened if n in unignored or n.lower() in scope.named]
        level.folders = unignored
        names = unignored if marked else [*level.files, *unignored]
        barred = _barred(scope, level.prefix, names, coarse) if names else set()
        if barred:
            level.barred = [f"{name}/" for name in level.folders if name in barred]
            level.folders = [name for name in level.folders if name not in barred]
            if not marked:
                level.barred += [name for name in level.files if name in barred]
                level.files = [name for name in level.files if name not in barred]
        yield level


def is_open(name: str, named: frozenset[str] = frozenset()) -> bool:
    """Whether a folder of this name is gone into."""
    lower = name.lower()
    return (lower not in SKIPPED and not name.startswith(".")) or lower in named


def _barred(scope: SearchScope, prefix: str, names: Sequence[str], coarse: Any) -> set[str]:
    """Those names of a folder that are protected from reading."""
    if not coarse.search("\n".join(names).encode("utf-8", "surrogateescape")):
        return set()
    return {
        name
        for name in names
        if coarse.search(name.encode("utf-8", "surrogateescape"))
        and scope.protected(f"{prefix}{name}")
    }


@lru_cache(maxsize=16)
def _coarse(patterns: tuple[Name, ...]) -> Any:
    """Finds every name that may be protected, and some more, in many lines at once."""
    lasts = {pattern.names[-1] for pattern in patterns} | IN_ANY_FOLDER | SETTINGS
    joined = "|".join(f"{translate(name)}[. ]*" for name in sorted(lasts))
    return compiled_expression(f"^(?:{joined})$|[^\\x00-\\x7f]", ignore_case=True, many_lines=True)


def suspects(scope: SearchScope, paths: Sequence[str]) -> set[str]:
    """Those of some paths that are protected from reading."""
    coarse = _coarse(scope.real.gate.protection.patterns("read"))
    joined = "\n".join(paths).replace("/", "\n").encode("utf-8", "surrogateescape")
    if not coarse.search(joined):
        return set()
    return {path for path in paths if _may_be_barred(path, coarse) and scope.protected(path)}


def _may_be_barred(path: str, coarse: Any) -> bool:
    return bool(coarse.search(path.replace("/", "\n").encode("utf-8", "surrogateescape")))
