"""The offered tools: which one a written name means, and the types of its arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from toolcrib.core.names import plain

PREFIX = re.compile(r"^(?:functions?|tools?|default_api|multi_tool_use)[./:](?=.)")
INDEX = re.compile(r":\d+$")
AFFIXES = re.compile(r"^(?:functions?|call|tools?)[_.\-:](?=.)|[_.\-]\d+$")
"""Ids that are nearly `functions.NAME:0`."""
PARTS = re.compile(r"__|[./:]")
NAME = re.compile(r"[\w$@][\w.\-:/@$]*")
MAX_WRITTEN_CHARS = 256
MAX_SCHEMA_DEPTH = 16
MAX_SCHEMAS = 1_000
"""How many references and alternatives of a schema are followed."""

Schema = Mapping[str, Any]
OBJECT = (dict, Mapping)
"""What is an object; nearly always it is a plain dict, which is seen at once."""


class ToolSchemas:
    """The offered tools by name.

    Args:
        tools: in OpenAI's form (`{"type": "function", "function": {...}}`), bare
            (`{"name", "parameters"}`, also `inputSchema` or `input_schema`), or names alone.
            What is no tool is passed over.
    """

    def __init__(self, tools: Iterable[Any] | None = None) -> None:
        self._tools = tuple(tools or ())

    def __bool__(self) -> bool:
        return self._has_any

    @cached_property
    def _has_any(self) -> bool:
        return any(_declared(tool)[0] for tool in self._tools)

    @cached_property
    def by_name(self) -> dict[str, Schema]:
        """What each tool takes; read on first need, since most texts call nothing."""
        found: dict[str, Schema] = {}
        for tool in self._tools:
            name, schema = _declared(tool)
            if name:
                found[name] = schema
        return found

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.by_name)

    def resolve(self, written: str) -> str | None:
        """The offered name that was meant, or None."""
        if written in self.by_name:
            return written
        return _meant(written, self._names) if len(written) <= MAX_WRITTEN_CHARS else None

    def canonical_name(self, written: str) -> str:
        """The offered name that was meant, else the name without the format's additions."""
        return self.resolve(written) or bare_name(written)

    def properties(self, name: str) -> Schema:
        """The schemas of a tool's arguments, by name."""
        found = self.by_name.get(name, {}).get("properties")
        return found if isinstance(found, OBJECT) else {}

    def required(self, name: str) -> list[str]:
        """The arguments that a tool cannot do without."""
        found = self.by_name.get(name, {}).get("required")
        return [key for key in found if isinstance(key, str)] if isinstance(found, list) else []

    def takes(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Whether these could be the arguments of this tool."""
        known = self.properties(name)
        return all(key in arguments for key in self.required(name)) and (
            not known or all(key in known for key in arguments)
        )

    def taking(self, arguments: Mapping[str, Any]) -> str | None:
        """The one tool that takes these arguments, for a call without a name."""
        if len(self.by_name) == 1:
            return next(iter(self.by_name))
        near = [name for name in self.by_name if self.takes(name, arguments)]
        near = [name for name in near if self.properties(name) or not arguments]
        return near[0] if len(near) == 1 else None

    def kinds(self, name: str, argument: str) -> frozenset[str]:
        """The JSON types that an argument may have; empty where nothing is known."""
        return json_types(self.properties(name).get(argument), self.by_name.get(name, {}))


@lru_cache(maxsize=2048)
def _meant(written: str, names: tuple[str, ...]) -> str | None:
    """Which of the names a model means that wrote none of them."""
    bare = bare_name(written)
    if bare in names:
        return bare
    by_name, by_tail = _index(names)
    same = by_name.get(plain(bare), ())
    if len(same) == 1:
        return same[0]
    trimmed = AFFIXES.sub("", bare)
    if trimmed in names:
        return trimmed
    last = plain(tail(bare))
    for found in (by_name.get(last, ()), by_tail.get(plain(bare), ()), by_tail.get(last, ())):
        if len(found) == 1:
            return found[0]
    return None


@lru_cache(maxsize=64)
def _index(names: tuple[str, ...]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The names by their letters, and by those of their last part."""
    by_name: dict[str, list[str]] = {}
    by_tail: dict[str, list[str]] = {}
    for name in names:
        by_name.setdefault(plain(name), []).append(name)
        by_tail.setdefault(plain(tail(name)), []).append(name)
    for index in (by_name, by_tail):
        index.pop("", None)
    return by_name, by_tail


def json_types(schema: Any, root: Schema) -> frozenset[str]:
    """The JSON types that a schema allows; empty where nothing is known."""
    return _kinds(schema, root, MAX_SCHEMA_DEPTH, iter(range(MAX_SCHEMAS)))


def bare_name(written: str) -> str:
    """A name without `functions.` before it and `:0` after it."""
    return INDEX.sub("", PREFIX.sub("", unescaped_name(written).strip()))


def unescaped_name(written: str) -> str:
    """A name whose characters may be written as entities of XML, as `&#95;` for `_`."""
    if "&" not in written or len(written) > MAX_WRITTEN_CHARS:
        return written
    from html import unescape

    return unescape(written)


def tail(name: str) -> str:
    """The last part of `mcp__server__name` or `server.name`."""
    return PARTS.split(name)[-1]


def _declared(tool: Any) -> tuple[str, Schema]:
    if not isinstance(tool, OBJECT):
        return (tool, {}) if isinstance(tool, str) else ("", {})
    inner = tool.get("function")
    if isinstance(inner, OBJECT):
        tool = inner
    name = tool.get("name")
    if not isinstance(name, str):
        return "", {}
    for key in ("parameters", "inputSchema", "input_schema"):
        schema = tool.get(key)
        if isinstance(schema, OBJECT):
            return name, schema
    return name, {}


def _kinds(schema: Any, root: Schema, depth: int, left: Iterator[int]) -> frozenset[str]:
    """`left` has one item for each schema that may still be looked at: choices multiply."""
    if not isinstance(schema, OBJECT) or depth <= 0 or next(left, None) is None:
        return frozenset()
    if isinstance(schema.get("$ref"), str):
        return _kinds(_followed(schema["$ref"], root), root, depth - 1, left)
    found = _named(schema)
    for word in ("anyOf", "oneOf", "allOf"):
        options = schema.get(word)
        if isinstance(options, list) and not found:
            parts = [_kinds(option, root, depth - 1, left) for option in options[:32]]
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
    if type(named) is str:
        return _KINDS.get(named) or frozenset({_standard(named)})
    listed = named if isinstance(named, list) else [named]
    return frozenset(_standard(word) for word in listed if isinstance(word, str))


@lru_cache(maxsize=256)
def _standard(word: str) -> str:
    """JSON Schema's name of a type that a schema may name otherwise."""
    word = word.strip().lower()
    return ALIASES.get(re.split(r"[^a-z]", word)[0], word)


_KINDS = {
    kind: frozenset({kind})
    for kind in ("string", "integer", "number", "boolean", "array", "object", "null")
}


def _guessed(schema: Schema) -> frozenset[str]:
    if isinstance(schema.get("enum"), list):
        return frozenset(json_kind(value) for value in schema["enum"][:100])
    if "const" in schema:
        return frozenset({json_kind(schema["const"])})
    if "properties" in schema:
        return frozenset({"object"})
    return frozenset({"array"}) if "items" in schema else frozenset()


def json_kind(value: Any) -> str:
    """The name that JSON schemas have for the type of a value."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return "null" if value is None else kinds.get(type(value), "object")


def _followed(reference: str, root: Schema) -> Any:
    found: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(part) if isinstance(found, OBJECT) else None
    return found
