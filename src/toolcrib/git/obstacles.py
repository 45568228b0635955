"""What git would write over without a word, and no step of undo could bring back.

That are files that it does not know, and changes that it is told not to see.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from toolcrib.core.errors import Busy, Conflict
from toolcrib.git.cover import HIDDEN, covered, is_covering
from toolcrib.git.repository import Repository, entries_of, lines_of, text_of
from toolcrib.git.written_names import MODULE, hidden_names
from toolcrib.text.display import printable, some_of

BATCH = 200


async def refuse_to_overwrite(
    repository: Repository,
    names: Iterable[str],
    sources: Sequence[str] = (),
    bases: Sequence[str] = (),
) -> None:
    """Refuse to write over what git does not know, ignored too, and over hidden changes.

    Args:
        repository: an open one.
        names: the files that may be written.
        sources: commits or trees that hold what is written; what is in none of them is deleted
            at most, and that git does to what it knows alone. None: all names are written.
        bases: what they are compared with, where renames are followed: names that are in none of
            both are those to which something is moved.

    Raises:
        Conflict: naming what is in the way.
    """
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return
    known = await _index(repository)
    new = await _contents(repository, wanted, sources)
    old = await _contents(repository, wanted, bases)

    def is_written(name: str) -> bool:
        return not sources or name in new or (bool(bases) and name not in old)

    written = [n for n in wanted if known.get(n, ("", ""))[0] != MODULE and is_written(n)]
    await refuse_covered(repository, written)
    found = await asyncio.to_thread(
        lambda: list(_obstacles(repository.layout.top, written, known.keys()))
    )
    if found:
        now = await _hashes(repository, found, "--no-filters")
        found = [name for name in found if now.get(name, "-") not in new.get(name, ())]
    if found:
        raise Conflict(
            "Files that git does not know would be overwritten: "
            f"{some_of([printable(name) for name in found], 5)}",
            hint="Move them away, or rename them, and send the call again.",
        )
    hidden = sorted(set(await hidden_names(repository)).intersection(written))
    now = await _hashes(repository, hidden)
    if changed := [name for name in hidden if name in now and now[name] != known[name][1]]:
        raise Conflict(
            f"Git is told to take {printable(changed[0])} for unchanged, and it is changed.",
            hint="The user can end that: git update-index --no-assume-unchanged "
            "--no-skip-worktree, with its name.",
        )


async def refuse_conflict_names(repository: Repository, names: Iterable[str]) -> None:
    """Refuse to merge where git might write over a file that it does not know beside others.

    Of a file against a folder or a link it keeps one side as `NAME~HEAD` or `NAME~COMMIT`.

    Args:
        repository: an open one.
        names: the files that may be written.

    Raises:
        Conflict: naming such a file.
    """
    found = await asyncio.to_thread(lambda: list(_beside(repository.layout.top, names)))
    if not found:
        return
    known = await _index(repository)
    if unknown := [name for name in found if name not in known]:
        raise Conflict(
            f"{printable(unknown[0])} has a name under which git keeps a side of a conflict.",
            hint="Move it away, or rename it, and send the call again.",
        )


async def refuse_covered(repository: Repository, names: Iterable[str]) -> None:
    """Refuse to write beside a run what is protected: git would leave it, and say that it did it.

    Raises:
        Busy: naming it.
    """
    top = repository.layout.top
    protected = list(filter(repository.is_protected, names))
    there = await asyncio.to_thread(
        lambda: [name for name in protected if os.path.lexists(f"{top}/{name}")]
    )
    if there and repository.confinement is None and await is_covering(repository.ctx):
        raise Busy(
            f"{printable(there[0])} is protected, and not written while programs run.",
            hint="Stop the programs in the background first (list_jobs, stop_job).",
        )


async def refuse_unseen_changes(repository: Repository) -> None:
    """Refuse to write an index beside a run that would take a protected file for unchanged.

    Git does not see it then, and believes what it sees from then on.

    Raises:
        Busy: naming one that is not as in the last commit.
    """
    if repository.confinement is not None or not await is_covering(repository.ctx):
        return
    hidden = [mask.path for mask in await covered(repository.ctx) if mask.kind == HIDDEN]
    unseen = set(hidden) - await repository.published(hidden)
    inside = f"{repository.layout.top}/"
    names = [path.removeprefix(inside) for path in unseen if path.startswith(inside)]
    found = entries_of(await repository.read("ls-files", "-z", "--", *names)) if names else []
    if found:
        raise Busy(
            f"{printable(found[0])} is protected, known to git and not as in the last commit: "
            "git does not see it while programs run.",
            hint="Stop the programs in the background first (list_jobs, stop_job).",
        )


async def _index(repository: Repository) -> dict[str, tuple[str, str]]:
    """Mode and object of all files that git knows."""
    known = {}
    for entry in entries_of(await repository.read("ls-files", "--stage", "-z")):
        state, _, name = entry.partition("\t")
        mode, digest, _ = state.split(" ")
        known[name] = (mode, digest)
    return known


async def _contents(
    repository: Repository, names: Sequence[str], sources: Sequence[str]
) -> dict[str, set[str]]:
    """The objects of files in some commits, by name; those that are files there alone.

    Git takes no name with or at an end of line here: it counts as written, with no object.
    """
    unnamed = {name for name in names if "\n" in name or name.endswith("\r")}
    found: dict[str, set[str]] = {name: set() for name in unnamed}
    for source in sources:
        plain = [name for name in names if name not in unnamed]
        given = "".join(f"{source}:{name}\n" for name in plain)
        output = await repository.read(
            "cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=given
        )
        for name, line in zip(plain, lines_of(output), strict=True):
            if line.startswith("blob "):
                found.setdefault(name, set()).add(line[5:])
    return found


async def _hashes(repository: Repository, names: Sequence[str], *how: str) -> dict[str, str]:
    """What the files of some names would be stored as, of those that are files.

    With `--no-filters` as they are, not with line ends as they would be stored.
    """

    def files() -> list[str]:
        return [name for name in names if _is_file(f"{repository.layout.top}/{name}")]

    there = await asyncio.to_thread(files)
    found: dict[str, str] = {}
    for start in range(0, len(there), BATCH):
        batch = there[start : start + BATCH]
        done = await repository.attempt("hash-object", *how, "--", *batch, reads=True)
        if not done.exit_code:
            found |= zip(batch, text_of(bytes(done.stdout)).split(), strict=True)
    return found


def _is_file(path: str) -> bool:
    with suppress(OSError):
        return stat.S_ISREG(os.lstat(path).st_mode)
    return False


def _obstacles(top: str, names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """What stands in the place of files, or of folders above them, and is not among the known."""
    for name in names:
        parts = name.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        file = next((each for each in above if not _is_folder(Path(top, each))), name)
        at = Path(top, file)
        if _is_folder(at):
            yield from islice(_unknown_beneath(top, file, known), 1)
        elif file not in known and os.path.lexists(at):
            yield file


def _beside(top: str, names: Iterable[str]) -> Iterator[str]:
    """Files that are there under the name of another one, with `~` and more behind it."""
    by_folder: dict[str, set[str]] = {}
    for name in names:
        folder, _, last = name.rpartition("/")
        by_folder.setdefault(folder, set()).add(last)
        while folder:
            folder, _, last = folder.rpartition("/")
            by_folder.setdefault(folder, set()).add(last)
    for folder, wanted in by_folder.items():
        _, folders, files = next(os.walk(f"{top}/{folder}"), ("", [], []))
        for each in (*folders, *files):
            parts = each.split("~")
            starts = {"~".join(parts[:end]) for end in range(1, len(parts))}
            if not each.endswith("~") and not starts.isdisjoint(wanted):
                yield f"{folder}/{each}".lstrip("/")


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _unknown_beneath(top: str, folder: str, known: Collection[str]) -> Iterator[str]:
    for path, folders, files in os.walk(f"{top}/{folder}"):
        links = [each for each in folders if Path(path, each).is_symlink()]
        for file in (*files, *links):
            name = f"{path}/{file}".removeprefix(f"{top}/")
            if name not in known:
                yield name
