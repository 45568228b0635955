"""`apply_patch`: one patch for one or many files."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, other_names, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.edits.patch_argument import PatchText, confined, plan_part
from toolcrib.files.edits.report import ChangeReport, carry_out, render_reports
from toolcrib.files.paths import WritablePath
from toolcrib.system.threads import Checkpoint, in_thread


@tool(
    group="files",
    rights=WRITE,
    keywords=("diff", "unified", "codex", "search", "replace", "hunk"),
    aliases=("patch", "patch_file", "apply_unified_diff", "git_apply"),
    argument_aliases=other_names(
        patch=("diff", "patch_text"), path=("file_path", "file_name", "file"), dry_run=("preview",)
    ),
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

    def work(check: Checkpoint) -> tuple[Step, list[ChangeReport], str]:
        step, reports = Step(apply_patch.name), []
        for part in wanted.parts:
            check()
            reports.append(plan_part(step, part))
        return step, reports, render_reports(reports)

    step, reports, text = await in_thread(work, ctx.deadline)
    if dry_run:
        data = {"dry_run": True, "files": [report.to_json() for report in reports]}
        return Result(
            text=f"{text}\nNothing is changed yet: dry_run=false does it.", data=data, private=True
        )
    return await carry_out(step, reports, text, ctx)
