"""Finding a tool by what it does."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Result
from toolcrib.core.tool import Count, Param, tool, without_denied
from toolcrib.text.fence import fence

BEST = 10
"""Tools shown for a question that sets no limit."""


@tool(
    group="meta",
    profiles=("search",),
    keywords=("list", "available", "capabilities", "which", "enabled"),
    argument_aliases={"q": "query", "max_results": "limit"},
)
async def search_tools(
    query: Annotated[str, Param("What the tool should do; empty lists all.")] = "",
    limit: Annotated[Count | None, Param("Tools at most.", maximum=200)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Find tools by what they do.

    Use it when no listed tool fits the task. Then read tool_help of the one you want
    and send it with call_tool.
    """
    from toolcrib.retrieval.tool_index.index import finder  # large, and seldom needed

    policy = ctx.config.policy
    tools = without_denied(policy, ctx.registry)
    has_query = bool(query.strip())
    index = finder(ctx.registry)
    found = index.find(query, limit or BEST) if has_query else tools[:limit]
    found = without_denied(policy, found)
    if not found:
        raise NoResults(
            f"No tool fits '{query[:80]}'.", hint="Try other words, or an empty query for all."
        )
    own = [f"{t.name}: {t.description}" for t in found if not t.source]
    foreign = [f"{t.name}: {t.description}" for t in found if t.source]
    fits = not has_query or index.fits(query)
    head = f"{len(found)} of {len(tools)} tools"
    if not fits:
        head = (
            f"Nothing fits '{query[:80]}' well. If none of these {len(found)} (of {len(tools)}) "
            "does it, say that it cannot be done here:"
        )
    data = [{"name": t.name, "description": t.description, "group": t.group} for t in found]
    source = ", ".join(dict.fromkeys(t.source for t in found if t.source))
    fenced = [fence("\n".join(foreign), source)] if foreign else []
    lines = (*fenced, *own) if has_query and found[0].source else (*own, *fenced)  # the best first
    return Result(
        text="\n".join((head, *lines)),
        data={"tools": data, "total": len(tools), "fits": fits},
        source=source,
        fenced=bool(foreign),
    )
