"""`create_document`: Markdown or rows as DOCX, XLSX, PPTX, PDF or HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Annotated, Any, Literal
from urllib.parse import unquote

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Denied, MissingExtra, NotFound, ToolError, Unavailable
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, Right, decide, other_names, tool
from toolcrib.data.table_files import WORKBOOK, save
from toolcrib.documents.documents import Documents
from toolcrib.documents.markdown_source import MarkdownSource, markdown_source
from toolcrib.documents.writers.pdf import FONTS
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.new_names import refuse_file_name, refuse_source
from toolcrib.files.paths import (
    SafePath,
    Workspace,
    WorkspacePath,
    WritablePath,
    resolve_writable,
)
from toolcrib.system.threads import in_thread
from toolcrib.text.line_breaks import with_line_breaks

WRITERS = "toolcrib.documents.writers"
WHAT = "Making the document"
SHORTER = "Make several documents, or a shorter one."
TASKS = {
    "docx": Task(f"{WRITERS}.word:create", WHAT, 40.0, 1500, hint=SHORTER),
    "xlsx": WORKBOOK,
    "pptx": Task(f"{WRITERS}.slides:create", WHAT, 40.0, 1500, hint=SHORTER),
    "html": Task(f"{WRITERS}.html:create", WHAT, 40.0, 1500, hint=SHORTER),
    # Its fonts are mapped as files.
    "pdf": Task(
        f"{WRITERS}.pdf:create", WHAT, 40.0, 8000, hint=SHORTER, access="read", folders=FONTS
    ),
}
OWN_FONTS = Task(f"{WRITERS}.pdf:create", WHAT, 40.0, 8000, hint=SHORTER)
"""Where no boundary can let fonts alone be read: with those that typst brings."""
ROWS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".parquet", ".xlsx")
PACKAGES = {"docx": "docx", "xlsx": "xlsxwriter", "pptx": "pptx", "pdf": "typst"}
Format = Literal["", "docx", "xlsx", "pptx", "pdf", "html"]
LEAVE_OUT = "Leave the picture out."
MAX_PICTURES = 50
MAX_NAMED = 8
MAX_PICTURE_BYTES = 10_000_000
"""Of all of them together."""
PICTURE_STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
# What may be a picture of Markdown; which of them are, the parser says.
_TARGETS = re.compile(
    r"!\[[^\]]{0,500}\]\(\s{0,9}(?:<([^>\n]+)>|([^\s)]+))|^ {0,3}\[[^\]\n]{1,500}\]:[ \t]*(\S+)",
    re.MULTILINE,
)
_HTML_PAGE = re.compile(
    r"\s*<(?:!doctype|html|head|body|div|p|h[1-6]|table|ul|ol)\b.*>\s*", re.IGNORECASE | re.DOTALL
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_TAG = re.compile(
    r"</?(?:p|br|hr|div|span|b|i|u|a|em|strong|font|center|su[bp]|img|h[1-6]|ul|ol|li|"
    r"table|t[rdh]|thead|tbody)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
OLD = {"doc": "docx", "xls": "xlsx", "ppt": "pptx"}


def _rights(arguments: Mapping[str, Any]) -> Right:
    """It reads a source, and where the text may have pictures."""
    reads = arguments.get("source") or "![" in str(arguments.get("content", ""))
    return READ | WRITE if reads else WRITE


def _adapt(arguments: dict[str, Any]) -> None:
    """Pictures beside the text are in it, and a file that is to be converted is the source."""
    for name in ("images", "pictures"):
        if isinstance(arguments.get(name), list):
            listed = "\n\n".join(f"![](<{picture}>)" for picture in arguments.pop(name))
            arguments["content"] = f"{arguments.get('content') or ''}\n\n{listed}".strip()
    if {"source", "input", "content", "text", "markdown", "body"}.intersection(arguments):
        return
    given = next((n for n in ("path", "filepath", "filename", "file") if n in arguments), "")
    source = str(arguments.get(given, ""))
    stem, _, ending = source.rpartition(".")
    if given and {"output", "outputpath"}.intersection(arguments):
        arguments["source"] = arguments.pop(given)
        return
    kind = next((str(arguments[n]) for n in ("format", "to") if arguments.get(n)), ending)
    if stem and kind.lower() != ending.lower():
        arguments["source"], arguments[given] = source, f"{stem}.{kind}"


@tool(
    group="documents",
    rights=READ | WRITE,
    keywords=("word", "excel", "powerpoint", "pdf", "export", "report", "slides", "spreadsheet"),
    aliases=("write_document", "make_document"),
    argument_aliases=other_names(
        path=("file_path", "filename", "file", "output", "output_path"),
        content=("text", "markdown", "body"),
        source=("input", "input_path", "source_path", "from"),
        format=("type", "to", "output_format"),
    ),
    argument_adapter=_adapt,
    destructive=True,
    idempotent=True,
    effective_rights=_rights,
)
async def create_document(
    path: Annotated[WritablePath, Param("As report.pdf.")],
    content: Annotated[str, Param("Markdown.")] = "",
    source: Annotated[WorkspacePath | None, Param("Or a file.")] = None,
    format: Annotated[Format, Param("Where the name has no ending.", unlisted=True)] = "",  # noqa: A002 - the name that models use
    title: Annotated[str, Param("For its properties.", unlisted=True)] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Make a Word, Excel, PowerPoint, PDF or HTML file.

    Headings, lists, tables, code, quotes, links and pictures are kept. In slides each heading of
    the first two levels begins one, and quotes are the notes. A workbook takes Markdown tables,
    each under a heading that names its sheet, or JSON rows. For plain text use `write_file`.
    """
    place, kind = _place(path, format, ctx)
    if source is not None and content.strip():
        raise BadInput("Give 'content' or 'source', one of them.", hint='As source="a.md".')
    if source is not None:
        found = await _source_of(source, place, kind, ctx)
    else:
        await refuse_file_name(content, "content", ctx, "Send it as 'source'.")
        found = MarkdownSource(with_line_breaks(content), names_pictures=True)
    content = found.text
    if not content.strip():
        raise BadInput("The content is empty.", hint="Send Markdown, or a file as 'source'.")
    package = PACKAGES.get(kind)
    if package is not None and find_spec(package) is None:
        raise MissingExtra("create", f"Making a file of the kind {kind.upper()}")
    if _HTML_PAGE.fullmatch(content):
        raise BadInput(
            "The content is HTML, and what is taken is Markdown.",
            hint="Send Markdown: # heading, - item, | cell |, ![](picture.png)."
            + (" write_file takes HTML as it is." if kind == "html" else ""),
        )
    here, document = ctx.session.directory, (source or place).parent.absolute
    folders = (document, here) if source is not None else (here, document)
    is_illustrated = found.names_pictures and kind != "xlsx"
    pictures, reasons = await _pictures(content, folders, ctx) if is_illustrated else ({}, {})
    answer, made = await _made(kind, (title or found.title)[:250], content, pictures, ctx)
    line, step = await save(create_document.name, place, made, ctx)
    notes = [*found.notes, *answer["notes"], *_left_out(answer.get("missing", ()), reasons)]
    if tags := dict.fromkeys(_TAG.findall(_CODE.sub("", content))):
        notes.append(f"HTML stands there as text: {' '.join(list(tags)[:5])}. Markdown is taken.")
    facts = {"path": place.display, "format": kind, "bytes": len(made), "step": step}
    return Result("\n".join([line, *notes]), {**facts, "notes": notes})


async def _source_of(source: SafePath, place: SafePath, kind: str, ctx: Ctx) -> MarkdownSource:
    """The Markdown of a file from which a document of some kind is made at a place."""
    await refuse_source(place, source, ctx)
    if kind == "xlsx" and source.name.lower().endswith(ROWS):
        raise BadInput(
            f"{source.name} holds rows, no document.",
            hint=f'convert_format takes path="{source.display}", to="xlsx", '
            f'output="{place.display}".',
        )
    documents = ctx.use(Documents)
    data = await in_thread(lambda _: source.read_bytes(documents.max_bytes), ctx.deadline)
    found = await markdown_source(documents, data, source.name, ctx.deadline)
    if not found.text.strip():
        raise BadInput(f"{source.name} has no text.", hint="ocr_image reads scanned pages.")
    return found


async def _made(
    kind: str, title: str, content: str, pictures: dict[str, bytes], ctx: Ctx
) -> tuple[dict[str, Any], bytes]:
    workers = ctx.use(Workers)
    data = content.encode("utf-8", "replace") + b"".join(pictures.values())
    sizes = [[target, len(picture)] for target, picture in pictures.items()]
    request = {"title": title, "pictures": sizes}
    try:
        return await workers.run(TASKS[kind], request, data, ctx.deadline)
    except Unavailable:
        if kind != "pdf":
            raise
    return await workers.run(OWN_FONTS, {**request, "own_fonts": True}, data, ctx.deadline)


async def _pictures(
    content: str, folders: Sequence[str], ctx: Ctx
) -> tuple[dict[str, bytes], dict[str, str]]:
    """The pictures that a text has, by their targets, and why others are not at hand."""
    found: dict[str, bytes] = {}
    reasons: dict[str, str] = {}
    room = MAX_PICTURE_BYTES
    for match in _TARGETS.finditer(content):
        target = unquote(next(filter(None, match.groups()), ""))
        if target in found or target in reasons:
            continue
        if len(found) == MAX_PICTURES:
            reasons[target] = f"more than {MAX_PICTURES} pictures"
            continue
        try:
            found[target] = await _picture(target, folders, room, ctx)
            room -= len(found[target])
        except ToolError as error:
            reasons[target] = error.message.rstrip(".")
    return found, reasons


async def _picture(target: str, folders: Sequence[str], room: int, ctx: Ctx) -> bytes:
    """A picture of the workspace, named from the first of two folders, else from the second."""
    first, second = folders
    place = ctx.use(Workspace).resolve(target, first)
    try:
        await in_thread(lambda _: place.stat(), ctx.deadline)
    except NotFound:
        place = ctx.use(Workspace).resolve(target, second)
    decision = decide(ctx.config.policy, create_document, place.spellings(), READ)
    if decision.action != "allow":
        raise Denied(f"{decision.reason} does not let it be read", hint=LEAVE_OUT)
    content = await in_thread(lambda _: place.read_bytes(room), ctx.deadline)
    if not content.startswith(PICTURE_STARTS):
        raise BadInput(f"{target} is no PNG or JPEG.")
    return content


def _left_out(missing: Sequence[str], reasons: dict[str, str]) -> list[str]:
    """What is said of pictures that a text has and the document has not."""
    lines = [
        f"{target[:80]} ({reasons.get(target, 'it cannot be read')[:160]})" for target in missing
    ]
    more = f" and {len(lines) - MAX_NAMED} more" if len(lines) > MAX_NAMED else ""
    listed = "; ".join(lines[:MAX_NAMED])
    return [f"Left out, with their descriptions instead: {listed}{more}."] if lines else []


def _place(path: SafePath, format: str, ctx: Ctx) -> tuple[SafePath, str]:  # noqa: A002
    """Where the document goes, and its kind.

    Raises:
        BadInput: no such kind is made, or name and format differ.
    """
    ending = path.name.rpartition(".")[2].lower() if "." in path.name else ""
    ending = {"htm": "html"}.get(ending, ending)
    if ending in TASKS and format in ("", ending):
        return path, ending
    if format and ending not in (*TASKS, *OLD):
        return resolve_writable(f"{path.display}.{format}", ctx), format
    if format:
        raise BadInput(f"{path.name} does not end in .{format}.", hint="Leave out 'format'.")
    instead = OLD.get(ending)
    hint = (
        f"Make a .{instead} file."
        if instead
        else "End the name in .docx, .xlsx, .pptx, .pdf or .html."
    )
    raise BadInput(f"No file is made that ends in .{ending or '(nothing)'}.", hint=hint)
