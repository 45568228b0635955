"""Walking the tree of a Python file: every name with the scope in which it stands."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Protocol

from toolcrib.code.python.last_name import last_name
from toolcrib.code.python.scopes import BINDING, Occurrence, Role, Scope, ScopeKind
from toolcrib.code.python.source import PythonSource, Spot

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LITERAL = {"Literal"}
_TYPED: dict[str, tuple[int, ...]] = {"cast": (0,), "TypeVar": (), "NewType": (1,)}
"""Functions of typing, and which of their arguments are types."""


class Filled(Protocol):
    """What a walk fills in; see `File`."""

    source: PythonSource
    module: Scope
    scopes: dict[ast.AST, Scope]
    parents: dict[ast.AST, ast.AST]
    within: dict[ast.AST, Scope]
    names: dict[ast.AST, Occurrence]
    shifts: dict[ast.AST, Spot]


class Walk:
    """One walk over a file."""

    def __init__(self, file: Filled) -> None:
        self.file = file
        self.source = file.source
        self.scope = file.module
        self.order = 0
        self.annotating = False
        self.quoted: Spot | None = None

    # What is added

    def add(
        self, name: str, spot: Spot, role: Role, node: ast.AST, scope: Scope | None = None
    ) -> None:
        """Add a name."""
        at = scope or self.scope
        self.order += 1
        found = Occurrence(name, spot, role, at, node, self.order, quoted=self.quoted is not None)
        at.occurrences.append(found)
        if isinstance(node, ast.Name):
            self.file.names[node] = found
        if role in BINDING:
            owner = at.module if name in at.globals else at
            owner.bound.setdefault(name, []).append(found)

    def open(self, kind: ScopeKind, node: ast.AST, name: str = "") -> Scope:
        """A new scope in the present one."""
        scope = Scope(kind, node, self.scope, name)
        self.scope.children.append(scope)
        self.file.scopes.setdefault(node, scope)
        return scope

    def inside(self, scope: Scope, *nodes: ast.AST | None) -> None:
        """Walk nodes in another scope."""
        before, self.scope = self.scope, scope
        for node in nodes:
            self.visit(node)
        self.scope = before

    # How nodes are walked

    def body(self, statements: Iterable[ast.AST]) -> None:
        """Walk several nodes."""
        for statement in statements:
            self.visit(statement)

    def visit(self, node: ast.AST | None) -> None:
        """Walk a node by the method that is named for it."""
        if node is None:
            return
        self.file.within[node] = self.scope
        if self.quoted is not None:
            self.file.shifts[node] = self.quoted
        for child in ast.iter_child_nodes(node):
            self.file.parents[child] = node
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is not None:
            method(node)
        else:
            for child in ast.iter_child_nodes(node):
                self.visit(child)

    def annotation(self, node: ast.AST | None) -> None:
        """Walk a type; strings in it are types too."""
        before, self.annotating = self.annotating, True
        self.visit(node)
        self.annotating = before

    # Names

    def _name(self, node: ast.Name) -> None:
        role: Role = "load"
        if isinstance(node.ctx, ast.Store):
            role = "assign"
        elif isinstance(node.ctx, ast.Del):
            role = "delete"
        self.add(node.id, self.spot(node.lineno, node.col_offset, node.id), role, node)

    def spot(self, line: int, offset: int, name: str) -> Spot:
        """Where a name stands, also in a string."""
        if self.quoted is not None:
            column = self.quoted.column + offset
            return Spot(self.quoted.line, column, column + len(name))
        return self.source.spot(line, offset, name)

    def _constant(self, node: ast.Constant) -> None:
        if self.annotating and isinstance(node.value, str) and self.quoted is None:
            self.string(node)

    def string(self, node: ast.Constant) -> None:
        """A type that is written as a string."""
        text = self.source.segment(node)
        value = str(node.value)
        quote = text.find(value) if value else -1
        if quote < 0 or len(text) - quote - len(value) != len(text[:quote].lstrip("rRuUbB")):
            return
        try:
            parsed = ast.parse(value, mode="eval")
        except (SyntaxError, ValueError):
            return
        if not value.isascii() or "\n" in value:
            return
        column = self.source.column(node.lineno, node.col_offset) + quote
        self.quoted = Spot(node.lineno, column, column)
        self.visit(parsed.body)
        self.quoted = None

    def _subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        name = last_name(node.value)
        if self.annotating and name in _LITERAL:
            self.annotating = False
            self.visit(node.slice)
            self.annotating = True
        elif self.annotating and name == "Annotated" and isinstance(node.slice, ast.Tuple):
            self.file.parents[node.slice.elts[0]] = node.slice
            self.visit(node.slice.elts[0])
            self.annotating = False
            for part in node.slice.elts[1:]:
                self.file.parents[part] = node.slice
                self.visit(part)
            self.annotating = True
        else:
            self.visit(node.slice)

    def _call(self, node: ast.Call) -> None:
        self.visit(node.func)
        before, name = self.annotating, last_name(node.func)
        types = _TYPED.get(name)
        for index, argument in enumerate(node.args):
            self.annotating = types is not None and (
                index in types or (name == "TypeVar" and index > 0)
            )
            self.visit(argument)
        for word in node.keywords:
            self.annotating = types is not None and word.arg in ("bound", "default")
            self.visit(word)
        self.annotating = before

    # Scopes

    def _functiondef(self, node: _Function) -> None:
        self.body(node.decorator_list)
        outer = self.scope
        self.add(node.name, self.source.definition_spot(node, node.name), "function", node)
        self.types(node)
        self.defaults(node.args)
        for argument in _arguments(node.args):
            self.annotation(argument.annotation)
        self.annotation(node.returns)
        scope = self.open("function", node, node.name)
        self.parameters(scope, node.args)
        self.inside(scope, *node.body)
        self.scope = outer

    _asyncfunctiondef = _functiondef

    def defaults(self, arguments: ast.arguments) -> None:
        """Walk the defaults of parameters."""
        for value in (*arguments.defaults, *arguments.kw_defaults):
            self.visit(value)

    def parameters(self, scope: Scope, arguments: ast.arguments) -> None:
        """Add the parameters of a function to its scope."""
        for argument in _arguments(arguments):
            spot = self.source.spot(argument.lineno, argument.col_offset, argument.arg)
            self.add(argument.arg, spot, "parameter", argument, scope)
            self.file.parents[argument] = scope.node

    def types(self, node: Any) -> None:
        """Open the scope of type parameters, where there are any."""
        listed = getattr(node, "type_params", None)
        if not listed:
            return
        scope = self.open("types", listed[0], node.name if isinstance(node.name, str) else "")
        self.scope = scope
        for one in listed:
            stars = {"TypeVarTuple": 1, "ParamSpec": 2}.get(type(one).__name__, 0)
            spot = self.source.spot(one.lineno, one.col_offset + stars, one.name)
            self.add(one.name, spot, "assign", one)
            self.annotation(getattr(one, "bound", None))
            self.annotation(getattr(one, "default_value", None))

    def _typealias(self, node: Any) -> None:
        self.visit(node.name)
        outer = self.scope
        self.types(node)
        scope = self.open("types", node)
        self.scope = scope
        self.annotation(node.value)
        self.scope = outer

    def _classdef(self, node: ast.ClassDef) -> None:
        self.body(node.decorator_list)
        outer = self.scope
        self.add(node.name, self.source.definition_spot(node, node.name), "class", node)
        self.types(node)
        for base in node.bases:
            self.annotation(base)
        self.body(node.keywords)
        scope = self.open("class", node, node.name)
        self.inside(scope, *node.body)
        self.scope = outer

    def _lambda(self, node: ast.Lambda) -> None:
        self.defaults(node.args)
        scope = self.open("lambda", node)
        self.parameters(scope, node.args)
        self.inside(scope, node.body)

    def _listcomp(self, node: Any) -> None:
        first, *rest = node.generators
        self.visit(first.iter)
        scope = self.open("comprehension", node)
        self.inside(scope, first.target, *first.ifs)
        for generator in rest:
            self.inside(scope, generator.iter, generator.target, *generator.ifs)
        for generator in node.generators:
            self.file.parents[generator.iter] = self.file.parents[generator.target] = generator
            self.file.within[generator] = scope
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        self.inside(scope, *parts)

    _setcomp = _generatorexp = _dictcomp = _listcomp

    def _namedexpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        scope = self.scope
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        self.file.within[node.target] = self.scope
        spot = self.spot(node.target.lineno, node.target.col_offset, node.target.id)
        self.add(node.target.id, spot, "assign", node.target, scope)

    # Statements that bind

    def _assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        self.body(node.targets)

    def _augassign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        self.visit(node.target)

    def _annassign(self, node: ast.AnnAssign) -> None:
        self.annotation(node.annotation)
        if node.value is not None and last_name(node.annotation) == "TypeAlias":
            self.annotation(node.value)
        else:
            self.visit(node.value)
        if isinstance(node.target, ast.Name) and node.value is None:
            self.file.within[node.target] = self.scope
            spot = self.spot(node.target.lineno, node.target.col_offset, node.target.id)
            self.add(node.target.id, spot, "annotate", node.target)
        else:
            self.visit(node.target)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self.visit(node.target)
        self.body((*node.body, *node.orelse))

    _asyncfor = _for

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.file.parents[alias] = node
            self.add(name, self.alias_spot(alias), "import", alias)

    def _importfrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.file.parents[alias] = node
            if alias.name == "*":
                self.scope.stars.append(node)
            elif node.module != "__future__":
                self.add(alias.asname or alias.name, self.alias_spot(alias), "import", alias)

    def alias_spot(self, alias: ast.alias) -> Spot:
        """Where an import binds its name."""
        if alias.asname:
            return self.source.spot_before(
                alias.end_lineno or alias.lineno, alias.end_col_offset or 0, alias.asname
            )
        return self.source.spot(alias.lineno, alias.col_offset, alias.name.partition(".")[0])

    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        names = self.scope.globals if isinstance(node, ast.Global) else self.scope.nonlocals
        for name in node.names:
            names.add(name)
            spot = self.source.spot_after(node.lineno, node.col_offset, name, "global nonlocal ,")
            self.add(name, spot, "declare", node)
            if isinstance(node, ast.Global):
                self.scope.module.bound.setdefault(name, [])

    _nonlocal = _global

    def _excepthandler(self, node: ast.ExceptHandler) -> None:
        self.visit(node.type)
        if node.name:
            spot = self.source.spot_after(node.lineno, node.col_offset, node.name, "as")
            self.add(node.name, spot, "assign", node)
        self.body(node.body)

    def _matchas(self, node: ast.MatchAs) -> None:
        self.visit(node.pattern)
        if node.name:
            line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
            self.add(node.name, self.source.spot_before(line, end, node.name), "assign", node)

    def _matchstar(self, node: ast.MatchStar) -> None:
        if node.name:
            line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
            self.add(node.name, self.source.spot_before(line, end, node.name), "assign", node)

    def _matchmapping(self, node: ast.MatchMapping) -> None:
        self.body((*node.keys, *node.patterns))
        if node.rest:
            last = node.patterns[-1] if node.patterns else node
            line = (last.end_lineno if node.patterns else node.lineno) or node.lineno
            offset = (last.end_col_offset if node.patterns else node.col_offset) or 0
            spot = self.source.spot_after(line, offset, node.rest, "**")
            self.add(node.rest, spot, "assign", node)


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters, in the order of the text."""
    more = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *more]
    return sorted(listed, key=lambda a: (a.lineno, a.col_offset))
