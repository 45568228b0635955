"""`diff_files`: what differs between two files or folders."""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, other_names, tool
from toolcrib.files.content.difference import DifferenceBlock, differences, unified
from toolcrib.files.content.kinds import SAMPLE_BYTES, kind_of
from toolcrib.files.content.lines import TextFile
from toolcrib.files.handles import Entry, Handle
from toolcrib.files.paths import SafePath, WorkspacePath
from toolcrib.files.trees import topmost
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, printable
from toolcrib.tools.files.folder_entries import MAX_ENTRIES, is_bulk, walk


@tool(
    group="files",
    rights=READ,
    keywords=("compare", "difference", "unified", "changes between", "cmp"),
    aliases=("compare_files", "diff_file", "fs_diff", "compare_directories"),
    argument_aliases=other_names(a=("file1", "path_a", "path1", "old", "old_path", "left")),
)
async def diff_files(
    a: Annotated[WorkspacePath, Param("The older file or folder.")],
    b: Annotated[WorkspacePath, Param("The newer one.")],
    *,
    ctx: Ctx,
) -> Result:
    """Compare two files or two folders.

    Texts give a unified diff; other encodings and line ends are named. Binary and very
    large files are compared by bytes, folders by names, sizes and content.
    """

    def work(check: Checkpoint) -> tuple[str, dict[str, Any]]:
        if need_two_of_a_kind(a, b) == "folder":
            return compare_folders(a, b, check)
        return compare_files(a, b, check)

    text, data = await in_thread(work, ctx.deadline)
    return Result(text=text, data=data)


# Two files beside each other: as lines where both are text, else by size and hash.

MAX_TEXT_BYTES = 24_000_000
"""Bytes of a text up to which it is compared line by line."""
MAX_DIFF_CHARS = 1_000_000
"""Characters of a diff."""
MAX_HASHED_BYTES = 512_000_000
"""Bytes up to which files that differ are hashed."""
MAX_COMPARED_BYTES = 2_000_000_000
"""Bytes of each file that are looked at."""
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two files as text. `ended` says that its last line has an end."""

    path: SafePath
    lines: list[str]
    encoding: str
    bom: bool
    eol: str
    ended: bool


def compare_files(a: SafePath, b: SafePath, check: Checkpoint) -> tuple[str, dict[str, Any]]:
    """The difference in words or as a unified diff, and as JSON values.

    Raises:
        PathDenied, NotFound, BadInput: see `SafePath.open_read`.
    """
    with a.open_read() as one, b.open_read() as other:
        data: dict[str, Any] = {"a": a.display, "b": b.display}
        data |= {"size_a": one.size, "size_b": other.size}
        if os.path.samestat(one.status, other.status):
            return "a and b are the same file.", data | {"same": True}
        left, right = _side(a, one, check), _side(b, other, check)
        if left is None or right is None:
            return _compare_bytes(a, b, one, other, check, data)
        one.file.seek(0)
        other.file.seek(0)
        data["same"] = compare_bytewise(one, other, check) is None
    return _compare_texts(left, right, check, data)


def _side(path: SafePath, handle: Handle, check: Checkpoint) -> Side | None:
    """The file as lines; None for what is binary or too large."""
    if handle.size > MAX_TEXT_BYTES or kind_of(handle.file.read(SAMPLE_BYTES)) is not None:
        return None
    text = TextFile(handle.file, path.display, check)
    if text.size > MAX_TEXT_BYTES:
        return None
    lines = list(text.each_line(MAX_TEXT_BYTES + 1))
    ended = text.ended
    return Side(path, lines, text.encoding.name, bool(text.encoding.mark), text.eol, ended)


def _compare_texts(
    a: Side, b: Side, check: Checkpoint, data: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    blocks = differences(a.lines, b.lines, check)
    notes = _notes(a, b)
    removed = sum(block.a2 - block.a1 for block in blocks)
    added = sum(block.b2 - block.b1 for block in blocks)
    if not (blocks or notes or data["same"]):
        notes.append("some line ends or bytes that are not valid text")
    data |= {"removed": removed, "added": added, "notes": notes}
    if not blocks:
        same = "The texts are the same" if notes else "The files are the same"
        return f"{same}{'; they differ in this: ' if notes else ''}{'; '.join(notes)}.", data
    head = f"{counted(removed, 'line')} removed, {counted(added, 'line')} added"
    lines = [head, *(f"note: {note}" for note in notes)]
    lines += [f"--- {a.path.display}", f"+++ {b.path.display}"]
    return "\n".join(lines + _diff(a.lines, b.lines, blocks)), data


def _diff(a: list[str], b: list[str], blocks: list[DifferenceBlock]) -> list[str]:
    out: list[str] = []
    size = 0
    for line in unified(a, b, blocks):
        size += len(line) + 1
        if size > MAX_DIFF_CHARS:
            out.append(f"[the diff has more than {MAX_DIFF_CHARS:,} characters and ends here]")
            break
        out.append(line)
    return out


def _notes(a: Side, b: Side) -> list[str]:
    notes = []
    if a.encoding != b.encoding:
        notes.append(f"encoding {a.encoding} and {b.encoding}")
    if a.bom != b.bom:
        notes.append(f"only {(a if a.bom else b).path.display} has a byte order mark")
    if a.eol != b.eol and a.eol and b.eol:
        notes.append(f"line ends {a.eol} and {b.eol}")
    if a.ended != b.ended and a.lines and b.lines:
        without = (b if a.ended else a).path.display
        notes.append(f"the last line of {without} has no line end")
    return notes


def _compare_bytes(
    a: SafePath, b: SafePath, one: Handle, other: Handle, check: Checkpoint, data: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """By size, hash and the first byte that differs."""
    first, hash_a, hash_b = _first_difference(one, other, check)
    data |= {"same": first is None, "sha256_a": hash_a, "sha256_b": hash_b, "differs_at": first}
    if first is None and max(one.size, other.size) > MAX_COMPARED_BYTES:
        data["same"] = None
        return (
            f"The first {MAX_COMPARED_BYTES:,} bytes are the same; the rest was not compared.",
            data,
        )
    if first is None:
        hashed = f", sha256 {hash_a}" if hash_a else ""
        return f"The files are the same: {one.size:,} bytes{hashed}.", data
    lines = [f"The files differ from byte {first:,} on; they are not compared as text."]
    for path, handle, digest in ((a, one, hash_a), (b, other, hash_b)):
        hashed = f", sha256 {digest}" if digest else ""
        lines.append(f"{path.display}: {_kind(handle)}, {handle.size:,} bytes{hashed}")
    return "\n".join(lines), data


def _first_difference(
    one: Handle, other: Handle, check: Checkpoint
) -> tuple[int | None, str | None, str | None]:
    """Where two files differ first, and the hash of each where that is cheap."""
    one.file.seek(0)
    other.file.seek(0)
    hashed = max(one.size, other.size) <= MAX_HASHED_BYTES
    digests = hashlib.sha256(), hashlib.sha256()
    first: int | None = None
    for at, left, right in _blocks(one, other, check):
        if first is None and left != right:
            first = at + _offset(left, right)
        if at >= MAX_COMPARED_BYTES or (first is not None and not hashed):
            break
        digests[0].update(left)
        digests[1].update(right)
    if not hashed:
        return first, None, None
    return first, digests[0].hexdigest(), digests[1].hexdigest()


def compare_bytewise(one: Handle, other: Handle, check: Checkpoint) -> int | None:
    """Where two files differ first; None where they do not."""
    for at, left, right in _blocks(one, other, check):
        if left != right:
            return at + _offset(left, right)
    return None


def _blocks(one: Handle, other: Handle, check: Checkpoint) -> Iterator[tuple[int, bytes, bytes]]:
    """Both files piece by piece, from where they are, with the place of each piece."""
    for at in count(0, BLOCK_BYTES):
        check()
        left, right = one.file.read(BLOCK_BYTES), other.file.read(BLOCK_BYTES)
        if not left and not right:
            return
        yield at, left, right


def _offset(left: bytes, right: bytes) -> int:
    """How many first bytes are the same."""
    sizes = range(min(len(left), len(right)))
    return bisect_left(sizes, True, key=lambda size: left[: size + 1] != right[: size + 1])


def _kind(handle: Handle) -> str:
    handle.file.seek(0)
    kind = kind_of(handle.file.read(SAMPLE_BYTES))
    return kind.name if kind else "text"


def need_two_of_a_kind(a: SafePath, b: SafePath) -> str:
    """What both are.

    Raises:
        BadInput: one is a file and the other a folder.
    """
    with a.open() as one, b.open() as other:
        if one.kind != other.kind:
            file = a if one.kind == "file" else b
            raise BadInput(
                f"{file.display} is a file and the other a folder.",
                hint="Compare two files, or two folders.",
            )
        return one.kind


# Two folders beside each other: by names, sizes and hashes.

MAX_DEPTH = 40
MAX_FOLDER_BYTES = 2_000_000_000
"""Bytes that are read in all."""


def compare_folders(a: SafePath, b: SafePath, check: Checkpoint) -> tuple[str, dict[str, Any]]:
    """Which names are only in one of them, and which files differ.

    Raises:
        PathDenied, NotFound: see `Gate.entries`.
    """
    (left, left_end), (right, right_end) = _tree(a, check), _tree(b, check)
    cut = not (left_end and right_end)
    only_a = topmost(left.keys() - right.keys())
    only_b = topmost(right.keys() - left.keys())
    differing: list[str] = []
    unread: list[str] = []
    same, budget = 0, MAX_FOLDER_BYTES
    for name in sorted(left.keys() & right.keys()):
        check()
        one, other = left[name], right[name]
        budget -= one.size if one.kind == "file" else 0
        verdict = _verdict(a, b, name, one, other, check, may_read=budget > 0)
        if verdict == "same":
            same += one.kind == "file"
        elif verdict:
            differing.append(f"{printable(name)} ({verdict})")
        else:
            unread.append(printable(name))
    data = {
        "a": a.display,
        "b": b.display,
        "same": not (only_a or only_b or differing or unread or cut),
        "only_a": [printable(name) for name in only_a],
        "only_b": [printable(name) for name in only_b],
        "differing": differing,
        "unread": unread,
        "same_files": same,
        "cut": cut,
    }
    return _text(a, b, data), data


def _tree(folder: SafePath, check: Checkpoint) -> tuple[dict[str, Entry], bool]:
    """The entries by their paths, and whether they are all."""
    found: dict[str, Entry] = {}
    for listed in walk(folder, "", MAX_DEPTH, check):
        if len(found) == MAX_ENTRIES:
            return found, False
        found[listed.path] = listed.entry
    return found, True


def _verdict(
    a: SafePath,
    b: SafePath,
    name: str,
    one: Entry,
    other: Entry,
    check: Checkpoint,
    *,
    may_read: bool,
) -> str:
    """`same`, how two entries differ, or nothing where that could not be told."""
    if one.kind != other.kind:
        return f"{one.kind} and {other.kind}"
    if one.kind == "link":
        return "same" if one.target == other.target else "other target"
    if one.kind != "file" or is_bulk(one):
        return "same"
    if one.size != other.size:
        return f"{one.size:,} and {other.size:,} bytes"
    if one.protected or other.protected or not may_read:
        return ""
    try:
        with _at(a, name).open_read() as left, _at(b, name).open_read() as right:
            return "same" if compare_bytewise(left, right, check) is None else "other content"
    except ToolError:
        return ""


def _at(folder: SafePath, name: str) -> SafePath:
    for part in name.split("/"):
        folder = folder.child(part)
    return folder


def _text(a: SafePath, b: SafePath, data: dict[str, Any]) -> str:
    if data["same"]:
        return f"The folders are the same: {counted(data['same_files'], 'file')}."
    lines = [f"{counted(data['same_files'], 'file')} the same"]
    if data["cut"]:
        lines.append(
            f"Only the first {MAX_ENTRIES:,} entries of each were compared, so names may stand "
            "in both; compare the folders in them one by one."
        )
    for title, names in (
        (f"only in {a.display}", data["only_a"]),
        (f"only in {b.display}", data["only_b"]),
        ("different", data["differing"]),
        ("not compared", data["unread"]),
    ):
        if names:
            lines.append(f"{title}: {len(names):,}")
            lines += [f"  {name}" for name in names]
    return "\n".join(lines)
