"""Extraction, moves and the removal of unused imports: what all languages share.

A `LanguageFrontend` reads the files of its language, says what stands in the way, and where the
new text goes. Here its plan is refused, or checked and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from toolcrib.code.project import Project
from toolcrib.code.rewrite import Rewrite, RewriteSummary
from toolcrib.core.errors import BadInput, Conflict
from toolcrib.files.content.faithful import Splice

OTHER_LINES_HINT = "Choose other lines, or change the code first so that these stand on their own."


@dataclass(slots=True)
class ExtractionPlan:
    """A function made of some lines: what goes in and comes out, or what stands in the way."""

    obstacles: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    splices: list[Splice] = field(default_factory=list)


@dataclass(slots=True)
class MovePlan:
    """A move whose changes are in the rewrite already, unless something stands in the way.

    Attributes:
        importers: the files whose imports change, as a call names them.
        notes: lines for the answer.
    """

    obstacles: list[str] = field(default_factory=list)
    importers: Iterable[str] = ()
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CleanupPlan:
    """Imports to remove, by the names that they bind, and notes on those that stay."""

    names: list[str] = field(default_factory=list)
    splices: list[Splice] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LanguageFrontend:
    """What the operations need of a language.

    Attributes:
        extraction: of a file, its first and last line, and the name of the new function.
        move: into a rewrite, of a name from a file to another one.
        unused_imports: of a file.
        is_valid: whether the text of a file can be parsed.
    """

    extraction: Callable[[Project, str, tuple[int, int], str], ExtractionPlan]
    move: Callable[[Rewrite, str, str, str], MovePlan]
    unused_imports: Callable[[Project, str], CleanupPlan]
    is_valid: Callable[[str, str], bool]


def extract(
    language: LanguageFrontend, rewrite: Rewrite, path: str, lines: tuple[int, int], name: str
) -> RewriteSummary:
    """Make a function of some lines.

    Raises:
        BadInput: the lines are not whole statements of one block, or the name is none.
        Conflict: it cannot be proven that the program stays as it is.
        UnsupportedContent: the file is not valid.
    """
    plan = language.extraction(rewrite.project, path, lines, name)
    _refuse("The lines are not extracted", plan.obstacles, OTHER_LINES_HINT)
    rewrite.replace(path, *plan.splices)
    _need_valid(language, rewrite, OTHER_LINES_HINT)
    given, back = ", ".join(plan.parameters), ", ".join(plan.results)
    return RewriteSummary(
        f"extract lines {lines[0]} to {lines[1]} of {rewrite.project.display(path)} to "
        f"{name}({given}){f', which gives back {back}' if back else ''}",
        {"name": name, "parameters": plan.parameters, "results": plan.results},
    )


def move(
    language: LanguageFrontend, rewrite: Rewrite, path: str, name: str, target: str
) -> RewriteSummary:
    """Move what a module defines to another file, which need not exist.

    Raises:
        BadInput: the target is the same file, or of another language.
        NotFound: there is nothing of that name at the top of the file.
        Conflict: it would change what the program does.
        UnsupportedContent: one of the files is not valid, or no module.
    """
    plan = language.move(rewrite, path, name, target)
    hint = "Resolve these lines first, or move what it depends on with it."
    _refuse(f"{name} is not moved", plan.obstacles, hint)
    hint = "Name a target whose language allows all of its syntax (JSX needs .tsx)."
    _need_valid(language, rewrite, hint)
    display = rewrite.project.display
    return RewriteSummary(
        f"move {name} from {display(path)} to {display(target)}",
        {"name": name, "target": display(target), "importers": sorted(plan.importers)},
        tuple(plan.notes),
    )


def remove_unused_imports(
    language: LanguageFrontend, rewrite: Rewrite, path: str
) -> RewriteSummary | None:
    """Remove the unused imports of a file; None where there are none.

    Raises:
        UnsupportedContent: the file is not valid.
    """
    plan = language.unused_imports(rewrite.project, path)
    if not plan.names:
        return None
    rewrite.replace(path, *plan.splices)
    what = "import" if len(plan.names) == 1 else "imports"
    display = rewrite.project.display(path)
    return RewriteSummary(
        f"remove {len(plan.names)} unused {what} from {display}: {', '.join(plan.names)}",
        {"removed": plan.names},
        tuple(plan.notes),
    )


def _refuse(what: str, obstacles: list[str], hint: str) -> None:
    if obstacles:
        raise Conflict(
            f"{what}; this stands in the way:\n" + "\n".join(obstacles[:20]),
            hint=hint,
            obstacles=obstacles[:100],
        )


def _need_valid(language: LanguageFrontend, rewrite: Rewrite, hint: str) -> None:
    """See that the new texts are understood as the old ones were."""
    for path in sorted({*rewrite.splices, *rewrite.created}):
        if not language.is_valid(path, rewrite.after(path)):
            display = rewrite.project.display(path)
            raise Conflict(f"{display} would not be valid after the change.", hint=hint)


# Imports


def import_cycle(
    edges: Iterable[tuple[str, str]], loads: Callable[[str], Iterable[str]]
) -> list[str]:
    """The first cycle that new imports would make, by its paths; empty without one.

    Args:
        edges: the new imports, each the file that imports and the one that is imported.
        loads: the files that a file loads when it is loaded, as it will be.
    """
    added: dict[str, set[str]] = {}
    for start, end in edges:
        if start != end:
            added.setdefault(start, set()).add(end)
    for start, end in dict.fromkeys(edges):
        route = _route(end, start, added, loads) if start != end else []
        if route:
            return [start, *route]
    return []


def _route(
    start: str, end: str, added: dict[str, set[str]], loads: Callable[[str], Iterable[str]]
) -> list[str]:
    before: dict[str, str] = {start: ""}
    todo = [start]
    while todo:
        path = todo.pop(0)
        if path == end:
            route = [path]
            while before[route[0]]:
                route.insert(0, before[route[0]])
            return route
        for other in sorted({*added.get(path, ()), *loads(path)}):
            if other not in before:
                before[other] = path
                todo.append(other)
    return []


# Lines


def need_lines(lines: list[str], first: int, last: int, display: str) -> tuple[int, int]:
    """Some lines of a file, from 1, without blank ones at their ends.

    Raises:
        BadInput: the file does not have them.
    """
    if not 1 <= first <= last <= len(lines):
        raise BadInput(
            f"Lines {first} to {last} are not in {display}, which has {len(lines)}.",
            hint="Give start and end, the first and the last line, from 1.",
        )
    while first < last and not lines[first - 1].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return first, last


def not_whole(what: str) -> BadInput:
    """The error for lines that are not whole statements."""
    return BadInput(
        f"{what} are not whole statements of one block.",
        hint="Give the first line of the first statement and the last line of the last.",
    )


def shared_line() -> BadInput:
    """The error for statements that have no lines of their own."""
    return BadInput(
        "The statements share a line with others.", hint="Put each on a line of its own first."
    )


def indent_of(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def reindented(
    lines: list[str], span: tuple[int, int], fixed: set[int], old: str, new: str
) -> list[str]:
    """Lines with another indentation.

    Args:
        lines: of the file.
        span: the first and the last of them, from 1.
        fixed: numbers of lines that begin inside a string, and stay.
        old: the indentation of the first line.
        new: what it becomes.
    """
    moved = []
    for number in range(span[0], span[1] + 1):
        line = lines[number - 1]
        if number in fixed:
            moved.append(line)
        elif not line.strip():
            moved.append("")
        else:
            rest = line[len(old) :] if line.startswith(old) else line.lstrip()
            moved.append(f"{new}{rest}")
    return moved


def without_lines(text: str, start: int, end: int, comment: str) -> Splice | None:
    """Cut a statement with its lines; None where it shares them with more than a comment."""
    first = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    rest = text[end:stop].strip()
    if text[first:start].strip() or (rest and not rest.startswith(comment)):
        return None
    return Splice(first, min(stop + 1, len(text)), "")
