"""One file in conflict: what stands on either side, and which of it is taken."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from toolcrib.core.errors import BadInput
from toolcrib.git.contents import has_marks
from toolcrib.git.layout import stored_file
from toolcrib.git.program import remove_view
from toolcrib.git.repository import Repository, entries_of, text_of
from toolcrib.git.restoration import remove_file
from toolcrib.git.sequences import open_rebase
from toolcrib.system.threads import random_id
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted, printable

STAGES = {"1": "base", "2": "ours", "3": "theirs"}
SUBMODULE = "160000"
MAX_REGIONS = 20
MAX_SUBJECT_CHARS = 100
BINARY_SNIFF_BYTES = 8_000
MAX_SHARED = 1
"""Lines of the rest of a file, such as a bracket, that its conflict may have as well."""


@dataclass(frozen=True, slots=True)
class ConflictSides:
    """A file in conflict.

    Attributes:
        entries: mode and object of "base", "ours" and "theirs"; what is missing was deleted there.
        merged: the file with marks and the base between them; "" where a side is missing or is
            no text.
    """

    entries: dict[str, tuple[str, str]]
    merged: str


async def sides(repository: Repository, name: str) -> ConflictSides:
    """The sides of a file in conflict, from the index: whatever became of the file itself."""
    entries = {}
    for entry in entries_of(await repository.read("ls-files", "-u", "-z", "--", name)):
        state, _, entry_name = entry.partition("\t")
        if entry_name == name:
            mode, digest, stage = state.split(" ")
            entries[STAGES[stage]] = (mode, digest)
    merged = ""
    if {"ours", "theirs"} <= set(entries) and not _has_submodule(entries):
        merged = await _merged(repository, entries)
    return ConflictSides(entries, merged)


def _has_submodule(entries: dict[str, tuple[str, str]]) -> bool:
    return any(mode == SUBMODULE for mode, _ in entries.values())


async def _merged(repository: Repository, entries: dict[str, tuple[str, str]]) -> str:
    places = []
    folder = repository.temporary / f"{random_id(12)}.sides"
    try:
        for side in ("ours", "base", "theirs"):
            digest = entries.get(side, ("", ""))[1]
            data = await repository.read("cat-file", "blob", digest) if digest else b""
            if b"\0" in data[:BINARY_SNIFF_BYTES]:
                return ""
            places.append(await asyncio.to_thread(stored_file, folder / side, data))
        labels = [word for side in ("ours", "base", "theirs") for word in ("-L", side)]
        done = await repository.attempt("merge-file", "-p", "--diff3", *labels, *places, reads=True)
        return bytes(done.stdout).decode("utf-8", "replace")
    finally:
        await asyncio.to_thread(remove_view, folder)


async def named_sides(repository: Repository, what: str) -> str:
    """Whose side is whose while commits are done again, where that is easily mixed up; or "".

    Args:
        repository: an open one.
        what: git is in the middle of.
    """
    if what == "rebase":
        rebase = await open_rebase(repository)
        if rebase is None:
            return ""
        args = ["--format=%(refname:short)", "--count=1", f"--points-at={rebase.onto}"]
        name = await repository.line("for-each-ref", *args, "refs/heads", "refs/remotes")
        ours = f"{name or rebase.onto[:10]}: what you rebase onto"
        theirs = f"your commit: {await _subject(repository, 'REBASE_HEAD')}"
    elif what == "cherry-pick":
        ours = f"{(await repository.head()).name}: what you pick onto"
        theirs = f"the picked commit: {await _subject(repository, 'CHERRY_PICK_HEAD')}"
    else:
        return ""
    return f"ours ({printable(ours)}), theirs ({printable(theirs)})"


async def _subject(repository: Repository, name: str) -> str:
    line = await repository.line("log", "-1", "--format=%h %s", "--end-of-options", name)
    return one_line(line, MAX_SUBJECT_CHARS)


def view(name: str, found: ConflictSides, *, whole: bool) -> str:
    """A conflict as a model reads it: each region with its sides.

    Args:
        name: of the file.
        found: its sides.
        whole: whether all regions are shown.
    """
    present = [side for side in ("base", "ours", "theirs") if side in found.entries]
    deleted = [side for side in ("ours", "theirs") if side not in found.entries]
    if deleted:
        return f"{printable(name)}: deleted by {deleted[0]}, changed by the other side"
    if _has_submodule(found.entries):
        at = ", ".join(f"{side} at {found.entries[side][1][:10]}" for side in present)
        return f"{printable(name)}: a submodule ({at})"
    if not found.merged:
        return f"{printable(name)}: binary on both sides ({', '.join(present)})"
    regions, _ = _parts(found.merged)
    limit = MAX_REGIONS * 10 if whole else MAX_REGIONS
    lines = [f"{printable(name)}: {counted(len(regions), 'conflict')}"]
    for region in regions[:limit]:
        lines += region
    if len(regions) > limit:
        lines.append(f"and {len(regions) - limit} more; path={name} shows them")
    return "\n".join(lines)


def _parts(merged: str) -> tuple[list[list[str]], list[list[str]]]:
    """The conflicts of a file, as a model reads them, and the lines before, between and after."""
    regions: list[list[str]] = []
    around: list[list[str]] = [[]]
    side = ""
    for line in merged.split("\n"):
        if line.startswith("<<<<<<< ours"):
            side = "ours"
            regions.append(["ours:"])
            around.append([])
        elif side == "ours" and line.startswith("||||||| base"):
            side = "base"
            regions[-1].append("base:")
        elif side == "base" and line.rstrip("\r") == "=======":
            side = "theirs"
            regions[-1].append("theirs:")
        elif side == "theirs" and line.startswith(">>>>>>> theirs"):
            side = ""
        elif side:
            regions[-1].append(f"  {line}")
        else:
            around[-1].append(line)
    return regions, around


def _completed(name: str, merged: str, text: str) -> tuple[str, str]:
    """The whole file, where a text is meant for its one conflict alone, and what is said of that.

    Raises:
        BadInput: it is a part of a file with several.
    """
    regions, around = _parts(merged)
    lines = text.removesuffix("\n").split("\n")
    given = {line.strip() for line in lines}
    outside = [line.strip() for line in chain(*around) if line.strip()]
    shared = sum(line in given for line in outside)
    if not regions or shared * 2 >= len(outside):
        return text, ""
    if len(regions) > 1 or shared > MAX_SHARED:
        raise BadInput(
            f"The text is not the whole {printable(name)}, which has "
            f"{counted(len(regions), 'conflict')}.",
            hint="Send the whole file, or change it with edit_file and then git_add it.",
        )
    ending = "\r" if "\r\n" in merged else ""
    inner = [line.removesuffix("\r") + ending for line in lines]
    whole = "\n".join([*around[0], *inner, *around[1]])
    return whole, "The text stands in the place of the conflict; all else of the file stays."


async def resolve(
    repository: Repository,
    name: str,
    take: Literal["", "ours", "theirs", "base", "text"],
    text: str,
) -> str:
    """End the conflict of a file, in the index and in the working tree; what is to be known of it.

    Raises:
        BadInput: a text with marks of a conflict, or for one of several.
    """
    found, note = await sides(repository, name), ""
    if take == "text":
        if has_marks(text):
            raise BadInput(
                "The text still has marks of a conflict.", hint="Send the file as it should be."
            )
        if _has_submodule(found.entries):
            raise BadInput(
                f"{printable(name)} is a submodule.", hint="take is ours, theirs or base here."
            )
        text, note = _completed(name, found.merged, text)
        mode = (found.entries.get("ours") or found.entries.get("theirs") or ("100644", ""))[0]
        args = ["hash-object", "-w", "--stdin", f"--path={name}"]
        digest = text_of(await repository.run(*args, stdin=text.encode("utf-8", "replace"))).strip()
    else:
        mode, digest = found.entries.get(take, ("", ""))
    if not digest:  # that side deleted it
        await repository.run("rm", "-q", "-f", "--cached", "--", name)
        await asyncio.to_thread(remove_file, repository, name)
        return note
    entry = f"0 {'0' * len(digest)}\t{name}\0{mode} {digest}\t{name}\0"
    await repository.run("update-index", "-z", "--index-info", stdin=entry)
    await repository.run("checkout-index", "-f", "-q", "--", name)
    return note
