"""Charts drawn as pictures, by a library in a worker's child."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Unavailable
from toolcrib.execution.workers import Task, Workers

FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts")
DRAW = Task(
    "toolcrib.data.chart_child:draw",
    "Drawing the chart",
    seconds=40.0,
    # The engine of JavaScript in it maps 65 GB of addresses, and uses 100 MB.
    megabytes=100_000,
    max_bytes=40_000_000,
    hint="Draw fewer points.",
    access="read",
    folders=FONTS,
)


async def drawn(spec: Mapping[str, Any], ctx: Ctx) -> tuple[str, bytes]:
    """The chart as SVG and PNG; nothing where the library cannot be used here."""
    if find_spec("vl_convert") is None:
        return "", b""
    try:
        answer, png = await ctx.use(Workers).run(DRAW, {"spec": dict(spec)}, b"", ctx.deadline)
    except Unavailable:
        return "", b""
    return answer["svg"], png
