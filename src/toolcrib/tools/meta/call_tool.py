"""Calling a tool that the host does not list."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, JsonObject, Param, other_names, tool


@tool(
    group="meta",
    profiles=("search",),
    keywords=("run", "invoke", "execute"),
    aliases=("run_tool", "execute_tool"),
    argument_aliases=other_names(name=("tool", "tool_name"), arguments=("args", "input")),
)
async def call_tool(
    name: Annotated[str, Param("The tool, as search_tools names it.")],
    arguments: Annotated[JsonObject | None, Param("Its arguments as a JSON object.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Call any tool by name.

    Use it for tools that search_tools found. A listed tool is better called directly.
    """
    found = ctx.registry.resolve(name)
    if found.name == "call_tool":
        raise BadInput("call_tool cannot call itself.", hint="Name the tool that you want.")
    result = await ctx.invoke(found.name, arguments or {})
    has_read = bool(found.rights & READ) and not result.impersonal
    return replace(result, private=result.private or has_read)
