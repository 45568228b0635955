"""`read_file`: text in pages, pictures as pictures."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from toolcrib.core.call import Image, Next, Result
from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, TooLarge, UnsupportedContent
from toolcrib.core.params import Count, Line, Offset, Param
from toolcrib.core.tool import READ, tool
from toolcrib.kit.content.kinds import SNIFFED, Kind, kind_of
from toolcrib.kit.content.lines import Page, TextFile
from toolcrib.kit.paths import Handle, SafePath, WorkspacePath
from toolcrib.kit.threads import Checkpoint, in_thread
from toolcrib.kit.tokens import longest_head

MAX_LINES = 2000
MAX_IMAGE_BYTES = 5_000_000
CHARS_A_TOKEN = 10
"""No page has more characters than its tokens times this, whatever the estimate says."""
EOL_NAMES = {"crlf": "CRLF line ends", "cr": "CR line ends", "mixed": "mixed line ends"}


@tool(
    group="files",
    rights=READ,
    keywords=("open", "cat", "view", "show", "head", "tail", "content", "image", "picture"),
    aliases=(
        "read_text_file",
        "read_file_chunked",
        "read_file_range",
        "read_file_content",
        "read_media_file",
        "open_file",
        "view_file",
        "show_file",
        "load_file",
        "file_read",
        "fs_read",
        "cat",
        "cat_file",
    ),
    argument_aliases={
        "file_path": "path",
        "file_name": "path",
        "file": "path",
        "absolute_path": "path",
        "target_file": "path",
        "offset": "start",
        "start_line": "start",
        "line_number": "start",
        "from_line": "start",
        "limit": "lines",
        "max_lines": "lines",
        "line_count": "lines",
        "num_lines": "lines",
    },
    profiles=("default",),
)
async def read_file(
    path: WorkspacePath,
    start: Annotated[Line, Param("First line; negative counts from the end.")] = 1,
    lines: Annotated[Count, Param("Most lines.", maximum=MAX_LINES)] = MAX_LINES,
    column: Annotated[Offset, Param("Characters of the first line to skip.")] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Read a text file or an image from the workspace.

    A long file comes in pages, and the answer names the call for the next one.
    `start=-50` reads the last 50 lines. Binary files are refused.
    """
    room = room_in(ctx.budget(read_file.name))

    def work(check: Checkpoint) -> tuple[Result, Handle]:
        with _open(path) as handle:
            head = handle.file.read(SNIFFED)
            kind = kind_of(head)
            if kind is not None:
                return _not_text(path, handle, kind), handle
            text = TextFile(handle.file, path.display, check)
            fits = partial(longest_head, max_tokens=room)
            page = text.page(start, lines, column, room * CHARS_A_TOKEN, fits)
            return _as_result(path, handle, text, page, lines), handle

    result, handle = await in_thread(work, ctx.deadline)
    ctx.session.remember_read(handle.absolute, handle.fingerprint)
    return result


def _open(path: SafePath) -> Handle:
    handle = path.open()
    if handle.kind == "file":
        return handle
    handle.close()
    raise BadInput(f"{path.display} is a folder.", hint="list_directory shows what it holds.")


def _not_text(path: SafePath, handle: Handle, kind: Kind) -> Result:
    described = f"{path.display}: {kind.name}, {handle.size:,} bytes"
    if not kind.image:
        raise UnsupportedContent(
            f"{described}; it is not text.",
            hint="read_file reads text and PNG, JPEG, GIF and WebP images.",
            kind=kind.name,
            size=handle.size,
        )
    handle.file.seek(0)
    data = handle.file.read(MAX_IMAGE_BYTES + 1)
    if len(data) > MAX_IMAGE_BYTES:
        raise TooLarge(f"{described}; images are read up to {MAX_IMAGE_BYTES:,} bytes.")
    return Result(
        text=described,
        data={"path": path.display, "kind": kind.name, "size": len(data)},
        images=(Image(data, kind.image),),
    )


def _as_result(path: SafePath, handle: Handle, text: TextFile, page: Page, lines: int) -> Result:
    data = {
        "path": path.display,
        "size": handle.size,
        "encoding": text.encoding.name,
        "bom": bool(text.encoding.mark),
        "eol": text.eol,
        "start": page.first,
        "lines": page.lines,
        "total_lines": page.total,
    }
    if not page.text and page.whole:
        return Result(text=f"({path.display} is empty)", data=data)
    footer = _footer(text, page, handle.size)
    separator = "" if page.text.endswith("\n") or not footer else "\n"
    return Result(
        text=f"{page.text}{separator}{footer}",
        data=data,
        truncated=page.more,
        next=_next(path, page, lines) if page.more else None,
    )


def _footer(text: TextFile, page: Page, size: int) -> str:
    """What a reader cannot see: where the page stands, the encoding, the line ends."""
    notes = [] if page.whole else [_where(page, size)]
    if text.encoding.name != "utf-8":
        notes.append(f"{text.encoding.name}{' (guessed)' if text.encoding.guessed else ''}")
    if text.encoding.mark:
        notes.append("byte order mark")
    if text.eol in EOL_NAMES:
        notes.append(EOL_NAMES[text.eol])
    return f"[{', '.join(notes)}]" if notes else ""


def _where(page: Page, size: int) -> str:
    total = f" of {page.total:,}" if page.total is not None else f", file of {size:,} bytes"
    if page.first is None:
        return f"lines {page.start} to {page.start + page.lines - 1} from the end{total}"
    last = page.first + page.lines - 1
    where = f"line {last:,}" if last == page.first else f"lines {page.first:,}-{last:,}"
    return f"{where}{total}" + (f", cut after {page.column:,} characters" if page.column else "")


def _next(path: SafePath, page: Page, lines: int) -> Next:
    start, column = page.next_start()
    arguments: dict[str, str | int] = {"path": path.display, "start": start}
    if lines != MAX_LINES:
        arguments["lines"] = lines
    if column:
        arguments["column"] = column
    return Next(read_file.name, arguments)
