"""What is shown, made ready: as text, as the body of a page, and for its picture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, MissingExtra
from toolcrib.data.chart_pictures import drawn
from toolcrib.data.charts import ChartData, ChartKind, chart_data, checked_colors, vega_spec
from toolcrib.data.formats import markdown
from toolcrib.data.row_layout import json_rows, laid_out
from toolcrib.data.svg_chart import svg_chart
from toolcrib.data.table_files import CONVERT
from toolcrib.execution.workers import Workers
from toolcrib.system.threads import in_thread
from toolcrib.text.values import date_key, displayed
from toolcrib.tools.ui import pages
from toolcrib.tools.ui.page_tasks import MARKDOWN

ViewKind = Literal["table", "chart", "markdown", "html", "diff"]
DIFF_STYLES = {
    "+": "color:#0b5d1e;background:#e2f7e5",
    "-": "color:#8b1a1a;background:#fde7e7",
    "@": "color:#5a3e99;background:#f2eefb",
}
SPEC_KEYS = ("mark", "layer", "hconcat", "vconcat", "concat", "facet", "repeat")
"""What only a specification of Vega-Lite has."""


@dataclass(frozen=True, slots=True)
class PageView:
    """One thing to be shown.

    Attributes:
        kind: what it is.
        text: all of it as text.
        body: all of it as the body of a page.
        picture: as PNG, where it was drawn already.
        drawing: what the one who draws it needs beside the text.
        facts: about it, for programs.
        notes: what is to be said about it.
    """

    kind: ViewKind
    text: str
    body: str
    picture: bytes = b""
    drawing: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def drawn_as(self) -> str:
        """The kind of drawing: a chart that could not be drawn is its numbers."""
        return "table" if self.kind == "chart" else self.kind


async def view_of(kind: ViewKind, content: Any, title: str, ctx: Ctx) -> PageView:
    """What is shown of a content.

    Raises:
        BadInput: it is none of its kind.
        MissingExtra: a chart by a specification, without what draws it.
    """
    head = f"<h1>{escape(title)}</h1>\n" if title else ""
    if kind == "table":
        return await _table(content, head, ctx)
    if kind == "chart":
        return await _chart(content, title, ctx)
    if not isinstance(content, str):
        raise BadInput(f"{kind} is text.", hint="For rows use kind=table.")
    if kind == "html":
        return PageView(kind, content, content)
    if kind == "diff":
        lines = content.splitlines()
        if not any(line[:1] in ("+", "-") for line in lines):
            raise BadInput("No line begins with + or -.", hint="Send a unified diff.")
        return PageView(kind, content, head + _diff(lines))
    source = content.encode("utf-8", "replace")
    _, page = await ctx.use(Workers).run(MARKDOWN, {"title": title}, source, ctx.deadline)
    body = page.decode().partition("<body>")[2].rpartition("</body>")[0].strip()
    return PageView(kind, content, head + body)


def _diff(lines: list[str]) -> str:
    parts = []
    for line in lines:
        style = "" if line.startswith(("+++", "---")) else DIFF_STYLES.get(line[:1], "")
        line_html = escape(line) or " "
        parts.append(
            f'<span style="display:block;{style}">{line_html}</span>' if style else f"{line_html}\n"
        )
    return f"<pre>{''.join(parts)}</pre>"


async def _table(content: Any, head: str, ctx: Ctx) -> PageView:
    if isinstance(content, str) and content.lstrip()[:1] not in ("[", "{"):
        form = "markdown" if content.lstrip().startswith("|") else "csv"
        source = content.strip().encode("utf-8", "replace")
        request = {"from": form, "to": "json"}
        _, made = await ctx.use(Workers).run(CONVERT, request, source, ctx.deadline)
        content = made.decode()
    columns, rows = await in_thread(lambda _: laid_out(json_rows(content)), ctx.deadline)
    if not columns:
        raise BadInput("There are no columns.", hint='Send rows like [{"a": 1}, {"a": 2}].')
    texts = [[displayed(cell) for cell in row] for row in rows]
    parts = [head, "<table>\n<thead><tr>"]
    parts += [f'<th scope="col">{escape(name)}</th>' for name in columns]
    parts.append("</tr></thead>\n<tbody>\n")
    for row in texts:
        parts.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>\n")
    parts.append("</tbody>\n</table>")
    return PageView(
        "table",
        markdown(columns, rows),
        "".join(parts),
        drawing={"columns": list(columns), "rows": texts},
        facts={"rows": len(rows), "columns": len(columns)},
    )


async def _chart(content: Any, title: str, ctx: Ctx) -> PageView:
    data = _parsed(content)
    if isinstance(data, dict) and any(key in data for key in SPEC_KEYS):
        svg, png = await drawn(data, ctx)
        if not svg:
            raise MissingExtra("charts", "A chart by a specification of Vega-Lite")
        text = json.dumps(data, ensure_ascii=False)
        return PageView("chart", text, f"<h1>{escape(title)}</h1>\n{svg}" if title else svg, png)
    found = await in_thread(lambda _: chart_data(data), ctx.deadline)
    kind: ChartKind = "line" if all(date_key(label) for label in found.labels) else "bar"
    colors = checked_colors(())
    svg, png = await drawn(vega_spec(kind, found, title, colors), ctx)
    columns, rows = _numbers(found)
    pairs = [(label, ", ".join(cells)) for label, *cells in rows]
    # A drawing of our own is smaller, and has no style that a host could refuse.
    drawing = svg_chart(kind, found, "", colors)
    return PageView(
        "chart",
        markdown(columns, rows),
        pages.chart(title or "Chart", drawing, pairs),
        png,
        {"columns": columns, "rows": rows},
        {"points": len(found.labels)},
        tuple(found.notes),
    )


def _parsed(content: Any) -> Any:
    if not isinstance(content, str):
        return content
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise BadInput(
            "The data is not JSON.", hint='Such as content={"May": 3, "June": 5}.'
        ) from None


def _numbers(data: ChartData) -> tuple[list[str], list[list[str]]]:
    columns = [data.x_name or "Label", *data.series]
    values = zip(*data.series.values(), strict=True)
    rows = [
        [label, *("" if number is None else f"{number:g}" for number in numbers)]
        for label, numbers in zip(data.labels, values, strict=True)
    ]
    return columns, rows
