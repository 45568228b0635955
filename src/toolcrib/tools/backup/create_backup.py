"""`create_backup`: a copy of files and folders to come back to."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, tool
from toolcrib.files.backups import BackupContents, Backups, default_name, spelled_name
from toolcrib.files.paths import Workspace, WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, some_of

DISPLAYED_NAMES = 5


@tool(
    group="backup",
    rights=READ | WRITE,
    keywords=("save", "snapshot", "zip", "copy"),
    aliases=("backup", "make_backup", "backup_files", "backup_workspace"),
    argument_aliases={"path": "paths", "files": "paths", "label": "name"},
)
async def create_backup(
    paths: Annotated[list[WorkspacePath] | None, Param("By default the workspace.")] = None,
    name: Annotated[str, Param("By default the time.")] = "",
    confirm: Annotated[bool, Param("False only shows what it would hold.")] = True,
    *,
    ctx: Ctx,
) -> Result:
    """Make a backup of files and folders, outside the workspace.

    Protected files, .git and links are left out. Single edits need none: undo_changes.
    """
    backups = ctx.use(Backups)
    chosen = paths or [ctx.use(Workspace).start()]
    name = spelled_name(name) or default_name()

    def work(check: Checkpoint) -> tuple[BackupContents, int]:
        contents = backups.collect(chosen, check)
        return contents, backups.make(name, contents, check).size if confirm else 0

    contents, size = await in_thread(work, ctx.deadline)
    count = f"{counted(contents.files, 'file')}, {counted(contents.size, 'byte')}"
    text = f"Backup {name}: {count}, {size:,} packed" if confirm else f"Would back up {count}"
    if contents.left_out:
        text += f"\nLeft out: {some_of(contents.left_out, DISPLAYED_NAMES)}"
    return Result(
        text=text,
        data={
            "name": name if confirm else "",
            "files": contents.files,
            "bytes": contents.size,
            "left_out": len(contents.left_out),
            "made": confirm,
        },
    )
