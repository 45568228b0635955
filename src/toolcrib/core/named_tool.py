"""A tool as another system names it: its name there, its arguments there, the same function."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from toolcrib.core.compat import Argument, Naming
from toolcrib.core.result import Next
from toolcrib.core.tool import Param, Parameter, Tool

TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "strings": list[str],
}
GOING_ON = ("start", "offset", "column", "page")
"""Parameters that a result names to go on; a name of another system takes them too."""


@dataclass(frozen=True, eq=False)
class NamedTool(Tool):
    """What hosts are shown under a name of another system.

    Only what a listing needs differs from the tool: a call by the name goes to the tool itself,
    so that policy, history and limits know it by one name.
    """

    naming: Naming | None = None

    @classmethod
    def of(cls, tool: Tool, naming: Naming) -> NamedTool:
        """The tool under this name."""
        shared = {field.name: getattr(tool, field.name) for field in fields(Tool)}
        return cls(**{**shared, "name": naming.listed_name, "aliases": ()}, naming=naming)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments as the system names them, each with the type of the parameter here."""
        here = {parameter.name: parameter for parameter in super().parameters}
        arguments = self.naming.arguments if self.naming else None
        if self.naming is None or arguments is None:
            return tuple(here.values())
        named = [self._named(argument, here) for argument in arguments.values()]
        mapped = {a.to for a in arguments.values()} | {parameter.name for parameter in named}
        going_on = [here[n] for n in GOING_ON if n in here and n not in mapped]
        return (*named, *(p for p in going_on if not p.meta.unlisted and not p.required))

    def _named(self, argument: Argument, here: dict[str, Parameter]) -> Parameter:
        known = here.get(argument.to)
        about = Param(argument.about or (known.meta.description if known else ""))
        if known is None or argument.type:
            kind = TYPES[argument.type or "string"]
            required = bool(known and known.required and not self._is_fixed(argument.to))
            return Parameter(argument.name, kind, about, required, None)
        meta = replace(known.meta, description=about.description, unlisted=False)
        required = known.required and not self._is_fixed(argument.to)
        return replace(known, name=argument.name, meta=meta, required=required)

    def _is_fixed(self, name: str) -> bool:
        return self.naming is not None and name in self.naming.fixed

    @property
    def description(self) -> str:
        """What this name does, which may be less than the tool can do."""
        return (self.naming.about if self.naming else "") or super().description


def going_on(following: Next, tool: str, naming: Naming) -> Next:
    """The call that goes on, under the name by which the tool was called."""
    if following.tool != tool:
        return following
    theirs = {a.to: a.name for a in (naming.arguments or {}).values() if a.is_renamed_only}
    arguments = {theirs.get(name, name): value for name, value in following.arguments.items()}
    return Next(naming.listed_name, arguments)
