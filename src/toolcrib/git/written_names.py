"""Which files a checkout, merge, pick or rebase writes, before it does.

A merge follows renames: what one side changed in a file, or adds to a folder, is written where the
other side has moved that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolcrib.core.errors import TooLarge
from toolcrib.git.repository import Repository, entries_of, text_of

RENAME_LIMIT = 10_000
NO_FILE, MODULE = "000000", "160000"
SKIPPED = "rename detection was skipped"
Renames = list[tuple[str, str]]


async def names_between(repository: Repository, *revisions: str) -> list[str]:
    """The files that differ between two commits, or as `git diff` takes its arguments."""
    ends = [] if "--" in revisions else ["--"]
    args = ["diff", "--raw", "-z", "--no-renames", "--no-ext-diff", *revisions, *ends]
    return raw_names(await repository.read(*args))


def raw_names(listed: bytes) -> list[str]:
    """The files of what git prints with `--raw -z`; see git-diff, "raw output format".

    Submodules are left out: git writes none, nor takes away what is in their place.
    """
    entries = entries_of(listed)
    found = []
    for modes, name in zip(entries[::2], entries[1::2], strict=True):
        of_file = {*modes.lstrip("\n:").split(" ")[:2]} - {NO_FILE}
        if of_file != {MODULE}:
            found.append(name)
    return found


async def hidden_names(repository: Repository, *paths: str) -> list[str]:
    """The files whose changes an index hides: git writes them and tells no difference."""
    entries = entries_of(await repository.read("ls-files", "-v", "-z", "--", *paths))
    is_sparse = repository.value("core.sparsecheckout").lower() in ("true", "1", "yes", "on")
    tags = "Ss" if not is_sparse else ""
    return [entry[2:] for entry in entries if entry[:1].islower() or entry[:1] in tags]


async def names_by_switch(repository: Repository, target: str) -> list[str]:
    """The files that differ between what is checked out and a commit; before the first, all."""
    if (await repository.head()).commit:
        return await names_between(repository, f"HEAD..{target}")
    return await names_in(repository, target)


async def names_in(repository: Repository, tree: str) -> list[str]:
    """All files of a commit or tree."""
    args = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree]
    return entries_of(await repository.read(*args))


async def names_by_merge(repository: Repository, target: str) -> list[str]:
    """The files that a merge of a commit may write."""
    bases = await merge_bases(repository, target)
    if not bases:
        return await names_by_switch(repository, target)
    names: list[str] = []
    for base in bases:
        changed = await names_between(repository, base, target)
        names += [*changed, *_moved(changed, await _renames(repository, base, "HEAD"))]
        ours = await names_between(repository, base, "HEAD")
        names += _moved(ours, await _renames(repository, base, target))
    return names


async def names_by_rebase(repository: Repository, onto: str) -> list[str]:
    """The files that a rebase may write: also those that are there in between only."""
    names = await names_by_switch(repository, onto)
    args = ["log", "--format=", "-m", "-z", "--no-renames", "--raw", "HEAD", f"^{onto}", "--"]
    changed = raw_names(await repository.read(*args))
    names += changed
    for base in await merge_bases(repository, onto):
        names += _moved(changed, await _renames(repository, base, onto))
        theirs = await names_between(repository, base, onto)
        names += _moved(theirs, await _renames(repository, base, "HEAD"))
    return names


async def names_by_pick(repository: Repository, commit: str, *, revert: bool = False) -> list[str]:
    """The files that a commit, done again or undone on top of another, may write."""
    parent = await repository.hash_of(f"{commit}^")
    if not parent:
        return await names_in(repository, commit)
    changed = await names_between(repository, parent, commit)
    base, tip = (commit, parent) if revert else (parent, commit)
    ours = await names_between(repository, base, "HEAD")
    renames = await _renames(repository, base, tip)
    moved = [*_moved(changed, await _renames(repository, base, "HEAD")), *_moved(ours, renames)]
    return [*changed, *moved]


async def merge_bases(repository: Repository, other: str) -> list[str]:
    """Those of what is checked out and another commit."""
    done = await repository.attempt("merge-base", "--all", "HEAD", other, reads=True)
    return text_of(bytes(done.stdout)).split()


async def _renames(repository: Repository, base: str, ours: str) -> Renames:
    """What this side has renamed since: old and new names."""
    args = ["diff", "--name-status", "-z", "-M", f"-l{RENAME_LIMIT}", "--diff-filter=R"]
    done = await repository.attempt(*args, "--no-ext-diff", base, ours, "--", reads=True)
    if SKIPPED in str(done.stderr):
        raise TooLarge(
            "Too many files were renamed to tell which ones a merge writes.",
            hint="git_merge with the branch asks the user.",
        )
    words = text_of(bytes(done.stdout)).split("\0")
    return list(zip(words[1::3], words[2::3], strict=False))


def _moved(changed: Iterable[str], renames: Renames) -> Iterator[str]:
    """Where changes are written that the other side made at the old names."""
    files: dict[str, set[str]] = {}
    folders: dict[str, set[str]] = {}
    for old, new in renames:
        files.setdefault(old, set()).add(new)
        source, target = old.split("/")[:-1], new.split("/")[:-1]
        folders.setdefault("/".join(source), set()).add("/".join(target))
        while source and target and source.pop() == target.pop():
            folders.setdefault("/".join(source), set()).add("/".join(target))
    for name in changed:
        if name in files:
            yield from files[name]
            continue
        parts = name.split("/")
        for depth in range(len(parts)):
            for folder in folders.get("/".join(parts[:depth]), ()):
                yield "/".join(filter(None, [folder, *parts[depth:]]))
