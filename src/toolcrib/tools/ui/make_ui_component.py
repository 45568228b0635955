"""`make_ui_component`: a button, a form, a chart or a dashboard as a page of HTML."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import NONE, AnyJson, Param, other_names, tool
from toolcrib.data.charts import ChartData, chart_data, checked_colors
from toolcrib.data.svg_chart import svg_chart
from toolcrib.system.threads import in_thread
from toolcrib.tools.ui import pages

MAX_PARTS = 200
MAX_CHARS = 500


def _adapt(arguments: dict[str, Any]) -> None:
    """Fields as objects, as other systems have them: `{"name": "Age", "type": "number"}`."""
    for name in ("parts", "fields"):
        parts = arguments.get(name)
        if isinstance(parts, list):
            arguments[name] = [_part(part) if isinstance(part, dict) else part for part in parts]


def _part(part: dict[str, Any]) -> Any:
    label = next((part[key] for key in ("label", "title", "name") if part.get(key)), None)
    kind = part.get("type")
    if not isinstance(label, str):
        return part
    return f"{label}: {kind}" if isinstance(kind, str) and kind in pages.INPUT_TYPES else label


@tool(
    group="ui",
    rights=NONE,
    keywords=("html", "button", "form", "chart", "dashboard", "component", "widget", "page"),
    aliases=("generate_ui_component", "create_ui_component"),
    argument_aliases=other_names(
        kind=("component_type", "type"),
        label=("title",),
        data=("chart_data",),
        parts=("fields", "dashboard_titles"),
    ),
    argument_adapter=_adapt,
)
async def make_ui_component(
    kind: Literal["button", "form", "chart", "dashboard"],
    label: Annotated[str, Param("Its heading.", plain=True)] = "",
    parts: Annotated[list[str] | None, Param("Fields or cards.", parted=True)] = None,
    data: Annotated[AnyJson | None, Param("Of a chart, as make_chart.", plain=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Write accessible HTML of a button, form, chart or dashboard.

    It gives the whole page and shows nothing: preview_html does. A field may name its type, as
    "Age: number", and a card its value.
    """
    title = (label.strip() or kind.capitalize())[:MAX_CHARS]
    texts = [part[:MAX_CHARS] for part in parts or ()]
    if len(texts) > MAX_PARTS:
        raise BadInput(f"More than {MAX_PARTS} parts.", hint="Use fewer.")
    if kind in ("form", "dashboard") and not texts:
        example = '["Name", "E-mail"]' if kind == "form" else '["Sales", "Visitors"]'
        raise BadInput(f"A {kind} needs parts.", hint=f"Such as parts={example}.")
    if kind == "chart" and data in (None, "", []):
        raise BadInput("A chart needs data.", hint='Such as data={"May": 3, "June": 5}.')
    if kind == "button":
        body = pages.button(title)
    elif kind == "form":
        body = pages.form(title, texts)
    elif kind == "dashboard":
        body = pages.dashboard(title, texts)
    else:
        found = await in_thread(lambda _: chart_data(_parsed(data)), ctx.deadline)
        body = pages.chart(title, svg_chart("bar", found, "", checked_colors(())), _rows(found))
    html = pages.whole_page(body, title)
    return Result(html, {"kind": kind, "html": html})


def _parsed(data: Any) -> Any:
    if not isinstance(data, str):
        return data
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise BadInput("'data' is not JSON.", hint='Such as data={"May": 3, "June": 5}.') from None


def _rows(data: ChartData) -> list[tuple[str, str]]:
    several = len(data.series) > 1
    return [
        (f"{label}, {name}" if several else label, f"{value:g}")
        for label, name, value in data.points()
    ]
