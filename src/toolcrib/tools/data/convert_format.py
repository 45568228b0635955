"""`convert_format`: a file or text in one format as another."""

from __future__ import annotations

from typing import Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, other_names, tool
from toolcrib.data.formats import ENDINGS, FORMATS, TABLES
from toolcrib.data.table_files import CONVERT, is_workbook, rights_with_output, save, workbook_of
from toolcrib.execution.workers import Workers
from toolcrib.files.content.kinds import kind_of
from toolcrib.files.new_names import refuse_file_name, refuse_source
from toolcrib.files.paths import SafePath, WorkspacePath, WritablePath
from toolcrib.system.threads import in_thread
from toolcrib.text.display import size_of

MAX_BYTES = 20_000_000
ACTIONS = {
    "json_to_csv": ("json", "csv"),
    "csv_to_json": ("csv", "json"),
    "base64_encode": ("", "base64"),
    "base64_decode": ("base64", "text"),
    "compress": ("", "gzip"),
    "decompress": ("gzip", "text"),
}
DOCUMENTS = {
    "pdf": "pdf", "docx": "docx", "word": "docx", "doc": "docx",
    "pptx": "pptx", "powerpoint": "pptx", "ppt": "pptx", "html": "html", "htm": "html",
}  # fmt: skip
PICTURES = ("png", "jpg", "jpeg", "webp", "gif", "bmp", "tiff", "avif", "ico")
BINARY = {"gzip": "data.json.gz", "xlsx": "table.xlsx"}
"""What cannot be shown, each with a name for its file."""


def _refuse_documents(to: str, arguments: dict[str, Any]) -> None:
    """Name the tool for what is no format of data."""
    kind = DOCUMENTS.get(to.lower().strip("."))
    tool_name = "create_document" if kind else "edit_image" if to.lower() in PICTURES else ""
    if not tool_name:
        return
    path = str(arguments.get("path") or arguments.get("file") or "")
    made = f"{path.rpartition('.')[0] or path or 'new'}.{kind or to.lower()}"
    if kind:
        hint = f'path="{made}", ' + (f'source="{path}"' if path else "and the text as content")
    else:
        hint = f'path="{path or "old.png"}", output="{made}"'
    raise BadInput(f"{to.upper()} is no format of data.", hint=f"{tool_name} takes {hint}.")


def adapt(arguments: dict[str, Any]) -> None:
    """Take `action="csv_to_json"` and the like; names come without underscores."""
    action = str(arguments.pop("action", "")).lower()
    wanted = next((n for n in ("to", "format", "toformat", "targetformat") if n in arguments), "")
    _refuse_documents(str(arguments.get(wanted) or action.partition("_to_")[2]), arguments)
    for name in ("to", "format", "toformat", "targetformat"):
        if str(arguments.get(name)).lower() == "excel":
            arguments[name] = "xlsx"
    if not action:
        return
    source, _, target = action.partition("_to_")
    source, target = ACTIONS.get(action, (source, target))
    arguments.setdefault("to", {"excel": "xlsx"}.get(target, target) or action)
    if source:
        arguments.setdefault("fromformat", source)


@tool(
    group="data",
    rights=READ | WRITE,
    keywords=("csv", "json", "yaml", "toml", "xml", "base64", "gzip", "compress", "decode"),
    aliases=("convert_file",),
    argument_aliases=other_names(
        path=("file", "file_path"),
        input=("text", "content", "data"),
        from_format=("from", "source_format"),
        to=("format", "to_format", "target_format"),
        output=("save_to", "output_path"),
    ),
    effective_rights=rights_with_output("output"),
    argument_adapter=adapt,
)
async def convert_format(
    to: Literal[
        "csv",
        "tsv",
        "json",
        "jsonl",
        "yaml",
        "toml",
        "xml",
        "markdown",
        "xlsx",
        "base64",
        "gzip",
        "text",
    ],
    path: WorkspacePath | None = None,
    input: str = "",  # noqa: A002 - its plain name
    from_format: str = "",
    output: WritablePath | None = None,
    *,
    ctx: Ctx,
) -> Result:
    """Convert a file or text into another format.

    `from_format` is known from the name of the file, else guessed. To get text
    decodes base64 and unpacks gzip. Without `output` the result is shown.
    """
    if (path is None) == (not input):
        raise BadInput("Give 'path' or 'input', one of them.", hint='As path="table.csv".')
    source = _source(path, from_format)
    if path is not None and path.name.lower().endswith(".ipynb") and to == "markdown":
        raise BadInput(
            "A notebook is no table.", hint=f'read_document path="{path.display}" gives its cells.'
        )
    text, split = _with_line_ends(input, source, to)
    data = text.encode()
    if path is None:
        await refuse_file_name(input, "input", ctx)
    else:
        await refuse_source(output, path, ctx)
        place = path
        data = await in_thread(lambda _: place.read_bytes(MAX_BYTES), ctx.deadline)
    if to in BINARY and output is None:
        raise BadInput(f"{to} is bytes.", hint=f'Name a file for it: output="{BINARY[to]}".')
    if to == "xlsx" and output is not None and not is_workbook(output):
        raise BadInput(f"{output.name} would be no workbook.", hint="End its name in .xlsx.")
    request = {"from": source, "to": {"text": "", "xlsx": "json"}.get(to, to)}
    answer, content = await ctx.use(Workers).run(CONVERT, request, data, ctx.deadline)
    all_notes = [*split, *answer["notes"]]
    if to == "xlsx":
        content, notes_of_sheets = await workbook_of(content, ctx)
        all_notes += notes_of_sheets
    facts: dict[str, Any] = {"bytes": len(content), "notes": all_notes}
    notes = "".join(f"{note}\n" for note in all_notes)
    if output is not None:
        line, step = await save(convert_format.name, output, content, ctx)
        return Result(text=f"{notes}{line}", data={**facts, "step": step}, private=True)
    kind = kind_of(content) if to == "text" else None
    if kind is not None:
        raise BadInput(
            f"It is no text: {kind.name}, {size_of(len(content))}.",
            hint="Name a file for it with 'output'.",
        )
    text = content.decode(errors="replace").rstrip("\n")
    return Result(text=notes + text, data={**facts, "content": text}, private=path is not None)


def _with_line_ends(text: str, source: str, to: str) -> tuple[str, list[str]]:
    """A table whose lines end in a backslash and an n, as models escape them, with line ends."""
    is_table = source in TABLES or not (source or text.lstrip().startswith(("{", "[", "<")))
    if not is_table or to in ("base64", "gzip", "text") or "\n" in text or "\\n" not in text:
        return text, []
    return text.replace("\\r", "").replace("\\n", "\n"), [r"Each \n was taken for a line end."]


def _source(path: SafePath | None, named: str) -> str:
    given = named.strip().lower()
    if given and given not in ENDINGS and given not in ("text", "bytes"):
        raise BadInput(f"There is no format {given}.", hint=f"Formats: {', '.join(FORMATS)}.")
    if given:
        return ENDINGS.get(given, "")
    ending = path.name.rpartition(".")[2].lower() if path is not None else ""
    return ENDINGS.get(ending, "")
