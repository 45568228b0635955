"""`delete_backup`: a backup that is no longer needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import ERASE, WRITE, Param, Right, tool
from toolcrib.files.backups import Backups, spelled_name
from toolcrib.system.threads import in_thread


def _narrowed(arguments: Mapping[str, Any]) -> Right:
    return WRITE | ERASE if arguments.get("confirm") else WRITE


@tool(
    group="backup",
    rights=WRITE | ERASE,
    keywords=("remove", "clean", "free", "space"),
    aliases=("remove_backup", "erase_backup"),
    argument_aliases={"backup": "name", "backup_id": "name", "id": "name"},
    destructive=True,
    effective_rights=_narrowed,
)
async def delete_backup(
    name: Annotated[str, Param("As list_backups says.")],
    confirm: Annotated[bool, Param("Delete it for good; asks the user.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Delete a backup for good.

    Without confirm it only shows which one.
    """
    backups, name = ctx.use(Backups), spelled_name(name)
    stored = await in_thread(lambda _: backups.vault.find(name), ctx.deadline)
    if confirm:
        await in_thread(lambda _: backups.vault.remove(name), ctx.deadline)
    text = f"{'Deleted' if confirm else 'Would delete'} {stored.name}, {stored.size:,} bytes"
    if not confirm:
        text += "\nconfirm=true does it, and asks the user."
    return Result(text=text, data={"name": stored.name, "deleted": confirm})
