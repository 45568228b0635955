"""What file tools may make of repositories: nothing. git obeys what is in them.

A tool that writes a file does not know what git makes of it: of an index that names files
elsewhere, or of a folder of any name that is a repository once one more name is in it.
"""

from __future__ import annotations

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

MAKING = frozenset({"write", "folder", "create_tree"})
HINT = "git tools change repositories, and so does git itself in run_command."


def refuse_writes_to_repositories(changes: Iterable[Change]) -> None:
    """Refuse changes by which something in a repository, or a repository, would be made; blocking.

    Raises:
        PathDenied: naming it.
    """
    made: dict[str, set[str]] = defaultdict(set)
    for change in changes:
        top = change.target if change.kind == "move" else change.path
        if top is None or (change.kind not in MAKING and change.kind != "move"):
            continue
        inner = [state.path for state in change.tree if state.path] if change.kind != "move" else []
        if lies_in_repository(top) or any(GIT in map(fold, name.split("/")) for name in inner):
            raise _refused(top, "lies in a git repository's own folder")
        root = top.root.real.rstrip("/")
        for parts in (top.parts, *((*top.parts, *name.split("/")) for name in inner)):
            for depth, name in enumerate(parts):  # folders above are made too, if missing
                made["/".join((root, *parts[:depth]))].add(name)
    for folder in made_repositories(made):
        what = f"would make {folder.rpartition('/')[2]} a git repository"
        raise PathDenied(f"Access denied: that {what}.", hint=HINT, rule="git")


def made_repositories(made: Mapping[str, Collection[str]]) -> Iterator[str]:
    """The folders that git takes for repositories once these names are in them; blocking.

    Args:
        made: the names, by the absolute path of their folder.
    """
    for folder, names in made.items():
        if BARE_REPOSITORY.isdisjoint(names) and COMMONDIR not in names:
            continue
        if is_repository(names_of_repository(folder).union(names)):
            yield folder


def _refused(path: SafePath, why: str) -> PathDenied:
    return PathDenied(f"Access denied: {path.display} {why}.", hint=HINT, rule="git")
