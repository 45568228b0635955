"""Records of one JavaScript or TypeScript file: its scopes, members, imports and exports."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any

from toolcrib.code.places import NameToken
from toolcrib.code.scopes import Binding, LexicalScope, Occurrence


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
    scope: LexicalScope
    role: str = "use"
    owner: LexicalScope | None = None
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
    top: LexicalScope
    bindings: list[Binding] = field(default_factory=list)
    uses: list[Occurrence] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    exports: dict[str, Export] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    imported: list[Imported] = field(default_factory=list)
    labels: list[tuple[str, NameToken, LexicalScope, Any]] = field(default_factory=list)
    mentions: list[tuple[str, int]] = field(default_factory=list)
    """Strings that name a module elsewhere than in an import, and where: `jest.mock("./a")`."""
    dynamic: list[tuple[Any, LexicalScope, int]] = field(default_factory=list)
    """Expressions of which a member is taken by a computed name, and where."""
    calls: list[tuple[Any, LexicalScope, str]] = field(default_factory=list)
    """Calls of `require` and `import` with a plain string, and what it says."""
    evals: list[LexicalScope] = field(default_factory=list)
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

    @property
    def is_script(self) -> bool:
        """Whether it is no module, so that other scripts of a page see the names of its top."""
        return not self.esm and not self.common and not self.calls

    def line_at(self, start: int) -> int:
        """The line of a position, from 1."""
        return bisect_right(self.lines, start)

    def written(self, token: NameToken) -> str:
        """What stands at a place."""
        return self.text[token.start : token.end]

    def binding_at(self, node: Any) -> Binding | None:
        """What a name that is used means."""
        return next((use.binding for use in self.uses if use.node == node), None)

    def text_token(self, start: int, end: int) -> NameToken:
        """Some characters of its text, which are no name of the code."""
        line = self.line_at(start)
        return NameToken(start, end, line, start - self.lines[line - 1], "text")


def word_pattern(name: str) -> re.Pattern[str]:
    """Finds a name where it is no part of a longer one."""
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
