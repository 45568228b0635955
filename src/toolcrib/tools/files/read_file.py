"""`read_file`: text in pages, what is about some words, pictures, documents."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from toolcrib.core.call import Next, Result
from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, ToolError, UnsupportedContent
from toolcrib.core.params import Count, Line, Offset, Param
from toolcrib.core.tool import READ, tool
from toolcrib.documents.documents import Documents
from toolcrib.files.paths import EachPath, SafePath, WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.tools.files.adapters.read_arguments import reading
from toolcrib.tools.files.reader.contents import converted_part, read_part
from toolcrib.tools.files.reader.request import MAX_LINES, Part, Request
from toolcrib.tools.files.reader.several import read_all

MAX_FILES = 100


@tool(
    group="files",
    rights=READ,
    keywords=(
        "open",
        "cat",
        "view",
        "show",
        "head",
        "tail",
        "content",
        "image",
        "picture",
        "pdf",
        "docx",
        "several files",
        "many files",
    ),
    aliases=(
        "read_text_file",
        "read_multiple_files",
        "read_many_files",
        "read_files",
        "read_file_chunked",
        "read_file_range",
        "read_file_content",
        "read_file_lines",
        "read_media_file",
        "get_file_contents",
        "open_file",
        "view_file",
        "show_file",
        "load_file",
        "file_read",
        "fs_read",
        "cat",
        "cat_file",
        "head_file",
        "tail_file",
        "read",
        "view",
        "view_image",
        "read_image",
        "readfile_lines",
        "file_view",
    ),
    argument_aliases={
        "file_path": "path",
        "file_name": "path",
        "filename": "path",
        "filepath": "path",
        "file": "path",
        "absolute_path": "path",
        "target_file": "path",
        "files": "paths",
        "file_paths": "paths",
        "file_names": "paths",
        "offset": "start",
        "start_line": "start",
        "line_number": "start",
        "line": "start",
        "from_line": "start",
        "start_line_one_indexed": "start",
        "end_line": "end",
        "to_line": "end",
        "last_line": "end",
        "end_line_one_indexed": "end",
        "limit": "lines",
        "max_lines": "lines",
        "line_count": "lines",
        "num_lines": "lines",
        "query": "focus",
        "find": "focus",
        "keywords": "focus",
        "line_numbers": "numbers",
        "show_line_numbers": "numbers",
        "with_line_numbers": "numbers",
        "hashes": "anchors",
        "with_anchors": "anchors",
    },
    profiles=("default",),
    dialect=reading,
)
async def read_file(
    path: WorkspacePath | None = None,
    paths: Annotated[list[EachPath] | None, Param("Several files.")] = None,
    start: Annotated[Line | None, Param("First line; -50: the last 50.")] = None,
    end: Annotated[Line | None, Param("Last line.")] = None,
    lines: Annotated[Count | None, Param("Most lines.", maximum=MAX_LINES)] = None,
    column: Annotated[Offset, Param("Skip characters of that line.")] = 0,
    focus: Annotated[str, Param("Only what is about these words.")] = "",
    numbers: Annotated[bool, Param("Number the lines.")] = False,
    anchors: Annotated[bool, Param("For edits: LINE:HASH.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Read files of the workspace: text, images, documents.

    A long file comes in pages, and the answer names the call for the next one; the first
    page of a long source or text also outlines the rest by line numbers. `focus` finds
    the regions of a big file that matter. Binary files are refused.
    """
    chosen = ([path] if path else []) + (paths or [])
    if not chosen:
        raise BadInput("read_file needs 'path' or 'paths'.", hint='For example {"path": "a.txt"}.')
    if len(chosen) > MAX_FILES:
        raise BadInput(f"read_file takes {MAX_FILES} files at once, not {len(chosen):,}.")
    request = Request(start, end, lines, column, focus.strip(), numbers, anchors)
    room = room_in(ctx.budget(read_file.name))
    read = partial(_read, request=request, ctx=ctx)
    if len(chosen) == 1 and isinstance(chosen[0], SafePath):
        part = await read(chosen[0], room)
        parts, result = [part], _result(part)
    else:
        sizes = await in_thread(lambda _: [_size(p) for p in chosen], ctx.deadline)
        again = {k: v for k, v in _asked(request).items() if v}
        result, parts = await read_all(read_file.name, chosen, sizes, read, room, again)
    for part in parts:
        if part.seen:
            ctx.session.remember_read(*part.seen)
    return result


async def _read(path: SafePath, room: int, request: Request, ctx: Ctx) -> Part:
    refuse = ctx.config.workspace.refuse_binary

    def work(check: Checkpoint) -> Part:
        return read_part(path, request, room, check, refuse_binary=refuse)

    part = await in_thread(work, ctx.deadline)
    if part.document is None:
        return part
    documents, deadline = ctx.use(Documents), ctx.deadline
    try:
        found = await documents.read(part.document, name=path.name, deadline=deadline)
    except UnsupportedContent as error:
        raise UnsupportedContent(f"{path.display}: {error.message}", hint=error.hint) from None
    markdown = found.markdown
    return await in_thread(
        lambda check: converted_part(part, markdown, request, room, check), deadline
    )


def _size(path: object) -> int:
    try:
        return path.stat().st_size if isinstance(path, SafePath) else 0
    except ToolError:
        return 0


def _asked(request: Request) -> dict[str, object]:
    return {
        "start": request.start,
        "end": request.end,
        "lines": request.lines,
        "column": request.column,
        "focus": request.focus,
        "numbers": request.numbers,
        "anchors": request.anchors,
    }


def _result(part: Part) -> Result:
    return Result(
        text=part.text,
        data=part.data,
        images=(part.image,) if part.image else (),
        truncated=part.next is not None,
        next=Next(read_file.name, part.next) if part.next else None,
        source=part.source,
    )
