"""`create_document`: Markdown or rows as DOCX, XLSX, PPTX, PDF or HTML."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, MissingExtra, Unavailable
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, other_names, tool
from toolcrib.data.table_files import save
from toolcrib.documents.writers.pdf import FONTS
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.new_names import refuse_file_name
from toolcrib.files.paths import SafePath, WritablePath, resolve_writable
from toolcrib.text.line_breaks import with_line_breaks

WRITERS = "toolcrib.documents.writers"
WHAT = "Making the document"
SHORTER = "Make several documents, or a shorter one."
TASKS = {
    "docx": Task(f"{WRITERS}.word:create", WHAT, 40.0, 1500, hint=SHORTER),
    "xlsx": Task(f"{WRITERS}.workbook:create", WHAT, 40.0, 1500, hint=SHORTER),
    "pptx": Task(f"{WRITERS}.slides:create", WHAT, 40.0, 1500, hint=SHORTER),
    "html": Task(f"{WRITERS}.html:create", WHAT, 40.0, 1500, hint=SHORTER),
    # Its fonts are mapped as files.
    "pdf": Task(
        f"{WRITERS}.pdf:create", WHAT, 40.0, 8000, hint=SHORTER, access="read", folders=FONTS
    ),
}
OWN_FONTS = Task(f"{WRITERS}.pdf:create", WHAT, 40.0, 8000, hint=SHORTER)
"""Where no boundary can let fonts alone be read: with those that typst brings."""
PACKAGES = {"docx": "docx", "xlsx": "xlsxwriter", "pptx": "pptx", "pdf": "typst"}
Format = Literal["", "docx", "xlsx", "pptx", "pdf", "html"]
OLD = {"doc": "docx", "xls": "xlsx", "ppt": "pptx"}


@tool(
    group="documents",
    rights=WRITE,
    keywords=("word", "excel", "powerpoint", "pdf", "export", "report", "slides", "spreadsheet"),
    aliases=("write_document", "make_document", "create_pdf", "create_docx", "create_spreadsheet"),
    argument_aliases=other_names(
        path=("file_path", "filename", "file", "output"),
        content=("text", "markdown", "body"),
        format=("type",),
    ),
    destructive=True,
    idempotent=True,
)
async def create_document(
    path: Annotated[WritablePath, Param("As report.pdf.")],
    content: Annotated[str, Param("Markdown.")],
    format: Annotated[Format, Param("Where the name has no ending.", unlisted=True)] = "",  # noqa: A002 - the name that models use
    title: Annotated[str, Param("For its properties.", unlisted=True)] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Make a Word, Excel, PowerPoint, PDF or HTML file.

    Headings, lists, tables, code, quotes and links are kept. In slides each heading of the first
    two levels begins one, and quotes are the notes. A workbook takes Markdown tables, each under a
    heading that names its sheet, or JSON rows. For plain text use `write_file`.
    """
    place, kind = _place(path, format, ctx)
    if not content.strip():
        raise BadInput("The content is empty.", hint="Send Markdown.")
    await refuse_file_name(content, "content", ctx, "Read it, and send what it says.")
    package = PACKAGES.get(kind)
    if package is not None and find_spec(package) is None:
        raise MissingExtra("create", f"Making a file of the kind {kind.upper()}")
    answer, made = await _made(kind, title[:250], with_line_breaks(content), ctx)
    line, step = await save(create_document.name, place, made, ctx)
    notes = list(answer["notes"])
    facts = {"path": place.display, "format": kind, "bytes": len(made), "step": step}
    return Result("\n".join([line, *notes]), {**facts, "notes": notes})


async def _made(kind: str, title: str, content: str, ctx: Ctx) -> tuple[dict[str, Any], bytes]:
    workers, data = ctx.use(Workers), content.encode("utf-8", "replace")
    try:
        return await workers.run(TASKS[kind], {"title": title}, data, ctx.deadline)
    except Unavailable:
        if kind != "pdf":
            raise
    request = {"title": title, "own_fonts": True}
    return await workers.run(OWN_FONTS, request, data, ctx.deadline)


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
