"""`markdown_table`: data as a table of Markdown."""

from __future__ import annotations

import json
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, AnyJson, Param, tool
from toolcrib.data.formats import markdown
from toolcrib.data.table_files import rights_with_output, save
from toolcrib.data.tables import from_records
from toolcrib.files.paths import WritablePath

MAX_ROWS = 20_000


@tool(
    group="data",
    rights=READ | WRITE,
    keywords=("format", "align", "pretty", "report"),
    aliases=("markdown_table_gen", "make_table", "format_table"),
    argument_aliases={"rows": "data", "input": "data", "columns": "headers", "save_to": "output"},
    effective_rights=rights_with_output("output"),
)
async def markdown_table(
    data: Annotated[AnyJson, Param("JSON rows.")],
    headers: list[str] | None = None,
    align: Annotated[list[str] | None, Param("left, right")] = None,
    truncate: Annotated[int, Param("Characters.", minimum=0)] = 0,
    output: WritablePath | None = None,
    *,
    ctx: Ctx,
) -> Result:
    """Lay out rows as a Markdown table.

    `data` is a JSON list of objects or of lists; without `headers` the first list is the head.
    For files use `convert_format`.
    """
    rows = _rows(data)
    columns, cells = _laid_out(rows, headers)
    wrong = set(align or ()) - {"left", "center", "right", ""}
    if wrong:
        raise BadInput(f"There is no alignment {min(wrong)}.", hint="left, center or right.")
    text = markdown(columns, cells, align or (), truncate)
    facts: dict[str, Any] = {"rows": len(cells), "columns": len(columns)}
    if output is not None:
        line, step = await save(markdown_table.name, output, f"{text}\n".encode(), ctx)
        return Result(text=line, data={**facts, "step": step}, private=True)
    return Result(text=text, data=facts)


def _rows(data: Any) -> list[Any]:
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BadInput(
                f"'data' is not JSON: {error}.", hint='Send it like [{"a": 1}, {"a": 2}].'
            ) from None
    data = [data] if isinstance(data, dict) else data
    if not isinstance(data, list) or not data:
        raise BadInput("'data' has no rows.", hint='Send it like [{"a": 1}, {"a": 2}].')
    if len(data) > MAX_ROWS:
        raise BadInput(f"'data' has more than {MAX_ROWS:,} rows.", hint="Use convert_format.")
    return data


def _laid_out(rows: list[Any], headers: list[str] | None) -> tuple[list[str], list[list[Any]]]:
    if any(isinstance(row, dict) for row in rows):
        table = from_records([row if isinstance(row, dict) else {"value": row} for row in rows])
        if headers and len(headers) == len(table.columns) and set(headers) - set(table.columns):
            return headers, [list(row) for row in table.rows]
        columns = headers or table.columns
        places = {name: n for n, name in enumerate(table.columns)}
        return columns, [
            [row[places[name]] if name in places else "" for name in columns] for row in table.rows
        ]
    lists = [row if isinstance(row, list) else [row] for row in rows]
    width = max(map(len, lists))
    head = list(map(str, lists[0])) if headers is None else list(headers)
    body = lists[1:] if headers is None else lists
    width = max(width, len(head))
    head += [""] * (width - len(head))
    texts = [[c if not isinstance(c, dict | list) else json.dumps(c) for c in row] for row in body]
    return head, [row + [""] * (width - len(row)) for row in texts]
