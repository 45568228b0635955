"""What a definition of Python needs at the moment when it is made, as against when it runs."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from toolcrib.code.python.bound_file import File
from toolcrib.code.python.imports import Definition
from toolcrib.code.python.scopes import Occurrence

_PLAIN = frozenset(n for n in dir(builtins) if isinstance(getattr(builtins, n), type))
FIXED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.alias)


def made_with(node: Definition) -> Iterator[ast.AST]:
    """What is computed when a function or a class is defined, annotations left out."""
    parts: list[ast.AST] = [*node.decorator_list]
    if isinstance(node, ast.ClassDef):
        parts += [*node.bases, *node.keywords]
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                parts += list(made_with(statement))
            else:
                parts.append(statement)
    else:
        parts += [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    yield from parts


def changing(file: File, node: Definition, uses: Iterator[Occurrence]) -> Iterator[Occurrence]:
    """Names of the module whose value at that moment may not be that at the end of the module."""
    early = {inner for part in made_with(node) for inner in ast.walk(part)}
    for use in uses:
        if use.owner is not file.module or use.node not in early:
            continue
        if not all(_is_fixed(file, b) for b in file.module.bound.get(use.name, ())):
            yield use


def _is_fixed(file: File, binder: Occurrence) -> bool:
    if isinstance(binder.node, FIXED):
        return True
    at: ast.AST | None = binder.node
    while at is not None and not isinstance(at, ast.stmt):
        at = file.parents.get(at)
    value = at.value if isinstance(at, ast.Assign | ast.AnnAssign) else None
    once = len([b for b in file.module.bound.get(binder.name, ()) if b.role != "annotate"]) == 1
    return once and value is not None and _is_constant(value)


def _is_constant(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return all(_is_constant(each) for each in value.elts)
    if isinstance(value, ast.UnaryOp):
        return _is_constant(value.operand)
    if isinstance(value, ast.BinOp):
        return _is_constant(value.left) and _is_constant(value.right)
    return isinstance(value, ast.Constant | ast.Lambda)


def has_open_annotations(node: Definition) -> bool:
    """Whether an annotation has more than names of the language's own types."""
    notes: list[ast.expr | None] = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            notes.append(inner.returns)
        elif isinstance(inner, ast.arg | ast.AnnAssign):
            notes.append(inner.annotation)
    names = [n for note in notes if note is not None for n in ast.walk(note)]
    return any(isinstance(n, ast.Name) and n.id not in _PLAIN for n in names)
