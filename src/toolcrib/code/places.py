"""Records of the places of a name in source code, and of all that is known of a symbol."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

Kind = Literal["definition", "reference", "import", "export", "string", "text"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A name in a file.

    Attributes:
        path: as the project names the file.
        line: from 1.
        column: characters (not bytes) of the line before the name, so from 0.
        end_column: characters of the line before what follows the name.
        kind: "definition" binds it; "reference", "import" and "export" use it; "string" is
            an entry of `__all__` or the like that belongs to it (its quotes not counted);
            "text" is a comment or a string that only looks like it, and never certain.
        before: what to write in front of the new name when it is renamed. Where a
            shorthand property `{a}` stands for a binding it is "a: ", and in `import {a}` it is
            "a as ".
        after: the same behind the new name: `{a}` as a pattern whose property is renamed
            has ": a".
    """

    path: str
    line: int
    column: int
    end_column: int
    kind: Kind = "reference"
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, order=True)
class NameToken:
    """A name in a text: its characters from `start` to `end`, and the rest as in `Place`."""

    start: int
    end: int
    line: int
    column: int
    kind: Kind = "reference"
    before: str = ""
    after: str = ""

    @property
    def end_column(self) -> int:
        """The column behind it."""
        return self.column + self.end - self.start

    def as_kind(self, kind: Kind, before: str = "", after: str = "") -> NameToken:
        """The same place with another meaning."""
        return replace(self, kind=kind, before=before, after=after)

    def place(self, path: str) -> Place:
        """It as a place of a file."""
        return Place(
            path, self.line, self.column, self.end_column, self.kind, self.before, self.after
        )


class NamedText(Protocol):
    """A file in which names stand."""

    @property
    def path(self) -> str:
        """As the project names it."""

    def written(self, token: NameToken) -> str:
        """What stands at a place."""


@dataclass(slots=True)
class SymbolReferences:
    """All that is known of one symbol.

    Attributes:
        certain: each place that names it, beyond doubt; in order, none twice.
        possible: places that may name it, and those that only look so.
        obstacles: why a rename cannot be proven to be whole, a sentence each that starts
            with `path:line: ` where there is a line. Empty: it can be.
        name: the symbol's name.
        what: its kind as a word: "function", "class", "variable", "method", "parameter".
        types_by: the compiler whose types decided places that scopes leave open, and how many
            are of others; else "".
    """

    certain: list[Place] = field(default_factory=list)
    possible: list[Place] = field(default_factory=list)
    obstacles: list[str] = field(default_factory=list)
    name: str = ""
    what: str = ""
    types_by: str = ""


@dataclass(eq=False, slots=True)
class ReferenceCollector:
    """References as they are found: by file and by where they start, so that none is twice."""

    name: str
    places: dict[str, dict[int, NameToken]] = field(default_factory=dict)
    possible: dict[str, dict[int, NameToken]] = field(default_factory=dict)
    obstacles: dict[str, None] = field(default_factory=dict)

    def add(self, file: NamedText, token: NameToken) -> None:
        """Add a place that is one, if the text says so."""
        if file.written(token) != self.name:
            self.add_obstacle(
                f"{file.path}:{token.line}: the name is written in another way there."
            )
            return
        of_file = self.places.setdefault(file.path, {})
        known = of_file.get(token.start)
        of_file[token.start] = token if known is None else self.merged(known, token)

    def merged(self, known: NameToken, token: NameToken) -> NameToken:  # noqa: ARG002 - a hook
        """What a place is that was found twice; a language may know better."""
        return known

    def add_possible(self, file: NamedText, token: NameToken) -> None:
        """Add a place that may be one."""
        self.possible.setdefault(file.path, {}).setdefault(token.start, token)

    def add_obstacle(self, why: str) -> None:
        """Add an obstacle."""
        self.obstacles[why] = None

    def add_obstacles(self, reasons: Iterable[str]) -> None:
        """Add several."""
        self.obstacles.update(dict.fromkeys(reasons))

    def result(self, what: str) -> SymbolReferences:
        """All of it, in order."""
        certain = sorted(t.place(p) for p, found in self.places.items() for t in found.values())
        possible = sorted(
            token.place(path)
            for path, found in self.possible.items()
            for start, token in found.items()
            if start not in self.places.get(path, ())
        )
        return SymbolReferences(certain, possible, list(self.obstacles), self.name, what)
