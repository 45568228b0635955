"""`markdown_table`: data as a table of Markdown."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, AnyJson, Param, other_names, tool
from toolcrib.data.formats import markdown
from toolcrib.data.row_layout import json_rows, laid_out
from toolcrib.data.table_files import rights_with_output, save
from toolcrib.files.paths import WritablePath


@tool(
    group="data",
    rights=READ | WRITE,
    keywords=("format", "align", "pretty", "report"),
    aliases=("markdown_table_gen", "make_table", "format_table"),
    argument_aliases=other_names(
        data=("rows", "input", "csv"), headers=("columns",), output=("save_to",)
    ),
    effective_rights=rights_with_output("output"),
)
async def markdown_table(
    data: Annotated[AnyJson, Param("Rows.")],
    headers: Annotated[list[str] | None, Param(parted=True)] = None,
    align: Annotated[list[str] | None, Param("left, right", parted=True)] = None,
    truncate: Annotated[int, Param("Characters of a cell at most.", minimum=0, plain=True)] = 0,
    output: WritablePath | None = None,
    *,
    ctx: Ctx,
) -> Result:
    """Lay out rows as a Markdown table.

    `data` is CSV, or a JSON list of objects or of lists; without `headers` the first list is the
    head. For files use `convert_format`.
    """
    columns, cells = laid_out(json_rows(data), headers)
    wrong = set(align or ()) - {"left", "center", "right", ""}
    if wrong:
        raise BadInput(f"There is no alignment {min(wrong)}.", hint="left, center or right.")
    text = markdown(columns, cells, align or (), truncate)
    facts: dict[str, Any] = {"rows": len(cells), "columns": len(columns)}
    if output is not None:
        line, step = await save(markdown_table.name, output, f"{text}\n".encode(), ctx)
        return Result(text=line, data={**facts, "step": step}, private=True)
    return Result(text=text, data=facts)
