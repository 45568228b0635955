"""References and renames, whatever the language of the file."""

from __future__ import annotations

import re

from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.places import Place, SymbolReferences
from toolcrib.code.project import Project
from toolcrib.code.symbols import find_definitions
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.files.paths import SafePath, Workspace
from toolcrib.system.threads import in_thread

SHOWN = 8


async def choose(name: str, path: SafePath | None, line: int, ctx: Ctx) -> tuple[Project, str, int]:
    """The project, the file and the line of a symbol; line 0 where the file is enough.

    Raises:
        BadInput: several symbols have the name.
        NotFound: none has, or the file is not one of the project's.
    """
    if path is not None:
        project = await Project.open(ctx, path.ancestor(0))
        return project, await in_thread(lambda _: project.name_of(path), ctx.deadline), line
    if line:
        raise BadInput("'line' needs 'path'.", hint="Give the file that the line is of.")
    start = ctx.use(Workspace).start(ctx.session.directory)
    project = await Project.open(ctx, start.ancestor(0))
    found, _ = await in_thread(lambda _: find_definitions(project, name), ctx.deadline)
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
        shown = ", ".join(f"{project.display(p)}:{n}" for p, n in places[:SHOWN])
        more = ", ..." if len(places) > SHOWN else ""
        raise BadInput(
            f"{len(places):,} symbols are called {name}: {shown}{more}",
            hint="Give path and line of the one that is meant.",
        )
    return project, *places[0]


KNOWN = "Python, JavaScript and TypeScript"


async def find_references(project: Project, path: str, line: int, name: str) -> SymbolReferences:
    """Every place that names a symbol; in other languages only what looks like it.

    Raises:
        NotFound, BadInput: the name means nothing there, or several things.
        MissingExtra: a library is not installed.
    """
    language = language_of(path)
    if language == "python":
        from toolcrib.code.python.references import references

        return await references(project, path, line, name)
    if language in SCRIPTS:
        from toolcrib.code.javascript.references import references as script_references

        return await script_references(project, path, line, name)
    return _by_words(project, language, name)


async def find_renamed(
    project: Project, path: str, line: int, name: str, new: str
) -> tuple[SymbolReferences, list[str]]:
    """The same for a rename, and why the new name cannot be given, a sentence each.

    Raises:
        BadInput: the language is not known well enough; else as `find_references`.
    """
    language = language_of(path)
    if language == "python":
        from toolcrib.code.python.references import conflicts, references

        found = await references(project, path, line, name)
        return found, await conflicts(project, found, new)
    if language in SCRIPTS:
        from toolcrib.code.javascript.references import examined

        return await examined(project, path, line, name, new)
    raise BadInput(
        f"Names are changed in {KNOWN} only, not in {project.display(path)}.",
        hint="find_usages lists where the word stands; edit_file and replace_in_files change text.",
    )


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
    found.obstacles.append(f"Scopes are known of {KNOWN} only.")
    return found
