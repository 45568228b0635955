"""What the history says about the tools."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import Count, Param, tool
from toolcrib.state.history import History, SortBy


@tool(
    group="meta",
    keywords=("statistics", "history", "audit", "calls", "errors", "latency", "tokens"),
    aliases=("get_usage_stats",),
)
async def usage_stats(
    limit: Annotated[Count, Param("Tools.", maximum=100)] = 20,
    sort_by: Annotated[SortBy, Param("Largest first.")] = "calls",
    *,
    ctx: Ctx,
) -> Result:
    """Show how often tools were called, how long they took and what they cost.

    It counts the calls that the history still holds, those of other conversations too.
    """
    found = await ctx.use(History).stats(limit, sort_by)
    lines = ["tool  calls  errors  p50 ms  p95 ms  tokens  last used (UTC)"]
    for line in found:
        last = datetime.fromtimestamp(line.last_used, UTC)
        lines.append(
            f"{line.tool}  {line.calls}  {line.errors}  {line.p50_ms:,.0f}  {line.p95_ms:,.0f}  "
            f"{line.tokens:,}  {last:%Y-%m-%d %H:%M}"
        )
    text = "\n".join(lines) if found else "No calls are recorded yet."
    return Result(text=text, data={"tools": [asdict(line) for line in found]})
