"""Memories as files beneath /memories, for models that were trained on such a tool."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from toolcrib.core.errors import BadInput, NotFound
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import USER, Memory, MemoryDraft, Origin
from toolcrib.text.cleaner import one_line

ROOT = "/memories"
FACTS = f"{ROOT}/facts.md"
"""Shows the memories that are no files; it can only be read."""
MAX_PATH_CHARS = 200
MAX_FILES = 2000
MAX_LISTED_FACTS = 1000
_PART = re.compile(r"[^\x00-\x1f\x7f/\\]+")


class MemoryFiles:
    """The files of a user: each is a memory with a path, its history and a way back.

    Args:
        memories: where they are.
        origin: where changes come from.
        scopes: the memories that the facts show.
    """

    def __init__(self, memories: Memories, origin: Origin, scopes: Sequence[str]) -> None:
        self._memories = memories
        self._origin = origin
        self._scopes = scopes

    async def listing(self, path: str) -> str:
        """The names in a folder, two levels deep, with sizes.

        Raises:
            NotFound: there is no such folder.
        """
        folder = checked_path(path)
        beneath = [file for file in await self._files() if file.path.startswith(f"{folder}/")]
        if not beneath and folder != ROOT:
            raise _missing(folder)
        sizes = {folder: 0} if folder != ROOT else {ROOT: 0, FACTS: 0}
        for file in beneath:
            parts = file.path.removeprefix(f"{folder}/").split("/")
            for depth in range(min(len(parts), 2)):
                name = "/".join((folder, *parts[: depth + 1]))
                sizes[name] = sizes.get(name, 0) + len(file.fact.encode())
            sizes[folder] += len(file.fact.encode())
        lines = [f"{_size(sizes[name])}\t{name}" for name in sorted(sizes) if name != FACTS]
        if FACTS in sizes:
            lines.append(f"-\t{FACTS}")
        return "\n".join(
            [f"Here're the files and directories up to 2 levels deep in {folder}:", *lines]
        )

    async def facts(self) -> str:
        """The memories that are no files, as text; those that may be outside text only counted."""
        found = await self._memories.listed(self._scopes, limit=MAX_LISTED_FACTS, outside=False)
        lines = [f"- {one_line(m.fact)} ({m.id})" for m in found.memories if not m.path]
        others = await self._memories.listed(self._scopes, limit=MAX_LISTED_FACTS, outside=True)
        count = sum(not m.path for m in others.memories)
        if count:
            lines.append(f"({count} more may be outside text: search_memories shows them.)")
        return "\n".join(lines)

    async def find(self, path: str) -> Memory | None:
        """A file by its path."""
        wanted = checked_path(path)
        return next((file for file in await self._files() if file.path == wanted), None)

    async def get(self, path: str) -> Memory:
        """A file by its path.

        Raises:
            NotFound: there is none.
        """
        file = await self.find(path)
        if file is None:
            raise _missing(path)
        return file

    async def write(self, path: str, text: str) -> bool:
        """Write a file; whether there was one before.

        Raises:
            BadInput: the path is wrong, or the text too long.
        """
        path = _writable(path)
        files = await self._files()
        if len(files) >= MAX_FILES and all(f.path != path for f in files):
            raise BadInput(f"There are {MAX_FILES:,} files.", hint="Delete or join some first.")
        if any(f.path.startswith(f"{path}/") or path.startswith(f"{f.path}/") for f in files):
            raise BadInput(f"{path} lies in a file, or is a folder.", hint="Choose another path.")
        saved = await self._memories.save(MemoryDraft(text, path=path), self._origin)
        return saved.status != "saved"

    async def replace(self, path: str, old: str, new: str) -> Memory:
        """Replace the one place where a text stands.

        Raises:
            BadInput: it stands nowhere, or in several places.
        """

        def changed(file: Memory) -> Memory:
            count = file.fact.count(old) if old else 0
            if count != 1:
                lines = [
                    n for n, line in enumerate(file.fact.split("\n"), 1) if old and old in line
                ]
                where = f" in lines {', '.join(map(str, lines[:10]))}" if lines else ""
                raise BadInput(
                    f"No replacement was made: old_str stands {count} times in {path}{where}.",
                    hint="It has to stand there once: view the file, and give more of the text "
                    "around.",
                )
            return replace(file, fact=file.fact.replace(old, new))

        return await self._edit(path, changed)

    async def insert(self, path: str, line: int, text: str) -> Memory:
        """Insert text behind a line; 0 is the beginning.

        Raises:
            BadInput: the file has no such line.
        """

        def changed(file: Memory) -> Memory:
            lines = file.fact.split("\n")
            if not 0 <= line <= len(lines):
                raise BadInput(f"insert_line is 0 to {len(lines)}, not {line}.")
            lines[line:line] = text.removesuffix("\n").split("\n")
            return replace(file, fact="\n".join(lines))

        return await self._edit(path, changed)

    async def delete(self, path: str) -> int:
        """Delete a file, or all of a folder; how many files.

        Raises:
            NotFound: there is nothing of that name.
        """
        found = await self._at(_writable(path))
        await self._memories.delete([file.id for file in found], (USER,), self._origin)
        return len(found)

    async def rename(self, old: str, new: str) -> int:
        """Rename a file or a folder; how many files.

        Raises:
            BadInput: there is something of the new name.
        """
        old, new = _writable(old), _writable(new)
        found = await self._at(old)
        if new == old or new.startswith(f"{old}/"):
            raise BadInput(f"{old} cannot become {new}.", hint="Choose another name.")
        if any(f.path == new or f.path.startswith(f"{new}/") for f in await self._files()):
            raise BadInput(f"The destination {new} already exists.", hint="Choose another name.")

        def moved(file: Memory) -> Memory:
            return replace(file, path=f"{new}{file.path.removeprefix(old)}")

        await self._memories.edit([file.id for file in found], (USER,), self._origin, moved)
        return len(found)

    async def _edit(self, path: str, changed: Callable[[Memory], Memory]) -> Memory:
        """Change a file from what stands in it at that moment: another window may write it too."""
        file = await self.get(_writable(path))
        return (await self._memories.edit([file.id], (USER,), self._origin, changed))[0][1]

    async def _at(self, path: str) -> list[Memory]:
        """The file of a path, or those in the folder."""
        files = await self._files()
        found = [f for f in files if f.path == path or f.path.startswith(f"{path}/")]
        if not found:
            raise _missing(path)
        return found

    async def _files(self) -> list[Memory]:
        return await self._memories.files()


def numbered(file: Memory, view_range: Sequence[int]) -> str:
    """The lines of a file with their numbers; `view_range` is the first and the last, -1 the end.

    Raises:
        BadInput: the file has no such lines.
    """
    lines = file.fact.split("\n")
    first, last = (1, len(lines)) if not view_range else _ends(view_range, len(lines))
    found = [f"{n:6}\t{line}" for n, line in enumerate(lines, 1) if first <= n <= last]
    return "\n".join([f"Here's the content of {file.path} with line numbers:", *found])


def _ends(view_range: Sequence[int], count: int) -> tuple[int, int]:
    if len(view_range) != 2:
        raise BadInput("view_range has two numbers, the first and the last line.")
    first, last = view_range
    last = count if last == -1 else last
    if not 1 <= first <= last:
        raise BadInput(f"view_range {list(view_range)} is not within lines 1 to {count}.")
    return first, last


def checked_path(path: str) -> str:
    """A path beneath /memories without a slash at its end.

    Raises:
        BadInput: it is anywhere else, or spelt in a forbidden way.
    """
    tidy = path.strip().rstrip("/") or "/"
    tidy = tidy if tidy.startswith("/") else f"{ROOT}/{tidy}"
    parts = tidy.split("/")[1:]
    wrong = any(part in ("", ".", "..") or not _PART.fullmatch(part) for part in parts)
    if wrong or len(tidy) > MAX_PATH_CHARS or not f"{tidy}/".startswith(f"{ROOT}/"):
        raise BadInput(
            f"'{one_line(path, 100)}' is no path beneath {ROOT}.",
            hint=f"Write paths like {ROOT}/notes.md, without '..'.",
        )
    return tidy


def _writable(path: str) -> str:
    tidy = checked_path(path)
    if tidy == ROOT:
        raise BadInput(f"{ROOT} itself cannot be changed.", hint="Name a file in it.")
    if tidy == FACTS:
        raise BadInput(
            f"{FACTS} can only be read.", hint="save_memory, update_memory and delete_memory do it."
        )
    return tidy


def _missing(path: str) -> NotFound:
    return NotFound(
        f"The path {one_line(path, MAX_PATH_CHARS)} does not exist.",
        hint=f"View {ROOT} to see what there is.",
    )


def _size(count: int) -> str:
    return f"{count}B" if count < 1024 else f"{count / 1024:.1f}K"
