"""What is changed in a working tree, as git sees it, and what git is in the middle of."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field

from toolcrib.git.repository import Repository, entries_of, text_of

_IN_PROGRESS = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("sequencer", "cherry-pick"),
    ("BISECT_LOG", "bisect"),
)


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One file.

    Attributes:
        name: as git names it.
        staged: what is staged of it, a letter as in `git status -s`; " " for nothing.
        unstaged: what is not.
        old_name: where it was renamed from.
    """

    name: str
    staged: str
    unstaged: str
    old_name: str = ""

    @property
    def is_unmerged(self) -> bool:
        """Whether it is in conflict."""
        return "U" in (self.staged, self.unstaged) or (self.staged + self.unstaged) in ("AA", "DD")

    @property
    def is_untracked(self) -> bool:
        """Whether git does not know it."""
        return self.staged == "?"


@dataclass(slots=True)
class WorkingStatus:
    """All of them, and the branch.

    Attributes:
        branch: "" where none is checked out.
        commit: "" before the first.
        upstream: the branch that it follows, as `origin/main`.
        ahead, behind: commits that the other does not have; None where that is not known.
        in_progress: what git is in the middle of: "merge", "rebase", …
        files: those that are changed.
    """

    branch: str = ""
    commit: str = ""
    upstream: str = ""
    ahead: int | None = None
    behind: int | None = None
    in_progress: str = ""
    files: list[FileStatus] = field(default_factory=list)

    @property
    def tracked(self) -> list[FileStatus]:
        """Changes of files that git knows."""
        return [file for file in self.files if not file.is_untracked]

    @property
    def unmerged(self) -> list[FileStatus]:
        """Files in conflict."""
        return [file for file in self.files if file.is_unmerged]


async def status_of(
    repository: Repository, *names: str, untracked: str = "normal"
) -> WorkingStatus:
    """The status of a repository, or of some files in it.

    Args:
        repository: an open one.
        names: of files and folders, as git names them.
        untracked: "no", "normal" or "all", as git takes it.
    """
    output = await repository.read(
        "status",
        "--porcelain=v2",
        "-z",
        "--branch",
        "--ignore-submodules=dirty",
        f"--untracked-files={untracked}",
        "--",
        *names,
    )
    found = parse_status(text_of(output))
    found.in_progress = in_progress(repository)
    return found


async def submodules_of(repository: Repository, *names: str) -> list[str]:
    """The submodules that are checked out. git does not look into them, see exec_path.py."""
    top = repository.layout.top
    if not await asyncio.to_thread(os.path.lexists, f"{top}/.gitmodules"):
        return []
    entries = entries_of(await repository.read("ls-files", "-s", "-z", "--", *names))
    found = [entry.partition("\t")[2] for entry in entries if entry.startswith("160000 ")]
    return await asyncio.to_thread(
        lambda: [name for name in found if os.path.lexists(f"{top}/{name}/.git")]
    )


def in_progress(repository: Repository) -> str:
    """What git is in the middle of; "" for nothing."""
    git_dir = repository.layout.git_dir
    return next((what for n, what in _IN_PROGRESS if os.path.lexists(f"{git_dir}/{n}")), "")


def parse_status(text: str) -> WorkingStatus:
    """Read `git status --porcelain=v2 -z --branch`."""
    found = WorkingStatus()
    entries = iter(text.split("\0"))
    for entry in entries:
        kind, _, rest = entry.partition(" ")
        if kind == "#":
            _read_header(found, rest)
        elif kind == "1":
            states, name = rest[:2], rest.split(" ", 7)[7]
            found.files.append(_file(name, states))
        elif kind == "2":
            states, name = rest[:2], rest.split(" ", 8)[8]
            found.files.append(_file(name, states, next(entries, "")))
        elif kind == "u":
            found.files.append(_file(rest.split(" ", 9)[9], rest[:2]))
        elif kind == "?":
            found.files.append(FileStatus(rest, "?", "?"))
    return found


def _file(name: str, states: str, old_name: str = "") -> FileStatus:
    plain = states.replace(".", " ")
    return FileStatus(name, plain[:1], plain[1:2], old_name)


def _read_header(found: WorkingStatus, text: str) -> None:
    key, _, value = text.partition(" ")
    if key == "branch.oid" and value != "(initial)":
        found.commit = value
    elif key == "branch.head" and value != "(detached)":
        found.branch = value
    elif key == "branch.upstream":
        found.upstream = value
    elif key == "branch.ab":
        ahead, behind = value.split()
        found.ahead, found.behind = int(ahead), -int(behind)
