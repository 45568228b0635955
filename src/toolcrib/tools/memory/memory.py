"""`memory`: remembered things as files, in the form that some models were trained on."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_files import FACTS, MemoryFiles, checked_path, numbered
from toolcrib.memory.memory_records import Memory
from toolcrib.memory.place import origin_of, place_of, refuse_secrets
from toolcrib.text.cleaner import clean

Command = Literal["view", "create", "str_replace", "insert", "delete", "rename"]


@tool(
    group="memory",
    rights=READ | WRITE,
    keywords=("remember", "notes", "memory directory", "memories folder", "files"),
    destructive=True,
)
async def memory(
    command: Command,
    path: Annotated[str, Param("Beneath /memories.")] = "",
    file_text: Annotated[str, Param("For create.", plain=True)] = "",
    old_str: Annotated[str, Param("What stands there once.", plain=True)] = "",
    new_str: Annotated[str, Param("In its place.", plain=True)] = "",
    insert_line: Annotated[int, Param("For insert: the line before.", plain=True)] = 0,
    insert_text: Annotated[str, Param("For insert.", plain=True)] = "",
    old_path: Annotated[str, Param("For rename.", plain=True)] = "",
    new_path: Annotated[str, Param("For rename.", plain=True)] = "",
    view_range: Annotated[list[int], Param("First and last.", plain=True)] = [],  # noqa: B006 - not changed
    *,
    ctx: Ctx,
) -> Result:
    """View and edit files in /memories, which last beyond this conversation.

    What is saved by save_memory stands in /memories/facts.md. Each change stays in the history,
    and the user can take it back. The setting memory.verbs turns it on.
    """
    texts = [clean(text).text for text in (file_text, new_str, insert_text)]
    refuse_secrets(*texts)
    place = await place_of(ctx)
    files = MemoryFiles(ctx.use(Memories), origin_of(ctx), place.scopes)
    if command == "view":
        return await _view(files, path or "/memories", view_range)
    if command == "create":
        was_there = await files.write(path, texts[0])
        note = " It stands in the place of the one that was there." if was_there else ""
        return Result(f"File created successfully at: {checked_path(path)}{note}")
    if command == "str_replace":
        return _edited(await files.replace(path, old_str, texts[1]), texts[1])
    if command == "insert":
        return _edited(await files.insert(path, insert_line, texts[2]), texts[2])
    if command == "delete":
        count = await files.delete(path)
        return Result(f"Successfully deleted {checked_path(path)} ({count} files)")
    old, new = old_path or path, new_path
    if not old or not new:
        raise BadInput("rename takes old_path and new_path.")
    await files.rename(old, new)
    return Result(f"Successfully renamed {checked_path(old)} to {checked_path(new)}")


async def _view(files: MemoryFiles, path: str, view_range: list[int]) -> Result:
    wanted = checked_path(path)
    if wanted == FACTS:
        text = await files.facts()
        facts = Memory(0, "user", text, path=FACTS)
        return Result(numbered(facts, view_range))
    file = await files.find(wanted)
    if file is None:
        return Result(await files.listing(wanted))
    result = Result(numbered(file, view_range))
    if file.outside:
        source = f"{wanted}, from {file.source}"
        result = replace(result, source=source, impersonal=not file.private)
    return result


def _edited(file: Memory, text: str) -> Result:
    """What stands around the change, where that is no outside text."""
    first = f"The memory file {file.path} has been edited."
    if file.outside or not text:
        return Result(first)
    line = file.fact[: max(file.fact.find(text), 0)].count("\n") + 1
    last = min(line + text.count("\n") + 2, file.fact.count("\n") + 1)
    return Result(f"{first}\n{numbered(file, [max(line - 2, 1), last])}")
