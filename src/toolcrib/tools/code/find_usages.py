"""`find_usages`: where a symbol is used."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.code.places import Place, SymbolReferences
from toolcrib.code.project import Project
from toolcrib.code.usages import choose, find_references
from toolcrib.core.context import Ctx, room_in
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import READ, Offset, Param, other_names, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted
from toolcrib.text.tokens import estimate

MAX_LINE_CHARS = 120
MAX_LIMIT = 1_000
MAX_OBSTACLES = 100


@tool(
    group="code",
    rights=READ,
    keywords=("references", "callers", "uses", "who calls", "occurrences", "ast"),
    aliases=("find_references", "get_references", "find_callers", "find_usage"),
    argument_aliases=other_names(
        name=("symbol",),
        path=("file", "file_path"),
        line=("line_number", "definition_line"),
        start=("offset",),
    ),
)
async def find_usages(
    name: Annotated[str, Param("The symbol.")],
    path: Annotated[WorkspacePath | None, Param("A file that defines or uses it.")] = None,
    line: Annotated[Offset, Param("The line there; needed if several have the name.")] = 0,
    limit: Annotated[int, Param(minimum=1, maximum=MAX_LIMIT)] = 100,
    start: Annotated[Offset, Param("Places to skip.")] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Find all uses of a symbol by scope; certain and possible ones apart.

    Knows the scopes of Python, JavaScript and TypeScript; elsewhere it lists the word.
    rename_symbol changes them.
    """
    wanted = name.strip().removesuffix("()")
    project, file, at = await choose(wanted, path, line, ctx)
    last = wanted.rpartition(".")[2]
    found, _ = await find_references(project, file, at, last)
    if not found.certain and not found.possible:
        raise NoResults(f"{last} is used nowhere.", hint="search_files finds any text.")
    room = room_in(ctx.budget(find_usages.name))
    again = {
        "name": name,
        "path": path.display if path else "",
        "line": line,
        "limit": limit if limit != 100 else 0,
    }
    following_arguments = {key: value for key, value in again.items() if value}
    return await in_thread(
        lambda _: _result(project, found, last, room, (start, limit), following_arguments),
        ctx.deadline,
    )


UNKNOWN_TITLE = "Possible (whose it is cannot be proven):"
TEXT_TITLE = "Only text (comments, strings):"


def _result(
    project: Project,
    found: SymbolReferences,
    name: str,
    room: int,
    page: tuple[int, int],
    again: dict[str, Any],
) -> Result:
    start, limit = page
    definitions = [p for p in found.certain if p.kind == "definition"]
    others = [p for p in found.certain if p.kind != "definition"]
    files = len({p.path for p in found.certain})
    texts = [p for p in found.possible if p.kind == "text"]
    unknown = [p for p in found.possible if p.kind != "text"]
    head = (
        f"{found.what or 'symbol'} {name}: {counted(len(others), 'certain use')} in "
        f"{counted(files, 'file')}, {len(unknown):,} possible"
        + (f", {counted(len(texts), 'mention')} in text" if texts else "")
        + (f" (types by {found.types_by})" if found.types_by else "")
    )
    ordered = [
        *(("Defined:", p) for p in definitions),
        *(("Certain:", p) for p in others),
        *((UNKNOWN_TITLE, p) for p in unknown),
        *((TEXT_TITLE, p) for p in texts),
    ]
    total = len(ordered)
    if start >= total:
        raise NoResults(f"{name} has {total:,} places.", hint="Take a smaller 'start'.")
    lines, left, title, end = [head], room - estimate(head) - 40, "", start
    for kind, place in ordered[start : start + limit]:
        line = f"{project.display(place.path)}:{place.line}  {_line(project, place)}"
        left -= estimate(line) + 1 + (0 if kind == title else estimate(kind) + 1)
        if left < 0 and end > start:
            break
        if kind != title:
            title = kind
            lines.append(kind)
        lines.append(line)
        end += 1
    if end < total:
        lines.append(f"[{total - end:,} more]")
    if found.obstacles:
        lines.append(
            f"Not surely all: {len(found.obstacles):,} reasons, the first: {found.obstacles[0]}"
        )
    page_places = [place for _, place in ordered[start:end]]
    certain = max(len(found.certain) - start, 0)
    data = {
        "name": name,
        "kind": found.what,
        "certain": [_row(project, p, "EXTRACTED") for p in page_places[:certain]],
        "possible": [
            _row(project, p, "AMBIGUOUS" if p.kind == "text" else "INFERRED")
            for p in page_places[certain:]
        ],
        "total": total,
        "obstacles": found.obstacles[:MAX_OBSTACLES],
    }
    following = Next(find_usages.name, {**again, "start": end}) if end < total else None
    return Result("\n".join(lines), data, truncated=end < total, next=following)


def _line(project: Project, place: Place) -> str:
    text = project.text(place.path).split("\n")[place.line - 1]
    if len(text) > MAX_LINE_CHARS:
        start = max(place.column - MAX_LINE_CHARS // 2, 0)
        text = text[start : start + MAX_LINE_CHARS]
    return text.strip()


def _row(project: Project, place: Place, confidence: str) -> dict[str, Any]:
    return {
        "path": project.display(place.path),
        "line": place.line,
        "column": place.column + 1,
        "kind": place.kind,
        "confidence": confidence,
    }
