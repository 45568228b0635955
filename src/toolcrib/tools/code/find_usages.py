"""`find_usages`: where a symbol is used."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import NoResults
from toolcrib.core.params import Offset, Param
from toolcrib.core.tool import READ, tool
from toolcrib.kit.code.places import Place, References
from toolcrib.kit.code.project import Project
from toolcrib.kit.code.usages import find_references
from toolcrib.kit.paths import WorkspacePath
from toolcrib.kit.threads import in_thread
from toolcrib.kit.tokens import estimate
from toolcrib.tools.code.choosing import choose

WIDTH = 120


@tool(
    group="code",
    rights=READ,
    keywords=("references", "callers", "uses", "who calls", "occurrences", "ast"),
    aliases=(
        "find_references",
        "find_referencing_symbols",
        "get_references",
        "list_usages",
        "find_callers",
        "find_usage",
        "find_all_references",
    ),
    argument_aliases={
        "symbol": "name",
        "symbol_name": "name",
        "definition_file": "path",
        "file": "path",
        "file_path": "path",
        "relative_path": "path",
        "line_number": "line",
        "definition_line": "line",
    },
)
async def find_usages(
    name: Annotated[str, Param("The symbol.")],
    path: Annotated[WorkspacePath | None, Param("A file that defines or uses it.")] = None,
    line: Annotated[Offset, Param("The line there; needed if several have the name.")] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Find all uses of a symbol by scope; certain and possible ones apart.

    Knows the scopes of Python, JavaScript and TypeScript; elsewhere it lists the word.
    rename_symbol changes them.
    """
    wanted = name.strip().removesuffix("()")
    project, file, at = await choose(wanted.rpartition(".")[2] if path else wanted, path, line, ctx)
    last = wanted.rpartition(".")[2]
    found = await find_references(project, file, at, last)
    if not found.certain and not found.possible:
        raise NoResults(f"{last} is used nowhere.", hint="search_files finds any text.")
    room = room_in(ctx.budget(find_usages.name))
    return await in_thread(lambda _: _result(project, found, last, room), ctx.deadline)


def _result(project: Project, found: References, name: str, room: int) -> Result:
    definitions = [p for p in found.certain if p.kind == "definition"]
    others = [p for p in found.certain if p.kind != "definition"]
    files = len({p.path for p in found.certain})
    head = (
        f"{found.what or 'symbol'} {name}: {len(others):,} certain "
        f"{'use' if len(others) == 1 else 'uses'} in {files:,} {'file' if files == 1 else 'files'}"
        f", {len(found.possible):,} possible"
    )
    lines, left, truncated = [head], room - estimate(head) - 10, False
    for title, places in (
        ("Defined:", definitions),
        ("Certain:", others),
        ("Possible (text, or not provable):", found.possible),
    ):
        if not places:
            continue
        lines.append(title)
        for number, place in enumerate(places):
            line = f"{project.display(place.path)}:{place.line}  {_line(project, place)}"
            left -= estimate(line) + 1
            if left < 0 and len(lines) > 2:
                lines.append(f"[{len(places) - number:,} more]")
                truncated = True
                break
            lines.append(line)
    if found.obstacles:
        lines.append(
            f"Not surely all: {len(found.obstacles):,} reasons, the first: {found.obstacles[0]}"
        )
    data = {
        "name": name,
        "kind": found.what,
        "certain": [_row(project, p) for p in found.certain],
        "possible": [_row(project, p) for p in found.possible],
        "obstacles": found.obstacles,
    }
    return Result("\n".join(lines), data, truncated=truncated)


def _line(project: Project, place: Place) -> str:
    text = project.text(place.path).split("\n")[place.line - 1]
    if len(text) > WIDTH:
        start = max(place.column - WIDTH // 2, 0)
        text = text[start : start + WIDTH]
    return text.strip()


def _row(project: Project, place: Place) -> dict[str, Any]:
    return {
        "path": project.display(place.path),
        "line": place.line,
        "column": place.column + 1,
        "kind": place.kind,
    }
