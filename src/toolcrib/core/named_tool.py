"""A tool as another system names it: its name there, its arguments there, the same function."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from toolcrib.core.compat import Argument, Naming
from toolcrib.core.result import Next
from toolcrib.core.tool import DeferredTool, Tool

GOING_ON = ("start", "offset", "column", "page")
"""Parameters that a result names to go on; a name of another system takes them too."""
SHARED = (
    *("group", "rights", "keywords", "argument_aliases", "profiles", "destructive"),
    *("idempotent", "seconds", "concurrency", "may_use_fewer_rights", "has_own_rules"),
    *("parameter_texts", "paragraphs"),
)
"""What the tool and its other name have in common, known without the module of the tool."""


class NamedTool(DeferredTool):
    """What hosts are shown under a name of another system.

    Only what a listing needs differs from the tool: a call by the name goes to the tool itself,
    so that policy, history and limits know it by one name. Listing imports no tool.

    Args:
        tool: the tool, as its catalogue knows it or as it is declared.
        naming: what the name says.
    """

    def __init__(self, tool: Tool, naming: Naming) -> None:
        facts = {name: getattr(tool, name) for name in SHARED}
        vars(self).update(facts, name=naming.listed_name, aliases=(), tool=tool, naming=naming)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The arguments as the system names them, each with the type of the parameter here."""
        tool, naming = self._tool, self._naming
        if naming.arguments is None:
            return tool.schema
        listed, required = tool.schema["properties"], tool.schema.get("required", ())
        here = {**listed, **tool.unlisted_nodes}
        given = naming.arguments.values()
        nodes = {argument.name: self._node(argument, here) for argument in given}
        for name in GOING_ON:
            if name in listed and name not in required and not any(a.to == name for a in given):
                nodes.setdefault(name, listed[name])
        schema: dict[str, Any] = {"type": "object", "properties": nodes}
        needed = [a.name for a in given if a.to in required and a.to not in naming.fixed]
        return {**schema, "required": needed} if needed else schema

    def _node(self, argument: Argument, here: dict[str, dict[str, Any]]) -> dict[str, Any]:
        known = here.get(argument.to)
        texts = dict(self.parameter_texts)
        if known is None or argument.type:
            node: dict[str, Any] = {"type": argument.type or "string"}
            if argument.type == "strings":
                node = {"type": "array", "items": {"type": "string"}}
            about = argument.about or texts.get(argument.to, "")
            return {**node, "description": about} if about else node
        # One that shows models no description, for its name says it all, does so here too.
        if not argument.about or ("description" not in known and texts.get(argument.to)):
            return known
        return {**known, "description": argument.about}

    @property
    def _tool(self) -> Tool:
        tool: Tool = vars(self)["tool"]
        return tool

    @property
    def _naming(self) -> Naming:
        naming: Naming = vars(self)["naming"]
        return naming

    @property
    def loaded(self) -> Tool:
        """The tool itself."""
        return self._tool.loaded

    @property
    def module(self) -> str:
        """The module of the tool."""
        return self._tool.module

    @property
    def description(self) -> str:
        """What this name does, which may be less than the tool can do."""
        return self._naming.about or super().description


def going_on(following: Next, tool: str, naming: Naming) -> Next:
    """The call that goes on, under the name by which the tool was called."""
    if following.tool != tool:
        return following
    theirs = {a.to: a.name for a in (naming.arguments or {}).values() if a.is_renamed_only}
    arguments = {theirs.get(name, name): value for name, value in following.arguments.items()}
    return Next(naming.listed_name, arguments)
