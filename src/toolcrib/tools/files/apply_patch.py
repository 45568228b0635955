"""`apply_patch`: one patch for one or many files."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.params import Param
from toolcrib.core.tool import WRITE, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.edits.files.patch_argument import PatchText, confined, planned
from toolcrib.files.edits.files.report import Told, carry_out, shown
from toolcrib.files.paths import WritablePath
from toolcrib.system.threads import Checkpoint, in_thread


@tool(
    group="files",
    rights=WRITE,
    keywords=("diff", "unified", "codex", "search", "replace", "hunk"),
    aliases=(
        "patch",
        "patch_file",
        "apply_diff",
        "edit_file_with_diff",
        "apply_unified_diff",
        "git_apply",
        "fs_patch",
    ),
    argument_aliases={
        "diff": "patch",
        "unified_diff": "patch",
        "input": "patch",
        "patch_text": "patch",
        "file_path": "path",
        "file_name": "path",
        "file": "path",
        "preview": "dry_run",
    },
    destructive=True,
)
async def apply_patch(
    patch: PatchText,
    path: Annotated[WritablePath | None, Param("The only file it may change.")] = None,
    dry_run: Annotated[bool, Param("Only show what would change.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Apply a patch to files: all of it, or nothing.

    Takes a unified diff, a patch between `*** Begin Patch` and `*** End Patch`, or
    SEARCH/REPLACE blocks. Lines around a change must be those of the file; wrong line
    numbers and counts do not matter. For one change `edit_file` is simpler.
    """
    ctx.session.taint(private=True)
    wanted = confined(patch, path) if path is not None else patch

    def work(check: Checkpoint) -> tuple[Step, list[Told], str]:
        plan, told = Step(apply_patch.name), []
        for part in wanted.parts:
            check()
            told.append(planned(plan, part))
        return plan, told, shown(told)

    plan, told, text = await in_thread(work, ctx.deadline)
    if dry_run:
        data = {"dry_run": True, "files": [{"path": t.path, **t.data} for t in told]}
        return Result(
            text=f"{text}\nNothing is changed yet: dry_run=false does it.", data=data, private=True
        )
    return await carry_out(plan, told, text, ctx)
