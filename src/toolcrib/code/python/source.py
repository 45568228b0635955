"""A parsed Python file, with the place of each name in characters."""

from __future__ import annotations

import ast
import io
import keyword
import re
import sys
import tokenize
import warnings
from collections.abc import Iterator
from functools import cached_property

from toolcrib.code.languages import characters
from toolcrib.code.places import NameToken
from toolcrib.core.errors import UnsupportedContent

Function = ast.FunctionDef | ast.AsyncFunctionDef


def last_name(node: ast.AST | None) -> str:
    """The last name of `a.b.C`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def first_line(node: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def decorator_names(node: ast.AST) -> set[str]:
    """The last names of the decorators of a function or a class."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return {last_name(d.func if isinstance(d, ast.Call) else d) for d in decorators}


# Names inside of f-strings: before Python 3.12 the parser does not say where they stand

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
        start = (node.lineno, characters(lines[node.lineno - 1], node.col_offset))
        end = (end_line, characters(lines[end_line - 1], end_offset))
        values: list[ast.expr] = []
        for string, at in pieces:
            if start <= at < end:
                values += _values(string, at, lines)
        node.values = values


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
            spec_node = ast.copy_location(ast.JoinedStr(nested), value) if nested else None
            made = ast.FormattedValue(value=value, conversion=-1, format_spec=spec_node)
            found.append(ast.copy_location(made, value))
            index = close + 1
        else:
            index += 1
    return found


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


Ending = ast.alias | ast.expr | ast.pattern
"""Nodes at whose end a name can stand."""
_REPAIR_HINT = "Mend the file first, or leave it out."


class PythonSource:
    """A file and its tree.

    Attributes:
        path: as the project names the file.
        text: line ends are line feeds.
        lines: without their ends.
        tree: its syntax tree; names in f-strings stand where they are in the text.
    """

    def __init__(self, path: str, text: str) -> None:
        """Parse a text.

        Raises:
            UnsupportedContent: it is not valid Python for this interpreter.
        """
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        self.tree = _parsed(path, text)
        relocate(self.tree, text)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        """All tokens of the text."""
        try:
            return list(tokenize.generate_tokens(io.StringIO(self.text).readline))
        except (tokenize.TokenError, SyntaxError, IndentationError):
            return []

    def column(self, line: int, offset: int) -> int:
        """The column in characters of a column in bytes."""
        return characters(self.lines[line - 1], offset)

    def _position(self, line: int, offset: int) -> int:
        return self.starts[line - 1] + self.column(line, offset)

    def start(self, node: ast.AST) -> int:
        """Where a node begins in the text, its decorators not counted."""
        return self._position(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        """Where a node ends in the text."""
        return self._position(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def segment(self, node: ast.AST) -> str:
        """The text of a node."""
        return self.text[self.start(node) : self.end(node)]

    def token(self, line: int, column: int, length: int) -> NameToken:
        """The token of some characters of a line."""
        start = self.starts[line - 1] + column
        return NameToken(start, start + length, line, column)

    def token_at(self, line: int, offset: int, name: str) -> NameToken:
        """The token of a name that begins at a column in bytes."""
        return self.token(line, self.column(line, offset), len(name))

    def token_before(self, node: Ending, name: str) -> NameToken:
        """The token of a name that a node ends with."""
        line, offset = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.token(line, self.column(line, offset) - len(name), len(name))

    def token_after(self, line: int, offset: int, name: str, marks: str = "") -> NameToken:
        """The first token of a name behind a column in bytes.

        Args:
            line: where to look first.
            offset: from which column.
            name: the name.
            marks: what must stand right before it: "as", "**", "," and the like, each a token.
        """
        column = self.column(line, offset)
        before = ""
        for token in self.tokens:
            if token.start < (line, column) or token.type in _BLANK:
                continue
            is_name = token.string == name and token.type == tokenize.NAME
            if is_name and (not marks or before in marks.split()):
                return self.token(*token.start, len(name))
            before = token.string
        return self.token(line, column, 0)

    def definition_token(self, node: ast.AST, name: str) -> NameToken:
        """The token of the name of a function or a class."""
        line: int = node.lineno  # type: ignore[attr-defined]
        offset: int = node.col_offset  # type: ignore[attr-defined]
        column = self.column(line, offset)
        match = _HEAD.match(self.lines[line - 1], column)
        if match is not None and match[1] == name:
            return self.token(line, match.start(1), len(name))
        return self.token_after(line, offset, name, "def class")

    def written(self, token: NameToken) -> str:
        """What stands at a place of its line."""
        return self.lines[token.line - 1][token.column : token.end_column]


_HEAD = re.compile(r"(?:(?:async[ \t]+)?def|class)[ \t]+([^\W\d]\w*)")
_BLANK = (tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def is_name(text: str) -> bool:
    """Whether a text can be the name of something of one's own."""
    return text.isidentifier() and not keyword.iskeyword(text)


_NEWER = (
    (re.compile(r"\s*type\s+\w+\s*(?:\[.*)?="), (3, 12), "a type statement needs"),
    (re.compile(r"\s*type\s+\w+\s*\["), (3, 12), "a type statement needs"),
    (re.compile(r"\s*(?:async\s+)?(?:def|class)\s+\w+\s*\["), (3, 12), "type parameters need"),
    (re.compile(r".*(?<!\w)(?:[rR]?[tT]|[tT][rR])['\"]"), (3, 14), "a t-string needs"),
)
_FORMATTED = re.compile(r"(?<!\w)(?:[rR]?[fF]|[fF][rR])['\"]")


def _newer(text: str, error: SyntaxError) -> str:
    """The syntax of a newer Python that an error may come from; "" for none."""
    number = error.lineno or 1
    lines = text.split("\n")
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    for pattern, version, what in _NEWER:
        if sys.version_info < version and pattern.match(line):
            return f"{what} Python {version[0]}.{version[1]}"
    formatted = "f-string" in (error.msg or "") or _FORMATTED.search(line) is not None
    if sys.version_info < (3, 12) and formatted:
        return "not valid Python before 3.12: in an f-string, or near one"
    return ""


def _parsed(path: str, text: str) -> ast.Module:
    if "\r" in text or "\f" in text:
        raise UnsupportedContent(f"{path}: its lines end in an unusual way.", hint=_REPAIR_HINT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, type_comments=False)
    except SyntaxError as error:
        newer = _newer(text, error)
        if newer:
            running = f"{sys.version_info.major}.{sys.version_info.minor}"
            raise UnsupportedContent(
                f"{path}:{error.lineno or 1}: {newer}, and toolcrib runs on Python {running}.",
                hint="Run toolcrib on that Python, or leave the file out.",
            ) from None
        raise UnsupportedContent(
            f"{path}:{error.lineno or 1}: not valid Python: {error.msg}.", hint=_REPAIR_HINT
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnsupportedContent(
            f"{path}: it cannot be parsed: {type(error).__name__}.", hint=_REPAIR_HINT
        ) from None


def is_valid(path: str, text: str) -> bool:
    """Whether a text is Python that this interpreter accepts."""
    try:
        _parsed(path, text)
    except UnsupportedContent:
        return False
    return True
