"""Arguments as nested elements whose every tag has a mark before it (MiniMax M3)."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.toolcalls.offers import OBJECT, Schema, kinds_of
from toolcrib.toolcalls.values import typed

TAG = re.compile(r"<(/?)([\w.\-]+)>")
DEEPEST = 100
Child = tuple[str, Any]


def arguments_of(span: str, mark: str, schema: Schema) -> dict[str, Any] | None:
    """The arguments of the text within a call, or None where its tags do not fit together."""
    root: list[Child] = []
    stack: list[tuple[str, list[Child], str, Any]] = [("", root, "", schema)]
    for piece in span.split(mark)[1:]:
        tag = TAG.match(piece)
        if tag is None or len(stack) > DEEPEST:
            return None
        if not tag[1]:
            stack.append((tag[2], [], piece[tag.end() :], _within(stack[-1][3], tag[2])))
            continue
        name, children, text, own = stack.pop()
        if name != tag[2] or not stack:
            return None
        kinds = kinds_of(own, schema)
        unknown = "string" if len(stack) == 1 else "json"
        value = _nested(children, kinds) if children else typed(text, kinds, unknown=unknown)
        stack[-1][1].append((name, value))
    return dict(root) if len(stack) == 1 else None


def _within(schema: Any, name: str) -> Any:
    if not isinstance(schema, OBJECT):
        return None
    known = schema.get("properties")
    if isinstance(known, OBJECT) and name in known:
        return known[name]
    return schema.get("items") if name == "item" else None


def _nested(children: list[Child], kinds: frozenset[str]) -> Any:
    if "object" not in kinds and all(name == "item" for name, _ in children):
        return [value for _, value in children]
    return dict(children)
