"""`directory_tree`: folders within folders, folded until they fit."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Count, Param, other_names, tool
from toolcrib.files.path_gate import NAMES_SEARCHED
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, printable
from toolcrib.text.tokens import estimate
from toolcrib.tools.files.argument_adapters import adapt_listing
from toolcrib.tools.files.folder_entries import (
    MAX_ENTRIES,
    ListedEntry,
    as_json,
    entry_line,
    is_bulk,
    need_folder,
    totals,
    walk,
)

MAX_DEPTH = 20
WIDTHS = (10_000, 200, 100, 60, 40, 25, 15, 10, 6, 4, 3, 2, 1)
"""Entries of a folder that are shown, tried until all fits; see `_width_at`."""
TOP = (16, 3)
"""How many times as many are shown of the folder itself, and of those in it."""
MIN_WIDTH = 2
"""Rather fewer levels than fewer entries of each folder."""
CHARS_A_TOKEN = 12


@dataclass(slots=True)
class Branch:
    """An entry of the tree; `children` is None for what was not looked into."""

    listed: ListedEntry
    path: SafePath
    children: list[Branch] | None = None
    hidden: int = 0


@dataclass(slots=True)
class FolderTree:
    """The branches at the top, and everything in them one after the other."""

    branches: list[Branch] = field(default_factory=list)
    all: list[Branch] = field(default_factory=list)
    partly: bool = False


@tool(
    group="files",
    rights=READ,
    keywords=("folders", "structure", "layout", "hierarchy", "recursive", "ls -R"),
    aliases=("list_tree", "folder_tree", "show_tree", "fs_tree"),
    argument_aliases=other_names(
        path=("directory", "dir", "folder", "root", "directory_path"), depth=("levels",)
    ),
    argument_adapter=adapt_listing,
)
async def directory_tree(
    path: Annotated[WorkspacePath | None, Param("Folder; by default the current one.")] = None,
    depth: Annotated[Count, Param("Levels.", maximum=MAX_DEPTH)] = 3,
    sizes: Annotated[bool, Param("Show the sizes of files.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Show folders and what is in them as a tree.

    Folders such as node_modules and .git are named and not opened. A folder with many
    entries is folded, and the answer says how many are hidden. For one level, or all
    entries of a folder, use list_directory.
    """
    folder = path or ctx.use(Workspace).start(ctx.session.directory)
    room = room_in(ctx.budget(directory_tree.name)) - 40

    def work(check: Checkpoint) -> tuple[FolderTree, str, Next | None]:
        need_folder(folder)
        tree = _grown(folder, depth, check)
        text, cut = _fitted(tree, depth, room, check, sizes=sizes)
        return tree, text, _next(folder, cut, depth, sizes=sizes)

    tree, text, more = await in_thread(work, ctx.deadline)
    if tree.partly:
        ctx.warn(
            f"Only the first {MAX_ENTRIES:,} entries were looked at, so there are more than "
            "counted; list_directory counts all of one folder."
        )
    least = "at least " if tree.partly else ""
    head = f"{folder.display}: {least}{totals([branch.listed for branch in tree.all])}"
    return Result(
        text=f"{head}\n{text}" if text else f"({folder.display} holds nothing)",
        data={
            "path": folder.display,
            "entries": [_as_json(branch) for branch in tree.all[:2000]],
            "total": len(tree.all),
        },
        truncated=more is not None,
        next=more,
    )


def _grown(folder: SafePath, depth: int, check: Checkpoint) -> FolderTree:
    """The tree, level by level, so that a limit takes from the deepest."""
    tree = FolderTree()
    todo: deque[tuple[SafePath, str, int, Branch | None]] = deque([(folder, "", 1, None)])
    while todo:
        here, above, level, parent = todo.popleft()
        if tree.partly and parent is not None:
            parent.listed = replace(parent.listed, closed=True)
            continue
        found: list[Branch] = []
        try:
            for listed in walk(here, above, 1, check):
                if len(tree.all) + len(found) == MAX_ENTRIES:
                    tree.partly = True
                    break
                found.append(Branch(_closed(listed), here.child(listed.entry.name)))
        except ToolError as error:
            if parent is None:
                raise
            parent.listed = ListedEntry(parent.listed.path, parent.listed.entry, note=error.message)
            continue
        tree.all += found
        if parent is None:
            tree.branches = found
        else:
            parent.children = found
        for branch in filter(_is_open, found):
            if level < depth:
                todo.append((branch.path, f"{branch.listed.path}/", level + 1, branch))
            else:
                branch.hidden = branch.path.count()
    return tree


def _closed(listed: ListedEntry) -> ListedEntry:
    return ListedEntry(listed.path, listed.entry, closed=is_bulk(listed.entry))


def _is_open(branch: Branch) -> bool:
    entry = branch.listed.entry
    return entry.kind == "folder" and not entry.protected and not branch.listed.closed


def _fitted(
    tree: FolderTree, depth: int, room: int, check: Checkpoint, *, sizes: bool
) -> tuple[str, tuple[Branch | None, int] | None]:
    """The text of the tree, and the folder that is folded most, with what is shown of it."""
    for levels in range(depth, 0, -1):
        for width in WIDTHS:
            check()
            lines = list(_lines(tree.branches, 0, levels, width, sizes=sizes))
            text = "\n".join(lines)
            if len(text) <= room * CHARS_A_TOKEN and estimate(text) <= room:
                return text, _widest_fold(tree, levels, width)
            if levels > 1 and width <= MIN_WIDTH:
                break
    return text, _widest_fold(tree, 1, 1)


def _lines(
    branches: list[Branch], indent: int, levels: int, width: int, *, sizes: bool
) -> Iterator[str]:
    space, width_here = "  " * indent, _width_at(width, indent)
    for branch in branches[:width_here]:
        hidden = branch.hidden
        inside = branch.children
        if inside is not None and levels == 1:
            hidden, inside = len(inside), None
        line = entry_line(printable(branch.listed.entry.name), branch.listed, size=sizes)
        yield f"{space}{line}{_folded(hidden)}"
        if inside:
            yield from _lines(inside, indent + 1, levels - 1, width, sizes=sizes)
    left = branches[width_here:]
    if left:
        yield f"{space}[{totals([branch.listed for branch in left])} more]"


def _width_at(width: int, level: int) -> int:
    """Entries shown of a folder: more at the top, where each stands for all below it."""
    return width * TOP[level] if level < len(TOP) else width


def _folded(hidden: int) -> str:
    if not hidden:
        return ""
    more = "or more " if hidden >= NAMES_SEARCHED else ""
    return f" ({counted(hidden, 'entry').replace('entrys', f'{more}entries')})"


def _widest_fold(tree: FolderTree, levels: int, width: int) -> tuple[Branch | None, int] | None:
    """The first folder of which something is hidden, those with the most first."""
    cut: list[tuple[int, Branch | None, int]] = []
    top = _width_at(width, 0)
    if len(tree.branches) > top:
        cut.append((len(tree.branches) - top, None, top))
    for branch in tree.all:
        level = branch.listed.path.count("/") + 1
        width_here = _width_at(width, level)
        if branch.children is not None and level >= levels:
            cut.append((len(branch.children), branch, 0))
        elif branch.children is not None and len(branch.children) > width_here:
            cut.append((len(branch.children) - width_here, branch, width_here))
    if not cut:
        return None
    _, folded, start = max(cut, key=lambda item: item[0])
    return folded, start


def _next(
    folder: SafePath, cut: tuple[Branch | None, int] | None, depth: int, *, sizes: bool
) -> Next | None:
    if cut is None:
        return None
    branch, start = cut
    path = folder if branch is None else branch.path
    if start:
        return Next("list_directory", {"path": path.display, "start": start})
    arguments: dict[str, Any] = {"path": path.display, "depth": max(depth - 1, 1)}
    if sizes:
        arguments["sizes"] = True
    return Next(directory_tree.name, arguments)


def _as_json(branch: Branch) -> dict[str, Any]:
    found = as_json(branch.listed)
    if branch.hidden:
        found["hidden"] = branch.hidden
    return found
