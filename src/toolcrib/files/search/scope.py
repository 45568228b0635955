"""The scope of a search: which files of a tree it visits, the same for every engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.files.handles import Handle
from toolcrib.files.paths import SafePath, Workspace
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
from toolcrib.text.display import printable, some_of

SETTINGS = frozenset(
    start + name + end
    for start in ("", "*[!a-z]")
    for name in ("config", "hgrc")
    for end in ("", "[!a-z]*")
)
"""Files of a repository that may have settings of git: see `may_be_settings`."""
SKIPPED = frozenset(
    ["node_modules", "bower_components", "dist", "build", "__pycache__", "vendor", "venv"]
)
"""Folders of things that were made or fetched, beside those whose names begin with a dot."""
SKIPPED_WORDS = "hidden folders, node_modules, dist, build, vendor"
IGNORED_WORDS = "what .gitignore names"


def start_of_search(path: SafePath | None, ctx: Ctx) -> SafePath:
    """The folder that a call names, else the current one, with a note on other roots."""
    if path is not None:
        return path
    workspace = ctx.use(Workspace)
    start = workspace.start(ctx.session.directory)
    others = [printable(root.name) for root in workspace.roots if root != start.root]
    if others:
        ctx.warn(f'Not searched: {some_of(others)}, of the workspace too; path="{others[0]}" does.')
    return start


def from_folder(globs: str, folder: SafePath) -> str:
    """Globs, of which some may have the whole path of the folder before them, as seen from it."""
    names = (folder.real_absolute, folder.absolute, "/".join((folder.root.name, *folder.parts)))
    for name in dict.fromkeys(names):
        globs = re.sub(rf"(^|[\s,!]){re.escape(name.rstrip('/'))}/(?=.)", r"\1", globs)
    return globs


@dataclass(frozen=True, slots=True)
class SearchScope:
    """A folder, and what of it is looked at.

    Attributes:
        folder: as it was asked for.
        real: the same place without links.
        globs: which files are wanted, by their path from the folder.
        named: names, in lower case, of what is not skipped or ignored because it was named.
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
        return self.real.real_at((*self.real.parts, *path.split("/")))

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


def scope_of(
    folder: SafePath,
    globs: Sequence[str] = (),
    named: Sequence[str] = (),
    *,
    with_ignored: bool = False,
) -> SearchScope:
    """What to look at in a folder. It blocks.

    Args:
        folder: it.
        globs: which files are wanted.
        named: names that a call has: of these, folders that are usually skipped are not.
        with_ignored: neither are files and folders of these names that .gitignore names.

    Raises:
        BadInput, NotFound, PathDenied: as opening the folder does.
    """
    with folder.open() as handle:
        real = folder.place_of(handle)
    wanted = Globs(globs)
    names = wanted.names | {name.lower() for name in named}
    shut = frozenset(
        name for name in names if with_ignored or name in SKIPPED or name.startswith(".")
    )
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
    sieve = _sieve(scope)
    for level in walk_folders(handle, unread):
        check()
        rules = level.read(GITIGNORE, MAX_RULES_BYTES) if GITIGNORE in level.files else None
        ignored.enter(level.prefix, rules)
        files = ignored.unignored(level.prefix, level.files)
        if scope.named and len(files) < len(level.files):
            files = [n for n in level.files if n in files or n.lower() in scope.named]
        level.files = files
        level.links = ignored.unignored(level.prefix, level.links)
        opened = [name for name in level.folders if is_open(name, scope.named)]
        unignored = ignored.unignored(level.prefix, opened, "/")
        if scope.named and len(unignored) < len(opened):
            unignored = [n for n in opened if n in unignored or n.lower() in scope.named]
        level.folders = unignored
        names = unignored if marked else [*level.files, *unignored]
        barred = _barred(scope, level.prefix, names, sieve) if names else set()
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


def suspects(scope: SearchScope, paths: Sequence[str]) -> set[str]:
    """Those of some paths that are protected from reading."""
    return _barred(scope, "", paths, _sieve(scope))


def _barred(
    scope: SearchScope, prefix: str, paths: Sequence[str], sieve: Callable[[str], bool]
) -> set[str]:
    """Those paths from a folder, which is not protected itself, that are protected."""
    if not _may_bar_all(scope, prefix):
        paths = [path for path in paths if sieve(path)] if sieve("/".join(paths)) else []
    return {path for path in paths if scope.protected(f"{prefix}{path}")}


def _may_bar_all(scope: SearchScope, prefix: str) -> bool:
    """Whether a pattern may protect all in a folder: no name in it tells of that."""
    above = (*scope.real.root.real_parts, *scope.real.parts, *prefix.split("/")[:-1])
    return bool(above) and scope.real.gate.protection.may_bar_all_in(above[-1], "read")


def _sieve(scope: SearchScope) -> Callable[[str], bool]:
    """Tells of names joined by "/" whether one may be protected; see `_may_bar_all` too."""
    protection = scope.real.gate.protection
    tellings = {pattern.telling for pattern in protection.patterns("read")}
    return _sieve_of(frozenset(tellings | protection.hidden_names))


@lru_cache(maxsize=16)
def _sieve_of(tellings: frozenset[str]) -> Callable[[str], bool]:
    globs = {_widened(name) for name in tellings} | IN_ANY_FOLDER | SETTINGS
    joined = "|".join(f"{translate(glob)}[. ]*" for glob in sorted(globs))
    expression = compiled_expression(f"(?:^|/)(?:{joined})(?:/|$)", ignore_case=True)

    def may_be_protected(names: str) -> bool:
        # What is no plain text is compared in ways that the expression does not know.
        is_plain = names.isascii() and names.isprintable()
        return not is_plain or bool(expression.search(names.encode()))

    return may_be_protected


def _widened(glob: str) -> str:
    """A glob of a pattern as one of a search that fits the same names, and perhaps more.

    In patterns braces are plain, and classes have other rules.
    """
    before, bracket, _ = glob.partition("[")
    return re.sub(r"[{},\\]", r"\\\g<0>", before) + ("*" if bracket else "")
