"""What file tools may make of repositories: nothing. git obeys what is in them.

A tool that writes a file does not know what git makes of it: of an index that names files
elsewhere, or of a folder of any name that is a repository once one more name is in it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from toolcrib.core.errors import PathDenied
from toolcrib.files.changes.step import Change
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.places import (
    BARE_REPOSITORY,
    COMMONDIR,
    GIT,
    is_repository,
    lies_in_repository,
    names_of_repository,
)

MAKING = frozenset({"write", "folder", "create_tree", "move_in"})
FORM = BARE_REPOSITORY | {COMMONDIR}
OBEYED = frozenset({"config", "config.worktree", "hooks"})
"""What git obeys in a repository."""
HINT = "git tools change repositories, and so does git itself in run_command."


def refuse_writes_to_repositories(changes: Iterable[Change]) -> None:
    """Refuse changes by which something in a repository, or a repository, would be made; blocking.

    Raises:
        PathDenied: naming it.
    """
    made: dict[str, set[str]] = defaultdict(set)
    for change in changes:
        top, inner = made_by(change)
        if top is None:
            continue
        if lies_in_repository(top) or any(GIT in map(fold, name.split("/")) for name in inner):
            raise _refused(top, "lies in a git repository's own folder")
        for folder, name, _ in _names(top, inner):  # folders above are made too, if missing
            made[folder].add(name)
    for folder in made_repositories(made):
        raise _would_make(folder)


def refuse_parts_of_repositories(changes: Iterable[Change]) -> None:
    """Refuse an undo by which a folder becomes a repository that it never was; blocking.

    Steps that made no repository, each for itself, could leave one once some are taken back. What
    brings back all by which git takes a folder for one brings back what was there.

    Raises:
        PathDenied: naming it.
    """
    made: dict[str, set[str]] = defaultdict(set)
    for change in changes:
        top, inner = made_by(change)
        for folder, name, path in _names(top, inner) if top is not None else ():
            if name in OBEYED:
                is_new = not os.path.lexists(path)
            else:
                is_new = name in FORM and not os.path.lexists(f"{folder}/{name}")
            if is_new:
                made[folder].add(name)
    for folder, names in made.items():
        if is_repository(names_of_repository(folder) | names) and not is_repository(names):
            raise _would_make(folder)


def made_by(change: Change) -> tuple[SafePath | None, list[str]]:
    """What a change makes: its place, None for nothing, and the paths beneath that."""
    if change.kind == "move":
        return change.target, []
    if change.kind not in MAKING:
        return None, []
    return change.path, [state.path for state in change.tree if state.path]


def _names(top: SafePath, inner: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Each name on the way to what is made: its folder, itself, and the path that is made."""
    root = top.root.real.rstrip("/")
    for parts in (top.parts, *((*top.parts, *name.split("/")) for name in inner)):
        for depth, name in enumerate(parts):
            yield "/".join((root, *parts[:depth])), name, "/".join((root, *parts))


def made_repositories(made: Mapping[str, Collection[str]]) -> Iterator[str]:
    """The folders that git takes for repositories once these names are in them; blocking.

    Args:
        made: the names, by the absolute path of their folder.
    """
    for folder, names in made.items():
        if FORM.isdisjoint(names):
            continue
        if is_repository(names_of_repository(folder).union(names)):
            yield folder


def _would_make(folder: str) -> PathDenied:
    what = f"would make {folder.rpartition('/')[2]} a git repository"
    return PathDenied(f"Access denied: that {what}.", hint=HINT, rule="git")


def _refused(path: SafePath, why: str) -> PathDenied:
    return PathDenied(f"Access denied: {path.display} {why}.", hint=HINT, rule="git")
