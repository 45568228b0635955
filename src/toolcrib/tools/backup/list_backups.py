"""`list_backups`: the backups of this workspace."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Count, Param, tool
from toolcrib.files.backups import Backups
from toolcrib.state.vault import Stored
from toolcrib.system.threads import in_thread


@tool(
    group="backup",
    rights=READ,
    keywords=("backups", "snapshots", "restore"),
    aliases=("show_backups", "backups"),
    argument_aliases={"order": "sort", "max": "limit"},
)
async def list_backups(
    sort: Literal["date", "size"] = "date",
    limit: Annotated[Count, Param("Most backups.", maximum=500)] = 50,
    *,
    ctx: Ctx,
) -> Result:
    """List the backups of this workspace.

    Newest or largest first, with their names for restore_backup.
    """
    backups = ctx.use(Backups)
    found = await in_thread(lambda _: backups.vault.stored(), ctx.deadline)
    if sort == "size":
        found.sort(key=lambda stored: (-stored.size, stored.name))
    more = [f"and {len(found) - limit:,} more"] if len(found) > limit else []
    lines = [_line(stored) for stored in found[:limit]]
    return Result(
        text="\n".join([*lines, *more]) or "(no backups)",
        data={
            "backups": [
                {"name": s.name, "bytes": s.size, "made": int(s.made)} for s in found[:limit]
            ],
            "total": len(found),
        },
    )


def _line(stored: Stored) -> str:
    made = datetime.fromtimestamp(stored.made).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return f"{stored.name}  {made}  {stored.size:,} bytes"
