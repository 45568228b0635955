"""`rename_symbol`: a new name for a symbol, everywhere."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.code.languages import SCRIPTS, language_of
from toolcrib.code.project import Project
from toolcrib.code.rewrite import Rewrite
from toolcrib.code.usages import choose, find_references
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Offset, Param, other_names, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted, some_lines

MAX_OBSTACLES = 12
NOTHING = "Nothing was changed. Resolve these lines first, or change text by edit_file."
MAX_LISTED = 60
"""Lines that stay to be looked at where only the certain part is renamed."""
PARTLY = " Or send it with certain_only=true: that renames {count} certain places alone."


@tool(
    group="code",
    rights=WRITE,
    keywords=("refactor", "identifier", "function", "variable", "class", "everywhere", "ast"),
    aliases=("rename_identifier", "rename_function", "rename_variable", "rename_class"),
    argument_aliases=other_names(
        name=("symbol", "old", "symbol_name"), new_name=("new", "to"), path=("file", "file_path")
    ),
    destructive=True,
)
async def rename_symbol(
    name: Annotated[str, Param("The symbol.")],
    new_name: str,
    path: Annotated[WorkspacePath | None, Param("A file that defines or uses it.")] = None,
    line: Annotated[Offset, Param("The line there; needed if several have the name.")] = 0,
    dry_run: Annotated[bool, Param("Only show the change.")] = False,
    certain_only: Annotated[
        bool, Param("Rename what is proven, and list the rest.", unlisted=True)
    ] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Rename a symbol of Python, JavaScript or TypeScript in all files, or refuse.

    Changes every reference and nothing else; what cannot be proven is refused with the lines
    that stand in the way. Comments and strings stay.
    """
    wanted, new = name.strip().removesuffix("()"), new_name.strip()
    ctx.session.taint(private=True)
    project, file, at = await choose(wanted, path, line, ctx)
    last = wanted.rpartition(".")[2]
    _need_name(project, file, last, new)
    if last.startswith("#"):
        new = f"#{new.removeprefix('#')}"
    found, conflicts = await find_references(project, file, at, last, new)
    reasons = [*found.obstacles, *conflicts]
    part = certain_only and bool(found.certain) and not conflicts
    if reasons and not part:
        count = 0 if conflicts else len(found.certain)
        rest = PARTLY.format(count=count) if count else ""
        raise Conflict(
            f"{last} was not renamed to {new}; what stands in the way:\n"
            + some_lines(reasons, MAX_OBSTACLES),
            hint=f"{NOTHING}{rest}",
            obstacles=reasons,
        )
    if not found.certain:
        raise BadInput(f"No {last} was found.", hint="Give path and line.")
    rewrite = Rewrite(project, rename_symbol)
    await in_thread(lambda _: rewrite.rename(found.certain, new), ctx.deadline)
    head = (
        f"rename {found.what or 'symbol'} {last} to {new}: "
        f"{counted(len(found.certain), 'place')} in {counted(len(rewrite.splices), 'file')}"
    )
    notes = []
    if reasons:
        notes.append(f"Not renamed, to be looked at:\n{some_lines(reasons, MAX_LISTED)}")
    elif found.possible:
        places = ", ".join(
            f"{project.display(p.path)}:{p.line}" for p in found.possible[:MAX_OBSTACLES]
        )
        notes.append(f"Left as they are (comments, strings): {places}")
    data: dict[str, Any] = {
        "name": last,
        "new_name": new,
        "kind": found.what,
        "places": len(found.certain),
    }
    if reasons:
        data["left"] = reasons
    return await rewrite.carry_out(head, data, ctx, dry_run=dry_run, notes=notes)


def _need_name(project: Project, file: str, old: str, new: str) -> None:
    if old == new:
        raise BadInput("The new name is the old one.", hint="Give another new_name.")
    if language_of(file) in SCRIPTS:
        from toolcrib.code.javascript.references import need_name

        need_name(new, private=old.startswith("#"))
    elif not new.isidentifier():
        raise BadInput(
            f"{new!r} is not a name of {language_of(file) or project.display(file)}.",
            hint="Give another new_name.",
        )
