"""Arguments for any tool, from its declaration: one value of a kind put where it belongs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any, Literal, get_args, get_origin, is_typeddict

from toolcrib.core.tool import Parameter, Tool, record_fields

SAMPLES: dict[Any, Any] = {str: "x", int: 1, float: 1.0, bool: True}
MAX_FORMS = 24
PATCHES = (
    "*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+new\n*** End Patch",
    "*** Begin Patch\n*** Add File: {path}\n+new\n*** End Patch",
    "*** Begin Patch\n*** Delete File: {path}\n*** End Patch",
    "--- {path}\n+++ {path}\n@@ -1 +1 @@\n-{old}\n+new\n",
    "{path}\n<<<<<<< SEARCH\n{old}\n=======\nnew\n>>>>>>> REPLACE\n",
)
"""A path inside a text, for parameters that take patches; `old` is what stands there."""


def places(tool: Tool, kind: str) -> list[tuple[str, ...]]:
    """Where a tool takes values of a kind: names from the argument down to a field of a record."""
    return [method for parameter in tool.parameters for method in _ways(parameter, kind)]


def _ways(parameter: Parameter, kind: str) -> Iterator[tuple[str, ...]]:
    inner = parameter.item if parameter.is_list else parameter
    if is_typeddict(inner.type):
        for field in record_fields(inner.type):
            yield from ((parameter.name, *rest) for rest in _ways(field, kind))
    elif inner.meta.kind == kind:
        yield (parameter.name,)


def forms(tool: Tool, method: tuple[str, ...], value: str, old: str) -> Iterator[dict[str, Any]]:
    """Calls with a value at one place and something fitting for all that is required.

    Each choice of a required parameter is a form of its own.
    """
    values = [p.format(path=value, old=old) for p in PATCHES] if method[-1] == "patch" else [value]
    named = {p.name: p for p in tool.parameters}
    needed = [p for p in tool.parameters if p.required and p.name != method[0]]
    options = [_options(p) for p in needed]
    for text in values:
        for chosen in islice(product(*options), MAX_FORMS):
            given = dict(zip((p.name for p in needed), chosen, strict=True))
            yield {**given, method[0]: _put(named[method[0]], method, text)}


def _put(parameter: Parameter, method: tuple[str, ...], value: str) -> Any:
    inner = parameter.item if parameter.is_list else parameter
    put: Any = value
    if len(method) > 1:
        fields = {f.name: f for f in record_fields(inner.type)}
        put = {name: _options(f)[0] for name, f in fields.items() if f.required}
        put[method[1]] = _put(fields[method[1]], method[1:], value)
    return [put] if parameter.is_list else put


def _options(parameter: Parameter) -> list[Any]:
    if get_origin(parameter.type) is Literal:
        return list(get_args(parameter.type))
    inner = parameter.item if parameter.is_list else parameter
    if parameter.name == "patch":
        return [PATCHES[0].format(path="fine.txt", old="SECRET fine")]
    if is_typeddict(inner.type):
        fields = record_fields(inner.type)
        one: Any = {f.name: _options(f)[0] for f in fields if f.required}
    else:
        one = "fine.txt" if inner.meta.kind == "path" else SAMPLES.get(inner.type, "x")
    return [[one] if parameter.is_list else one]
