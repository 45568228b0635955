"""`edit_lines`: lines inserted, replaced, deleted or moved by number."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.line_edits import LineEdit, Operation, apply_line_edit
from toolcrib.files.edits.report import ChangeReport, carry_out, render_reports
from toolcrib.files.edits.text_loader import load, load_or_new, need_size
from toolcrib.files.paths import WritablePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.tools.files.argument_adapters import adapt_line_edit


@tool(
    group="files",
    rights=WRITE,
    keywords=("insert", "delete", "move", "line", "number", "row"),
    argument_aliases={
        "file_path": "path",
        "file": "path",
        "op": "operation",
        "action": "operation",
        "command": "operation",
        "line": "start",
    },
    destructive=True,
    argument_adapter=adapt_line_edit,
)
async def edit_lines(
    path: WritablePath,
    operation: Operation,
    start: Annotated[int | None, Param("First line; one past the last to add.")] = None,
    end: Annotated[int | None, Param("Last line.")] = None,
    content: Annotated[str | None, Param("New lines.")] = None,
    expect: Annotated[str, Param("What the first line says now, or its LINE:HASH.")] = "",
    to: Annotated[int | None, Param("Line before which moved lines go.")] = None,
    after: Annotated[str, Param("Insert after the one line with this text.")] = "",
    *,
    ctx: Ctx,
) -> Result:
    """Insert, replace, delete or move lines by number.

    Send `expect` with them: when that line says something else, nothing is changed and the
    lines around are shown. Without `start` it names the place itself. Negative numbers
    count from the end. `edit_file` needs no numbers.
    """
    ctx.session.taint(private=True)
    edit = LineEdit(operation, start, end, content, to, expect, after)

    def work(_: Checkpoint) -> tuple[Step, ChangeReport, str]:
        is_new = operation == "insert" and start == 1
        loaded = load_or_new(path) if is_new else load(path)
        done = apply_line_edit(loaded.text, edit)
        splice = Splice(0, len(loaded.text), done.text)
        data = need_size(path, loaded.faithful.spliced([splice]))
        step = Step(edit_lines.name)
        step.write(path, data, expected=loaded.fingerprint)
        line = f"{path.display}: {done.summary}"
        report = ChangeReport(
            path.display, line, loaded.text, done.text, [], {"done": done.summary}
        )
        return step, report, render_reports([report])

    step, report, text = await in_thread(work, ctx.deadline)
    return await carry_out(step, [report], text, ctx)
