"""Names inside of f-strings: before Python 3.12 the parser does not say where they stand."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator

_QUOTES = ('"""', "'''", '"', "'")


def relocate(tree: ast.AST, text: str) -> None:
    """Give the expressions in f-strings their true places. Nothing to do from 3.12 on."""
    if sys.version_info >= (3, 12):
        return
    found = [n for n in ast.walk(tree) if isinstance(n, ast.JoinedStr)]
    if not found:
        return
    lines = text.split("\n")
    pieces = list(_strings(text))
    # An outer f-string is made anew with those inside of it.
    inner = {id(part) for n in found for part in ast.walk(n) if part is not n}
    for node in found:
        if id(node) in inner:
            continue
        end_line, end_offset = node.end_lineno or 0, node.end_col_offset or 0
        start = (node.lineno, _chars(lines, node.lineno, node.col_offset))
        end = (end_line, _chars(lines, end_line, end_offset))
        values: list[ast.expr] = []
        for string, at in pieces:
            if start <= at < end:
                values += _values(string, at, lines)
        node.values = values


def _chars(lines: list[str], line: int, offset: int) -> int:
    text = lines[line - 1]
    return offset if text.isascii() else len(text.encode()[:offset].decode("utf-8", "ignore"))


def _strings(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING:
            yield token.string, token.start


def _values(string: str, at: tuple[int, int], lines: list[str]) -> list[ast.expr]:
    """The expressions of one string literal, each in a node of its own."""
    body = string.lstrip("rRfFbBuU")
    prefix = string[: len(string) - len(body)].lower()
    if "f" not in prefix:
        return []
    quote = next(q for q in _QUOTES if body.startswith(q))
    first = len(prefix) + len(quote)
    inside = string[first : len(string) - len(quote)]
    return _fields(inside, _moved(at, string[:first]), lines)


def _moved(at: tuple[int, int], passed: str) -> tuple[int, int]:
    rows = passed.count("\n")
    if not rows:
        return at[0], at[1] + len(passed)
    return at[0] + rows, len(passed) - passed.rindex("\n") - 1


def _fields(
    text: str, at: tuple[int, int], lines: list[str], *, spec: bool = False
) -> list[ast.expr]:
    found: list[ast.expr] = []
    index = 0
    while index < len(text):
        char = text[index]
        if char in "{}" and text[index : index + 2] == char * 2 and not spec:
            index += 2
        elif char == "{":
            stop = _end(text, index + 1)
            place = _moved(at, text[: index + 1])
            value = _expression(text[index + 1 : stop], place, lines)
            close, nested = _rest(text, stop, at, lines)
            found.append(
                ast.FormattedValue(value=value, conversion=-1, format_spec=_joined(nested))
            )
            ast.copy_location(found[-1], value)
            if found[-1].format_spec is not None:  # type: ignore[attr-defined]
                ast.copy_location(found[-1].format_spec, value)  # type: ignore[attr-defined]
            index = close + 1
        else:
            index += 1
    return found


def _joined(values: list[ast.expr]) -> ast.JoinedStr | None:
    return ast.JoinedStr(values=values) if values else None


def _end(text: str, index: int) -> int:
    """Where the expression of a field ends: at `!r`, `:`, `=` or the brace."""
    depth, quote = 0, ""
    while index < len(text):
        char = text[index]
        if quote:
            if text.startswith(quote, index):
                index += len(quote) - 1
                quote = ""
        elif char in "'\"":
            quote = char * 3 if text.startswith(char * 3, index) else char
            index += len(quote) - 1
        elif char in "([{":
            depth += 1
        elif depth and char in ")]}":
            depth -= 1
        elif not depth and _ends(text, index):
            return index
        index += 1
    return len(text)


def _ends(text: str, index: int) -> bool:
    char, after = text[index], text[index + 1 : index + 2]
    if char in "}:":
        return True
    if char == "!":
        return after != "="
    before = text[index - 1 : index]
    return char == "=" and after != "=" and before not in ("=", "!", "<", ">")


def _rest(
    text: str, index: int, at: tuple[int, int], lines: list[str]
) -> tuple[int, list[ast.expr]]:
    """The closing brace behind an expression, and the expressions in its format."""
    colon = index
    while colon < len(text) and text[colon] not in ":}":
        colon += 1
    if colon >= len(text) or text[colon] == "}":
        return colon, []
    depth, close = 0, colon + 1
    while close < len(text) and (depth or text[close] != "}"):
        depth += (text[close] == "{") - (text[close] == "}")
        close += 1
    spec = text[colon + 1 : close]
    return close, _fields(spec, _moved(at, text[: colon + 1]), lines, spec=True)


def _expression(source: str, at: tuple[int, int], lines: list[str]) -> ast.expr:
    line, column = at
    # The parenthesis at the very start lets everything else stand where it stands.
    offset = len(lines[line - 1][:column].encode())
    lead = "\n" * (line - 1) + " " * (offset - (line == 1))
    padded = f"({lead}{source}\n)"
    value = ast.parse(padded, mode="eval")
    relocate(value, padded)
    return value.body
