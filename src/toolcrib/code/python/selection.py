"""Which statements some lines of a file are."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from toolcrib.code.python.bound_file import File
from toolcrib.core.errors import BadInput

LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True, slots=True)
class Part:
    """Statements of one block, and the nodes around them, the innermost first."""

    body: list[ast.stmt]
    first: int
    last: int
    above: list[ast.AST]
    begin: int
    end: int

    @property
    def statements(self) -> list[ast.stmt]:
        """Those that are chosen."""
        return self.body[self.first : self.last + 1]

    @property
    def rest(self) -> list[ast.stmt]:
        """Those behind them."""
        return self.body[self.last + 1 :]


def top_of(node: ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def part_of(file: File, start: int, end: int) -> Part:
    """The statements on some lines.

    Raises:
        BadInput: they are not whole statements of one block.
    """
    count = len(file.source.lines)
    if not 1 <= start <= end <= count:
        raise BadInput(
            f"Lines {start} to {end} are not in {file.path}, which has {count}.",
            hint="Give start and end, the first and the last line, from 1.",
        )
    best: tuple[list[ast.stmt], list[ast.AST]] | None = None
    todo: list[tuple[ast.AST, list[ast.AST]]] = [(file.source.tree, [])]
    while todo:
        node, above = todo.pop()
        around = [node, *above]
        for body in bodies_of(node):
            touched = [s for s in body if top_of(s) <= end and (s.end_lineno or 0) >= start]
            if touched and start <= top_of(touched[0]) and (touched[-1].end_lineno or 0) <= end:
                best = (body, around)
            todo += [(s, around) for s in touched]
        todo += [(h, around) for h in getattr(node, "handlers", ())]
        todo += [(c, around) for c in getattr(node, "cases", ())]
        if best is not None:
            break
    if best is None:
        raise BadInput(
            f"Lines {start} to {end} are not whole statements of one block.",
            hint="Give the first line of the first statement and the last line of the last.",
        )
    body, above = best
    inside = [i for i, s in enumerate(body) if top_of(s) <= end and (s.end_lineno or 0) >= start]
    part = Part(body, inside[0], inside[-1], above, *_trimmed(file, start, end))
    _need_own_lines(file, part)
    return part


def _trimmed(file: File, start: int, end: int) -> tuple[int, int]:
    """The lines without blank ones at their ends."""
    lines = file.source.lines
    while not lines[start - 1].strip():
        start += 1
    while not lines[end - 1].strip():
        end -= 1
    return start, end


def bodies_of(node: ast.AST) -> list[list[ast.stmt]]:
    """The blocks of a statement."""
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [b for b in found if isinstance(b, list) and b and isinstance(b[0], ast.stmt)]


def _need_own_lines(file: File, part: Part) -> None:
    first, last = part.statements[0], part.statements[-1]
    start = file.source.starts[top_of(first) - 1]
    begin = min(
        [
            file.source.start(first),
            *(file.source.start(d) - 1 for d in getattr(first, "decorator_list", ())),
        ]
    )
    stop = file.source.starts[last.end_lineno or last.lineno] - 1
    before = file.source.text[start:begin].strip()
    after = file.source.text[file.source.end(last) : stop].strip()
    if before or (after and not after.startswith("#")):
        raise BadInput(
            "The statements share a line with others.", hint="Put each on a line of its own first."
        )
