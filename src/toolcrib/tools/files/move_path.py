"""`move_path`: another name or place for a file or folder."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.names import plain
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, other_names, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.paths import WritablePath
from toolcrib.tools.files.argument_adapters import adapt_destination

SOURCES = ("src", "from", "from_path", "old_path", "source_path", "path")


def _adapt(arguments: dict[str, Any]) -> None:
    """A new name alone is one in the same folder."""
    adapt_destination(arguments)
    name = arguments.pop("newname", None)
    if not isinstance(name, str) or not name:
        return
    old = next(
        (arguments[each] for each in map(plain, ("source", *SOURCES)) if each in arguments), ""
    )
    folder = str(old).replace("\\", "/").rstrip("/").rpartition("/")[0]
    arguments.setdefault("destination", f"{folder}/{name}" if folder and "/" not in name else name)


@tool(
    group="files",
    rights=WRITE,
    keywords=("mv", "rename", "relocate"),
    aliases=("move", "rename", "rename_file", "rename_path"),
    argument_aliases=other_names(source=SOURCES),
    destructive=True,
    argument_adapter=_adapt,
)
async def move_path(
    source: WritablePath,
    destination: Annotated[WritablePath, Param("The new path, name included.")],
    overwrite: Annotated[bool, Param("Replace a file there.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Move or rename a file or folder.

    Missing folders above the destination are made. undo_changes takes it back.
    """
    step = Step(move_path.name)
    step.move(source, destination, replace=overwrite)
    applied = await ctx.use(Changes).apply(step, ctx)
    note = f" ({applied.note})" if applied.note else ""
    return Result(
        text=f"Moved {source.display} to {destination.display}{note}",
        data={
            "source": source.display,
            "destination": destination.display,
            "step": applied.step,
        },
    )
