"""The scopes of a Python file: each name in it with the scope that it belongs to."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from toolcrib.code.python.source import PythonSource, Spot, last_name
from toolcrib.core.errors import UnsupportedContent

ScopeKind = Literal["module", "class", "function", "lambda", "comprehension", "types"]
Role = Literal[
    "parameter", "function", "class", "import", "assign", "annotate", "delete", "load", "declare"
]
BINDING = frozenset(["parameter", "function", "class", "import", "assign", "annotate", "delete"])
BUILTINS = frozenset(dir(builtins))


@dataclass(slots=True, eq=False)
class Occurrence:
    """A name in a text.

    Attributes:
        name: what it says.
        spot: where.
        role: what it does there.
        scope: where it stands.
        node: the node that holds it; for a string annotation, what was parsed of it.
        order: its number in the order of the text that is run.
        owner: the scope whose name it is; None for a builtin or a name that nobody binds.
        mixed: it may mean that of another scope, depending on what ran before.
        quoted: it stands in a string.
    """

    name: str
    spot: Spot
    role: Role
    scope: PythonScope
    node: ast.AST
    order: int
    owner: PythonScope | None = None
    mixed: bool = False
    quoted: bool = False


@dataclass(slots=True, eq=False)
class PythonScope:
    """A module, a class, a function, a comprehension, or the type parameters of one of them."""

    kind: ScopeKind
    node: ast.AST
    parent: PythonScope | None
    name: str = ""
    bound: dict[str, list[Occurrence]] = field(default_factory=dict)
    occurrences: list[Occurrence] = field(default_factory=list)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    children: list[PythonScope] = field(default_factory=list)
    stars: list[ast.ImportFrom] = field(default_factory=list)

    @property
    def module(self) -> PythonScope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def walk(self) -> Iterator[PythonScope]:
        """This scope and all in it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self) -> Iterator[Occurrence]:
        """The names in it and in all scopes in it."""
        for scope in self.walk():
            yield from scope.occurrences

    def chain(self) -> Iterator[PythonScope]:
        """The scopes that a name in it is looked up in, in order."""
        scope: PythonScope | None = self
        direct = True
        while scope is not None:
            if scope.kind != "class" or direct:
                yield scope
            direct = direct and scope.kind == "types"
            scope = scope.parent

    def find(self, name: str) -> PythonScope | None:
        """The scope that a name in it belongs to."""
        passed = False
        for scope in self.chain():
            if name in scope.globals and not passed:
                module = self.module
                return module if name in module.bound else None
            if name in scope.nonlocals:
                passed = True
                continue
            if name in scope.bound and not (passed and scope.kind == "module"):
                return scope
        return None

    def uses(self, name: str) -> list[Occurrence]:
        """Every place, here and deeper, that means this scope's name."""
        return [o for o in self.all() if o.name == name and o.owner is self]


def resolve(module: PythonScope) -> None:
    """Find the owner of each name."""
    for scope in module.walk():
        for name in scope.nonlocals:
            owner = scope.find(name)
            moved = scope.bound.pop(name, [])
            if owner is not None:
                owner.bound[name] += moved
    for scope in module.walk():
        for occurrence in scope.occurrences:
            occurrence.owner = scope.find(occurrence.name)
            if scope.kind == "class" and occurrence.owner is scope:
                _settle(occurrence, scope)
    _settle_builtins(module)


def _settle(occurrence: Occurrence, scope: PythonScope) -> None:
    """A name of a class body that is read before it is bound there means an outer one."""
    if occurrence.role != "load":
        return
    binders = scope.bound[occurrence.name]
    if any(b.role != "annotate" and _surely_before(b, occurrence, scope) for b in binders):
        return
    if all(b.order > occurrence.order for b in binders) and not _in_loop(scope, occurrence):
        module = scope.module
        occurrence.owner = module if occurrence.name in module.bound else None
        return
    occurrence.mixed = True


def _settle_builtins(module: PythonScope) -> None:
    """A module that binds the name of a builtin may read that one before."""
    for name in BUILTINS & module.bound.keys():
        binders = module.bound[name]
        for occurrence in module.uses(name):
            if occurrence.role != "load":
                continue
            if not any(_surely_before(b, occurrence, module) for b in binders):
                occurrence.mixed = True


def _surely_before(binder: Occurrence, load: Occurrence, scope: PythonScope) -> bool:
    """Whether a name is bound whenever a load in the same body, or in a function, runs."""
    statement = _top(binder, scope)
    if statement is None or not isinstance(statement, _PLAIN):
        return False
    if binder.role == "delete":
        return False
    return binder.order < load.order or load.scope is not scope


_PLAIN = (
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
)


def _top(occurrence: Occurrence, scope: PythonScope) -> ast.stmt | None:
    """The statement of a scope's own body that holds a name."""
    line = occurrence.spot.line
    body: list[ast.stmt] = getattr(scope.node, "body", [])
    for statement in body:
        first = min(
            [statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))]
        )
        if first <= line <= (statement.end_lineno or line):
            return statement
    return None


def _in_loop(scope: PythonScope, occurrence: Occurrence) -> bool:
    return isinstance(_top(occurrence, scope), ast.For | ast.While | ast.AsyncFor)


# The walk that finds them

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LITERAL = {"Literal"}
_TYPED: dict[str, tuple[int, ...]] = {"cast": (0,), "TypeVar": (), "NewType": (1,)}
"""Functions of typing, and which of their arguments are types."""


class ScopeBuilder:
    """One walk over a file."""

    def __init__(self, file: PythonFile) -> None:
        self.file = file
        self.source = file.source
        self.scope = file.module
        self.order = 0
        self.annotating = False
        self.quoted: Spot | None = None

    # What is added

    def add(
        self, name: str, spot: Spot, role: Role, node: ast.AST, scope: PythonScope | None = None
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

    def open(self, kind: ScopeKind, node: ast.AST, name: str = "") -> PythonScope:
        """A new scope in the present one."""
        scope = PythonScope(kind, node, self.scope, name)
        self.scope.children.append(scope)
        self.file.scopes.setdefault(node, scope)
        return scope

    def inside(self, scope: PythonScope, *nodes: ast.AST | None) -> None:
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

    def parameters(self, scope: PythonScope, arguments: ast.arguments) -> None:
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


class PythonFile:
    """A parsed file with its scopes.

    Attributes:
        source: the text and its tree.
        module: its outermost scope, each name resolved.
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
        self.module = PythonScope("module", source.tree, None)
        self.scopes: dict[ast.AST, PythonScope] = {source.tree: self.module}
        self.parents: dict[ast.AST, ast.AST] = {}
        self.within: dict[ast.AST, PythonScope] = {}
        self.names: dict[ast.AST, Occurrence] = {}
        self.shifts: dict[ast.AST, Spot] = {}
        builder = ScopeBuilder(self)
        try:
            builder.body(source.tree.body)
        except RecursionError:
            raise UnsupportedContent(
                f"{source.path}: it is nested too deep.", hint="Leave it out."
            ) from None
        resolve(self.module)

    def scope_at(self, line: int) -> PythonScope:
        """The innermost function, class or module that holds a line."""
        best = self.module
        for scope in self.module.walk():
            if scope.kind in ("function", "class"):
                first = getattr(scope.node, "lineno", 1)
                last = getattr(scope.node, "end_lineno", 0) or 0
                if first <= line <= last:
                    best = scope
        return best

    def attribute_spot(self, node: ast.Attribute) -> Spot:
        """Where the name of an attribute stands."""
        line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        shift = self.shifts.get(node)
        if shift is not None:
            return Spot(shift.line, shift.column + end - len(node.attr), shift.column + end)
        return self.source.spot_before(line, end, node.attr)

    def attributes(self, name: str) -> list[ast.Attribute]:
        """Every attribute with a name."""
        return [n for n in self.within if isinstance(n, ast.Attribute) and n.attr == name]

    def calls(self, *names: str) -> list[ast.Call]:
        """Every call of something whose last name is one of some."""
        return [n for n in self.within if isinstance(n, ast.Call) and last_name(n.func) in names]

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
