"""Listing of folders: the entries in the order in which they are displayed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.core.errors import BadInput, ToolError
from toolcrib.files.handles import Entry
from toolcrib.files.path_rules import GENERATED_FOLDERS
from toolcrib.files.paths import SafePath
from toolcrib.text.display import counted, printable, size_of

MAX_ENTRIES = 20_000
"""Entries looked at; a tree with more is listed up to there."""
Sort = Literal["name", "size", "modified"]
Key = Callable[[Entry], Any]


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry and where it was found: its path from the folder that is listed.

    `closed` says that it is a folder of what programs made, which was not looked into.
    """

    path: str
    entry: Entry
    note: str = ""
    closed: bool = False


def need_folder(path: SafePath) -> None:
    """Refuse a file.

    Raises:
        BadInput: it is one.
        PathDenied, NotFound: see `Gate.open`.
    """
    if path.kind() == "file":
        raise BadInput(f"{path.display} is a file.", hint="read_file reads it.")


def walk(
    folder: SafePath,
    above: str,
    depth: int,
    check: Callable[[], None],
    sort: Sort = "name",
    fits: Callable[[str], bool] | None = None,
) -> Iterator[ListedEntry]:
    """The entries in order: folders first, each followed by what it holds.

    Folders of what programs made are named and not opened, but for the first one. `fits` says
    of each name of the first one whether it is wanted; None for all.
    """
    # One more than is ever shown, so that it can be told that there are more.
    order = None if sort == "name" else _KEYS[sort]
    for entry in sorted(folder.list(order, MAX_ENTRIES + 1, fits), key=_KEYS[sort]):
        check()
        path = above + entry.name
        deeper = depth > 1 and entry.kind == "folder" and not entry.protected
        if not deeper or is_bulk(entry):
            yield ListedEntry(path, entry, closed=deeper)
            continue
        below: list[ListedEntry] | Iterator[ListedEntry]
        try:
            below = walk(folder.child(entry.name), f"{path}/", depth - 1, check, sort)
            first = next(below, None)
        except ToolError as error:
            yield ListedEntry(path, entry, note=error.message)
            continue
        yield ListedEntry(path, entry)
        if first is not None:
            yield first
            yield from below


def is_bulk(entry: Entry) -> bool:
    """Whether it is a folder of what programs made or fetched."""
    return entry.kind == "folder" and entry.name.casefold() in GENERATED_FOLDERS


def _by_name(entry: Entry) -> tuple[bool, str, str]:
    return (entry.kind != "folder", entry.name.casefold(), entry.name)


_KEYS: dict[Sort, Key] = {
    "name": _by_name,
    "size": lambda e: (e.kind != "folder", -e.size if e.kind == "file" else 0, *_by_name(e)),
    "modified": lambda e: (-e.modified, *_by_name(e)),
}


def entry_line(name: str, listed: ListedEntry, *, size: bool = True) -> str:
    """One line about an entry."""
    entry = listed.entry
    notes = [listed.note] if listed.note else []
    if entry.protected:
        notes.append("protected")
    if listed.closed:
        notes.append("not opened")
    if not entry.name.isprintable():
        notes.append("its name cannot be written in a path")
    if entry.kind == "folder":
        name += "/"
    elif entry.kind == "link":
        name += f" -> {printable(entry.target)}"
        if entry.leads not in ("file", "folder"):
            notes.append(entry.leads)
    elif entry.kind == "other":
        notes.append("not a plain file")
    elif size:
        name += f"  {size_of(entry.size)}"
    return f"{name} ({', '.join(notes)})" if notes else name


def as_json(listed: ListedEntry) -> dict[str, Any]:
    """An entry as JSON values."""
    entry = listed.entry
    found: dict[str, Any] = {"path": printable(listed.path), "kind": entry.kind}
    if entry.kind == "file":
        found["size"] = entry.size
    if entry.kind == "link":
        found |= {"target": printable(entry.target), "leads": entry.leads}
    if entry.protected:
        found["protected"] = entry.protected
    if is_bulk(entry):
        found["ignored"] = True
    return found


def totals(entries: list[ListedEntry]) -> str:
    """How many folders and files there are."""
    folders = sum(listed.entry.kind == "folder" for listed in entries)
    return totals_words(folders, len(entries) - folders)


def totals_words(folders: int, files: int) -> str:
    """How many folders and files there are."""
    return f"{counted(folders, 'folder')}, {counted(files, 'file')}"
