"""The scopes of a Python file: each name in it with the scope that it belongs to."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import Any, Literal

from toolcrib.code.places import NameToken
from toolcrib.code.python.source import Function, PythonSource, first_line, last_name
from toolcrib.code.scopes import LexicalScope, Occurrence
from toolcrib.core.errors import UnsupportedContent

ScopeKind = Literal["module", "class", "function", "lambda", "comprehension", "types"]
Role = Literal[
    "parameter", "function", "class", "import", "assign", "annotate", "delete", "load", "declare"
]
BINDING = frozenset(["parameter", "function", "class", "import", "assign", "annotate", "delete"])
BUILTINS = frozenset(dir(builtins))


def resolve(top: LexicalScope) -> None:
    """Find what each name means."""
    for scope in top.walk():
        for name in scope.nonlocals:
            outer, moved = scope.resolve(name), scope.names.pop(name, None)
            if outer is not None and moved is not None:
                outer.declarations += moved.declarations
    for scope in top.walk():
        for occurrence in scope.occurrences:
            occurrence.binding = scope.resolve(occurrence.name)
            if scope.kind == "class" and occurrence.owner is scope:
                _settle(occurrence, scope)
    _settle_builtins(top)


def _settle(occurrence: Occurrence, scope: LexicalScope) -> None:
    """A name of a class body that is read before it is bound there means an outer one."""
    if occurrence.role != "load":
        return
    binders = scope.binders(occurrence.name)
    if any(b.role != "annotate" and _surely_before(b, occurrence, scope) for b in binders):
        return
    in_loop = isinstance(_top(occurrence, scope), ast.For | ast.While | ast.AsyncFor)
    if all(b.order > occurrence.order for b in binders) and not in_loop:
        occurrence.binding = scope.top.names.get(occurrence.name)
        return
    occurrence.mixed = True


def _settle_builtins(module: LexicalScope) -> None:
    """A module that binds the name of a builtin may read that one before."""
    for name in BUILTINS & module.names.keys():
        binders = module.binders(name)
        for occurrence in module.uses(name):
            if occurrence.role != "load":
                continue
            if not any(_surely_before(b, occurrence, module) for b in binders):
                occurrence.mixed = True


def _surely_before(binder: Occurrence, load: Occurrence, scope: LexicalScope) -> bool:
    """Whether a name is bound whenever a load in the same body, or in a function, runs."""
    statement = _top(binder, scope)
    if statement is None or not isinstance(statement, _PLAIN):
        return False
    if binder.role == "delete":
        return False
    return binder.order < load.order or load.scope is not scope


_PLAIN = (
    *(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom),
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)


def _top(occurrence: Occurrence, scope: LexicalScope) -> ast.stmt | None:
    """The statement of a scope's own body that holds a name."""
    line = occurrence.token.line
    body: list[ast.stmt] = getattr(scope.node, "body", [])
    for statement in body:
        if first_line(statement) <= line <= (statement.end_lineno or line):
            return statement
    return None


# The walk that finds them

_TYPED: dict[str, tuple[int, ...]] = {"cast": (0,), "TypeVar": (), "NewType": (1,)}
"""Functions of typing, and which of their arguments are types."""


class ScopeBuilder:
    """One walk over a file."""

    def __init__(self, file: PythonFile) -> None:
        self.file = file
        self.source = file.source
        self.scope = file.top
        self.order = 0
        self.annotating = False
        self.quoted: NameToken | None = None

    # What is added

    def add(
        self,
        name: str,
        token: NameToken,
        role: Role,
        node: ast.AST,
        scope: LexicalScope | None = None,
    ) -> None:
        """Add a name."""
        at = scope or self.scope
        self.order += 1
        found = Occurrence(name, token, role, at, node, self.order)
        at.occurrences.append(found)
        if isinstance(node, ast.Name):
            self.file.names[node] = found
        if role in BINDING:
            owner = at.top if name in at.globals else at
            owner.bind(name).declarations.append(found)

    def open(self, kind: ScopeKind, node: ast.AST, name: str = "") -> LexicalScope:
        """A new scope in the present one."""
        scope = LexicalScope(kind, self.scope, node, name, inherited=kind != "class")
        self.file.scopes.setdefault(node, scope)
        return scope

    def inside(self, scope: LexicalScope, *nodes: ast.AST | None) -> None:
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
        self.add(node.id, self.token_at(node.lineno, node.col_offset, node.id), role, node)

    def token_at(self, line: int, offset: int, name: str) -> NameToken:
        """Where a name stands, also in a string."""
        if self.quoted is not None:
            return self.source.token(self.quoted.line, self.quoted.column + offset, len(name))
        return self.source.token_at(line, offset, name)

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
        self.quoted = self.source.token(node.lineno, column, 0)
        self.visit(parsed.body)
        self.quoted = None

    def _subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)
        name = last_name(node.value)
        if self.annotating and name == "Literal":
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

    def _functiondef(self, node: Function) -> None:
        self.body(node.decorator_list)
        outer = self.scope
        self.add(node.name, self.source.definition_token(node, node.name), "function", node)
        self.types(node)
        self.defaults(node.args)
        for argument in parameters(node.args):
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

    def parameters(self, scope: LexicalScope, arguments: ast.arguments) -> None:
        """Add the parameters of a function to its scope."""
        for argument in parameters(arguments):
            token = self.source.token_at(argument.lineno, argument.col_offset, argument.arg)
            self.add(argument.arg, token, "parameter", argument, scope)
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
            token = self.source.token_at(one.lineno, one.col_offset + stars, one.name)
            self.add(one.name, token, "assign", one)
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
        self.add(node.name, self.source.definition_token(node, node.name), "class", node)
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
        token = self.token_at(node.target.lineno, node.target.col_offset, node.target.id)
        self.add(node.target.id, token, "assign", node.target, scope)

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
            token = self.token_at(node.target.lineno, node.target.col_offset, node.target.id)
            self.add(node.target.id, token, "annotate", node.target)
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
            self.add(name, self.alias_token(alias), "import", alias)

    def _importfrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.file.parents[alias] = node
            if alias.name == "*":
                self.file.stars.append(node)
            elif node.module != "__future__":
                self.add(alias.asname or alias.name, self.alias_token(alias), "import", alias)

    def alias_token(self, alias: ast.alias) -> NameToken:
        """Where an import binds its name."""
        if alias.asname:
            return self.source.token_before(alias, alias.asname)
        return self.source.token_at(alias.lineno, alias.col_offset, alias.name.partition(".")[0])

    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        names = self.scope.globals if isinstance(node, ast.Global) else self.scope.nonlocals
        for name in node.names:
            names.add(name)
            token = self.source.token_after(node.lineno, node.col_offset, name, "global nonlocal ,")
            self.add(name, token, "declare", node)
            if isinstance(node, ast.Global):
                self.scope.top.bind(name)

    _nonlocal = _global

    def _excepthandler(self, node: ast.ExceptHandler) -> None:
        self.visit(node.type)
        if node.name:
            token = self.source.token_after(node.lineno, node.col_offset, node.name, "as")
            self.add(node.name, token, "assign", node)
        self.body(node.body)

    def _matchas(self, node: ast.MatchAs | ast.MatchStar) -> None:
        self.visit(getattr(node, "pattern", None))
        if node.name:
            self.add(node.name, self.source.token_before(node, node.name), "assign", node)

    _matchstar = _matchas

    def _matchmapping(self, node: ast.MatchMapping) -> None:
        self.body((*node.keys, *node.patterns))
        if node.rest:
            last = node.patterns[-1] if node.patterns else node
            line = (last.end_lineno if node.patterns else node.lineno) or node.lineno
            offset = (last.end_col_offset if node.patterns else node.col_offset) or 0
            token = self.source.token_after(line, offset, node.rest, "**")
            self.add(node.rest, token, "assign", node)


def parameters(arguments: ast.arguments) -> list[ast.arg]:
    """All parameters, in the order of the text."""
    more = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    listed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *more]
    return sorted(listed, key=lambda a: (a.lineno, a.col_offset))


class PythonFile:
    """A parsed file with its scopes.

    Attributes:
        source: the text and its tree.
        top: its outermost scope, each name resolved.
        stars: its imports of all names of a module.
        scopes: the scope that each node opens.
        parents: the node that holds each node.
        within: the scope in which each name, attribute and call is evaluated.
        names: the occurrence of each `Name` node.
        shifts: for what stands in a string annotation, where that string begins.
    """

    def __init__(self, source: PythonSource) -> None:
        """Resolve every name.

        Raises:
            UnsupportedContent: it is nested too deep.
        """
        self.source = source
        self.path = source.path
        self.top = LexicalScope("module", None, source.tree)
        self.stars: list[ast.ImportFrom] = []
        self.scopes: dict[ast.AST, LexicalScope] = {source.tree: self.top}
        self.parents: dict[ast.AST, ast.AST] = {}
        self.within: dict[ast.AST, LexicalScope] = {}
        self.names: dict[ast.AST, Occurrence] = {}
        self.shifts: dict[ast.AST, NameToken] = {}
        builder = ScopeBuilder(self)
        try:
            builder.body(source.tree.body)
        except RecursionError:
            raise UnsupportedContent(
                f"{source.path}: it is nested too deep.", hint="Leave it out."
            ) from None
        resolve(self.top)

    def written(self, token: NameToken) -> str:
        """What stands at a place."""
        return self.source.written(token)

    def scope_at(self, line: int) -> LexicalScope:
        """The innermost function, class or module that holds a line."""
        best = self.top
        for scope in self.top.walk():
            if scope.kind in ("function", "class"):
                first = getattr(scope.node, "lineno", 1)
                last = getattr(scope.node, "end_lineno", 0) or 0
                if first <= line <= last:
                    best = scope
        return best

    def attribute_token(self, node: ast.Attribute) -> NameToken:
        """Where the name of an attribute stands."""
        shift = self.shifts.get(node)
        if shift is not None:
            length, end = len(node.attr), node.end_col_offset or 0
            return self.source.token(shift.line, shift.column + end - length, length)
        return self.source.token_before(node, node.attr)

    def attributes(self, name: str) -> list[ast.Attribute]:
        """Every attribute with a name."""
        return [n for n in self.within if isinstance(n, ast.Attribute) and n.attr == name]

    def calls(self, *names: str) -> list[ast.Call]:
        """Every call of something whose last name is one of some."""
        return [n for n in self.within if isinstance(n, ast.Call) and last_name(n.func) in names]

    def imports(self, name: str) -> list[tuple[ast.ImportFrom, ast.alias]]:
        """Every import of a name from a module."""
        found = [n for n in self.within if isinstance(n, ast.ImportFrom)]
        return [(node, alias) for node in found for alias in node.names if alias.name == name]

    def at(self, node: ast.AST) -> str:
        """`path:line: `, the beginning of a sentence about a node."""
        shift = self.shifts.get(node)
        return f"{self.path}:{shift.line if shift else getattr(node, 'lineno', 1)}: "

    def enclosing(self, node: ast.AST, *kinds: type[ast.AST]) -> ast.AST | None:
        """The nearest node around another that is of some kind."""
        parent = self.parents.get(node)
        while parent is not None and not isinstance(parent, kinds):
            parent = self.parents.get(parent)
        return parent
