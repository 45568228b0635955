"""Where a program sees the text of a name, so that another name would show."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from toolcrib.code.places import Place, References
from toolcrib.code.python.bound_file import File, last_name
from toolcrib.code.python.classes import Class, binders
from toolcrib.code.python.program import Program, Symbol
from toolcrib.code.python.scopes import Occurrence

_SHOWN = re.compile(r"[^{}]*?(?<![=!<>])=\s*(?:[!:][^}]*)?\}")
_NAMES = ("__name__", "__qualname__")
_LISTED = ("__annotations__", "get_type_hints", "get_annotations", "inspect.signature")
_CALLERS = frozenset(["sort", "sorted", "map", "filter", "min", "max", "reduce", "groupby"])


def texts_seen(program: Program, found: References) -> Iterator[str]:
    """Where the name of something that was found is seen as text."""
    for path in sorted({place.path for place in found.certain}):
        file = program.file(path)
        places = [place for place in found.certain if place.path == path]
        yield from _shown(file, places)
        ends = {(place.line, place.end_column) for place in places}
        for attribute in (a for name in _NAMES for a in file.attributes(name)):
            value = attribute.value
            line = value.end_lineno or value.lineno
            if (line, file.source.column(line, value.end_col_offset or 0)) in ends:
                yield f"{file.at(attribute)}{found.name}.{attribute.attr} is its name as text."
    for place in found.possible:
        if place.kind == "text":
            line_text = program.file(place.path).source.lines[place.line - 1].lstrip()
            if line_text.startswith((">>> ", "... ")):
                yield f"{place.path}:{place.line}: a doctest uses it."


def _shown(file: File, places: Iterable[Place]) -> Iterator[str]:
    """`f"{name=}"`, which shows the name."""
    strings = [node for node in file.within if isinstance(node, ast.JoinedStr)]
    if not strings:
        return
    for place in places:
        after = file.source.lines[place.line - 1][place.end_column :]
        if not _SHOWN.match(after):
            continue
        if any(n.lineno <= place.line <= (n.end_lineno or n.lineno) for n in strings):
            yield f"{file.path}:{place.line}: an f-string shows the name itself."


def listed(program: Program, bound: Iterable[Occurrence]) -> Iterator[str]:
    """Where the names of what is annotated are listed."""
    if not any(occurrence.role == "annotate" for occurrence in bound):
        return
    for word in _LISTED:
        for file in program.mentioning(word)[0]:
            at = next(n for n, line in enumerate(file.source.lines, 1) if word in line)
            yield f"{file.path}:{at}: the names of what is annotated are listed."


def invented(program: Program, family: Iterable[Class], new: str) -> Iterator[str]:
    """Where a class makes up what it is asked for, and is asked for a new name."""
    for one in family:
        maker = next((m for m in ("__getattr__", "__getattribute__") if binders(one, m)), "")
        if not maker:
            continue
        for file in program.mentioning(new)[0]:
            for attribute in file.attributes(new):
                yield f"{file.at(attribute)}{new} may be what {maker} of {one.name} gives."


def keywords(program: Program, symbol: Symbol) -> Iterator[str]:
    """Where a parameter of a lambda may be given by its name."""
    node, name = symbol.scope.node, symbol.name
    if not isinstance(node, ast.Lambda):
        return
    plain = {a.arg for a in [*node.args.args, *node.args.kwonlyargs]}
    parent = symbol.file.parents.get(node)
    if isinstance(parent, ast.keyword):
        parent = symbol.file.parents.get(parent)
    if name not in plain or (isinstance(parent, ast.Call) and last_name(parent.func) in _CALLERS):
        return
    for file in program.mentioning(name)[0]:
        for call in [n for n in file.within if isinstance(n, ast.Call)]:
            spread = any(word.arg is None for word in call.keywords) and file is symbol.file
            given = any(word.arg == name for word in call.keywords)
            if (given or spread) and not _is_other(program, file, call):
                yield f"{file.at(call)}whether this calls the lambda cannot be told."


def _is_other(program: Program, file: File, call: ast.Call) -> bool:
    """Whether a call surely calls a function with a body, or a class."""
    meaning = program.meaning(file, call.func)
    if isinstance(meaning, Symbol):
        nodes = [b.node for b in meaning.binders]
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return bool(nodes) and all(isinstance(n, kinds) for n in nodes)
    if isinstance(call.func, ast.Name):
        found = file.names.get(call.func)
        return found is None or found.owner is None or meaning is not None
    return meaning is not None
