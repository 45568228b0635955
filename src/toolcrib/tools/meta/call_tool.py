"""Calling a tool that the host does not list."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, JsonObject, Param, other_names, tool

REMARKS = {"explanation", "reason", "reasoning", "thought"}
"""What models say of a call, and no tool needs."""


def _adapt(arguments: dict[str, Any]) -> None:
    """Arguments of the called tool that stand beside its name, as if all were one call."""
    own = {"name", "tool", "toolname", "arguments", "args", "input", "parameters", "params"}
    beside = {key: arguments.pop(key) for key in arguments.keys() - own - REMARKS}
    if beside and {"arguments", "args", "parameters", "params"}.isdisjoint(arguments):
        if "input" in arguments:
            beside["input"] = arguments.pop("input")
        arguments["arguments"] = beside
    elif beside:
        arguments |= beside  # refused by their names


@tool(
    group="meta",
    profiles=("search",),
    keywords=("run", "invoke", "execute"),
    aliases=("run_tool", "execute_tool"),
    argument_aliases=other_names(
        name=("tool", "tool_name"), arguments=("args", "input", "parameters", "params")
    ),
    argument_adapter=_adapt,
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
