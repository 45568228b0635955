"""Scopes and bindings of a source file, and how a name in it is resolved, in any language.

A reader of a language opens the scopes, declares names in them and notes the other places of
names; which scope a name belongs to is found here. The rules of a language are in what its
reader says of a scope: whether scopes inside see its names (those of a class of Python are not
seen), which names are declared to be of the module or of a function around (`global`,
`nonlocal`), and in which scope it declares a name (hoisting).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from toolcrib.code.places import NameToken

VALUE, TYPE = 1, 2
BOTH = VALUE | TYPE


@dataclass(eq=False, slots=True)
class Occurrence:
    """A name in a text.

    Attributes:
        name: what it says.
        token: where.
        role: what it does there: "load", or how it is bound: "assign", "import" and the like.
        scope: where it stands.
        node: the node that holds it; for a string annotation, what was parsed of it.
        order: its number in the order of the text that is run.
        space: whether a value is meant, a type, or both.
        binding: what it means; None for a builtin or a name that nobody binds.
        mixed: it may mean that of another scope, depending on what ran before.
    """

    name: str
    token: NameToken
    role: str
    scope: LexicalScope
    node: Any
    order: int = 0
    space: int = BOTH
    binding: Binding | None = None
    mixed: bool = False

    @property
    def owner(self) -> LexicalScope | None:
        """The scope whose name it is."""
        return self.binding.scope if self.binding is not None else None

    def passed(self) -> Iterator[LexicalScope]:
        """The scopes that it is looked up in before its own: those could capture a new name."""
        for scope in self.scope.visible():
            if scope is self.owner:
                return
            yield scope

    def would_mean(self, scope: LexicalScope) -> bool:
        """Whether a scope that bound this name would capture it from where it is bound now."""
        home = self.owner
        if home is None:
            return self.role == "declare" or scope in self.scope.visible()
        outer = home is not scope and scope.within(home)
        return outer and scope in self.scope.visible()


@dataclass(eq=False, slots=True)
class Binding:
    """A name of a scope, with all declarations of it.

    Attributes:
        what: its kind as a word.
        space: whether it is a value, a type, or both.
        declarations: where it is bound; none where only `global` names it.
        source: for an import the module and the name in it; the name is "*" for the whole
            module.
        value: the expression that a constant is set to, the function, or the class.
        bodies: scopes of the namespaces, enums or classes that it names.
        through: for a hoisted variable, the blocks in which it stands.
        exposed: a name that a namespace exports.
        sloppy: a function in a block, which old code sees outside of it too.
    """

    name: str
    scope: LexicalScope
    what: str = ""
    space: int = BOTH
    declarations: list[Occurrence] = field(default_factory=list)
    source: tuple[str, str] | None = None
    value: Any = None
    annotation: Any = None
    bodies: list[LexicalScope] = field(default_factory=list)
    through: list[LexicalScope] = field(default_factory=list)
    exposed: bool = False
    sloppy: bool = False

    @property
    def tokens(self) -> list[NameToken]:
        """Where it is bound."""
        return [declaration.token for declaration in self.declarations]

    @property
    def start(self) -> int:
        """Where it is bound first."""
        return self.declarations[0].token.start


@dataclass(eq=False, slots=True)
class LexicalScope:
    """A region in which names are bound: a module, a function, a class, a block and the like.

    Attributes:
        kind: the words are those of the reader of the language.
        node: what opens it.
        name: of the function or the class.
        inherited: whether names in scopes inside are looked up in it.
        names: what it binds.
        occurrences: names that stand in it, those in scopes inside not counted.
        private: private names of a class, and where they are declared.
        globals, nonlocals: names that are declared to be of the module, or of a function around.
        owner: for a class, an enum or a namespace the binding whose members these are.
        dynamic: why names in it cannot be told from the text: "with", "declare".
    """

    kind: str
    parent: LexicalScope | None
    node: Any = None
    name: str = ""
    inherited: bool = True
    names: dict[str, Binding] = field(default_factory=dict)
    occurrences: list[Occurrence] = field(default_factory=list)
    children: list[LexicalScope] = field(default_factory=list)
    private: dict[str, list[NameToken]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    owner: Binding | None = None
    dynamic: str = ""

    def __post_init__(self) -> None:
        if self.parent is not None:
            self.parent.children.append(self)

    # Where it lies

    @property
    def top(self) -> LexicalScope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def chain(self) -> Iterator[LexicalScope]:
        """This scope and those around it."""
        scope: LexicalScope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def within(self, other: LexicalScope) -> bool:
        """Whether it is that scope or lies in it."""
        return any(scope is other for scope in self.chain())

    def visible(self) -> Iterator[LexicalScope]:
        """The scopes that a name in it is looked up in, in order."""
        scope: LexicalScope | None = self
        direct = True
        while scope is not None:
            if scope.inherited or direct:
                yield scope
            # Type parameters stand between a class and its function, and see the class.
            direct = direct and scope.kind == "types"
            scope = scope.parent

    def walk(self) -> Iterator[LexicalScope]:
        """This scope and all in it."""
        left = [self]
        while left:
            scope = left.pop()
            yield scope
            left += reversed(scope.children)

    # What it binds

    def bind(self, name: str, what: str = "", space: int = BOTH) -> Binding:
        """Its binding of a name, made if there is none."""
        found = self.names.get(name)
        if found is None:
            found = self.names[name] = Binding(name, self, what, 0)
        found.space |= space
        return found

    def binders(self, name: str) -> list[Occurrence]:
        """Where it binds a name."""
        found = self.names.get(name)
        return found.declarations if found is not None else []

    def resolve(self, name: str, space: int = BOTH) -> Binding | None:
        """What a name in it stands for; None for what the file does not bind."""
        outward = False
        for scope in self.visible():
            if name in scope.globals and not outward:
                return self.top.names.get(name)
            if name in scope.nonlocals:
                outward = True
                continue
            found = scope.names.get(name)
            # `nonlocal` never means the module.
            if found is not None and found.space & space and (scope.parent or not outward):
                return found
        return None

    # Names in it

    def all(self) -> Iterator[Occurrence]:
        """The names in it and in all scopes in it."""
        for scope in self.walk():
            yield from scope.occurrences

    def uses(self, name: str) -> list[Occurrence]:
        """Every place, here and deeper, that means this scope's name."""
        return [o for o in self.all() if o.name == name and o.owner is self]
