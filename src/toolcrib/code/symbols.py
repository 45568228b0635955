"""What source files define: functions, classes and types of a file, and their lookup by name."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import accumulate, islice
from typing import Any, Final

from toolcrib.code.languages import characters, language_of, parse
from toolcrib.code.project import Project
from toolcrib.core.errors import MissingExtra, ToolError, install_line
from toolcrib.core.package_data import package_table
from toolcrib.text.display import with_ellipsis

MAX_HEAD_CHARS = 160
"""Characters of a head."""

_FUNCTION = "function"
_TABLE = package_table("code/symbols.toml")
_KINDS: Final[dict[str, dict[str, str]]] = {
    language: {node: kind for kind, nodes in table.items() for node in nodes.split()}
    for language, table in _TABLE["kinds"].items()
}
_KINDS["tsx"] = _KINDS["typescript"]
CALLABLE = ("arrow_function", "function_expression", "function", "generator_function", "class")
HOLDERS = frozenset(["class", "interface", "struct", "trait", "impl", "enum"])
HOLDERS_OF_SMALL = HOLDERS | {"module", "type"}
SMALL_KINDS = frozenset(["variable", "constant", "field"])
_NAMES = frozenset(
    ["identifier", "type_identifier", "simple_identifier", "field_identifier", "word", "name"]
)
_DECLARATORS = frozenset(
    ["function_definition", "declaration", "field_declaration", "type_definition"]
)
_VARIABLE_DECLARATIONS = ("declaration", "field_declaration")
_PLACES: Final[dict[str, dict[str, str]]] = _TABLE["places"]
_NESTED_NAMES = frozenset(["variable_declaration", "pattern", "variable_name"])
_LOCAL_PLACES = ("compound_statement", "for_statement", "if_statement", "condition_clause")
_RECEIVER = re.compile(r"([\w.]+)\s*(?:\[.*\])?\s*\)\Z", re.DOTALL)
_UNNAMED = {"init_declaration": "init", "companion_object": "companion"}
_NEED_BODY = frozenset(["struct_specifier", "union_specifier", "enum_specifier", "class_specifier"])


@dataclass(slots=True)
class Symbol:
    """Something that is defined.

    Attributes:
        kind: "function", "method", "class", "interface", "struct", "enum", "trait", "impl",
            "type", "module", "macro", "field", "variable", "constant".
        line: of its name, from 1.
        end: the last line.
        level: how many of the symbols of the file hold it.
        holder: the names of those, with dots.
        head: its text up to the body, in one line.
    """

    name: str
    kind: str
    line: int
    end: int
    level: int
    holder: str
    head: str


def symbols(text: str, language: str) -> list[Symbol]:
    """What a text defines, in its order; local variables are left out.

    Raises:
        MissingExtra: ast-grep is not installed, and the text is not valid Python.
    """
    try:
        root = parse(text, language)
    except MissingExtra:
        own = python_symbols(text) if language == "python" else None
        if own is None:
            raise
        return own
    kinds = _KINDS[language]
    found: list[Symbol] = []
    open_: list[tuple[int, Symbol]] = []
    for node in root.find_all(any=[{"kind": kind} for kind in kinds]):
        node_kind = node.kind()
        named = _named(node, node_kind, language)
        if named is None:
            continue
        span, (name_node, name) = node.range(), named
        first, end = span.start.index, span.end.index
        while open_ and first >= open_[-1][0]:
            open_.pop()
        above = open_[-1][1] if open_ else None
        kind = _kind(node, kinds[node_kind], above)
        if kind in SMALL_KINDS and above is not None and above.kind not in HOLDERS_OF_SMALL:
            continue
        start = first if language == "python" else _start(node, first, span.start.line)
        symbol = Symbol(
            name,
            kind,
            name_node.range().start.line + 1,
            span.end.line + 1,
            above.level + 1 if above else 0,
            f"{above.holder}.{above.name}".lstrip(".") if above else _receiver(node),
            _head(node, text, start, end),
        )
        found.append(symbol)
        if kind not in SMALL_KINDS:
            open_.append((end, symbol))
    return found


def first_error(text: str, language: str) -> int:
    """The first line that a parser did not understand; 0 where it did all of them.

    Raises:
        MissingExtra: ast-grep is not installed.
    """
    error = parse(text, language).find(kind="ERROR")
    return error.range().start.line + 1 if error is not None else 0


def in_outline(symbol: Symbol) -> bool:
    """Whether a symbol is worth a line in an outline."""
    return symbol.kind not in SMALL_KINDS


def _receiver(node: Any) -> str:
    """The type that a method of Go is of, which does not stand around it; "" for all else."""
    receiver = node.field("receiver") if node.kind() == "method_declaration" else None
    found = _RECEIVER.search(receiver.text()) if receiver is not None else None
    return found[1] if found else ""


def _kind(node: Any, kind: str, above: Symbol | None) -> str:
    if kind == "field" and node.kind() == "field_declaration" and _declares_function(node):
        return "method"
    if node.kind() == "declaration" and not _declares_function(node):
        return "variable"
    if kind in ("variable", "field"):
        value = node.field("value")
        if value is not None and value.kind() in CALLABLE and node.kind() != "assignment":
            if value.kind() == "class":
                return "class"
            return "method" if kind == "field" else _FUNCTION
    if kind == _FUNCTION and above is not None and above.kind in HOLDERS:
        return "method"
    return kind


def _named(node: Any, kind: str, language: str) -> tuple[Any, str] | None:
    """The node of the name, and the name; None for what is no definition after all."""
    if kind == "assignment":
        return _assigned(node) if language == "python" else _constant(node)
    if not _is_in_place(node, kind, language):
        return None
    if language in ("c", "cpp") and kind in _DECLARATORS:
        return _declared(node, kind)
    if kind in _NEED_BODY and node.field("body") is None:
        return None
    if kind in _UNNAMED:
        return node, _UNNAMED[kind]
    name = node.field("type" if kind == "impl_item" else "name")
    if name is None:
        nested = [c for c in node.children() if c.kind() in _NESTED_NAMES]
        inside = (child for holder in (*nested, node) for child in holder.children())
        name = next((child for child in inside if child.kind() in _NAMES), None)
    if name is None or name.kind() in ("object_pattern", "array_pattern"):
        return None
    if kind == "variable_declarator" and language not in _PLACES and not _is_top(node):
        value = node.field("value")
        if value is None or value.kind() not in CALLABLE:
            return None
    return name, " ".join(name.text().split())


def _assigned(node: Any) -> tuple[Any, str] | None:
    """The name that a module or a class of Python sets."""
    name, around = node.field("left"), node.parent().parent()
    if name is None or name.kind() != "identifier" or around is None:
        return None
    holder = around.parent() if around.kind() == "block" else None
    if around.kind() != "module" and (holder is None or holder.kind() != "class_definition"):
        return None
    return name, name.text()


def _constant(node: Any) -> tuple[Any, str] | None:
    """The name that Ruby sets for good."""
    name = node.field("left")
    return (name, name.text()) if name is not None and name.kind() == "constant" else None


def _is_in_place(node: Any, kind: str, language: str) -> bool:
    """Whether a variable is one of a file or a type, as far as the kinds around it say that."""
    places = _PLACES.get(language, {}).get(kind)
    if places is None:
        return True
    above = node.parent()
    far = above.parent() if above is not None and language == "csharp" else None
    return any(each is not None and each.kind() in places.split() for each in (above, far))


def _is_top(node: Any) -> bool:
    around = node.parent().parent()
    return around is None or around.kind() in ("program", "export_statement")


def _declared(node: Any, kind: str) -> tuple[Any, str] | None:
    """The name inside the declarators of C, the first one of several variables."""
    *_, inner = [None, *_declarators(node)]
    if inner is None:
        return None
    if kind in _VARIABLE_DECLARATIONS and not _declares_function(node):
        around = node.parent()
        is_local = around is not None and around.kind() in _LOCAL_PLACES
        if is_local or inner.kind() not in (*_NAMES, "qualified_identifier"):
            return None
    return inner, inner.text()


def _declarators(node: Any) -> Iterator[Any]:
    """The declarators of C in each other, the name last."""
    inner = node.field("declarator")
    while inner is not None:
        yield inner
        deeper = inner.field("declarator")
        if deeper is None and inner.kind() in ("reference_declarator", "parenthesized_declarator"):
            deeper = next((c for c in inner.children() if c.is_named()), None)
        inner = deeper


def _declares_function(node: Any) -> bool:
    return any(each.kind() == "function_declarator" for each in _declarators(node))


def _start(node: Any, start: int, line: int) -> int:
    """Where the head starts: behind decorators and annotations, with `export` and `const`."""
    for child in node.children():
        kind = child.kind()
        if kind in ("decorator", "attribute_list") or (
            kind == "modifiers" and "\n" in child.text()
        ):
            start = child.range().end.index
    around = node.parent()
    while around is not None and around.kind() in (
        "export_statement",
        "lexical_declaration",
        "variable_declaration",
        "ambient_declaration",
        "const_declaration",
        "constant_declaration",
        "event_field_declaration",
        "field_declaration",
        "property_declaration",
        "type_declaration",
        "template_declaration",
    ):
        before = around.range().start
        if before.line != line:
            break
        if not any(child.kind() == "decorator" for child in around.children()):
            start = before.index
        around = around.parent()
    return int(start)


def _head(node: Any, text: str, start: int, end: int) -> str:
    body = node.field("body")
    if body is None:
        value = node.field("value")
        if value is not None and value.kind() in CALLABLE:
            body = value.field("body")
        if body is None:
            body = next((c for c in node.children() if c.kind().endswith("_body")), None)
    if body is not None:
        at = body.range().start.index
        end = at if at > start else end
    # What stands far from the start is not shown, and not looked at.
    piece = text[start : min(end, start + 4 * MAX_HEAD_CHARS)]
    return _shortened(piece if body is not None else piece.split("\n", 1)[0])


def _shortened(piece: str) -> str:
    head = " ".join(piece.split()).rstrip("{:=; ")
    head = head.removesuffix("=>").rstrip()
    return with_ellipsis(head, MAX_HEAD_CHARS)


# Python without ast-grep

_KEYWORDS = re.compile(r"(?:async(?:\s|\\\n)+)?(?:def|class)(?:\s|\\\n)+")


def python_symbols(text: str) -> list[Symbol] | None:
    """The same for Python by the interpreter's own parser; None for what it does not accept."""
    if "\r" in text:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _PythonOutline(text).of(tree)


class _PythonOutline:
    """A walk over the statements of a file."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._lines), initial=0))

    def of(self, tree: ast.Module) -> list[Symbol]:
        """All symbols, in the order of the text."""
        found: list[Symbol] = []
        left: list[tuple[ast.AST, ast.AST, Symbol | None]] = []
        left += ((node, tree, None) for node in reversed(tree.body))
        while left:
            node, parent, above = left.pop()
            inner = above
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = self._definition(node, above)
                found.append(inner)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                if isinstance(parent, ast.Module | ast.ClassDef):
                    found += self._assigned(node, above)
                continue
            statements = [c for c in ast.iter_child_nodes(node) if isinstance(c, _STATEMENTS)]
            left += ((child, node, inner) for child in reversed(statements))
        return found

    def _definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, above: Symbol | None
    ) -> Symbol:
        kind = _FUNCTION
        if isinstance(node, ast.ClassDef):
            kind = "class"
        elif above is not None and above.kind in HOLDERS:
            kind = "method"
        start, body = self._at(node.lineno, node.col_offset), node.body[0]
        end = self._at(body.lineno, body.col_offset)
        decorators: list[ast.expr] = getattr(body, "decorator_list", [])
        if decorators:
            first = min(self._at(d.lineno, d.col_offset) for d in decorators)
            end = self._text.rindex("@", 0, first)
        keywords = _KEYWORDS.match(self._text, start)
        line = node.lineno + (keywords[0].count("\n") if keywords else 0)
        return self._symbol(node.name, kind, line, node, above, self._text[start:end])

    def _assigned(self, node: ast.Assign | ast.AnnAssign, above: Symbol | None) -> Iterator[Symbol]:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        place = (node.lineno, node.col_offset)
        # One in parentheses begins behind its statement.
        if isinstance(target, ast.Name) and (target.lineno, target.col_offset) == place:
            end = self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)
            head = self._text[self._at(*place) : end].split("\n", 1)[0]
            yield self._symbol(target.id, "variable", node.lineno, node, above, head)

    def _symbol(
        self, name: str, kind: str, line: int, node: ast.stmt, above: Symbol | None, head: str
    ) -> Symbol:
        return Symbol(
            name,
            kind,
            line,
            node.end_lineno or line,
            above.level + 1 if above else 0,
            f"{above.holder}.{above.name}".lstrip(".") if above else "",
            _shortened(head[: 4 * MAX_HEAD_CHARS]),
        )

    def _at(self, line: int, offset: int) -> int:
        return self._starts[line - 1] + characters(self._lines[line - 1], offset)


_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


# Lookup by name, over all files of a project; it blocks

MAX_LOOSE_FILES = 3_000
"""Files that are read for names that are only like the requested one."""
PYTHON_ONLY_NOTE = (
    f"Only Python was searched; for other languages: {install_line('toolcrib[code]')}"
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol and its file, as the project names it. `rank`: 0 is an exact match."""

    rank: int
    path: str
    symbol: Symbol


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case: of `parseHTTPHeader` and `parse_http_header` alike."""
    return [word.lower() for word in _WORD.findall(name)]


def find_definitions(
    project: Project, name: str, kind: str = "", under: str = ""
) -> tuple[list[Definition], str]:
    """Symbols of a name: exactly; else in any case; else with all words of it.

    Args:
        project: the files.
        name: may start with what holds it: `Class.method`.
        kind: only such symbols.
        under: only files whose path starts so.

    Returns:
        What was found, and a note on what was not searched.

    Raises:
        MissingExtra: nothing was found, and ast-grep, which some files need, is not installed.
    """
    lookup = _Lookup(project, kind, under)
    found = lookup.find(name)
    if lookup.missing is not None and not found:
        raise lookup.missing
    return found, PYTHON_ONLY_NOTE if lookup.missing is not None else ""


MAX_NEAR_NAMES = 5
MIN_NEARNESS = 0.75
MAX_LENGTH_DIFFERENCE = 4
_IDENTIFIER = re.compile(r"[^\W\d]\w{2,}")


def nearest_definitions(
    project: Project, name: str, kind: str = "", under: str = ""
) -> list[Definition]:
    """Symbols whose names are like one that nothing has, the most like first.

    Args:
        project: the files.
        name: as of `find_definitions`.
        kind: only such symbols.
        under: only files whose path starts so.
    """
    last = name.rpartition(".")[2].lower()
    lookup = _Lookup(project, kind, under)
    names: dict[str, str] = {}
    for word in lookup.words():
        if abs(len(word) - len(last)) <= MAX_LENGTH_DIFFERENCE:
            names.setdefault(word.lower(), word)
    found: list[Definition] = []
    for near in get_close_matches(last, names, 4 * MAX_NEAR_NAMES, MIN_NEARNESS):
        found += [one for one in lookup.find(names[near]) if one.rank == 0][:1]
        if len(found) == MAX_NEAR_NAMES:
            break
    return found


class _Lookup:
    """Attributes: `missing` is what a file needed that is not installed."""

    def __init__(self, project: Project, kind: str, under: str) -> None:
        self._project = project
        self._kind = kind
        self._under = under
        self.missing: MissingExtra | None = None

    def find(self, name: str) -> list[Definition]:
        """The definitions, the best first."""
        holder, _, last = name.rpartition(".")
        if not last:
            holder, last = "", name
        exact = [
            Definition(0, path, s)
            for path in self._paths(self._project.mentioning(last)[0])
            for s in self._symbols(path)
            if _own(s.name) in (last, f"#{last}", f"${last}") and _is_inside(s, holder)
        ]
        if exact:
            return _sorted(exact)
        words = words_of(last) or [last.lower()]
        loose: list[Definition] = []
        for path in islice(self._paths(self._project.paths), MAX_LOOSE_FILES):
            lower = self._text(path).lower()
            if all(word in lower for word in words):
                loose += _like(path, self._symbols(path), holder, last)
        return _sorted(loose)

    def words(self) -> Iterator[str]:
        """The names that stand in the files, once for each file at least."""
        for path in islice(self._paths(self._project.paths), MAX_LOOSE_FILES):
            yield from set(_IDENTIFIER.findall(self._text(path)))

    def _paths(self, paths: Iterable[str]) -> Iterator[str]:
        for path in paths:
            if language_of(path) and path.startswith(self._under):
                self._project.check()
                yield path

    def _text(self, path: str) -> str:
        try:
            return self._project.text(path)
        except ToolError:
            return ""

    def _symbols(self, path: str) -> list[Symbol]:
        try:
            found = symbols(self._project.parsable(path), language_of(path))
        except MissingExtra as error:
            self.missing = error
        except ToolError:
            pass
        else:
            return [s for s in found if _is_kind(s, self._kind)]
        return []


def _own(name: str) -> str:
    """The last part of a name like `ns::Class::method`, `a.b` or `Type[T]`."""
    return re.split(r"::|\.", name)[-1] if not name.startswith('"') else name


def _like(path: str, listed: list[Symbol], holder: str, last: str) -> list[Definition]:
    words, lower = words_of(last) or [last.lower()], last.lower()
    found: list[Definition] = []
    for s in listed:
        own = _own(s.name)
        if not _is_inside(s, holder):
            continue
        if own.lower().lstrip("_#$") == lower.lstrip("_#$"):
            found.append(Definition(1, path, s))
        elif words_of(own) == words:
            found.append(Definition(2, path, s))
        elif all(word in own.lower() for word in words):
            found.append(Definition(3 + (lower not in own.lower()), path, s))
    return found


def _is_inside(symbol: Symbol, holder: str) -> bool:
    own = symbol.holder
    for sign in ("::", "."):
        if sign in symbol.name:
            own = f"{own}.{symbol.name.rpartition(sign)[0].replace('::', '.')}".lstrip(".")
    wanted = holder.replace("::", ".")
    return not holder or own == wanted or own.endswith(f".{wanted}") or own.split("<")[0] == wanted


def _is_kind(symbol: Symbol, kind: str) -> bool:
    if not kind:
        return True
    if kind == "function":
        return symbol.kind in ("function", "method", "macro")
    if kind == "class":
        return symbol.kind in ("class", "struct", "trait", "impl", "interface", "enum")
    if kind == "type":
        return symbol.kind in ("type", "interface", "enum", "struct", "trait", "class")
    if kind == "variable":
        return symbol.kind in ("variable", "constant", "field")
    return symbol.kind == kind


def _sorted(found: list[Definition]) -> list[Definition]:
    if not found:
        return found
    best = min(d.rank for d in found)
    fitting = [d for d in found if best > 2 or d.rank <= 2]
    return sorted(fitting, key=lambda d: (d.rank, len(d.symbol.name), d.path, d.symbol.line))
