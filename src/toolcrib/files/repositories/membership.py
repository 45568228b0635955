"""Which repository a path belongs to, and what of its files commits change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from toolcrib.files.changes.deltas import Delta
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.index import INDEX
from toolcrib.files.repositories.objects import OBJECT
from toolcrib.files.repositories.places import (
    GIT,
    is_bare_repository,
    is_repository,
    may_mislead,
    names_of_repository,
)

ALTERNATES = (("objects", "info", "alternates"), ("objects", "info", "http-alternates"))
ALTERNATES_NAMES = frozenset(names[-1] for names in ALTERNATES)
WORKTREES, MODULES = "worktrees", "modules"
CHANGED_BY_COMMITS = frozenset({"index", "logs", "COMMIT_EDITMSG", "HEAD", "ORIG_HEAD"})
"""Of a working tree that was there; its other names lead git, or hold what it goes on with."""
OF_A_MODULE = CHANGED_BY_COMMITS | {
    *("refs", "packed-refs", "FETCH_HEAD", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE"),
    *("CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG", "TAG_EDITMSG"),
}
"""Of a submodule that was there: what git changes in it beside objects, without an operation that
it goes on with later."""
REPOSITORY_PARTS = frozenset(
    {"head", "objects", "refs", "config", "config.worktree", "commondir", "gitdir", "hooks", "info"}
    | {"remotes", "branches"}
)
"""The names by which git takes a folder for a repository, or that it obeys in one."""
JUDGED = frozenset({"HEAD", "objects", "refs"})
"""See `RunRepositories`."""


def repository_depth(path: SafePath) -> int | None:
    """How many names lead to the repository that holds a path and was there; None for none.

    Of one that is not called so, only what leads git to other files is looked for: the rest of it
    is asked about, see `triggers`.
    """
    for depth, name in enumerate(path.parts[:-1], 1):
        if name == GIT or (name.endswith(GIT) and is_bare_repository(path.ancestor(depth))):
            return depth
    last = fold(path.parts[-1]) if path.parts else ""
    if INDEX.match(last) or last in ALTERNATES_NAMES or may_mislead(path.parts):
        folders = (d for d in range(len(path.parts)) if is_bare_repository(path.ancestor(d)))
        return next(folders, None)
    return None


def belongs_to_working_tree(delta: Delta) -> bool:
    """Whether commits change it in what a repository keeps for a further working tree."""
    path = delta.path
    if WORKTREES not in path.parts or delta.kind not in ("file", "folder", ""):
        return False
    depth = repository_depth(path)
    inner = path.parts[depth:] if depth is not None else ()
    if len(inner) < 3 or inner[0] != WORKTREES or inner[2] not in CHANGED_BY_COMMITS:
        return False
    return is_bare_repository(path.ancestor(len(path.parts) - len(inner) + 2))


def belongs_to_module(delta: Delta) -> bool:
    """Whether commits change it in what a repository keeps for a submodule."""
    path = delta.path
    if MODULES not in path.parts or delta.kind not in ("file", "folder", ""):
        return False
    top = module_depth(path)
    inner = path.parts[top:] if top is not None else ()
    if inner[:1] == ("objects",):
        is_folder = len(inner) == 2 and len(inner[1]) == 2
        return is_folder or OBJECT.search("/".join(inner)) is not None
    return bool(inner) and inner[0] in OF_A_MODULE


def module_depth(path: SafePath) -> int | None:
    """How many names lead to the submodule's own folder that holds a path; None for none.

    Its name may have slashes, and it may have modules of its own: the innermost counts.
    """
    depth = repository_depth(path) if MODULES in path.parts else None
    if depth is None or path.parts[depth : depth + 1] != (MODULES,):
        return None
    tops = range(len(path.parts) - 1, depth + 1, -1)
    return next((size for size in tops if is_bare_repository(path.ancestor(size))), None)


def new_bare_repositories(deltas: Sequence[Delta]) -> frozenset[str]:
    """What makes a folder of any name a repository to git, or changes how it acts in one.

    `.git` and `*.git` have rules of their own, which judge no repository further in them: see
    `files/repositories`.
    """
    named: dict[SafePath, set[str]] = defaultdict(set)
    new: set[SafePath] = set()
    for delta in deltas:
        parts = delta.path.parts
        if REPOSITORY_PARTS.isdisjoint(map(fold, parts)):
            continue
        for depth, name in enumerate(parts):
            if fold(name) in REPOSITORY_PARTS and not "/".join(parts[:depth]).endswith(".git"):
                named[delta.path.ancestor(depth)].add(name)
        if not delta.before:
            new.add(delta.path)
    found: set[str] = set()
    for folder, names in named.items():
        there = names_of_repository(folder.absolute)
        all_names = {"HEAD" if fold(name) == "head" else fold(name) for name in there | names}
        if is_repository(all_names):
            was_there = is_repository({name for name in there if folder.child(name) not in new})
            # Of one that was there, these are judged by their contents: commits change them.
            held = names - JUDGED if was_there else names
            found |= {folder.child(name).absolute for name in held}
    return frozenset(found)
