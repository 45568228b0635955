"""Schemas of other servers' tools as ours are: flat, one type a node, short.

What cannot be said so is an argument that takes JSON; what it holds is shown by `tool_help`, and
sent on as it was given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from toolcrib.core.errors import BadInput
from toolcrib.core.names import plain
from toolcrib.core.tool import Param, Parameter, schema_of
from toolcrib.text.cleaner import clean
from toolcrib.text.display import with_ellipsis

MAX_PROPERTIES = 40
MAX_CHOICES = 40
MAX_CHOICE_CHARS = 60
MAX_DESCRIPTION_CHARS = 160
MAX_TEXT_CHARS = 1_200
"""Characters of the descriptions of all properties of a tool."""
MAX_REFERENCES = 8
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")
MAX_NAME = 64
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

    `parameters` are those shown here. `whole` says that one of them holds all arguments, or
    those that the schema does not name. `json_names` are those that take JSON, `text_names` those
    of them that take text as well. `real_names` are those that are written otherwise there.
    """

    parameters: tuple[Parameter, ...]
    json_names: frozenset[str] = frozenset()
    text_names: frozenset[str] = frozenset()
    whole: bool = False
    real_names: Mapping[str, str] = field(default_factory=dict)

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
        others = dict(values.pop(WHOLE, None) or {}) if self.whole else {}
        return others | {
            self.real_names.get(name, name): _decoded(name, value, is_text=name in self.text_names)
            if name in self.json_names
            else value
            for name, value in values.items()
        }


def flattened(schema: Any) -> Arguments:
    """The arguments of a tool by its schema, whatever that is."""
    root = schema if isinstance(schema, Mapping) else {}
    properties = root.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    listed = root.get("required")
    required = [n for n in listed if isinstance(n, str)] if isinstance(listed, list) else []
    names = {_fit_name(name): name for name in properties if isinstance(name, str)}
    is_open = _takes_others(root)
    if (
        len(names) > MAX_PROPERTIES
        or len({plain(name) for name in names} - {""}) < len(properties)
        or not {*required} <= {*names.values()}
        or (is_open and any(plain(name) == WHOLE for name in names))
    ):
        return _whole(required)
    room = MAX_TEXT_CHARS
    parameters, with_json, with_text = [], set(), set()
    for name, real in names.items():
        kind, meta, takes_json = _kind(properties[real], root)
        text = _description(properties[real], root)[:room]
        room -= len(text)
        about = Param(f"JSON: {text}" if takes_json and text else "JSON." if takes_json else text)
        parameters.append(Parameter(name, kind, meta.narrowed(about), real in required, None))
        if takes_json:
            with_json.add(name)
            if _takes_text(properties[real], root):
                with_text.add(name)
    ordered = sorted(parameters, key=lambda parameter: not parameter.required)
    if is_open:
        unlisted = Param("Arguments that it does not name.", unlisted=True)
        ordered.append(_object_parameter(unlisted, required=False))
    others = {name: real for name, real in names.items() if name != real}
    return Arguments(tuple(ordered), frozenset(with_json), frozenset(with_text), is_open, others)


def _fit_name(name: str) -> str:
    """The name of a property as schemas of tools can have it."""
    if NAME.fullmatch(name) and name not in RESERVED:
        return name
    fit = UNFIT.sub("_", name)[: MAX_NAME - 1]
    return fit if NAME.fullmatch(fit) and fit not in RESERVED else f"_{fit}"


def _takes_others(root: Mapping[str, Any]) -> bool:
    """Whether it says that it takes arguments that it does not name.

    By the standard each object does that is not closed. Only one that says so, or that names
    nothing at all, is meant so: in the others an unknown name is a slip of the pen.
    """
    others = root.get("additionalProperties", "properties" not in root)
    return others is True or (isinstance(others, Mapping) and bool(others))


def one_line(text: Any, limit: int) -> str:
    """Text of another server: cleaned, in one line, no longer than that."""
    return with_ellipsis(" ".join(clean(str(text)[: limit * 4]).text.split()), limit)


def _whole(required: Sequence[str]) -> Arguments:
    needed = one_line(f", with {', '.join(required)}" if required else "", MAX_DESCRIPTION_CHARS)
    about = Param(
        f"JSON object of its arguments{needed}; tool_help shows them.",
        check=partial(_with_all, tuple(required)),
    )
    return Arguments((_object_parameter(about, required=bool(required)),), whole=True)


def _object_parameter(about: Param, *, required: bool) -> Parameter:
    meta = Param(kind="json", json_type="string").narrowed(about)
    return Parameter(WHOLE, dict[str, Any], meta, required, None)


def _with_all(required: Sequence[str], value: dict[str, Any], ctx: Any) -> dict[str, Any]:
    """Arguments that have all that their tool needs.

    Raises:
        BadInput: naming what is missing.
    """
    del ctx
    missing = [name for name in required if name not in value]
    if missing:
        raise BadInput(f"These arguments are missing: {one_line(', '.join(missing), 200)}.")
    return value


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
