"""Calls written as Python: `[f(a=1), g(b='x')]`, read by Python's own parser."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any

from toolcrib.toolcalls.decoders.decoder import Answer, Item, Reading, cut
from toolcrib.toolcalls.growing_text import MarkSet, Wait
from toolcrib.toolcalls.tool_schemas import ToolSchemas
from toolcrib.toolcalls.values import RawCall, as_json

START = re.compile(r"[A-Za-z_][\w.\-]*\s*\(")
STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*+"|\'[^\'\\]*(?:\\.[^\'\\]*)*+\'', re.DOTALL)
TRIPLE = ('"""', "'''")
MAX_CODE_CHARS = 1_000_000
MAX_CALLS = 10_000
"""How many calls of a list that cannot be read at once are read one by one."""
WORDS = {"true": True, "false": False, "null": None, "none": None}
FAILURES = (SyntaxError, ValueError, MemoryError, RecursionError, TypeError)


def list_item(reading: Reading, at: int, closers: MarkSet) -> Wait[Answer]:
    """A list of calls, from its bracket on."""
    text = reading.text
    end = -1 if reading.is_exhausted else (yield from text.balanced(at))
    span = text.text[at:end] if end > 0 else ""
    calls = calls_of(span, reading.schemas) if span else None
    if calls is not None:
        return Item(end, list(calls))
    found: list[RawCall | None] = []
    here, was_cut = at + 1, False
    while len(found) < MAX_CALLS and not reading.is_exhausted:
        here = yield from text.skip_blank(here)
        if text.text[here : here + 1] == ",":
            here += 1
            continue
        start = START.match(text.text, here)
        if start is None:
            break
        bracket, start = start.end() - 1, None
        stop = yield from text.balanced(bracket)
        if stop < 0:
            was_cut = True
            break
        found.extend(calls_of(text.text[here:stop], reading.schemas) or [None])
        here = stop
    if end > 0:
        return Item(end, found if 0 < len(found) < MAX_CALLS else [*found, None])
    is_end = was_cut or here >= len(text.text)
    lost = yield from cut(reading, here - 1, closers)
    if not any(found):
        return lost
    return Item(lost.end, [*found, *([None] if was_cut else [] if is_end else [None, None])])


def call_item(reading: Reading, at: int, bracket: int, closers: MarkSet) -> Wait[Answer]:
    """One call without a list around it."""
    end = -1 if reading.is_exhausted else (yield from reading.text.balanced(bracket))
    if end < 0:
        return (yield from cut(reading, at, closers))
    found = calls_of(reading.text.text[at:end], reading.schemas)
    return Item(end, list(found or [None]))


def calls_of(code: str, schemas: ToolSchemas) -> list[RawCall | None] | None:
    """The calls of an expression, or None where it is anything else."""
    if len(code) > MAX_CODE_CHARS:
        return None
    for source in (code, _on_one_line(code)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # unknown escapes
                tree = ast.parse(source.strip(), mode="eval").body
            nodes = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
            return list[RawCall | None](_call(node, schemas) for node in nodes)
        except FAILURES:
            continue
    return None


def _on_one_line(code: str) -> str:
    """The code with the line breaks of its strings written as escapes."""
    if any(mark in code for mark in TRIPLE):
        return code
    return STRING.sub(lambda found: found[0].replace("\r", "\\r").replace("\n", "\\n"), code)


def _call(node: ast.expr, schemas: ToolSchemas) -> RawCall:
    before = ""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        before, node = f"{_dotted(node.left)}-{before}", node.right  # a name with dashes
    if not isinstance(node, ast.Call):
        raise TypeError("no call")
    name = before + _dotted(node.func).removesuffix(".call")
    arguments = dict(_positional(node.args, name, schemas))
    for keyword in node.keywords:
        if keyword.arg is None:
            given = _value(keyword.value)
            if not isinstance(given, dict):
                raise SyntaxError("no names for the arguments")
            arguments |= given
        else:
            arguments[keyword.arg] = _value(keyword.value)
    return RawCall(name, arguments)


def _positional(
    nodes: list[ast.expr], name: str, schemas: ToolSchemas
) -> Iterator[tuple[str, Any]]:
    if not nodes:
        return
    names = list(schemas.properties(schemas.canonical_name(name)))
    if len(nodes) > len(names):
        raise ValueError("arguments without a name")
    for key, node in zip(names, nodes, strict=False):
        yield key, _value(node)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):  # a name with dashes
        return f"{_dotted(node.left)}-{_dotted(node.right)}"
    raise ValueError("no name")


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Name) and node.id.lower() in WORDS:
        return WORDS[node.id.lower()]
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        if None in node.keys:
            raise ValueError("an unpacked value")
        pairs = zip(node.keys, node.values, strict=True)
        return as_json({ast.literal_eval(key): _value(item) for key, item in pairs if key})
    return as_json(ast.literal_eval(node))
