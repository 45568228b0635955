"""`read_file`: text in pages, what is about some words, pictures, documents."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Any

from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, ToolError, UnsupportedContent
from toolcrib.core.result import ErrorInfo, Next, Result
from toolcrib.core.tool import READ, Count, Line, Offset, Param, other_names, tool
from toolcrib.files.paths import EachPath, RefusedPath, SafePath, WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.tokens import estimate
from toolcrib.tools.files.file_reader import (
    MAX_LINES,
    FilePart,
    ReadRequest,
    converted_part,
    read_part,
)

# Several files in one answer: a fair share of the budget for each, and each its own errors.

MIN_FILE_TOKENS = 60
"""Tokens that a file gets at least; files for which so much is not left come with `next`."""
MAX_IMAGE_BYTES = 10_000_000
"""Bytes of all pictures of an answer."""

Read = Callable[[SafePath, int], Awaitable[FilePart]]


@dataclass(slots=True)
class _Section:
    header: str
    part: FilePart | None = None
    error: ToolError | None = None

    @property
    def text(self) -> str:
        if self.error is not None:
            return f"{self.header}\n{ErrorInfo.of(self.error).render()}"
        part = self.part or FilePart()
        go_on = ""
        if part.next:
            arguments = {k: v for k, v in part.next.items() if k != "path"}
            go_on = f"\n[to go on: {', '.join(f'{k}={v}' for k, v in arguments.items())}]"
        return f"{self.header}\n{part.text.rstrip()}{go_on}"


async def read_all(
    tool: str,
    paths: Sequence[SafePath | RefusedPath],
    sizes: Sequence[int],
    read: Read,
    room: int,
    again: dict[str, Any],
) -> tuple[Result, list[FilePart]]:
    """Read files one after the other, small ones first, and put them in the order given.

    What a small file leaves of its share goes to the others.

    Args:
        tool: the name of the tool, for `next`.
        paths: the files.
        sizes: bytes of each, about.
        read: reads one within a budget.
        room: tokens for all of it.
        again: further arguments for the files that there was no room for.
    """
    fitting = max(room // MIN_FILE_TOKENS, 1)
    now, later = paths[:fitting], paths[fitting:]
    left = room - (MIN_FILE_TOKENS if later else 0)
    sections: dict[int, _Section] = {}
    images = 0
    for done, number in enumerate(sorted(range(len(now)), key=lambda n: sizes[n])):
        share = left // (len(now) - done)
        section = await _section(now[number], read, share)
        part = section.part
        if part is not None and part.image is not None:
            images += len(part.image.data)
            if images > MAX_IMAGE_BYTES:
                message = "There was no room left for this picture."
                section = _Section(section.header, error=BadInput(message, hint="Read it alone."))
        left = max(left - estimate(f"{section.text}\n\n"), 0)
        sections[number] = section
    ordered = [sections[number] for number in range(len(now))]
    return _joined(tool, ordered, later, again), [s.part for s in ordered if s.part and not s.error]


async def _section(path: SafePath | RefusedPath, read: Read, share: int) -> _Section:
    header = f"== {path.display}"
    if isinstance(path, RefusedPath):
        return _Section(header, error=path.error)
    try:
        return _Section(
            header, await read(path, max(share - estimate(header) - 20, MIN_FILE_TOKENS // 2))
        )
    except ToolError as error:
        return _Section(header, error=error)


def _joined(
    tool: str,
    sections: list[_Section],
    later: Sequence[SafePath | RefusedPath],
    again: dict[str, Any],
) -> Result:
    parts = [s.part for s in sections if s.part and not s.error]
    errors = [s.error for s in sections if s.error]
    cut = next((part.next for part in parts if part.next), None)
    following = {"paths": [path.display for path in later], **again} if later else cut
    text = "\n\n".join(section.text for section in sections)
    if len(sections) == len(errors) == 1:
        text = ""  # the error says it all
    if later:
        text += f"\n\n[{len(later):,} more files had no room]"
    return Result(
        text=text,
        data={"files": [_as_json(section) for section in sections]},
        images=tuple(part.image for part in parts if part.image),
        truncated=bool(following),
        next=Next(tool, following) if following else None,
        error=_error_of_all(errors) if errors and not parts else None,
        source=", ".join(dict.fromkeys(part.source for part in parts if part.source)),
        newest_change=max((part.changed for part in parts), default=None),
    )


def _error_of_all(errors: list[ToolError]) -> ErrorInfo:
    """The error of a call that could read nothing, whose text has the reasons."""
    first = ErrorInfo.of(errors[0])
    if len(errors) == 1:
        return first
    message = f"None of the {len(errors):,} files could be read."
    return replace(first, message=message, hint="Mend each path by the reason given with it.")


def _as_json(section: _Section) -> dict[str, Any]:
    if section.error is not None:
        return {"path": section.header[3:], "error": ErrorInfo.of(section.error).to_json()}
    return section.part.data if section.part else {}


MAX_FILES = 100
OF_THE_CALL = ("about", "is_lenient")
"""Parts of a request that are no arguments."""
_RANGE = re.compile(r"\s*(-?\d+)\s*(?:-|:|,|\.\.|to)\s*(-?\d+)\s*")
_RANGE_NAMES = ("viewrange", "linerange", "range", "lines")


def _adapt_arguments(arguments: dict[str, Any]) -> None:
    """Ranges of lines and lists of paths, as other systems send them."""
    for name in ("path", "filepath"):
        if isinstance(arguments.get(name), list):
            arguments["paths"] = arguments.pop(name)
    chunk, chunks = arguments.pop("chunksize", None), arguments.pop("maxchunks", None)
    if str(chunk or "").isdigit():
        several = int(chunks) if str(chunks or "").isdigit() else 1
        arguments.setdefault("maxchars", int(chunk) * max(several, 1))
    head, tail = arguments.pop("head", None), arguments.pop("tail", None)
    if head not in (None, "", [], {}):
        arguments.setdefault("lines", head)
    if tail not in (None, "", [], {}):
        arguments.setdefault("start", f"-{str(tail).lstrip('-')}")
    for name in _RANGE_NAMES:
        found = _span(arguments[name]) if name in arguments else None
        if found:
            del arguments[name]
            arguments["start"], arguments["end"] = found


def _span(value: Any) -> tuple[int, int] | None:
    """First and last line of `[3, 9]`, `"3-9"` or `{"start": 3, "end": 9}`."""
    if isinstance(value, dict):
        value = list(value.values())
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value).strip("[]() ")
    found = _RANGE.fullmatch(text)
    return (int(found[1]), int(found[2])) if found else None


@tool(
    group="files",
    rights=READ,
    keywords=(
        *("open", "cat", "view", "show", "head", "tail", "content", "image", "picture", "pdf"),
        *("docx", "several files", "many files"),
    ),
    aliases=("read_files", "read_file_content", "read_file_lines", "get_file_contents"),
    argument_aliases=other_names(
        path=("file_path", "filepath", "file"),
        paths=("files", "file_paths", "file_names"),
        start=("line_number", "line"),
    ),
    profiles=("default",),
    argument_adapter=_adapt_arguments,
)
async def read_file(
    path: WorkspacePath | None = None,
    paths: list[EachPath] | None = None,
    start: Annotated[Line | None, Param("First line; -50: the last 50.")] = None,
    end: Annotated[Line | None, Param("Last line.", plain=True)] = None,
    lines: Annotated[Count | None, Param("Lines at most.", maximum=MAX_LINES, plain=True)] = None,
    column: Annotated[Offset, Param("Skip characters of that line.", plain=True)] = 0,
    focus: Annotated[str, Param("Only what is about these words.")] = "",
    numbers: Annotated[bool, Param("Number the lines.", plain=True)] = False,
    anchors: Annotated[bool, Param("For edits: LINE:HASH.")] = False,
    max_chars: Annotated[Count | None, Param("Characters at most.", unlisted=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Read files of the workspace: text, images, documents.

    A long file comes in pages, and the answer names the call for the next one; the first
    page of a long source or text also outlines the rest by line numbers. `focus` finds
    the regions of a big file that matter. Binary files are refused.
    """
    # Models name the same file twice, as the one and as one of several, or the folder of them.
    alone = [path] if path and not any(_is_in(path, other) for other in paths or ()) else []
    chosen = list({p.display: p for p in [*alone, *(paths or [])]}.values())
    if not chosen:
        raise BadInput("read_file needs 'path' or 'paths'.", hint='For example {"path": "a.txt"}.')
    if len(chosen) > MAX_FILES:
        raise BadInput(f"read_file takes {MAX_FILES} files at once, not {len(chosen):,}.")
    wanted = (start, end or None, lines, column, focus.strip(), numbers, anchors)
    is_smart = ctx.config.workspace.smart_reading
    request = ReadRequest(*wanted, max_chars or 0, ctx.session.question if is_smart else None)
    room = room_in(ctx.budget(read_file.name))
    read = partial(_read, request=request, ctx=ctx)
    if len(chosen) == 1 and isinstance(chosen[0], SafePath):
        part = await _read(chosen[0], room, replace(request, is_lenient=True), ctx)
        parts, result = [part], _result(part)
    else:
        sizes = await in_thread(lambda _: [_size(p) for p in chosen], ctx.deadline)
        again = {k: v for k, v in asdict(request).items() if v and k not in OF_THE_CALL}
        result, parts = await read_all(read_file.name, chosen, sizes, read, room, again)
        if request.focus and not parts:  # then short files show themselves, as one alone does
            read = partial(read, request=replace(request, is_lenient=True))
            result, parts = await read_all(read_file.name, chosen, sizes, read, room, again)
    for part in parts:
        if part.seen:
            ctx.session.remember_read(*part.seen)
    return result


async def _read(path: SafePath, room: int, request: ReadRequest, ctx: Ctx) -> FilePart:
    refuse = ctx.config.workspace.refuse_binary

    def work(check: Checkpoint) -> FilePart:
        return read_part(path, request, room, check, refuse_binary=refuse)

    part = await in_thread(work, ctx.deadline)
    if part.document is None:
        return part
    from toolcrib.documents.documents import Documents

    documents, deadline = ctx.use(Documents), ctx.deadline
    try:
        found = await documents.read(part.document, name=path.name, deadline=deadline)
    except UnsupportedContent as error:
        raise UnsupportedContent(f"{path.display}: {error.message}", hint=error.hint) from None
    markdown = found.markdown
    converted = await in_thread(
        lambda check: converted_part(part, markdown, request, room, check), deadline
    )
    return replace(converted, changed=part.changed)


def _is_in(folder: SafePath, path: SafePath | RefusedPath) -> bool:
    """Whether a path lies beneath another, which is a folder then."""
    return (
        isinstance(path, SafePath)
        and path.root == folder.root
        and len(path.parts) > len(folder.parts)
        and path.parts[: len(folder.parts)] == folder.parts
    )


def _size(path: object) -> int:
    try:
        return path.stat().st_size if isinstance(path, SafePath) else 0
    except ToolError:
        return 0


def _result(part: FilePart) -> Result:
    return Result(
        text=part.text,
        data=part.data,
        images=(part.image,) if part.image else (),
        truncated=part.next is not None,
        next=Next(read_file.name, part.next) if part.next else None,
        source=part.source,
        newest_change=part.changed,
    )
