"""Finding a tool by what it does."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.params import Count, Param
from toolcrib.core.tool import Tool, tool
from toolcrib.kit.rank import Bm25

BEST = 10
"""Tools shown for a question that sets no limit."""
LONGEST_QUERY = 500
WEIGHTS = {"name": 3.0, "keywords": 2.0, "description": 2.0, "guidance": 1.0}


@tool(
    group="meta",
    profiles=("search",),
    keywords=("list", "available", "capabilities", "which", "enabled"),
    aliases=("list_tools", "get_enabled_tools"),
    argument_aliases={"filter": "query", "q": "query", "max_results": "limit"},
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
    tools = list(ctx.registry)
    found = rank(tools, query, limit or BEST) if query.strip() else tools[:limit]
    if not found:
        raise NoResults(
            f"No tool fits '{query[:80]}'.", hint="Try other words, or an empty query for all."
        )
    lines = [f"{t.name}: {t.description}" for t in found]
    data = [{"name": t.name, "description": t.description, "group": t.group} for t in found]
    return Result(
        text=f"{len(found)} of {len(tools)} tools\n" + "\n".join(lines),
        data={"tools": data, "total": len(tools)},
    )


def rank(tools: list[Tool], query: str, limit: int) -> list[Tool]:
    """The tools that fit a question, best first."""
    by_name = {t.name: t for t in tools}
    index = Bm25(((t.name, _fields(t)) for t in tools), WEIGHTS)
    return [by_name[name] for name, _ in index.search(query[:LONGEST_QUERY], limit)]


def _fields(tool: Tool) -> dict[str, str]:
    parameters = " ".join(f"{p.name} {p.meta.description}" for p in tool.parameters)
    return {
        "name": f"{tool.name} {' '.join(tool.aliases)}",
        "keywords": " ".join(tool.keywords),
        "description": f"{tool.description} {tool.group}",
        "guidance": f"{tool.guidance} {parameters}",
    }
