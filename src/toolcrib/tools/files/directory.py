"""`list_directory`: what a folder holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any

from toolcrib.core.call import Next, Result
from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.core.params import Count, Offset, Param
from toolcrib.core.tool import READ, tool
from toolcrib.kit.paths import Entry, SafePath, Workspace, WorkspacePath
from toolcrib.kit.threads import Checkpoint, in_thread
from toolcrib.kit.tokens import estimate

MAX_DEPTH = 10
MAX_GLOB = 500
MAX_ENTRIES = 20_000
"""Entries looked at; a tree with more is listed up to there."""
UNITS = ("bytes", "KB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry and where it was found: its path from the folder that is listed."""

    path: str
    entry: Entry
    note: str = ""


@tool(
    group="files",
    rights=READ,
    keywords=("ls", "dir", "folder", "files", "contents", "browse"),
    aliases=(
        "ls",
        "dir",
        "list_dir",
        "list_files",
        "list_folder",
        "list_directory_with_sizes",
        "read_directory",
        "fs_list",
    ),
    argument_aliases={
        "directory": "path",
        "dir": "path",
        "folder": "path",
        "dir_path": "path",
        "directory_path": "path",
        "directory_name": "path",
        "folder_path": "path",
        "target_directory": "path",
        "max_depth": "depth",
        "pattern": "glob",
        "filter": "glob",
        "offset": "start",
    },
    profiles=("default",),
)
async def list_directory(
    path: Annotated[WorkspacePath | None, Param("Folder; by default the current one.")] = None,
    depth: Annotated[Count, Param("Levels of folders.", maximum=MAX_DEPTH)] = 1,
    glob: Annotated[str, Param("Only names like this: *.py")] = "",
    start: Annotated[Offset, Param("Entries to skip.")] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """List what a folder of the workspace holds, with sizes.

    Hidden and ignored files are shown too. Links are named with their target and not
    followed.
    """
    if len(glob) > MAX_GLOB:
        raise BadInput(f"'glob' has at most {MAX_GLOB} characters, not {len(glob):,}.")
    folder = path or ctx.use(Workspace).start(ctx.session.directory)

    def work(check: Checkpoint) -> list[Listed]:
        _need_folder(folder)
        found: list[Listed] = []
        for listed in _walk(folder, "", depth, check):
            if len(found) == MAX_ENTRIES:
                ctx.warn(f"Only the first {MAX_ENTRIES:,} entries were looked at.")
                break
            found.append(listed)
        return [listed for listed in found if _wanted(listed, glob)]

    entries = await in_thread(work, ctx.deadline)
    page = _page(entries[start:], room_in(ctx.budget(list_directory.name)))
    end = start + len(page)
    more = end < len(entries)
    arguments = {"path": folder.display, "depth": depth, "glob": glob, "start": end}
    return Result(
        text=_text(folder, entries, page, start, glob),
        data={
            "path": folder.display,
            "entries": [_as_json(listed) for listed in page],
            "total": len(entries),
        },
        truncated=more,
        next=Next(list_directory.name, {k: v for k, v in arguments.items() if v}) if more else None,
    )


def _need_folder(path: SafePath) -> None:
    with path.open() as handle:
        if handle.kind == "file":
            raise BadInput(f"{path.display} is a file.", hint="read_file reads it.")


def _walk(folder: SafePath, above: str, depth: int, check: Checkpoint) -> Iterator[Listed]:
    """The entries in order: folders first, each followed by what it holds."""
    for entry in sorted(folder.list(), key=_order):
        check()
        path = above + entry.name
        deeper = depth > 1 and entry.kind == "folder" and not entry.protected
        if not deeper:
            yield Listed(path, entry)
            continue
        below: list[Listed] | Iterator[Listed]
        try:
            below = _walk(folder.child(entry.name), f"{path}/", depth - 1, check)
            first = next(below, None)
        except ToolError as error:
            yield Listed(path, entry, note=error.message)
            continue
        yield Listed(path, entry)
        if first is not None:
            yield first
            yield from below


def _order(entry: Entry) -> tuple[bool, str, str]:
    return (entry.kind != "folder", entry.name.casefold(), entry.name)


def _wanted(listed: Listed, glob: str) -> bool:
    name = listed.path if "/" in glob else listed.entry.name
    return not glob or fnmatchcase(name.casefold(), glob.casefold())


def _page(entries: list[Listed], budget: int) -> list[Listed]:
    """The entries that fit, and at least one."""
    spent, count = 0, 0
    for count, listed in enumerate(entries, 1):
        spent += estimate(_line(listed) + "\n")
        if spent > budget:
            return entries[: max(count - 1, 1)]
    return entries[:count]


def _text(
    folder: SafePath, entries: list[Listed], page: list[Listed], start: int, glob: str
) -> str:
    if not entries:
        like = f" like {glob}" if glob else ""
        return f"({folder.display} holds nothing{like})"
    folders = sum(listed.entry.kind == "folder" for listed in entries)
    head = (
        f"{folder.display}: {_count(folders, 'folder')}, {_count(len(entries) - folders, 'file')}"
    )
    if len(page) < len(entries):
        head += f"; entries {start + 1:,}-{start + len(page):,} of {len(entries):,}"
    return "\n".join((head, *map(_line, page)))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _line(listed: Listed) -> str:
    entry, name = listed.entry, printable(listed.path)
    notes = [listed.note] if listed.note else []
    if entry.protected:
        notes.append("protected")
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
    else:
        name += f"  {size_of(entry.size)}"
    return f"{name} ({', '.join(notes)})" if notes else name


def _as_json(listed: Listed) -> dict[str, Any]:
    entry = listed.entry
    found: dict[str, Any] = {"path": printable(listed.path), "kind": entry.kind}
    if entry.kind == "file":
        found["size"] = entry.size
    if entry.kind == "link":
        found |= {"target": printable(entry.target), "leads": entry.leads}
    if entry.protected:
        found["protected"] = entry.protected
    return found


def printable(name: str) -> str:
    """A name as it can be shown: what is not text in it is written as an escape."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def size_of(count: int) -> str:
    """Bytes for a reader: `812 bytes`, `1.2 KB`."""
    size, unit = float(count), 0
    while size >= 1000 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return _count(count, "byte") if not unit else f"{size:.1f} {UNITS[unit]}"
