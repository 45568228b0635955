"""Two folders beside each other: by names, sizes and hashes."""

from __future__ import annotations

from typing import Any

from toolcrib.core.errors import ToolError
from toolcrib.files.content.display import counted, printable
from toolcrib.files.handles import Entry
from toolcrib.files.paths import SafePath
from toolcrib.system.threads import Checkpoint
from toolcrib.tools.files.comparison.contents import compare_bytewise
from toolcrib.tools.files.listings.walk import MAX_ENTRIES, is_bulk, walk

DEPTH = 40
COMPARED = 2_000_000_000
"""Bytes that are read in all."""


def compare_folders(a: SafePath, b: SafePath, check: Checkpoint) -> tuple[str, dict[str, Any]]:
    """Which names are only in one of them, and which files differ.

    Raises:
        PathDenied, NotFound: see `Gate.entries`.
    """
    left, right = _tree(a, check), _tree(b, check)
    only_a = _tops(sorted(left.keys() - right.keys()))
    only_b = _tops(sorted(right.keys() - left.keys()))
    differing: list[str] = []
    unread: list[str] = []
    same, budget = 0, COMPARED
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
        "same": not (only_a or only_b or differing or unread),
        "only_a": [printable(name) for name in only_a],
        "only_b": [printable(name) for name in only_b],
        "differing": differing,
        "unread": unread,
        "same_files": same,
    }
    return _text(a, b, data), data


def _tree(folder: SafePath, check: Checkpoint) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for listed in walk(folder, "", DEPTH, check):
        if len(found) == MAX_ENTRIES:
            break
        found[listed.path] = listed.entry
    return found


def _tops(names: list[str]) -> list[str]:
    """The names without those beneath another of them."""
    kept: list[str] = []
    for name in names:
        if not kept or not name.startswith(f"{kept[-1]}/"):
            kept.append(name)
    return kept


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
