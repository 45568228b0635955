"""Where a name stands in source code, and what was found out about it.

Both sides, `toolcrib.code.python` and `toolcrib.code.javascript` (JavaScript and
TypeScript), give one function with the same shape::

    async def references(project: Project, file: str, line: int, name: str) -> References

`project` (see `toolcrib.code.project`) lists and reads the files; `file` is one of its
paths; `line` counts from 1 and 0 means "wherever the file defines the name". The answer holds
the definitions as well as the uses. A rename is allowed when `obstacles` is empty: then
replacing each place of `certain` is the whole change. Whether a new name would capture or be
captured is a question of its own: `conflicts(project, found, new)` of Python, `examined` of
JavaScript, which gives both answers; `toolcrib.code.usages` serves either.
"""

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
