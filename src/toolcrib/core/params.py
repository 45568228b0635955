"""Annotated types: what a parameter means, said once and checked everywhere.

A tool writes `limit: Count` or narrows one: `limit: Annotated[Count, Param("Results.",
maximum=50)]`. From the annotation come the JSON Schema, the check at run time, the
command-line flag and the docs. Types with a mechanic behind them (`WorkspacePath`,
`PublicUrl`) live with it in its room and bring a `check`.

Schemas stay flat and grammar-safe: one `type` a node, no pattern, format, union or
length. Limits are checked here instead, since one rich schema breaks every tool of
a request in hosts that turn schemas into grammars.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Check = Callable[[Any, Any], Awaitable[Any] | Any]


@dataclass(frozen=True, slots=True)
class Param:
    """What an annotation says about a value, beside its type.

    `kind` marks values that policy looks at as the target of a call; "json" is an
    object or JSON text that holds one, "any" is text or any JSON value as it came. `check`
    takes the value and the `Ctx` and returns what the tool is given.
    `json_type` is the schema type where the Python type is not a JSON one. `aliases` are other
    names of a field of a record; those of a parameter stand on the declaration of its tool.
    """

    description: str = ""
    minimum: float | None = None
    maximum: float | None = None
    kind: Literal["", "path", "url", "json", "any"] = ""
    check: Check | None = None
    json_type: Literal["", "string"] = ""
    aliases: tuple[str, ...] = ()

    @property
    def range(self) -> str:
        """The limits in words: `1 to 50`, `0 or more`, `up to 9`; empty without any."""
        low, high = self.minimum, self.maximum
        if low is None:
            return "" if high is None else f"up to {high:g}"
        return f"{low:g} or more" if high is None else f"{low:g} to {high:g}"

    def narrowed(self, other: Param) -> Param:
        """This one, with all that `other` states put over it."""
        stated = {
            f.name: value
            for f in fields(other)
            if (value := getattr(other, f.name)) not in ("", None, ())
        }
        return replace(self, **stated)


Count: TypeAlias = Annotated[int, Param("How many.", minimum=1)]
Offset: TypeAlias = Annotated[int, Param("Where to start, from 0.", minimum=0)]
Line: TypeAlias = Annotated[int, Param("Line number, from 1; negative counts from the end.")]
Seconds: TypeAlias = Annotated[float, Param("Seconds.", minimum=0)]
Tokens: TypeAlias = Annotated[int, Param(minimum=50)]
JsonObject: TypeAlias = Annotated[
    dict[str, Any], Param("JSON object.", kind="json", json_type="string")
]
AnyJson: TypeAlias = Annotated[Any, Param("Text or JSON.", kind="any", json_type="string")]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool, resolved from its annotation."""

    name: str
    type: Any
    meta: Param
    required: bool
    default: Any

    @property
    def item(self) -> Parameter:
        """The elements of a list parameter."""
        inner, meta = _element(self.type)
        return Parameter(self.name, inner, meta, required=True, default=None)

    @property
    def is_list(self) -> bool:
        """Whether the value is a list."""
        return get_origin(self.type) is list

    @property
    def kind(self) -> str:
        """`path`, `url`, `json` or nothing; a list has the kind of its elements."""
        return self.item.meta.kind if self.is_list else self.meta.kind

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of all values in it, also of those in the fields of records."""
        if self.is_list:
            return self.item.kinds
        if is_typeddict(self.type):
            return frozenset().union(*(field.kinds for field in record_fields(self.type)))
        return frozenset({self.meta.kind} - {""})

    def of_kind(self, kind: str, value: Any) -> Iterator[Any]:
        """The values of one kind in an argument for this parameter, wherever they stand in it."""
        if value is None or value == "":
            return
        if self.is_list:
            for item in value:
                yield from self.item.of_kind(kind, item)
        elif is_typeddict(self.type):
            for field in record_fields(self.type):
                yield from field.of_kind(kind, value.get(field.name))
        elif self.meta.kind == kind:
            yield value


@cache
def _element(annotation: Any) -> tuple[Any, Param]:
    return unwrap(get_args(annotation)[0])


def unwrap(annotation: Any) -> tuple[Any, Param]:
    """The bare type of an annotation, and all its `Param` marks folded into one."""
    meta = Param()
    if get_origin(annotation) is Annotated:
        annotation, *marks = get_args(annotation)
        for mark in marks:
            if isinstance(mark, Param):
                meta = meta.narrowed(mark)
    arguments = [a for a in get_args(annotation) if a is not type(None)]
    if len(arguments) == 1 and type(None) in get_args(annotation):
        inner, inner_meta = unwrap(arguments[0])
        return inner, inner_meta.narrowed(meta)
    return annotation, meta


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The parameters a caller may give, in the order of the signature."""
    hints = get_type_hints(function, include_extras=True)
    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "ctx":
            continue
        if parameter.name not in hints:
            raise TypeError(f"{function.__name__}: parameter {parameter.name} has no type")
        kind, meta = unwrap(hints[parameter.name])
        required = parameter.default is inspect.Parameter.empty
        default = None if required else parameter.default
        found.append(Parameter(parameter.name, kind, meta, required, default))
    return tuple(found)


_JSON_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {p.name: _node(p) for p in parameters},
    }
    required = [p.name for p in parameters if p.required]
    if required:
        schema["required"] = required
    return schema


def _node(parameter: Parameter) -> dict[str, Any]:
    kind, meta = parameter.type, parameter.meta
    node: dict[str, Any]
    if meta.json_type:
        node = {"type": meta.json_type}
    elif kind in _JSON_NAMES:
        node = {"type": _JSON_NAMES[kind]}
    elif get_origin(kind) is Literal:
        node = {"type": "string", "enum": list(get_args(kind))}
    elif parameter.is_list:
        item = _node(parameter.item)
        description = item.pop("description", "")
        node = {"type": "array", "items": item}
        if description and not meta.description:
            node["description"] = description
    elif is_typeddict(kind):
        node = _record(kind)
    else:
        raise TypeError(f"parameter {parameter.name}: {kind!r} has no JSON form")
    if meta.description:
        node["description"] = meta.description
    return node


def record_fields(kind: Any) -> tuple[Parameter, ...]:
    """The fields of a TypedDict as parameters."""
    hints: Mapping[str, Any] = get_type_hints(kind, include_extras=True)
    found = []
    for name, hint in hints.items():
        inner, meta = unwrap(hint)
        found.append(Parameter(name, inner, meta, name in kind.__required_keys__, None))
    return tuple(found)


def _record(kind: Any) -> dict[str, Any]:
    return schema_of(record_fields(kind))
