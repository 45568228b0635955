"""The state of a repository at one moment, by what git has stored: to go back to it.

Branches, tags, stashes, what is checked out, the index, the files that differ from it, and what
git is in the middle of. Contents are objects of the repository, which a reference of ours
(`refs/toolcrib/undo/…`, never pushed) keeps.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from toolcrib.core.errors import NotFound, ToolError
from toolcrib.files.live_runs import without_runs
from toolcrib.files.paths import SafePath
from toolcrib.files.real_paths import real_path
from toolcrib.git.layout import read_own, stored_file
from toolcrib.git.program import remove_view
from toolcrib.git.repository import Repository, lines_of, text_of
from toolcrib.git.status import FileStatus, status_of
from toolcrib.state.blobs import digest_of
from toolcrib.system.threads import random_id

KEEP = "refs/toolcrib/undo/"
MAX_STEPS_HELD = 200
"""References of ours in one repository; the oldest go first."""
BATCH = 200
MAX_STATE_BYTES = 500_000
STATE_FILES = (
    *("MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG"),
    *("REBASE_HEAD", "ORIG_HEAD"),
)
STATE_FOLDERS = ("rebase-merge", "rebase-apply", "sequencer")
OURS = {
    "GIT_AUTHOR_NAME": "toolcrib",
    "GIT_AUTHOR_EMAIL": "toolcrib@localhost",
    "GIT_COMMITTER_NAME": "toolcrib",
    "GIT_COMMITTER_EMAIL": "toolcrib@localhost",
}
GONE = ("", "")
CLOCK_SECONDS = 0.1
"""By which the times of files may lag behind the clock."""


@dataclass(slots=True)
class RepositoryState:
    """One moment.

    Attributes:
        head: `ref: refs/heads/…`, or a commit.
        refs: branches, tags and the last stash, each with its object.
        stashes: commit and message, the newest first.
        index: `tree …` or, where that does not hold all of it, `blob …`; "" for none.
        entries: a digest of its entries where it is a blob, which has times of files too.
        files: files that differ from the index, as mode and object, or `GONE`.
        untracked: names of files that git does not know; only some of them are in `files`.
        state: files of git's own by which it knows what it is in the middle of.
        time: when that was, in seconds since 1970; 0 where it was not noted.
    """

    head: str = ""
    refs: dict[str, str] = field(default_factory=dict)
    stashes: list[tuple[str, str]] = field(default_factory=list)
    index: str = ""
    entries: str = ""
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    untracked: list[str] = field(default_factory=list)
    state: dict[str, str] = field(default_factory=dict)
    time: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """For the log; bytes that are no text are escaped."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> RepositoryState:
        """The inverse of `to_json`."""
        known = dict(found)
        known["files"] = {name: tuple(state) for name, state in known["files"].items()}
        known["stashes"] = [(commit, message) for commit, message in known["stashes"]]
        return cls(**known)

    @property
    def commit(self) -> str:
        """What is checked out; "" before the first commit."""
        return self.refs.get(self.head[5:], "") if self.head.startswith("ref: ") else self.head

    @property
    def staged(self) -> str:
        """By which two indexes are the same."""
        return self.entries or self.index

    def is_like(self, other: RepositoryState) -> bool:
        """Whether nothing that can be taken back lies between the two."""
        return all(
            getattr(self, name) == getattr(other, name)
            for name in ("head", "refs", "stashes", "staged", "files")
        ) and _without_marks(self.state) == _without_marks(other.state)

    def tips(self, other: RepositoryState) -> set[str]:
        """Objects that only one of two has as the tip of a branch, tag or stash."""
        mine = {*self.refs.values(), *(commit for commit, _ in self.stashes), self.commit}
        theirs = {*other.refs.values(), *(commit for commit, _ in other.stashes), other.commit}
        return (mine ^ theirs) - {""}


def _without_marks(state: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in state.items() if name != "ORIG_HEAD"}


async def take_snapshot(
    repository: Repository, *, files: bool = True, untracked: bool = False
) -> RepositoryState:
    """The state as it is now.

    Args:
        repository: an open one.
        files: whether files may be changed, so that those that differ from the index count.
        untracked: whether those too that git does not know.
    """
    found = RepositoryState(time=time.time())
    git_dir = repository.layout.git_dir
    found.head = (await asyncio.to_thread(read_own, f"{git_dir}/HEAD", 4096)).decode().strip()
    if found.head == "ref: refs/heads/.invalid":  # where references are in tables
        ref = await repository.line("symbolic-ref", "-q", "HEAD")
        found.head = f"ref: {ref}" if ref else await repository.line("rev-parse", "HEAD")
    found.refs = await repository.references("refs/heads", "refs/tags", "refs/stash")
    if "refs/stash" in found.refs:
        output = await repository.read("stash", "list", "--format=%H %gs")
        parted = (line.partition(" ") for line in lines_of(output))
        found.stashes = [(commit, message) for commit, _, message in parted]
    status = await status_of(repository, untracked="all" if files else "no")
    found.index = await _index(repository, status.files)
    if found.index.startswith("blob "):
        listed = await repository.read("ls-files", "--stage", "-v", "-z")
        found.entries = digest_of(listed).hexdigest()
    if files:
        found.untracked = [file.name for file in status.files if file.is_untracked]
        wanted = [f for f in status.files if (untracked if f.is_untracked else _differs(f))]
        found.files = await _contents(repository, [file.name for file in wanted])
    found.state = await asyncio.to_thread(_state, git_dir)
    return found


def stood_before(repository: Repository, name: str, then: RepositoryState) -> bool:
    """Whether a file was there at a moment and has not been touched since.

    A snapshot does not know of files that git ignores or that must not be read. It blocks.
    """
    with suppress(OSError):
        status = os.lstat(f"{repository.layout.top}/{name}")
        return status.st_ctime < then.time - CLOCK_SECONDS
    return False


def _differs(file: FileStatus) -> bool:
    return file.unstaged != " " or file.is_unmerged


async def _index(repository: Repository, files: Sequence[FileStatus]) -> str:
    """The index as a tree, where that says all of it."""
    place = f"{repository.layout.git_dir}/index"
    if not await asyncio.to_thread(Path(place).exists):
        return ""
    sparse = repository.value("core.sparsecheckout").lower() in ("true", "1", "yes", "on")
    if not sparse and not any(f.is_unmerged or f.unstaged == "A" for f in files):
        done = await repository.attempt("write-tree")
        if not done.exit_code:
            return f"tree {text_of(bytes(done.stdout)).strip()}"
    output = await repository.run("hash-object", "-w", "--no-filters", "--", place)
    return f"blob {text_of(output).strip()}"


async def _contents(repository: Repository, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Mode and object of files as they are, byte by byte; none of what must not be read."""
    found: dict[str, tuple[str, str]] = {}
    plain: list[tuple[str, str]] = []
    top = repository.layout.top
    for name in names:
        if repository.is_hidden(name):
            continue  # any run may read the objects of the repository
        place = f"{top}/{name}"
        try:
            mode = os.lstat(place).st_mode
        except OSError:
            found[name] = GONE
            continue
        if leads_away(place):  # for git it is gone: what stands there is no file of it
            found[name] = GONE
            continue
        if stat.S_ISLNK(mode):
            try:
                target = os.fsencode(await asyncio.to_thread(Path(place).readlink))
            except OSError:  # another program exchanges it at this moment
                found[name] = GONE
                continue
            output = await repository.run("hash-object", "-w", "--stdin", stdin=target)
            found[name] = ("120000", text_of(output).strip())
        elif stat.S_ISREG(mode):
            plain.append((name, "100755" if mode & stat.S_IXUSR else "100644"))
    with without_runs() as is_alone:
        for start in range(0, len(plain), BATCH):
            batch = plain[start : start + BATCH]
            names = [name for name, _ in batch]
            hashes = await (_stored if is_alone else _stored_by_handles)(repository, names)
            for (name, mode_text), digest in zip(batch, hashes, strict=True):
                found[name] = (mode_text, digest) if digest else GONE
    return found


async def _stored(repository: Repository, names: Sequence[str]) -> list[str]:
    args = ["hash-object", "-w", "--no-filters", "--", *names]
    return text_of(await repository.run(*args)).split()


async def _stored_by_handles(repository: Repository, names: Sequence[str]) -> list[str]:
    """The same beside a run, which could exchange a folder for a link to what it may not read.

    Git gets copies of what was read by checked paths, in a folder of ours. What is there and cannot
    be read refuses the step: taken for gone, undo would remove it.
    """
    folder = repository.temporary / f"{random_id(12)}.copies"
    copies: dict[str, str] = {}
    try:
        for number, name in enumerate(names):
            with suppress(NotFound):
                data = await asyncio.to_thread(_read_whole, repository.path_of(name))
                copies[name] = await asyncio.to_thread(stored_file, folder / str(number), data)
        hashes = await _stored(repository, list(copies.values())) if copies else []
    finally:
        await asyncio.to_thread(remove_view, folder)
    found = dict(zip(copies, hashes, strict=True))
    return [found.get(name, "") for name in names]


def _read_whole(path: SafePath) -> bytes:
    with path.open_read() as handle:
        return handle.file.read()


def leads_away(place: str) -> bool:
    """Whether a folder in the path of a file is a link; the top has none. It blocks."""
    folder = place.rpartition("/")[0]
    return real_path(folder) != folder


def _state(git_dir: str) -> dict[str, str]:
    """Files of git's own, by name, their bytes as characters."""
    names = [name for name in STATE_FILES if os.path.lexists(f"{git_dir}/{name}")]
    for folder in STATE_FOLDERS:
        with suppress(OSError):
            names += [f"{folder}/{file.name}" for file in sorted(Path(git_dir, folder).iterdir())]
    found: dict[str, str] = {}
    left = MAX_STATE_BYTES
    for name in names:
        with suppress(ToolError):
            data = read_own(f"{git_dir}/{name}", left)
            left -= len(data)
            found[name] = data.decode("latin-1")
    return found


async def keep(repository: Repository, token: str, *moments: RepositoryState) -> None:
    """Let a reference of ours hold all that some moments need."""
    blobs = {
        f"{number}-{count:06d}": state
        for number, moment in enumerate(moments)
        for count, state in enumerate(moment.files.values())
        if state != GONE
    }
    entries = [f"100644 blob {digest}\t{name}" for name, (_, digest) in blobs.items()]
    for number, moment in enumerate(moments):
        kind, _, digest = moment.index.partition(" ")
        if digest:
            entries.append(f"{'040000' if kind == 'tree' else '100644'} {kind} {digest}\ti{number}")
    parents = {moment.commit for moment in moments} - {""}
    if len(moments) > 1:
        parents |= moments[0].tips(moments[1])
    commits = await repository.commits_among(parents)
    made = text_of(await repository.run("mktree", stdin="\n".join([*entries, ""])))
    args = [word for commit in sorted(commits) for word in ("-p", commit)]
    commit = await repository.run(
        "commit-tree", made.strip(), *args, "-m", "What undo_changes of toolcrib needs", env=OURS
    )
    await repository.run("update-ref", f"{KEEP}{token}", text_of(commit).strip())


def note_time(repository: Repository, token: str, moment: RepositoryState) -> None:
    """Note when a moment was held, by the clock of the file system, which may be another one's.

    It blocks. Where references are no files, our own clock has to do.
    """
    with suppress(OSError):
        moment.time = os.lstat(f"{repository.layout.common_dir}/{KEEP}{token}").st_ctime


async def forget(repository: Repository, token: str) -> None:
    """Let go of what a reference of ours holds."""
    await repository.attempt("update-ref", "-d", f"{KEEP}{token}")


async def forget_old(repository: Repository) -> None:
    """Let go of all but the newest."""
    listed = await repository.read(
        "for-each-ref", "--sort=-committerdate", "--format=%(refname)", KEEP.rstrip("/")
    )
    old = lines_of(listed)[MAX_STEPS_HELD:]
    if old:
        given = "".join(f"delete {name}\n" for name in old)
        await repository.attempt("update-ref", "--stdin", stdin=given)
