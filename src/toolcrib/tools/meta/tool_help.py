"""All there is to know of one tool."""

from __future__ import annotations

import json
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import Param, Parameter, Tool, tool


@tool(
    group="meta",
    profiles=("search",),
    keywords=("usage", "parameters", "arguments", "describe", "documentation"),
    aliases=("describe_tool", "get_tool_info"),
    argument_aliases={"tool": "name", "tool_name": "name"},
)
async def tool_help(name: Annotated[str, Param("The tool.")], *, ctx: Ctx) -> Result:
    """Show how a tool is called: parameters, defaults, when to use it.

    Use it before call_tool, or after a call was refused for its arguments.
    """
    found = ctx.registry.resolve(name)
    return Result(
        text=manual(found),
        source=found.source,
        data={
            "name": found.name,
            "description": found.description,
            "guidance": found.guidance,
            "schema": found.schema,
            "group": found.group,
            "rights": found.rights.names,
            "aliases": list(found.all_aliases),
        },
    )


def manual(tool: Tool) -> str:
    """A tool's own words and parameters as text."""
    lines = [f"{tool.name}: {tool.description}"]
    if tool.guidance:
        lines.append(" ".join(tool.guidance.split()))
    lines += [
        _line(p, tool.schema["properties"][p.name]) for p in tool.parameters if not p.meta.unlisted
    ]
    if tool.original:
        lines.append(tool.original)
    lines.append(f"May: {', '.join(tool.rights.names) or 'nothing outside this server'}.")
    return "\n".join(lines)


def _line(parameter: Parameter, node: dict[str, object]) -> str:
    meta = parameter.meta
    kind = "one of " + ", ".join(map(str, node["enum"])) if "enum" in node else node["type"]  # type: ignore[call-overload]
    limits = [meta.range] if meta.range else []
    if parameter.required:
        limits.insert(0, "required")
    elif parameter.default not in (None, "", [], ()):
        limits.append(f"default {json.dumps(parameter.default, ensure_ascii=False, default=str)}")
    described = f": {parameter.description}" if parameter.description else ""
    return f"- {parameter.name} ({', '.join([str(kind), *limits])}){described}"
