"""Where git keeps what of a repository, and by which names it takes a folder for one."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from toolcrib.files.handles import read_plain
from toolcrib.files.path_rules import fold
from toolcrib.files.paths import SafePath
from toolcrib.files.repositories.packed import MAX_PACKED_BYTES, PACKED, packed_trouble
from toolcrib.files.repositories.unfinished import MAX_TODO_BYTES

GIT = ".git"
HOOKS = "hooks"
LOCK = ".lock"
"""By such a name git waits for another process; it gives that to files alone."""
BARE_REPOSITORY = frozenset({"HEAD", "objects", "refs"})
"""By these names git takes a folder of any name for a repository; see `is_repository`."""
MAX_CONFIG_BYTES = 65_536
OWN_NAMES = re.compile(
    r"[A-Z][A-Z0-9_]*|config(?:\.worktree)?|description|hooks|info|objects|refs|logs|packed-refs"
    r"|shallow|branches|remotes|modules|worktrees|lfs|annex|rr-cache|rebase-(?:merge|apply)|sequencer"
    r"|(?:next-|shared)?index(?:[.-].*)?|commondir|gitdir|gc\.(?:log|pid)|.*\.lock|lost-found|svn"
    r"|filter-repo|fsmonitor--daemon.*|gitk\.cache|gitweb|.*\.refused|reftable"
)
"""What git itself has in the folder of a repository, at its top."""
SYMBOLIC = b"ref:"
NOTES_REFERENCE = "NOTES_MERGE_REF"
"""The one beside HEAD in which git itself names another reference."""
OTHER_REFERENCES = frozenset(
    {"AUTO_MERGE", "BISECT_EXPECTED_REV", "NOTES_MERGE_PARTIAL", NOTES_REFERENCE}
)
"""Beside those that end in HEAD, as ORIG_HEAD."""
AUTOSTASH = "AUTOSTASH"
"""The end of names of what git writes into the files by itself, once a merge or the like ends."""
CONFLICTS = "MERGE_RR"
"""What `git rerere` has noted: the files of conflicts, to be copied once they are resolved."""
BISECTED = "BISECT_START"
"""The branch from which `git bisect` was begun."""
UNFINISHED = frozenset({"rebase-merge", "rebase-apply", "sequencer"})
STATE_FOLDERS = UNFINISHED | {"rr-cache"}
"""Folders of what git goes on with, and of how it resolves conflicts."""
GRAFTS = "GRAFTS"
SHOWS_OTHERS = "git would show other contents or parents of commits than there are"
PACKS, PACKS_HEADER_BYTES = ("MULTI-PACK-INDEX", ".MIDX"), 12
"""The ends of the names of lists of packs, whose names stand at their beginning."""
GITDIR, COMMONDIR = b"gitdir: ", "commondir"


def named_in(name: str, data: bytes) -> str:
    """The path that a `.git` file or a `commondir` names, as git reads it; "" for none."""
    is_file = data.startswith(GITDIR)
    if not is_file and name != COMMONDIR:
        return ""
    # Spaces belong to it. What is behind a NUL does not.
    return os.fsdecode(data.removeprefix(GITDIR).rstrip(b"\r\n").partition(b"\0")[0])


def led_to(file: str, *, follow: bool = False) -> str:
    """The folder that a `.git` file or a `commondir` names; "" for none.

    Args:
        file: absolute.
        follow: whether links on the way are followed, as git does.
    """
    with suppress(OSError):
        folder, _, name = file.rpartition("/")
        if led := named_in(name, read_plain(file, MAX_CONFIG_BYTES, follow=follow)):
            return os.path.realpath(os.path.join(folder, led))  # noqa: PTH118
    return ""


def may_mislead(names: Sequence[str]) -> bool:
    """Whether a file of this path, in a repository or above, can have git do what nobody sees."""
    if not names:
        return False
    last = names[-1].upper()
    if "refs" in map(fold, names[:-1]) or last.endswith(("HEAD", AUTOSTASH, *PACKS)):
        return True
    is_named = last in OTHER_REFERENCES or last in (CONFLICTS, GRAFTS, BISECTED, PACKED.upper())
    return is_named or not STATE_FOLDERS.isdisjoint(map(fold, names[:-1]))


def looked_at_bytes(names: Sequence[str]) -> int:
    """How much of such a file `file_trouble` needs to see; longer ones are read a byte more."""
    if unfinished_names(names):
        return MAX_TODO_BYTES
    return MAX_PACKED_BYTES if fold(names[-1]) == PACKED else MAX_CONFIG_BYTES


def _within(names: Sequence[str]) -> list[str]:
    """The folders of a file in the repository, further working tree or module that it is of.

    A working tree may have any name, and so may a module, with slashes too: of that the first
    part alone is left out.
    """
    folders = list(map(fold, names[:-1]))
    while folders and folders[0] == "worktrees":
        del folders[:2]
    return folders[2:] if folders[:1] == ["modules"] else folders


def _is_state(names: Sequence[str], above: Sequence[str]) -> bool:
    """Whether git keeps it for what it does later, by the folders above any branch or log."""
    is_module = fold(names[0]) == "modules"
    return not STATE_FOLDERS.isdisjoint(above if is_module else above[:1])


def unfinished_names(names: Sequence[str]) -> list[str]:
    """The path from such a folder on, of a file of what git goes on with; none for any other."""
    folders = list(map(fold, names[:-1]))
    first = next((n for n, name in enumerate(folders) if name in ("refs", "logs", *UNFINISHED)), -1)
    is_unfinished = first >= 0 and folders[first] in UNFINISHED
    return [*folders[first:], names[-1]] if is_unfinished else []


def file_trouble(names: Sequence[str], data: bytes) -> str:
    """What git would do elsewhere, or unseen, by a file of a repository; "" for nothing.

    A reference that leads to another name (`ref: NAME`) is written through, by `git reset` to
    ORIG_HEAD too; with NAME `commondir`, git would use settings of another folder from then on.
    By MERGE_RR the next `git commit` copies the files that it names, whichever they are.

    Args:
        names: of its path in the repository.
        data: what it holds.
    """
    last, folders = names[-1].upper(), _within(names)
    first = next((n for n, name in enumerate(folders) if name in ("refs", "logs")), len(folders))
    is_autostash = last.endswith(AUTOSTASH) and first == len(folders)
    if is_autostash or _is_state(names, folders[:first]):
        return "git would go on with it, or act as it says"
    if folders[first:][:1] == ["logs"]:
        return ""
    if folders[-1:] == ["info"] and last == GRAFTS and "refs" not in folders:
        return SHOWS_OTHERS
    # In folders beneath it too: git takes what stands behind the last slash.
    if folders[first:][:2] == ["refs", "replace"]:
        return SHOWS_OTHERS
    if last == PACKED.upper() and first == len(folders):
        return packed_trouble(data)
    if last == CONFLICTS:
        return "by it, git would copy the files that it names into the repository" if data else ""
    if last == BISECTED:  # what it names is checked out by `git bisect reset`
        is_option = data.lstrip().startswith(b"-")
        return "by it, git would take an option for a branch" if is_option else ""
    if last.endswith(PACKS):
        return "by it, git would read objects of another repository" if _leads_away(data) else ""
    if not data.startswith(SYMBOLIC):
        return ""
    depth = len(folders) - first
    return _symbolic_trouble(list(names[len(names) - 1 - depth :]), data)


def _symbolic_trouble(names: Sequence[str], data: bytes) -> str:
    """What is wrong with a reference that leads to another one; "" where git makes it so itself.

    Args:
        names: of its path, from `refs` on.
        data: what it holds.
    """
    target = data.removeprefix(SYMBOLIC).strip()
    if len(data) > MAX_CONFIG_BYTES or not target.startswith(b"refs/") or b".." in target:
        return "by it, git would write to what is no branch or tag"
    *folders, last = names
    start = {"HEAD": "refs/heads/", NOTES_REFERENCE: "refs/notes/"}.get(last, "")
    if folders:
        is_remote = last == "HEAD" and len(folders) > 2 and folders[:2] == ["refs", "remotes"]
        start = "/".join((*folders, "")) if is_remote else ""
    if start and target.startswith(os.fsencode(start)):
        return ""
    return "by it, git would change another branch than the one that it names"


def _leads_away(packs: bytes) -> bool:
    """Whether a list of packs names one in another folder; see gitformat-pack."""
    chunks = packs[6] if packs.startswith(b"MIDX") and len(packs) > PACKS_HEADER_BYTES else 0
    with suppress(struct.error):  # one that is cut off is none to git
        for at in range(PACKS_HEADER_BYTES, PACKS_HEADER_BYTES + chunks * 12, 12):
            kind, start, _, end = struct.unpack_from(">4sQ4sQ", packs, at)
            if kind == b"PNAM" and (end > len(packs) or re.search(rb"[/\\]", packs[start:end])):
                return True
    return False


def is_bare_repository(folder: SafePath) -> bool:
    """Whether git takes a folder for a repository, whatever it is called."""
    return is_repository(names_of_repository(folder.absolute))


def lies_in_repository(
    path: SafePath, is_bare: Callable[[SafePath], bool] = is_bare_repository
) -> bool:
    """Whether a path lies in the folder of a repository that is there, whatever it is called.

    Args:
        path: any.
        is_bare: `is_bare_repository`, or what remembers its answers.
    """
    if GIT in map(fold, path.parts[:-1]):
        return True
    return any(is_bare(path.ancestor(depth)) for depth in range(len(path.parts)))


def is_repository(names: Collection[str]) -> bool:
    """Whether git takes a folder with these names for a repository, whatever it is called.

    Each working tree of one has such a folder too, with a file that leads to the rest.
    """
    return "HEAD" in names and (COMMONDIR in names or BARE_REPOSITORY.issubset(names))


def names_of_repository(folder: str) -> set[str]:
    """Of the names by which git knows a repository, those that are in a folder."""
    names = (*BARE_REPOSITORY, COMMONDIR)
    return {name for name in names if os.path.lexists(f"{folder}/{name}")}


def is_own_name(name: str) -> bool:
    """Whether git itself has a file or folder of that name at the top of a repository's folder."""
    return OWN_NAMES.fullmatch(name) is not None


def has_other_name(path: SafePath, *, is_folder: bool = False) -> bool:
    """Whether it lies in a `.git` under a name that git itself does not have.

    Of a folder a name counts too that git gives to files alone, and by which it stops.
    """
    parts = path.parts
    if GIT not in parts[:-1]:
        return False
    stops = is_folder and path.name.endswith(LOCK)
    return stops or not is_own_name(parts[parts.index(GIT) + 1])


def without_hooks(paths: Collection[str]) -> list[str]:
    """Where the hooks of repositories would be that have no folder for them.

    Args:
        paths: all names of a tree, each its path from the top.
    """
    return [
        f"{path}/{HOOKS}"
        for path in paths
        if path.endswith(GIT) and f"{path}/HEAD" in paths and f"{path}/{HOOKS}" not in paths
    ]
