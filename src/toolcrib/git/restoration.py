"""Going back to a snapshot of a repository, where nobody changed since what that would touch."""

from __future__ import annotations

import asyncio
import os
import shutil
import string
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from pathlib import Path

from toolcrib.core.errors import Conflict, ToolError
from toolcrib.git.failures import failure
from toolcrib.git.repository import EMPTY_TREE, Repository, entries_of, text_of
from toolcrib.git.snapshots import (
    GONE,
    STATE_FILES,
    STATE_FOLDERS,
    RepositoryState,
    leads_away,
    stood_before,
)
from toolcrib.git.written_names import raw_names
from toolcrib.system.removal import FOLDER
from toolcrib.system.threads import random_id
from toolcrib.text.display import printable, some_of

LEFT_OUT = "Ss"
"""Tags by which `git ls-files -v` says that a file is not in the working tree."""
STALE_HINT = "git_log and git_status show how it is now; nothing was taken back."


async def affected(repository: Repository, now: RepositoryState, then: RepositoryState) -> set[str]:
    """The files that have another content in one moment than in the other."""
    names = {
        name for name in {*now.files, *then.files} if now.files.get(name) != then.files.get(name)
    }
    if now.staged != then.staged:
        names |= await _different(repository, now.index, then.index)
    return names


async def _different(repository: Repository, one: str, other: str) -> set[str]:
    kinds = [index.partition(" ")[::2] for index in (one, other)]
    if all(kind in ("tree", "") for kind, _ in kinds):
        trees = [digest or await _empty_tree(repository) for _, digest in kinds]
        output = await repository.read(
            "diff-tree", "-r", "-z", "--no-renames", "--raw", "--end-of-options", *trees
        )
        return set(raw_names(output))
    first, second = [set(await _entries(repository, index)) for index in (one, other)]
    return {entry.partition("\t")[2] for entry in first ^ second}


async def _empty_tree(repository: Repository) -> str:
    if repository.value("extensions.objectformat") in ("", "sha1"):
        return EMPTY_TREE
    return text_of(await repository.run("mktree", stdin=b"")).strip()


async def _entries(repository: Repository, index: str) -> list[str]:
    """The entries of an index, as `git ls-files --stage` writes them."""
    kind, _, digest = index.partition(" ")
    if not digest:
        return []
    place = f"{repository.temporary}/{random_id(12)}.index"
    try:
        if kind == "tree":
            await repository.run("read-tree", digest, env={"GIT_INDEX_FILE": place})
        else:
            data = await repository.read("cat-file", "blob", digest)
            folder, _, name = place.rpartition("/")
            await asyncio.to_thread(_write_whole, folder, name, data)
        done = await repository.run("ls-files", "--stage", "-z", env={"GIT_INDEX_FILE": place})
    finally:
        with suppress(OSError):
            await asyncio.to_thread(Path(place).unlink)
    return entries_of(done)


async def refuse_stale(
    repository: Repository,
    now: RepositoryState,
    after: RepositoryState,
    before: RepositoryState,
    *,
    files: bool,
) -> None:
    """Refuse to go back over what was done since.

    Args:
        repository: an open one.
        now: how it is.
        after: how the step left it.
        before: how it was before that, and is to be again.
        files: whether the step changed files.

    Raises:
        Conflict: naming what is different now.
    """
    changed = []
    if now.head not in (after.head, before.head):
        changed.append("another branch or commit is checked out")
    changed += [
        f"{name.removeprefix('refs/heads/')} has moved"
        for name in sorted({*after.refs, *before.refs})
        if after.refs.get(name) not in (before.refs.get(name), now.refs.get(name))
    ]
    if after.stashes not in (now.stashes, before.stashes):
        changed.append("there are other stashes")
    if after.staged not in (now.staged, before.staged):
        changed.append("something was staged or committed")
    if files:
        names = await affected(repository, after, before)
        wrong = [n for n in sorted(names) if now.files.get(n) != after.files.get(n)]
        taken = [n for n in sorted(names) if _is_in_place_of(n, now, after)]
        if wrong or taken:
            changed.append(f"changed since: {some_of(wrong or taken, 5)}")
    if changed:
        raise Conflict(f"Nothing was undone: {'; '.join(changed[:4])}.", hint=STALE_HINT)


def _is_in_place_of(name: str, now: RepositoryState, after: RepositoryState) -> bool:
    """Whether a new file that git does not know stands where one would be made."""
    return name in now.untracked and name not in after.untracked


async def refuse_locked(repository: Repository) -> None:
    """Refuse to change the index of a repository in which another git does, or was killed.

    Raises:
        Conflict: naming the file that says so.
    """
    lock = Path(repository.layout.git_dir, "index.lock")
    if await asyncio.to_thread(os.path.lexists, lock):
        raise failure("update-index", 1, f"Unable to create '{lock}': File exists")


async def restore(
    repository: Repository, now: RepositoryState, then: RepositoryState, *, files: bool
) -> None:
    """Make a repository as it was.

    Args:
        repository: an open one.
        now: how it is.
        then: how it is to be.
        files: whether files of the working tree are changed too.

    Raises:
        Conflict: it is locked by another git.
    """
    names = await affected(repository, now, then) if files else set()
    await refuse_locked(repository)
    await _restore_references(repository, now, then)
    await restore_files(repository, now, then, sorted(names))
    await asyncio.to_thread(_restore_state, repository.layout.git_dir, then)
    await repository.attempt("update-index", "-q", "--refresh")


async def restore_files(
    repository: Repository, now: RepositoryState, then: RepositoryState, names: Sequence[str]
) -> None:
    """Make some files, and the index, as they were, whatever becomes of branches meanwhile."""
    tags = await _tags(repository)
    await _restore_index(repository, now, then, tags)
    await _restore_files(repository, names, then, {n for n, tag in tags.items() if tag in LEFT_OUT})


async def _restore_references(
    repository: Repository, now: RepositoryState, then: RepositoryState
) -> None:
    if now.head != then.head:
        if then.head.startswith("ref: "):
            await repository.run("symbolic-ref", "-m", "undo", "HEAD", then.head[5:])
        else:
            await repository.run("update-ref", "--no-deref", "-m", "undo", "HEAD", then.head)
    orders = []
    for name in sorted({*now.refs, *then.refs} - {"refs/stash"}):
        old, new = now.refs.get(name), then.refs.get(name)
        if old == new:
            continue
        if new is None:
            orders.append(f"delete {name}\0{old}\0")
        else:
            orders.append(f"update {name}\0{new}\0{old or '0' * len(new)}\0")
    if orders:
        await repository.run("update-ref", "-m", "undo", "--stdin", "-z", stdin="".join(orders))
    if now.stashes != then.stashes:
        await repository.attempt("update-ref", "-d", "refs/stash")
        for commit, message in reversed(then.stashes):
            await repository.run("stash", "store", "-m", message or "stash", commit)


async def _restore_index(
    repository: Repository, now: RepositoryState, then: RepositoryState, tags: Mapping[str, str]
) -> None:
    if now.staged == then.staged:
        return
    kind, _, digest = then.index.partition(" ")
    if kind == "tree":
        await repository.run("read-tree", digest)
        await _tag(repository, tags)
    elif kind == "blob":
        data = await repository.read("cat-file", "blob", digest)
        await asyncio.to_thread(_put_index, repository.layout.git_dir, data)
    else:
        await repository.run("read-tree", "--empty")


def _put_index(git_dir: str, data: bytes) -> None:
    """Write an index as it was. It blocks.

    It has the times of files of then, in seconds, and git trusts them where they lie before that
    of the index: in the same second a file may have another content. An old one is not trusted.
    """
    _write_whole(git_dir, "index", data)
    with suppress(OSError):
        os.utime(f"{git_dir}/index", (1, 1), follow_symlinks=False)


async def _tags(repository: Repository) -> dict[str, str]:
    """Files that git is told to take for unchanged (small letters) or to leave out."""
    entries = entries_of(await repository.read("ls-files", "-v", "-z"))
    return {entry[2:]: entry[0] for entry in entries if entry[0] in LEFT_OUT or entry[0].islower()}


async def _tag(repository: Repository, tags: Mapping[str, str]) -> None:
    """Tell git so again, of those that it knows; a tree does not say it."""
    known = set(entries_of(await repository.read("ls-files", "-z"))) if tags else set()
    flags = {"--skip-worktree": LEFT_OUT, "--assume-unchanged": string.ascii_lowercase}
    for flag, letters in flags.items():
        if names := sorted(name for name in known & tags.keys() if tags[name] in letters):
            given = "\0".join([*names, ""])
            await repository.run("update-index", flag, "-z", "--stdin", stdin=given)


async def _restore_files(
    repository: Repository, names: Sequence[str], then: RepositoryState, left_out: AbstractSet[str]
) -> None:
    known, left = await _tracked(repository, names)
    # What a merge wrote though it was left out goes; what stood there before is the user's.
    held = {name for name, state in then.files.items() if state != GONE}
    wanted = [name for name in names if name not in (left & left_out) - held]
    from_index = [n for n in wanted if n not in then.files and n in known]
    gone = [n for n in wanted if then.files.get(n) == GONE]
    unknown = [n for n in wanted if n not in then.files and n not in known]
    gone += await asyncio.to_thread(
        lambda: [name for name in unknown if not stood_before(repository, name, then)]
    )
    untracked = set(then.untracked)
    for name in gone:
        if name not in untracked:
            await asyncio.to_thread(remove_file, repository, name)
    for name in from_index:
        await asyncio.to_thread(_clear, repository, name)
    if from_index:
        given = "\0".join([*from_index, ""])
        await repository.run("checkout-index", "-f", "-q", "-z", "--stdin", stdin=given)
    for name in wanted:
        mode, digest = then.files.get(name, GONE)
        if digest:
            data = await repository.read("cat-file", "blob", digest)
            await asyncio.to_thread(_put, repository, name, mode, data)


async def _tracked(repository: Repository, names: Iterable[str]) -> tuple[set[str], set[str]]:
    """Those of some files that are in the index, as a file; and those that are left out."""
    wanted = set(names)
    known: set[str] = set()
    left: set[str] = set()
    # Else what is left out and there counts as not left out, and is looked for on the disk.
    listing = ("-c", "sparse.expectFilesOutsideOfPatterns=true", "ls-files", "--stage", "-v", "-z")
    for entry in entries_of(await repository.read(*listing)):
        state, _, name = entry.partition("\t")
        tag, mode, _, stage = state.split(" ")
        if name in wanted and mode != "160000" and stage == "0":
            (left if tag in LEFT_OUT else known).add(name)
    return known, left


@contextmanager
def _opened(top: str, name: str) -> Iterator[tuple[int | None, str]]:
    """The folder of a file, open and made where it is missing, never by way of a link; its name.

    On Windows, where no program of a run could exchange a folder meanwhile, the path in its place.
    """
    *folders, last = name.split("/")
    if sys.platform == "win32":
        folder = Path(top, *folders)
        folder.mkdir(parents=True, exist_ok=True)
        yield None, str(folder / last)
        return
    fd = os.open(top, FOLDER)
    try:
        for each in folders:
            with suppress(FileExistsError):
                os.mkdir(each, dir_fd=fd)
            try:
                inner = os.open(each, FOLDER, dir_fd=fd)
            except OSError:
                what = f"A folder of {printable(name)} is a link or a file now."
                raise Conflict(what, hint=STALE_HINT) from None
            os.close(fd)
            fd = inner
        yield fd, last
    finally:
        os.close(fd)


def _clear(repository: Repository, name: str) -> None:
    """Make room for a file where an empty folder stands."""
    with _opened(repository.layout.top, name) as (fd, last), suppress(OSError):
        os.rmdir(last, dir_fd=fd)


def _put(repository: Repository, name: str, mode: str, data: bytes) -> None:
    _clear(repository, name)
    bits = 0o777 if mode == "100755" else 0o666
    _write_whole(repository.layout.top, name, data, bits, is_link=mode == "120000")


def remove_file(repository: Repository, name: str) -> None:
    """Delete a file of the working tree, and folders that are empty then. It blocks."""
    top = repository.layout.top
    if leads_away(f"{top}/{name}"):
        return  # for git it is gone already
    with _opened(top, name) as (fd, last), suppress(FileNotFoundError, IsADirectoryError):
        os.unlink(last, dir_fd=fd)
    with suppress(OSError):
        while name := name.rpartition("/")[0]:
            with _opened(top, name) as (fd, last):
                os.rmdir(last, dir_fd=fd)


def _write_whole(
    top: str, name: str, data: bytes, bits: int = 0o666, *, is_link: bool = False
) -> None:
    with _opened(top, name) as (fd, last):
        made = f"{last}.{random_id(8)}"
        try:
            if is_link:
                os.symlink(os.fsdecode(data), made, dir_fd=fd)
            else:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                with os.fdopen(os.open(made, flags, bits, dir_fd=fd), "wb") as file:
                    file.write(data)
            os.replace(made, last, src_dir_fd=fd, dst_dir_fd=fd)
        except BaseException:
            with suppress(OSError):
                os.unlink(made, dir_fd=fd)
            raise


def _restore_state(git_dir: str, then: RepositoryState) -> None:
    for name in STATE_FILES:
        if name not in then.state:
            with _opened(git_dir, name) as (fd, last), suppress(FileNotFoundError):
                os.unlink(last, dir_fd=fd)
    for folder in STATE_FOLDERS:
        if not any(name.startswith(f"{folder}/") for name in then.state):
            shutil.rmtree(f"{git_dir}/{folder}", ignore_errors=True)
    for name, text in then.state.items():
        with suppress(ToolError):
            _write_whole(git_dir, name, text.encode("latin-1"))
