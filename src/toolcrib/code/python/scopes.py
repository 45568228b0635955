"""The scopes of a Python file: what each name in it belongs to."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from toolcrib.code.python.source import Spot

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
    scope: Scope
    node: ast.AST
    order: int
    owner: Scope | None = None
    mixed: bool = False
    quoted: bool = False


@dataclass(slots=True, eq=False)
class Scope:
    """A module, a class, a function, a comprehension, or the type parameters of one of them."""

    kind: ScopeKind
    node: ast.AST
    parent: Scope | None
    name: str = ""
    bound: dict[str, list[Occurrence]] = field(default_factory=dict)
    occurrences: list[Occurrence] = field(default_factory=list)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    children: list[Scope] = field(default_factory=list)
    stars: list[ast.ImportFrom] = field(default_factory=list)

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def walk(self) -> Iterator[Scope]:
        """This scope and all in it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self) -> Iterator[Occurrence]:
        """The names in it and in all scopes in it."""
        for scope in self.walk():
            yield from scope.occurrences

    def chain(self) -> Iterator[Scope]:
        """The scopes that a name in it is looked up in, in order."""
        scope: Scope | None = self
        direct = True
        while scope is not None:
            if scope.kind != "class" or direct:
                yield scope
            direct = direct and scope.kind == "types"
            scope = scope.parent

    def find(self, name: str) -> Scope | None:
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


def resolve(module: Scope) -> None:
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


def _settle(occurrence: Occurrence, scope: Scope) -> None:
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


def _settle_builtins(module: Scope) -> None:
    """A module that binds the name of a builtin may read that one before."""
    for name in BUILTINS & module.bound.keys():
        binders = module.bound[name]
        for occurrence in module.uses(name):
            if occurrence.role != "load":
                continue
            if not any(_surely_before(b, occurrence, module) for b in binders):
                occurrence.mixed = True


def _surely_before(binder: Occurrence, load: Occurrence, scope: Scope) -> bool:
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


def _top(occurrence: Occurrence, scope: Scope) -> ast.stmt | None:
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


def _in_loop(scope: Scope, occurrence: Occurrence) -> bool:
    return isinstance(_top(occurrence, scope), ast.For | ast.While | ast.AsyncFor)


def names_of(scopes: Iterable[Scope]) -> set[str]:
    """All names that some scopes bind."""
    return {name for scope in scopes for name in scope.bound}
