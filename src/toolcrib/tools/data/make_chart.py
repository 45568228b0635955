"""`make_chart`: charts of data, as pictures that are shown and saved."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, MissingExtra, install_line
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import READ, WRITE, AnyJson, JsonObject, Param, other_names, tool
from toolcrib.data.chart_pictures import drawn
from toolcrib.data.charts import (
    ChartData,
    ChartKind,
    add_up_repeats,
    chart_data,
    check_addresses,
    checked_colors,
    table_data,
    vega_spec,
)
from toolcrib.data.formats import ENDINGS
from toolcrib.data.row_layout import json_value
from toolcrib.data.svg_chart import svg_chart
from toolcrib.data.table_files import open_files, save
from toolcrib.data.table_query import TableRequest
from toolcrib.execution.workers import Workers
from toolcrib.files.new_names import new_file
from toolcrib.files.paths import SafePath, WorkspacePath, WritablePath
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted
from toolcrib.tools.data.query_table import QUERY

MAX_ROWS = 100_000
"""Rows of a table that are looked at, taken evenly; `MAX_POINTS` of them are drawn."""
MAX_PICTURE_BYTES = 1_500_000


def _adapt(arguments: dict[str, Any]) -> None:
    """Labels and values beside each other are the data, and a picture's path is the output."""
    if "labels" in arguments and "values" in arguments and "data" not in arguments:
        values = arguments.pop("values")
        arguments["data"] = {"labels": arguments.pop("labels"), "values": values}
    if "data" in arguments or "values" in arguments:
        for name in ("path", "file", "filepath"):
            if "output" not in arguments and str(arguments.get(name)).endswith((".png", ".svg")):
                arguments["output"] = arguments.pop(name)


@tool(
    group="data",
    rights=READ | WRITE,
    keywords=("chart", "plot", "graph", "diagram", "visualize", "picture", "svg", "png"),
    aliases=("generate_chart", "create_chart", "draw_chart", "plot"),
    argument_aliases=other_names(
        kind=("type", "chart_type"),
        path=("file", "file_path"),
        data=("values",),
        output=("output_path", "save_to"),
    ),
    argument_adapter=_adapt,
)
async def make_chart(
    kind: ChartKind = "bar",
    data: Annotated[AnyJson | None, Param("JSON.")] = None,
    path: WorkspacePath | None = None,
    x: str = "",
    y: list[str] | None = None,
    title: str = "",
    colors: Annotated[list[str] | None, Param(parted=True)] = None,
    output: WritablePath | None = None,
    spec: Annotated[JsonObject | None, Param("Vega-Lite.", plain=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Draw a chart as a picture.

    `data` is a JSON list of objects, or labels with values; `path` is a CSV, XLSX or JSON file.
    `output` ends in .png or .svg. `spec` is a specification of Vega-Lite for anything else.
    Without the extra charts there are bar, line and pie as SVG.
    """
    notes: list[str] = []
    found: ChartData | None = None
    palette = checked_colors(colors or ())
    if kind == "histogram" and x and not y:  # what is counted has no labels
        x, y = "", [x]
    if spec is None:
        found = await _data(path, data, x, y or [], ctx)
        if kind in ("bar", "pie", "doughnut"):
            add_up_repeats(kind, found)
        notes = found.notes
        spec = vega_spec(kind, found, title[:200], palette)
    elif data is not None or path is not None:
        rows = await _data(path, data, x, y or [], ctx)
        values = [{"x": label, "series": name, "y": value} for label, name, value in rows.points()]
        spec = {**spec, "data": {"values": values}}
    check_addresses(spec)
    svg, png = await drawn(spec, ctx)
    if not svg and found is not None:
        svg = svg_chart(kind, found, title[:200], palette)
        notes.append(f"A picture as PNG needs: {install_line('toolcrib[charts]')}")
    elif not svg:
        raise MissingExtra("charts", "A chart by a specification of Vega-Lite")
    place = output or await new_file(title, "chart", "png" if png else "svg", ctx)
    wants_svg = place.name.lower().endswith(".svg")
    if not wants_svg and not place.name.lower().endswith(".png"):
        raise BadInput(f"{place.name} is no picture.", hint="End the name in .png or .svg.")
    if not wants_svg and not png:
        raise MissingExtra("charts", "A chart as PNG")
    content = svg.encode() if wants_svg else png
    line, step = await save(make_chart.name, place, content, ctx)
    pictures = [Image(png, "image/png")] if png and len(png) <= MAX_PICTURE_BYTES else []
    text = "\n".join([line, *notes, *([_summary(found)] if found else [])])
    facts = {"path": place.display, "step": step, "bytes": len(content)}
    return Result(text=text, data=facts, images=tuple(pictures), private=True)


async def _data(path: SafePath | None, data: Any, x: str, y: list[str], ctx: Ctx) -> ChartData:
    if (path is None) == (data is None):
        raise BadInput("Give 'data' or 'path', one of them.", hint='As data=[{"a": "x", "b": 1}].')
    if path is None:
        return await in_thread(lambda _: chart_data(_parsed(data), x, y), ctx.deadline)
    request = asdict(TableRequest(limit=MAX_ROWS, drawn=True))
    with ExitStack() as stack:
        opened = await in_thread(lambda _: stack.enter_context(open_files(path)), ctx.deadline)
        request["files"] = [file.request for file in opened]
        fds = [file.fd for file in opened]
        answer, _ = await ctx.use(Workers).run(QUERY, request, b"", ctx.deadline, fds)
    names = [column["name"] for column in answer["columns"]]
    found = await in_thread(
        lambda _: table_data(names, answer["rows"], x, y, answer["scanned"]), ctx.deadline
    )
    found.notes += answer["notes"]
    return found


def _parsed(data: Any) -> Any:
    if not isinstance(data, str):
        return data
    try:
        return json_value(data)
    except (ValueError, RecursionError) as error:
        hint = 'Send rows like [{"a": "x", "b": 1}].'
        stem, _, ending = data.rpartition(".")
        if stem and ending.lower() in ENDINGS:
            raise BadInput(
                f"{data[:100]} is a file.", hint="Send it as 'path', not 'data'."
            ) from None
        raise BadInput(f"'data' is not JSON: {error}.", hint=hint) from None


def _summary(data: ChartData) -> str:
    parts = []
    for name, values in list(data.series.items())[:10]:
        numbers = [value for value in values if value is not None]
        parts.append(f"{name} from {min(numbers):g} to {max(numbers):g}" if numbers else name)
    rows = zip(*data.series.values(), strict=True)
    count = sum(any(value is not None for value in row) for row in rows)
    missing = len(data.labels) - count
    left_out = f", {missing:,} without a number left out" if missing else ""
    return f"{counted(count, 'point')}{left_out}; {', '.join(parts)}."
