"""Whether a value is what a schema of a description asks for; helpful about it if not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.core.names import nearest
from toolcrib.tools.http.description.descriptions import Description, as_list, as_object, is_name

MAX_DEPTH = 12
"""Levels of a value that are looked at; schemas may go in a circle."""
MAX_LISTED = 50
"""Names that an error lists."""
MAX_PARTS = 100
"""Schemas that one may be put together from."""
_IS: dict[str, Callable[[Any], bool]] = {
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: (
        isinstance(v, int | float) and not isinstance(v, bool) and v == math.floor(v)
    ),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "array": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "null": lambda v: v is None,
}


class Schemas:
    """Checks values against the schemas of one description. What it does not know passes."""

    def __init__(self, description: Description) -> None:
        self._description = description
        self._properties: dict[int, tuple[Any, dict[str, Mapping[str, Any]]]] = {}

    def parts(self, schema: Any) -> list[Mapping[str, Any]]:
        """A schema and all that its `allOf` brings, each once, however they refer."""
        found: dict[int, Mapping[str, Any]] = {}
        waiting = [schema]
        while waiting and len(found) < MAX_PARTS:
            part = self._description.resolved(waiting.pop())
            if id(part) not in found:
                found[id(part)] = part
                waiting += reversed(as_list(part.get("allOf")))
        return list(found.values())

    def properties(self, schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """The properties of an object, those of `allOf` included."""
        schema = self._description.resolved(schema)
        # Known by its place in memory, where it stays because it is kept here.
        known = self._properties.get(id(schema))
        if known is not None:
            return known[1]
        found: dict[str, Mapping[str, Any]] = {}
        for part in self.parts(schema):
            for name, node in as_object(part.get("properties")).items():
                if is_name(name):
                    found.setdefault(name, self._description.resolved(node))
        if schema:
            self._properties[id(schema)] = (schema, found)
        return found

    def required(self, schema: Mapping[str, Any]) -> list[str]:
        """The names of the properties that an object must have."""
        listed = [name for part in self.parts(schema) for name in as_list(part.get("required"))]
        return list(dict.fromkeys(name for name in listed if is_name(name)))

    def is_open(self, schema: Mapping[str, Any]) -> bool:
        """Whether an object may have other properties than those it lists."""
        schema = self._description.resolved(schema)
        mixed = any(as_list(schema.get(word)) for word in ("oneOf", "anyOf"))
        listed = self.properties(schema)
        return mixed or not listed or bool(schema.get("additionalProperties"))

    def inner(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the items of an array are; anything else is its own."""
        return self._description.resolved(schema["items"]) if "items" in schema else schema

    def types(self, schema: Mapping[str, Any]) -> list[str]:
        """The JSON types that are allowed; empty for any."""
        said = schema.get("type")
        types = [
            t
            for t in (said if isinstance(said, list) else [said])
            if isinstance(t, str) and t in _IS
        ]
        if not types and self.properties(schema):
            types = ["object"]
        if types and (schema.get("nullable") is True or schema.get("x-nullable") is True):
            types.append("null")
        return types

    def fitted(self, value: Any, schema: Any, where: str, depth: int = 0) -> Any:
        """The value, with "3" made 3 where a number is wanted.

        Raises:
            BadInput: it does not fit; the message says where and what is wanted.
        """
        schema = self._description.resolved(schema)
        if depth > MAX_DEPTH or not schema:
            return value
        for part in self.parts(schema):
            types = self.types(part)
            value = _converted(value, types)
            if types and not any(_IS[t](value) for t in types):
                wanted = " or ".join(types)
                raise BadInput(f"'{where}' must be of type {wanted}, not {_shown(value)}.")
            _check_choices(value, part, where)
        if isinstance(value, dict):
            return self._object(value, schema, where, depth)
        if isinstance(value, list) and "items" in schema:
            items = enumerate(value)
            return [self.fitted(v, schema["items"], f"{where}[{n}]", depth + 1) for n, v in items]
        return value

    def _object(
        self, value: dict[str, Any], schema: Mapping[str, Any], where: str, depth: int
    ) -> dict[str, Any]:
        known = self.properties(schema)
        missing = [name for name in self.required(schema) if name not in value]
        if missing:
            raise BadInput(f"'{where}' needs {', '.join(missing[:MAX_LISTED])}.")
        if schema.get("additionalProperties") is False and not self._has_parts(schema):
            for name in value:
                if name not in known:
                    raise BadInput(f"'{where}' has no field '{name[:60]}'.", hint=_fields(known))
        return {
            name: self.fitted(item, known[name], f"{where}.{name}", depth + 1)
            if name in known
            else item
            for name, item in value.items()
        }

    def _has_parts(self, schema: Mapping[str, Any]) -> bool:
        return any(as_list(schema.get(word)) for word in ("allOf", "oneOf", "anyOf"))


def _check_choices(value: Any, schema: Mapping[str, Any], where: str) -> None:
    choices = as_list(schema.get("enum")) or ([schema["const"]] if "const" in schema else [])
    if choices and value not in choices and value is not None:
        listed = ", ".join(_shown(choice) for choice in choices[:30])
        raise BadInput(f"'{where}' must be one of {listed}, not {_shown(value)}.")
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        if isinstance(low, int | float) and value < low:
            raise BadInput(f"'{where}' must be at least {low}, not {_shown(value)}.")
        if isinstance(high, int | float) and value > high:
            raise BadInput(f"'{where}' must be at most {high}, not {_shown(value)}.")


def unknown(name: str, known: Mapping[str, Any], operation: str) -> BadInput:
    """The error for an argument that an operation does not take."""
    near = nearest(name, known, 1, 0.6)
    guess = f"Did you mean '{near[0]}'? " if near else ""
    return BadInput(
        f"{operation} has no argument '{name[:60]}'.",
        hint=f"{guess}It takes: {', '.join(list(known)[:MAX_LISTED]) or 'nothing'}.",
    )


def _fields(known: Mapping[str, Any]) -> str:
    return f"Fields: {', '.join(list(known)[:MAX_LISTED])}."


def _converted(value: Any, types: list[str]) -> Any:
    """Text as the number or truth value that is meant, where text itself is not."""
    if "string" in types and isinstance(value, int | float) and len(types) == 1:
        return json.dumps(value)
    if not isinstance(value, str) or "string" in types:
        return value
    text = value.strip()
    if "boolean" in types and text.lower() in ("true", "false"):
        return text.lower() == "true"
    wanted = {"integer", "number", "array", "object"} & set(types)
    if not wanted:
        return value
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return [value] if wanted == {"array"} else value
    if any(_IS[t](found) for t in wanted):
        return found
    return [found] if wanted == {"array"} else value


def _shown(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."
