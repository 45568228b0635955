"""The tools that were offered: whose name a model means, and which types its arguments have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from toolcrib.core.names import plain

PREFIX = re.compile(r"^(?:functions?|tools?|default_api|multi_tool_use)[./:](?=.)")
INDEX = re.compile(r":\d+$")
AFFIXES = re.compile(r"^(?:functions?|call|tools?)[_.\-:](?=.)|[_.\-]\d+$")
"""Ids that are nearly `functions.NAME:0`."""
NAME = re.compile(r"[\w$@][\w.\-:/@$]*")
DEEPEST = 16
"""How many references and alternatives of a schema are followed."""

Schema = Mapping[str, Any]


class Offers:
    """The offered tools by name.

    Args:
        tools: in OpenAI's form (`{"type": "function", "function": {...}}`), bare
            (`{"name", "parameters"}`, also `inputSchema` or `input_schema`), or names alone.
            What is no tool is passed over.
    """

    def __init__(self, tools: Iterable[Any] | None = None) -> None:
        self.schemas: dict[str, Schema] = {}
        for tool in tools or ():
            name, schema = _declared(tool)
            if name:
                self.schemas[name] = schema
        self._known: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.schemas)

    def resolve(self, written: str) -> str | None:
        """The offered name that was meant, or None."""
        if written in self.schemas:
            return written
        found = self._known.get(written)
        if found is None:
            found = self._search(written)
            if len(self._known) < 1000:
                self._known[written] = found
        return found or None

    def _search(self, written: str) -> str:
        bare = bare_name(written)
        if bare in self.schemas:
            return bare
        for name in (bare, plain(bare)):
            near = [n for n in self.schemas if name in (n, plain(n))]
            if len(near) == 1:
                return near[0]
        trimmed = AFFIXES.sub("", bare)
        if trimmed in self.schemas:
            return trimmed
        for ours, theirs in ((tail, str), (str, tail), (tail, tail)):
            key = plain(ours(bare))
            near = [name for name in self.schemas if key and plain(theirs(name)) == key]
            if len(near) == 1:
                return near[0]
        return ""

    def spelt(self, written: str) -> str:
        """The offered name that was meant, else the name without the format's additions."""
        return self.resolve(written) or bare_name(written)

    def properties(self, name: str) -> Schema:
        """The schemas of a tool's arguments, by name."""
        found = self.schemas.get(name, {}).get("properties")
        return found if is_mapping(found) else {}

    def required(self, name: str) -> list[str]:
        """The arguments that a tool cannot do without."""
        found = self.schemas.get(name, {}).get("required")
        return [key for key in found if isinstance(key, str)] if isinstance(found, list) else []

    def takes(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Whether these could be the arguments of this tool."""
        known = self.properties(name)
        return all(key in arguments for key in self.required(name)) and (
            not known or all(key in known for key in arguments)
        )

    def taking(self, arguments: Mapping[str, Any]) -> str | None:
        """The one tool that takes these arguments, for a call without a name."""
        if len(self.schemas) == 1:
            return next(iter(self.schemas))
        near = [name for name in self.schemas if self.takes(name, arguments)]
        near = [name for name in near if self.properties(name) or not arguments]
        return near[0] if len(near) == 1 else None

    def kinds(self, name: str, argument: str) -> frozenset[str]:
        """The JSON types that an argument may have; empty where nothing is known."""
        return kinds_of(self.properties(name).get(argument), self.schemas.get(name, {}))


def kinds_of(schema: Any, root: Schema) -> frozenset[str]:
    """The JSON types that a schema allows; empty where nothing is known."""
    return _kinds(schema, root, DEEPEST)


def bare_name(written: str) -> str:
    """A name without `functions.` before it and `:0` after it."""
    return INDEX.sub("", PREFIX.sub("", written.strip()))


def tail(name: str) -> str:
    """The last part of `mcp__server__name` or `server.name`."""
    return re.split(r"__|[./:]", name)[-1]


def _declared(tool: Any) -> tuple[str, Schema]:
    if isinstance(tool, str):
        return tool, {}
    if not is_mapping(tool):
        return "", {}
    inner = tool.get("function")
    tool = inner if is_mapping(inner) else tool
    name = tool.get("name")
    if not isinstance(name, str):
        return "", {}
    for key in ("parameters", "inputSchema", "input_schema"):
        schema = tool.get(key)
        if is_mapping(schema):
            return name, schema
    return name, {}


def is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is an object; asked often, and nearly always of a plain dict."""
    return type(value) is dict or isinstance(value, Mapping)


def _kinds(schema: Any, root: Schema, depth: int) -> frozenset[str]:
    if not isinstance(schema, Mapping) or depth <= 0:
        return frozenset()
    if isinstance(schema.get("$ref"), str):
        return _kinds(_followed(schema["$ref"], root), root, depth - 1)
    found = _named(schema)
    for word in ("anyOf", "oneOf", "allOf"):
        options = schema.get(word)
        if isinstance(options, list) and not found:
            parts = [_kinds(option, root, depth - 1) for option in options[:32]]
            found = frozenset().union(*parts)
    if not found:
        found = _guessed(schema)
    return found | {"null"} if found and schema.get("nullable") is True else found


ALIASES = {
    "str": "string",
    "text": "string",
    "varchar": "string",
    "char": "string",
    "enum": "string",
    "bool": "boolean",
    "binary": "boolean",
    "int": "integer",
    "long": "integer",
    "short": "integer",
    "float": "number",
    "double": "number",
    "num": "number",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "arr": "array",
}


def _named(schema: Schema) -> frozenset[str]:
    named = schema.get("type")
    listed = named if isinstance(named, list) else [named]
    words = [word.strip().lower() for word in listed if isinstance(word, str)]
    return frozenset(ALIASES.get(re.split(r"[^a-z]", word)[0], word) for word in words)


def _guessed(schema: Schema) -> frozenset[str]:
    if isinstance(schema.get("enum"), list):
        return frozenset(_kind_of(value) for value in schema["enum"][:100])
    if "const" in schema:
        return frozenset({_kind_of(schema["const"])})
    if "properties" in schema:
        return frozenset({"object"})
    return frozenset({"array"}) if "items" in schema else frozenset()


def _kind_of(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return "null" if value is None else kinds.get(type(value), "object")


def _followed(reference: str, root: Schema) -> Any:
    found: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found
