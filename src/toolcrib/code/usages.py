"""References and renames, whatever the language of the file."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import TypeAlias

from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.places import Place, SymbolReferences
from toolcrib.code.project import Project
from toolcrib.code.symbols import find_definitions
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, MissingExtra, NotFound, ToolError
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.system.threads import in_thread

MAX_LISTED = 8


async def choose(name: str, path: SafePath | None, line: int, ctx: Ctx) -> tuple[Project, str, int]:
    """The project, the file and the line of a symbol; line 0 where the file is enough.

    Raises:
        BadInput: several symbols have the name.
        NotFound: none has, or the file is not one of the project's.
    """
    under = ""
    if path is not None and await in_thread(lambda _: path.kind() == "folder", ctx.deadline):
        under = "/".join(path.parts) + "/" if path.parts else ""
    elif path is not None:
        project = await Project.open(ctx, path.ancestor(0))
        file = await in_thread(lambda _: project.name_of(path), ctx.deadline)
        if "." in name and not line:
            line = await in_thread(lambda _: _line_in(project, file, name), ctx.deadline)
        return project, file, line
    if line:
        raise BadInput("'line' needs 'path'.", hint="Give the file that the line is of.")
    start = path or ctx.use(Workspace).start(ctx.session.directory)
    project = await Project.open(ctx, start.ancestor(0))
    found, _ = await in_thread(lambda _: find_definitions(project, name, under=under), ctx.deadline)
    exact = [each for each in found if each.rank == 0]
    if not exact:
        near = ", ".join(dict.fromkeys(each.symbol.name for each in found[:5]))
        raise NotFound(
            f"No {name} is defined in the workspace.",
            hint=f"There is {near}." if near else "Give path and line of a place where it stands.",
        )
    places = list(dict.fromkeys((each.path, each.symbol.line) for each in exact))
    overloads = {(each.path, each.symbol.holder, each.symbol.level) for each in exact}
    if len(overloads) > 1:
        listed = ", ".join(f"{project.display(p)}:{n}" for p, n in places[:MAX_LISTED])
        more = ", ..." if len(places) > MAX_LISTED else ""
        raise BadInput(
            f"{len(places):,} symbols are called {name}: {listed}{more}",
            hint="Give path and line of the one that is meant.",
        )
    return project, *places[0]


def _line_in(project: Project, file: str, name: str) -> int:
    """Where a file defines what `Class.member` names; 0 where that is not clear."""
    try:
        found, _ = find_definitions(project, name, under=file)
    except MissingExtra:
        return 0
    exact = [each.symbol for each in found if each.rank == 0 and each.path == file]
    if len({(symbol.holder, symbol.level) for symbol in exact}) != 1:
        return 0
    return exact[0].line


Find: TypeAlias = Callable[[Project, str, int, str, str], tuple[SymbolReferences, list[str]]]
MAX_PLACES = 2_000
"""Of a symbol, that are looked at for another name that they give to it."""
_ALIAS = re.compile(r"\s+as\s+([^\W\d][\w$]*)")
KNOWN_LANGUAGES = "Python, JavaScript and TypeScript"


async def find_references(
    project: Project, path: str, line: int, name: str, new: str = ""
) -> tuple[SymbolReferences, list[str]]:
    """Every place that names a symbol; in languages without scopes what looks like it.

    Args:
        project: the files.
        path: the one in which the name stands.
        line: from 1; 0 is wherever the file defines it.
        name: the name; in Python also `Class.member`.
        new: a new name to examine.

    Returns:
        The places, and why the symbol cannot get the new name, a sentence each. A rename is
        proven when these and the obstacles of the places are empty.

    Raises:
        NotFound, BadInput: the name means nothing there, or several things; or there is a new
            one, and the language is not known well enough.
        MissingExtra: a library is not installed.
    """
    language = language_of(path)
    if language == "python":
        from toolcrib.code.python.references import find_references as find
    elif language in SCRIPTS:
        from toolcrib.code.javascript.references import find_references as find
    elif new:
        raise BadInput(
            f"Names are changed in {KNOWN_LANGUAGES} only, not in {project.display(path)}.",
            hint=(
                "find_usages lists where the word stands; edit_file and replace_in_files change "
                "text."
            ),
        )
    else:
        return await in_thread(
            lambda _: (_by_words(project, language, name), []), project.ctx.deadline
        )
    found = await in_thread(lambda _: find(project, path, line, name, new), project.ctx.deadline)
    if not new:
        await in_thread(lambda _: _add_aliases(project, find, found[0]), project.ctx.deadline)
    if language in SCRIPTS and not new:
        from toolcrib.code.javascript.types import decide_members

        await decide_members(project, found[0])
    return found


def _add_aliases(project: Project, find: Find, found: SymbolReferences) -> None:
    """Add the uses under other names, which an import gave to it."""
    known = {(place.path, place.line) for place in found.certain}
    left = list(found.certain)
    lines = cache(lambda path: project.text(path).split("\n"))
    for place in islice(left, MAX_PLACES):  # they grow meanwhile
        line = lines(place.path)[place.line - 1]
        alias = _ALIAS.match(line, place.end_column)
        # `as` is an operator too, but not of an import or an export.
        if alias is None or not (place.kind == "import" or line.lstrip().startswith("export")):
            continue
        with suppress(ToolError):
            other, _ = find(project, place.path, place.line, alias[1], "")
            fresh = [each for each in other.certain if (each.path, each.line) not in known]
            known.update((each.path, each.line) for each in fresh)
            found.certain += fresh
            left += fresh
    found.certain.sort()


def _by_words(project: Project, language: str, name: str) -> SymbolReferences:
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    found = SymbolReferences(name=name)
    paths, _ = project.mentioning(name, [language])
    for path in paths:
        if language_of(path) != language:
            continue
        for number, line in enumerate(project.text(path).split("\n"), 1):
            for match in word.finditer(line):
                found.possible.append(Place(path, number, match.start(), match.end()))
    found.obstacles.append(f"Scopes are known of {KNOWN_LANGUAGES} only.")
    return found
