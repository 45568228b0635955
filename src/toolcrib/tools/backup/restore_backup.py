"""`restore_backup`: files as they were in a backup."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, other_names, tool
from toolcrib.files.backups import BackupRestore, Backups
from toolcrib.files.changes.changes import Changes
from toolcrib.files.paths import WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread

DISPLAYED_NAMES = 15


@tool(
    group="backup",
    rights=READ | WRITE,
    keywords=("recover", "rollback", "back", "unzip"),
    aliases=("recover_backup", "load_backup"),
    argument_aliases=other_names(name=("backup", "backup_id", "id"), paths=("path", "files")),
    destructive=True,
)
async def restore_backup(
    name: Annotated[str, Param("As list_backups says, or latest.")],
    paths: Annotated[list[WorkspacePath] | None, Param("By default all of it.")] = None,
    confirm: Annotated[bool, Param("False only shows what would change.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Put the files of a backup back.

    Files made since then stay. undo_changes takes the restoring back.
    """
    backups = ctx.use(Backups)
    name = await in_thread(lambda _: backups.named(name), ctx.deadline)
    file = await in_thread(lambda _: backups.vault.read(name), ctx.deadline)

    def work(check: Checkpoint) -> BackupRestore:
        return backups.restoring(name, paths or (), restore_backup.name, file, check)

    try:
        found = await in_thread(work, ctx.deadline)
        step = 0
        if confirm:
            step = (await ctx.use(Changes).apply(found.step, ctx)).step
    finally:
        file.close()
    verb = "Restored" if confirm else "Would restore"
    text = (
        f"{verb} {name}: {len(found.new):,} missing, {len(found.changed):,} changed, "
        f"{found.same:,} the same"
    )
    if not found.new and not found.changed:
        text = f"Nothing to restore: all files are as in {name}"
    names = [f"+ {n}" for n in found.new] + [f"~ {n}" for n in found.changed]
    more = [f"and {len(names) - DISPLAYED_NAMES:,} more"] if len(names) > DISPLAYED_NAMES else []
    tail = [] if confirm or not names else ["confirm=true does it."]
    return Result(
        text="\n".join([text, *names[:DISPLAYED_NAMES], *more, *tail]),
        data={
            "name": name,
            "new": len(found.new),
            "changed": len(found.changed),
            "same": found.same,
            "step": step,
            "restored": confirm,
        },
    )
