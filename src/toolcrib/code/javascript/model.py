"""Records of one JavaScript or TypeScript file: scopes, bindings, uses, members and exports."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from toolcrib.code.places import Kind

VALUE, TYPE = 1, 2
BOTH = VALUE | TYPE


@dataclass(frozen=True, slots=True, order=True)
class NameToken:
    """A name in the text: where it starts and ends, and see `Place`."""

    start: int
    end: int
    kind: Kind = "reference"
    before: str = ""
    after: str = ""


@dataclass(eq=False, slots=True)
class ScriptScope:
    """A region in which names are bound.

    Attributes:
        kind: "module", "function" (its parameters), "body", "block", "catch", "class", "enum",
            "namespace", "types" or "conditional".
        owner: for an enum or a namespace, the binding whose members these are; for a
            class the binding, if it has a name.
    """

    kind: str
    parent: ScriptScope | None
    names: dict[str, Binding] = field(default_factory=dict)
    private: dict[str, list[NameToken]] = field(default_factory=dict)
    owner: Binding | None = None
    node: Any = None
    """The node of a class."""
    dynamic: str = ""
    """Why names in it cannot be told from the text: "with", "eval"."""

    def chain(self) -> Iterator[ScriptScope]:
        """This scope and those around it."""
        scope: ScriptScope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def within(self, other: ScriptScope) -> bool:
        """Whether it is that scope or lies in it."""
        return any(scope is other for scope in self.chain())


@dataclass(eq=False, slots=True)
class Binding:
    """A name of a scope, with all declarations of it.

    Attributes:
        space: whether it is a value, a type, or both.
        source: for an import the module and the name in it; the name is "*" for the whole
            module.
        value: the expression that a `const` is set to, or the class.
        bodies: scopes of the namespaces, enums or classes that it names.
        through: for a `var`, the blocks in which it stands.
        exposed: a name that a namespace exports.
        sloppy: a function in a block, which old code sees outside of it too.
    """

    name: str
    scope: ScriptScope
    what: str
    space: int
    tokens: list[NameToken] = field(default_factory=list)
    source: tuple[str, str] | None = None
    value: Any = None
    annotation: Any = None
    bodies: list[ScriptScope] = field(default_factory=list)
    through: list[ScriptScope] = field(default_factory=list)
    exposed: bool = False
    sloppy: bool = False


@dataclass(eq=False, slots=True)
class NameUse:
    """A name that stands for a binding. `node` is its node of the tree."""

    name: str
    token: NameToken
    scope: ScriptScope
    space: int
    node: Any
    binding: Binding | None = None


@dataclass(eq=False, slots=True)
class Member:
    """A name behind a dot, in brackets, in a pattern, or of a class or object.

    Attributes:
        base: the expression that the name is taken of; None where it is declared.
        scope: where it stands.
        role: "use", "pattern", "method", "field", "property".
        owner: the class that declares it.
    """

    name: str
    token: NameToken
    base: Any
    scope: ScriptScope
    role: str = "use"
    owner: ScriptScope | None = None
    static: bool = False


@dataclass(eq=False, slots=True)
class Export:
    """A name under which a module offers something.

    Attributes:
        tokens: where the name stands, unless it is the declaration of the binding itself.
        binding: what it is, of this file.
        source: the module and the name there; the name is "*" for the whole module.
    """

    name: str
    tokens: list[NameToken] = field(default_factory=list)
    binding: Binding | None = None
    source: tuple[str, str] | None = None


@dataclass(eq=False, slots=True)
class Imported:
    """A name of another module, where it stands apart from the binding that it gets."""

    module: str
    name: str
    token: NameToken


@dataclass(slots=True)
class Module:
    """A file."""

    path: str
    text: str
    top: ScriptScope
    bindings: list[Binding] = field(default_factory=list)
    uses: list[NameUse] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    exports: dict[str, Export] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    imported: list[Imported] = field(default_factory=list)
    labels: list[tuple[str, NameToken, ScriptScope, Any]] = field(default_factory=list)
    mentions: list[tuple[str, int]] = field(default_factory=list)
    """Strings that name a module elsewhere than in an import, and where: `jest.mock("./a")`."""
    dynamic: list[tuple[Any, ScriptScope, int]] = field(default_factory=list)
    """Expressions of which a member is taken by a computed name, and where."""
    calls: list[tuple[Any, ScriptScope, str]] = field(default_factory=list)
    """Calls of `require` and `import` with a plain string, and what it says."""
    evals: list[ScriptScope] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)
    """Where the text is no valid code."""
    esm: bool = False
    common: bool = False
    whole: Any = None
    """The expression that `module.exports` is set to, where it is no object literal."""
    lines: list[int] = field(default_factory=list)
    """Where each line starts."""
    root: Any = None
    """The root of its syntax tree."""

    def line_at(self, start: int) -> int:
        """The line of a position, from 1."""
        return bisect_right(self.lines, start)
