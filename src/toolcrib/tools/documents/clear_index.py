"""`clear_index`: files out of the index; the files themselves stay."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, tool
from toolcrib.documents.library import Library
from toolcrib.files.paths import WorkspacePath
from toolcrib.text.display import counted
from toolcrib.tools.documents.library_access import real_path


@tool(
    group="documents",
    rights=WRITE,
    keywords=("index", "rag", "forget", "reset", "delete"),
    aliases=("delete_index", "reset_index"),
    idempotent=True,
)
async def clear_index(
    confirm: Annotated[bool, Param("Must be true.", plain=True)],
    path: WorkspacePath | None = None,
    *,
    ctx: Ctx,
) -> Result:
    """Empty the index; files stay as they are.

    With `path` only what lies there is taken out.
    """
    if not confirm:
        raise BadInput("Nothing was cleared.", hint="Send confirm=true.")
    place = ""
    if path is not None:
        try:
            place = await real_path(path, ctx)
        except NotFound:
            place = path.absolute  # its entries may be there still
    library = ctx.use(Library)
    removed = await library.remove(place)
    lines = [f"{counted(removed, 'file')} taken out of the index."]
    above = [source.path for source in await library.sources() if place and source.covers(place)]
    if above:
        lines.append(f"{above[0]} stays indexed, so the next search there reads them again.")
    return Result("\n".join(lines), {"removed": removed})
