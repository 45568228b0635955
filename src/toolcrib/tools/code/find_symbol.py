"""`find_symbol`: where a name is defined."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from toolcrib.code.project import Project, is_file
from toolcrib.code.symbols import (
    MAX_NEAR_NAMES,
    Definition,
    find_definitions,
    nearest_definitions,
)
from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import BadInput, NoResults
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Offset, Param, other_names, tool
from toolcrib.files.paths import SafePath, Workspace, WorkspacePath
from toolcrib.system.threads import in_thread
from toolcrib.text.tokens import estimate

MATCH_NOTES = (
    "",
    "in another case",
    "in other spelling",
    "as a part of the name",
    "as parts of the name",
)
Kind = Literal["", "function", "method", "class", "type", "variable", "module"]


@tool(
    group="code",
    rights=READ,
    keywords=("definition", "where", "function", "class", "declared", "goto", "ast"),
    aliases=("find_definition", "goto_definition", "go_to_definition", "search_symbols"),
    argument_aliases=other_names(
        name=("symbol", "symbol_name", "query"), kind=("type", "symbol_type"), path=("directory",)
    ),
)
async def find_symbol(
    name: Annotated[str, Param("Like parse or Reader.parse.")],
    kind: Kind = "",
    path: Annotated[WorkspacePath | None, Param("Only in this file or folder.")] = None,
    start: Annotated[Offset, Param("Results to skip.")] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Find where a function, class, type or variable is defined.

    Takes the exact name first, else any case, else parts of names. find_usages lists uses.
    """
    wanted = name.strip().removesuffix("()").replace("::", ".").replace("/", ".").strip(".")
    if not wanted:
        raise BadInput("'name' is empty.", hint="Give the name of a function, class or variable.")
    project, under = await opened(path, ctx)
    found, note = await in_thread(
        lambda _: find_definitions(project, wanted, kind, under), ctx.deadline
    )
    if not found:
        where = path.display if path else project.scope.folder.display
        where = "the workspace" if where == "." else where
        near, offer = await in_thread(
            lambda _: _offered(project, wanted, kind, under), ctx.deadline
        )
        raise NoResults(
            f"{f'No {kind}' if kind else 'Nothing'} called {wanted} is defined in {where}.",
            hint=f"{offer}search_files finds any text; ignored and vendored files are left out.",
            nearest=[d.symbol.name for d in near],
        )
    room = room_in(ctx.budget(find_symbol.name))
    how = MATCH_NOTES[found[0].rank]
    lines = [f"{len(found):,} found{f' ({how})' if how else ''}", *([note] if note else [])]
    is_exact = found[0].rank == 0
    confidence = "INFERRED" if not is_exact else "EXTRACTED" if len(found) == 1 else "AMBIGUOUS"
    rows: list[dict[str, Any]] = []
    spent = 20
    for each in found[start:]:
        symbol, display = each.symbol, project.display(each.path)
        inside = f"  (in {symbol.holder})" if symbol.holder else ""
        line = f"{display}:{symbol.line}  {symbol.kind}  {symbol.head}{inside}"
        spent += estimate(line) + 1
        if spent > room and rows:
            break
        lines.append(line)
        rows.append(
            {
                "path": display,
                "line": symbol.line,
                "end": symbol.end,
                "kind": symbol.kind,
                "name": symbol.name,
                "holder": symbol.holder,
                "text": symbol.head,
                "confidence": confidence,
            }
        )
    end = start + len(rows)
    more = end < len(found) and bool(rows)
    again = {"name": name, "kind": kind, "path": path.display if path else "", "start": end}
    following = Next(find_symbol.name, {k: v for k, v in again.items() if v}) if more else None
    data = {"symbols": rows, "total": len(found), "exact": is_exact}
    return Result("\n".join(lines), data, truncated=more, next=following)


def _offered(project: Project, wanted: str, kind: str, under: str) -> tuple[list[Definition], str]:
    """What else may be meant: the name as another kind, else near names; and that in words."""
    found = find_definitions(project, wanted, "", under)[0] if kind else []
    found = [each for each in found if each.rank <= 1][:MAX_NEAR_NAMES]
    near = found or nearest_definitions(project, wanted, kind, under)
    kinds = {id(d): f"{d.symbol.kind} " for d in found}
    named = [
        f"{kinds.get(id(d), '')}{d.symbol.name} ({project.display(d.path)}:{d.symbol.line})"
        for d in near
    ]
    start = "Of another kind" if found else "Near names"
    return near, f"{start}: {', '.join(named)}. " if near else ""


async def opened(path: SafePath | None, ctx: Ctx) -> tuple[Project, str]:
    """The project of a path, and how the paths in it start that are wanted."""
    place = path or ctx.use(Workspace).start(ctx.session.directory)
    if await is_file(place, ctx):
        project = await Project.open(ctx, place.parent)
        return project, project.name_of(place)
    return await Project.open(ctx, place), ""
