"""Which symbol a call means."""

from __future__ import annotations

from toolcrib.code.lookup import find_definitions
from toolcrib.code.project import Project
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.files.paths import SafePath
from toolcrib.files.workspace import Workspace
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
    found = await in_thread(lambda _: find_definitions(project, name), ctx.deadline)
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
