"""Bar, line and pie charts as SVG of our own, where the extra `charts` is not installed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from toolcrib.core.errors import MissingExtra
from toolcrib.data.charts import HEIGHT, WIDTH, ChartData, ChartKind, slices
from toolcrib.text.values import displayed

LEFT, TOP, BOTTOM, RIGHT = 70, 50, 70, 150
MAX_LABELS = 25
MAX_LABEL_CHARS = 14


def svg_chart(kind: ChartKind, data: ChartData, title: str, colors: Sequence[str]) -> str:
    """A chart as an SVG document.

    Raises:
        MissingExtra: this kind is drawn only with the extra.
    """
    if kind in ("pie", "doughnut"):
        body = _pie(data, colors, hole=kind == "doughnut")
    elif kind in ("bar", "line"):
        body = _axes(data) + (_bars(data, colors) if kind == "bar" else _lines(data, colors))
        body += _legend(list(data.series), colors) if len(data.series) > 1 else ""
    else:
        raise MissingExtra("charts", f"A chart of the kind {kind}")
    width, height = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM
    head = _text(width / 2, 28, title, size=18, anchor="middle") if title else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif">'
        f'<rect width="100%" height="100%" fill="white"/>{head}{body}</svg>\n'
    )


def _range(data: ChartData) -> tuple[float, float, float]:
    """The lowest and highest number of the axis, and its step."""
    values = [value for _, _, value in data.points()]
    low, high = min(0.0, *values), max(0.0, *values)
    span = high - low or 1.0
    power = 10.0 ** math.floor(math.log10(span / 5))
    step = next(power * n for n in (1, 2, 5, 10) if span / (power * n) <= 6)
    return math.floor(low / step) * step, math.ceil(high / step) * step or step, step


def _height(value: float, low: float, high: float) -> float:
    return TOP + HEIGHT * (high - value) / (high - low)


def _axes(data: ChartData) -> str:
    low, high, step = _range(data)
    parts = []
    for number in range(round((high - low) / step) + 1):
        value = low + number * step
        y = _height(value, low, high)
        parts.append(
            f'<line x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        )
        number_text = displayed(float(f"{value:.6g}"))
        parts.append(_text(LEFT - 8, y + 4, number_text, anchor="end"))
    count = len(data.labels)
    every = max(1, math.ceil(count / MAX_LABELS))
    for number in range(0, count, every):
        x = LEFT + WIDTH * (number + 0.5) / count
        place = f"rotate(-35 {x:.1f} {TOP + HEIGHT + 16})"
        parts.append(_text(x, TOP + HEIGHT + 16, data.labels[number], anchor="end", turn=place))
    return "".join(parts)


def _bars(data: ChartData, colors: Sequence[str]) -> str:
    low, high, _ = _range(data)
    count, several = len(data.labels), len(data.series)
    room = WIDTH / count
    width = room * 0.8 / several
    parts = []
    for turn, values in enumerate(data.series.values()):
        for number, value in enumerate(values):
            if value is not None:
                x = LEFT + room * (number + 0.1) + turn * width
                ends = sorted((_height(value, low, high), _height(0.0, low, high)))
                parts.append(
                    f'<rect x="{x:.1f}" y="{ends[0]:.1f}" width="{width:.2f}" '
                    f'height="{ends[1] - ends[0]:.1f}" fill="{_color(colors, turn)}"/>'
                )
    return "".join(parts)


def _lines(data: ChartData, colors: Sequence[str]) -> str:
    low, high, _ = _range(data)
    count = len(data.labels)
    parts = []
    for turn, values in enumerate(data.series.values()):
        path = ""
        for number, value in enumerate(values):
            if value is None:
                continue
            x = LEFT + WIDTH * (number + 0.5) / count
            gap = not path or values[number - 1] is None
            path += f"{'M' if gap else 'L'}{x:.1f} {_height(value, low, high):.1f}"
        color = _color(colors, turn)
        parts.append(f'<path d="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
    return "".join(parts)


def _pie(data: ChartData, colors: Sequence[str], *, hole: bool) -> str:
    found = slices(data)
    whole = sum(value for _, value in found)
    x, y, radius = LEFT + WIDTH / 2.5, TOP + HEIGHT / 2, HEIGHT / 2
    parts, angle = [], 0.0
    for turn, (_, value) in enumerate(found):
        share = value / whole
        color = _color(colors, turn)
        if share > 0.9999:
            parts.append(f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{color}"/>')
            break
        ends = [
            (x + radius * math.sin(a), y - radius * math.cos(a))
            for a in (angle, angle + 2 * math.pi * share)
        ]
        angle += 2 * math.pi * share
        parts.append(
            f'<path d="M{x} {y}L{ends[0][0]:.2f} {ends[0][1]:.2f}A{radius} {radius} 0 '
            f'{int(share > 0.5)} 1 {ends[1][0]:.2f} {ends[1][1]:.2f}Z" fill="{color}" '
            'stroke="white"/>'
        )
    if hole:
        parts.append(f'<circle cx="{x}" cy="{y}" r="{radius * 0.5}" fill="white"/>')
    names = [f"{name}: {displayed(value)} ({value / whole:.0%})" for name, value in found]
    return "".join(parts) + _legend(names, colors)


def _legend(names: Sequence[str], colors: Sequence[str]) -> str:
    parts = []
    for turn, name in enumerate(names[:20]):
        y = TOP + 10 + turn * 20
        parts.append(
            f'<rect x="{LEFT + WIDTH + 12}" y="{y - 10}" width="12" height="12" '
            f'fill="{_color(colors, turn)}"/>'
        )
        parts.append(_text(LEFT + WIDTH + 30, y, name, limit=30))
    return "".join(parts)


def _color(colors: Sequence[str], turn: int) -> str:
    return escape(colors[turn % len(colors)])


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 12,
    anchor: str = "start",
    turn: str = "",
    limit: int = 0,
) -> str:
    limit = limit or (200 if size > 12 else MAX_LABEL_CHARS)
    short = text if len(text) <= limit else f"{text[: limit - 1]}\u2026"
    plain = "".join(c if c.isprintable() else " " for c in short)
    turned = f' transform="{turn}"' if turn else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{turned}>'
        f"{escape(plain)}</text>"
    )
