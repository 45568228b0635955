"""Records of the places of a name in source code, and of all that is known of a symbol."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

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
    """

    certain: list[Place] = field(default_factory=list)
    possible: list[Place] = field(default_factory=list)
    obstacles: list[str] = field(default_factory=list)
    name: str = ""
    what: str = ""
