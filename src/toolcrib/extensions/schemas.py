"""Schemas of other servers' tools as ours are: flat, one type a node, short.

What cannot be said so is an argument that takes JSON; what it holds is shown by `tool_help`, and
sent on as it was given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.core.errors import BadInput
from toolcrib.core.names import plain
from toolcrib.core.tool import Param, Parameter, schema_of
from toolcrib.text.cleaner import clean

MAX_PROPERTIES = 40
MAX_CHOICES = 40
MAX_CHOICE_CHARS = 60
MAX_DESCRIPTION_CHARS = 160
MAX_TEXT_CHARS = 1_200
"""Characters of the descriptions of all properties of a tool."""
MAX_REFERENCES = 8
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
RESERVED = frozenset({"ctx"})
WHOLE = "arguments"
TYPES: dict[Any, Any] = {"string": str, "integer": int, "number": float, "boolean": bool}
LISTS: dict[Any, Any] = {
    "string": list[str],
    "integer": list[int],
    "number": list[float],
    "boolean": list[bool],
}


@dataclass(frozen=True, slots=True)
class Arguments:
    """How a tool of another server is called.

    `parameters` are those shown here. `whole` says that one of them holds all arguments.
    `json_names` are those that take JSON, `text_names` those of them that take text as well.
    """

    parameters: tuple[Parameter, ...]
    json_names: frozenset[str] = frozenset()
    text_names: frozenset[str] = frozenset()
    whole: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The flat schema."""
        return schema_of(self.parameters)

    def sent(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What the server is sent for checked arguments.

        Raises:
            BadInput: an argument that takes JSON has something else.
        """
        values = {name: value for name, value in given.items() if value is not None}
        if self.whole:
            return dict(values.get(WHOLE) or {})
        return {
            name: _decoded(name, value, is_text=name in self.text_names)
            if name in self.json_names
            else value
            for name, value in values.items()
        }


def flattened(schema: Any) -> Arguments:
    """The arguments of a tool by its schema, whatever that is."""
    root = schema if isinstance(schema, Mapping) else {}
    properties = root.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    names = [name for name in properties if isinstance(name, str)]
    if (
        len(names) > MAX_PROPERTIES
        or len({plain(name) for name in names}) < len(properties)
        or not all(NAME.fullmatch(name) and name not in RESERVED for name in names)
    ):
        return _whole()
    listed = root.get("required")
    required = {n for n in listed if isinstance(n, str)} if isinstance(listed, list) else set()
    if not required <= set(names):
        return _whole()
    room = MAX_TEXT_CHARS
    parameters, with_json, with_text = [], set(), set()
    for name in names:
        kind, meta, takes_json = _kind(properties[name], root)
        text = _description(properties[name], root)[:room]
        room -= len(text)
        about = Param(f"JSON: {text}" if takes_json and text else "JSON." if takes_json else text)
        parameters.append(Parameter(name, kind, meta.narrowed(about), name in required, None))
        if takes_json:
            with_json.add(name)
            if _takes_text(properties[name], root):
                with_text.add(name)
    ordered = sorted(parameters, key=lambda parameter: not parameter.required)
    return Arguments(tuple(ordered), frozenset(with_json), frozenset(with_text))


def one_line(text: Any, limit: int) -> str:
    """Text of another server: cleaned, in one line, no longer than that."""
    line = " ".join(clean(str(text)[: limit * 4]).text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _whole() -> Arguments:
    about = Param("JSON object of its arguments; tool_help shows them.", kind="json")
    object_ = Parameter(
        WHOLE,
        dict[str, Any],
        about.narrowed(Param(json_type="string")),
        required=False,
        default=None,
    )
    return Arguments((object_,), whole=True)


def _kind(node: Any, root: Mapping[str, Any]) -> tuple[Any, Param, bool]:
    """The type of a parameter, what is to be said of it, and whether it takes JSON."""
    node = _resolved(node, root)
    choices = node.get("enum")
    if isinstance(choices, list) and _are_choices(choices):
        return Literal[tuple(choices)], Param(), False
    name = node.get("type")
    if isinstance(name, str) and name in TYPES and not isinstance(choices, list):
        return TYPES[name], Param(), False
    if name == "array":
        item = _resolved(node.get("items"), root)
        inner = item.get("type")
        if isinstance(inner, str) and inner in LISTS and "enum" not in item:
            return LISTS[inner], Param(), False
    return Any, Param(kind="any", json_type="string"), True


def _are_choices(choices: list[Any]) -> bool:
    return 0 < len(choices) <= MAX_CHOICES and all(
        isinstance(choice, str)
        and 0 < len(choice) <= MAX_CHOICE_CHARS
        and clean(choice).text == choice
        and "\n" not in choice
        for choice in choices
    )


def _resolved(node: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node that a reference leads to, or the one of a union that is not null."""
    for _ in range(MAX_REFERENCES):
        if not isinstance(node, Mapping):
            return {}
        reference = node.get("$ref")
        if isinstance(reference, str):
            node = _found(reference, root)
            continue
        name = node.get("type")
        if isinstance(name, list):
            kinds = [kind for kind in name if kind != "null"]
            return {**node, "type": kinds[0]} if len(kinds) == 1 else {}
        union = node.get("anyOf", node.get("oneOf"))
        if isinstance(union, list) and "type" not in node:
            rest = [part for part in union if part != {"type": "null"}]
            if len(rest) != 1:
                return {}
            node = rest[0]
            continue
        return node
    return {}


def _found(reference: str, root: Mapping[str, Any]) -> Any:
    node: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _description(node: Any, root: Mapping[str, Any]) -> str:
    own = node.get("description") if isinstance(node, Mapping) else ""
    text = own or _resolved(node, root).get("description") or ""
    return one_line(text, MAX_DESCRIPTION_CHARS) if isinstance(text, str) else ""


def _takes_text(node: Any, root: Mapping[str, Any], depth: int = 2) -> bool:
    """Whether a string is a value of a node that is no plain type."""
    node = _resolved(node, root) or (node if isinstance(node, Mapping) else {})
    kinds, choices = node.get("type"), node.get("enum")
    if isinstance(choices, list):
        return any(isinstance(choice, str) for choice in choices)
    parts = node.get("anyOf", node.get("oneOf"))
    if isinstance(parts, list) and kinds is None and depth > 0:
        return any(_takes_text(part, root, depth - 1) for part in parts)
    return kinds is None or kinds == "string" or (isinstance(kinds, list) and "string" in kinds)


def _decoded(name: str, value: Any, *, is_text: bool) -> Any:
    """JSON text as what it holds; other text as it is, where text is a value too."""
    if not isinstance(value, str):
        return value
    begins_json = value.lstrip()[:1] in ("{", "[")
    if is_text and not begins_json:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        if is_text:
            return value
        raise BadInput(f"'{name}' is not valid JSON: {str(error)[:100]}.") from None
