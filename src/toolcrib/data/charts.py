"""Data for charts in whatever form it comes, and charts of it as Vega-Lite specifications."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from toolcrib.core.errors import BadInput
from toolcrib.data.tables import from_records
from toolcrib.text.values import NumberFormat, column_format, date_key, displayed

ChartKind = Literal[
    "bar", "line", "area", "pie", "doughnut", "scatter", "histogram", "heatmap", "radar"
]
MAX_POINTS = 5000
"""Points that are drawn; of more, as many are taken evenly."""
MAX_NAMES = 500
"""Points with a place of their own on an axis, as bars have; Vega cannot draw some thousands."""
MAX_SLICES = 40
YEARS = range(1900, 2101)
PALETTE = (
    *("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#eeca3b", "#b279a2", "#ff9da6"),
    *("#9d755d", "#bab0ac"),
)
WIDTH, HEIGHT = 640, 400
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_COLOR = re.compile(r"#[0-9a-fA-F]{3,8}|[a-zA-Z]{3,30}|(?:rgb|hsl)a?\([\d\s.,%/]+\)")
HINT = 'Send data like [{"month": "May", "sales": 3}], or {"labels": [...], "values": [...]}.'


@dataclass(slots=True)
class ChartData:
    """Labels, and for each series a number or None for each label.

    Attributes:
        labels: what stands along the chart.
        series: the numbers by name.
        x_name: what the labels are.
        notes: what was left out.
    """

    labels: list[str]
    series: dict[str, list[float | None]]
    x_name: str = ""
    notes: list[str] = field(default_factory=list)

    def points(self) -> Iterator[tuple[str, str, float]]:
        """Label, series and number of each point."""
        for name, values in self.series.items():
            for label, value in zip(self.labels, values, strict=True):
                if value is not None:
                    yield label, name, value


def chart_data(data: Any, x: str = "", y: Sequence[str] = ()) -> ChartData:
    """The data of a chart from JSON: records, rows under a head, numbers, labels with values.

    Args:
        data: the JSON value.
        x: the column of the labels; the first that holds no numbers for nothing.
        y: the columns of the numbers; all that hold them for nothing.

    Raises:
        BadInput: there is nothing that can be drawn.
    """
    labelled = _labelled(data)
    if labelled is not None:
        return _checked(labelled)
    if isinstance(data, Mapping):
        if data and all(isinstance(column, list) for column in data.values()):
            return table_data(list(map(str, data)), _rows_of(data), x, y)
        data = [{"label": key, "value": value} for key, value in data.items()]
    if not isinstance(data, list) or not data:
        raise BadInput("There is nothing to draw.", hint=HINT)
    if all(isinstance(row, list) for row in data):
        head, *rows = data
        if rows and _is_head(head, rows):
            data = [dict(zip(map(str, head), row, strict=False)) for row in rows]
        else:
            data = [{f"column{n + 1}": cell for n, cell in enumerate(row)} for row in data]
    elif not all(isinstance(row, Mapping) for row in data):
        if all(_number(value) is None for value in data):
            raise BadInput("There are no numbers to draw.", hint=HINT)
        data = [{"label": str(n), "value": value} for n, value in enumerate(data, 1)]
    table = from_records([dict(row) for row in data])
    rows = [list(row) for row in table.rows]
    return table_data(table.columns, rows, x, y)


def _is_head(first: Sequence[Any], rows: Sequence[Sequence[Any]]) -> bool:
    """Whether a first row names the columns: it has no numbers, or only years over other ones."""
    if all(_number(cell) is None for cell in first):
        return True
    return _has_years(first) and not any(map(_has_years, rows))


def _has_years(row: Sequence[Any]) -> bool:
    """Whether a row has several numbers, and all may be years."""
    numbers = [number for cell in row if (number := _number(cell)) is not None]
    return len(numbers) > 1 and all(number in YEARS for number in numbers)


def _rows_of(columns: Mapping[str, list[Any]]) -> list[list[Any]]:
    """The rows of a table that came as columns."""
    _need_one_length(columns)
    return [list(row) for row in zip(*columns.values(), strict=True)]


def _need_one_length(columns: Mapping[str, list[Any]]) -> None:
    """Raises BadInput where columns are of different lengths."""
    sizes = {str(name): len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        lengths = ", ".join(f"{name} {size}" for name, size in list(sizes.items())[:40])
        raise BadInput(
            "The columns differ in their length.",
            hint=f"They have: {lengths}. Give null for what is missing.",
        )


def table_data(
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    x: str = "",
    y: Sequence[str] = (),
    total: int = 0,
) -> ChartData:
    """The data of a chart from the columns of a table; see `chart_data`.

    Args:
        columns: their names.
        rows: the rows, or some of them, taken evenly.
        x: as of `chart_data`.
        y: as of `chart_data`.
        total: how many rows the table has, where that is more.
    """
    forms = [column_format([displayed(row[n]) for row in rows[:500]]) for n in range(len(columns))]
    numeric = [n for n, form in enumerate(forms) if form.type in ("integer", "number")]
    wanted = [_place(columns, name) for name in y]
    others = [n for n in range(len(columns)) if n not in (wanted or numeric)]
    place = _place(columns, x) if x else (others or [-1])[0]
    if place < 0 and not wanted and len(numeric) > 1:
        place = numeric[0]
    wanted = wanted or [n for n in numeric if n != place]
    if not wanted:
        raise BadInput(
            "No column holds numbers.", hint=f"The columns: {', '.join(columns[:40])}. {HINT}"
        )
    labels = [displayed(row[place]) if place >= 0 else str(n) for n, row in enumerate(rows, 1)]
    if place >= 0 and forms[place].month_first:  # an axis reads each label by itself
        labels = [forms[place].moment(label) or label for label in labels]
    return _checked(
        ChartData(
            labels,
            {columns[n]: [_number(row[n], forms[n].numbers) for row in rows] for n in wanted},
            columns[place] if place >= 0 else "",
        ),
        total,
    )


def _labelled(data: Any) -> ChartData | None:
    """Data as charts on web pages have it: labels, and values or datasets."""
    if not isinstance(data, Mapping) or not isinstance(data.get("labels"), list):
        return None
    labels = [displayed(label) for label in data["labels"]]
    sets = data.get("datasets")
    if isinstance(sets, list):
        series = {
            str(one.get("label") or f"series {n}"): one.get("data") or one.get("values") or []
            for n, one in enumerate(sets, 1)
            if isinstance(one, Mapping)
        }
    else:
        series = {"value": data.get("values") or data.get("data") or []}
    series = {name: values for name, values in series.items() if isinstance(values, list)}
    _need_one_length({"labels": labels, **series})
    return ChartData(labels, {k: list(map(_number, values)) for k, values in series.items()})


def _number(value: Any, form: NumberFormat | None = None) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        value = (form or NumberFormat()).parse(value)
    if not isinstance(value, int | float) or not abs(value) < math.inf:
        return None
    return float(value) if abs(value) < 1e300 else None


def _place(columns: Sequence[str], name: str) -> int:
    for number, column in enumerate(columns):
        if column.casefold() == name.strip().casefold():
            return number
    raise BadInput(
        f"There is no column {name[:80]}.", hint=f"The columns: {', '.join(columns[:40])}."
    )


def _checked(data: ChartData, total: int = 0) -> ChartData:
    if not any(True for _ in data.points()):
        raise BadInput("There are no numbers to draw.", hint=HINT)
    _thin(data, MAX_POINTS, total)
    return data


def _thin(data: ChartData, limit: int, total: int = 0) -> None:
    """Leave so many points, taken evenly, and say so."""
    count = len(data.labels)
    if count <= limit:
        return
    chosen = sorted({n * count // limit for n in range(limit)})
    data.labels = [data.labels[n] for n in chosen]
    data.series = {k: [v[n] for n in chosen] for k, v in data.series.items()}
    data.notes.append(f"{limit:,} of {max(count, total):,} points are drawn, taken evenly.")


def add_up_repeats(kind: ChartKind, data: ChartData) -> None:
    """Make one bar or slice of all that has the same label, and say so."""
    if len(set(data.labels)) == len(data.labels):
        return
    labels = list(dict.fromkeys(data.labels))
    for name, values in data.series.items():
        sums: dict[str, float] = {}
        for label, value in zip(data.labels, values, strict=True):
            if value is not None:
                sums[label] = sums.get(label, 0) + value
        data.series[name] = [sums.get(label) for label in labels]
    data.labels = labels
    part = "bar" if kind == "bar" else "slice"
    name = data.x_name or "x"
    data.notes.append(f"{name} has values more than once: each {part} is their sum.")


def checked_colors(colors: Sequence[str]) -> list[str]:
    """Colours of a chart, the usual ones behind those that are named.

    Raises:
        BadInput: one is no colour.
    """
    for color in colors:
        if not _COLOR.fullmatch(color.strip()):
            raise BadInput(
                f"{color[:40]} is no colour.", hint='Colours are like "#4c78a8" or "red".'
            )
    return [*(color.strip() for color in colors), *PALETTE]


def check_addresses(spec: Any) -> None:
    """Refuse a specification whose data lie elsewhere: of files Vega would draw none, in silence.

    Raises:
        BadInput: it names an address.
    """
    waiting = [spec]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            source = part.get("data")
            address = source.get("url") if isinstance(source, Mapping) else None
            if isinstance(address, str) and not address.startswith("data:"):
                raise BadInput(
                    f"Data are not loaded from {address[:200]}.",
                    hint="Name a file with 'path', or send the rows as 'data'.",
                )
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


def vega_spec(
    kind: ChartKind, data: ChartData, title: str, colors: Sequence[str]
) -> dict[str, Any]:
    """A chart as a Vega-Lite specification that holds its data."""
    spec: dict[str, Any] = {
        "$schema": SCHEMA,
        "background": "white",
        "width": WIDTH,
        "height": HEIGHT,
        "config": {"range": {"category": list(colors)}},
    }
    if title:
        spec["title"] = title
    if kind == "radar":
        return spec | _radar(data)
    if kind in ("pie", "doughnut"):
        return spec | _pie(data, hole=kind == "doughnut")
    if kind in ("bar", "heatmap") or (kind != "histogram" and _are_names(data.labels)):
        _thin(data, MAX_NAMES)
    points = [{"x": label, "series": name, "y": value} for label, name, value in data.points()]
    spec["data"] = {"values": points}
    several = len(data.series) > 1
    names = list(data.series)
    y = {"field": "y", "type": "quantitative", "title": None if several else names[0]}
    x: dict[str, Any] = {"field": "x", "title": data.x_name or None, **_axis(kind, data, points)}
    by_series = {"field": "series", "type": "nominal", "title": None, "sort": names}
    color = by_series if several else {"value": colors[0]}
    if kind == "histogram":
        x = {"field": "y", "bin": {"maxbins": 30}, "title": y["title"]}
        y = {"aggregate": "count", "type": "quantitative", "title": "count"}
        return spec | {"mark": "bar", "encoding": {"x": x, "y": y, "color": color}}
    if kind == "heatmap":
        heat = {"field": "y", "type": "quantitative", "title": None}
        return spec | {"mark": "rect", "encoding": {"x": x, "y": by_series, "color": heat}}
    encoding: dict[str, Any] = {"x": x, "y": y, "color": color}
    if kind == "bar" and several:
        encoding["xOffset"] = {"field": "series", "sort": names}
    marks: dict[str, Any] = {
        "bar": "bar",
        "line": {"type": "line", "point": len(points) <= 100},
        "area": {"type": "area", "opacity": 0.6},
        "scatter": {"type": "point", "filled": True},
    }
    return spec | {"mark": marks[kind], "encoding": encoding}


def _are_names(labels: Sequence[str]) -> bool:
    """Whether they are neither all dates nor all numbers."""
    parse = NumberFormat().parse
    return not all(map(date_key, labels)) and any(parse(label) is None for label in labels)


def _axis(kind: str, data: ChartData, points: list[dict[str, Any]]) -> dict[str, Any]:
    """What the labels are: dates, numbers, or names in their order."""
    if kind not in ("bar", "heatmap"):
        if all(date_key(label) for label in data.labels):
            for point in points:
                point["x"] = date_key(point["x"])
            return {"type": "temporal"}
        numbers = {label: NumberFormat().parse(label) for label in data.labels}
        if all(number is not None for number in numbers.values()):
            for point in points:
                point["x"] = numbers[point["x"]]
            scale = {"zero": False} if kind == "scatter" else {}
            return {"type": "quantitative", "scale": scale}
    return {"type": "nominal", "sort": list(dict.fromkeys(data.labels))}


def slices(data: ChartData) -> list[tuple[str, float]]:
    """The parts of a pie; the small ones beyond a number are one.

    Raises:
        BadInput: one is below zero, or all are zero.
    """
    name, values = next(iter(data.series.items()))
    parts = [(k, v) for k, v in zip(data.labels, values, strict=True) if v is not None]
    if any(value < 0 for _, value in parts) or not sum(value for _, value in parts) > 0:
        raise BadInput(f"{name} has no parts of a whole.", hint="Use a bar chart for such numbers.")
    if len(parts) > MAX_SLICES:
        ordered = sorted(parts, key=lambda part: -part[1])
        rest = sum(value for _, value in ordered[MAX_SLICES - 1 :])
        data.notes.append(f"{len(parts) - MAX_SLICES + 1:,} small parts are one.")
        parts = [*ordered[: MAX_SLICES - 1], ("others", rest)]
    return parts


def _pie(data: ChartData, *, hole: bool) -> dict[str, Any]:
    parts = slices(data)
    names = [name for name, _ in parts]
    values = [{"part": name, "value": value, "order": n} for n, (name, value) in enumerate(parts)]
    return {
        "width": HEIGHT,
        "data": {"values": values},
        "mark": {"type": "arc", "innerRadius": HEIGHT // 5 if hole else 0, "stroke": "white"},
        "encoding": {
            "theta": {"field": "value", "type": "quantitative", "stack": True},
            "order": {"field": "order"},
            "color": {"field": "part", "type": "nominal", "title": None, "sort": names},
        },
    }


def _radar(data: ChartData) -> dict[str, Any]:
    """Spokes and outlines, worked out here: Vega-Lite has no polar lines."""
    count = len(data.labels)
    if count < 3 or count > 100:
        raise BadInput("A radar chart has 3 to 100 labels.", hint="Use a bar chart.")
    highest = max(abs(value) for _, _, value in data.points()) or 1.0

    def at(number: int, radius: float) -> dict[str, float]:
        angle = 2 * math.pi * (number % count) / count
        return {"x": math.sin(angle) * radius, "y": math.cos(angle) * radius}

    rings = [
        {**at(n, part), "ring": str(part), "order": n}
        for part in (0.25, 0.5, 0.75, 1.0)
        for n in range(count + 1)
    ]
    outlines = [
        {**at(n, (values[n % count] or 0) / highest), "series": name, "order": n}
        for name, values in data.series.items()
        for n in range(count + 1)
    ]
    texts = [{**at(n, 1.12), "text": label} for n, label in enumerate(data.labels)]
    axis = {"type": "quantitative", "axis": None, "scale": {"domain": [-1.25, 1.25]}}
    place = {"x": {"field": "x", **axis}, "y": {"field": "y", **axis}, "order": {"field": "order"}}
    names = list(data.series)
    return {
        "width": HEIGHT,
        "layer": [
            {
                "data": {"values": rings},
                "mark": {"type": "line", "color": "#dddddd", "interpolate": "linear"},
                "encoding": {**place, "detail": {"field": "ring"}},
            },
            {
                "data": {"values": outlines},
                "mark": {"type": "line", "point": True},
                "encoding": {
                    **place,
                    "color": {"field": "series", "type": "nominal", "title": None, "sort": names},
                },
            },
            {
                "data": {"values": texts},
                "mark": "text",
                "encoding": {"x": place["x"], "y": place["y"], "text": {"field": "text"}},
            },
        ],
    }
