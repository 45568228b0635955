"""`edit_lines`: lines inserted, replaced, deleted or moved by number."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.params import Param
from toolcrib.core.tool import WRITE, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.files.loader import load, load_or_new, need_size
from toolcrib.files.edits.files.report import Told, carry_out, shown
from toolcrib.files.edits.lines import LineEdit, Operation, edited_lines
from toolcrib.files.paths import WritablePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.tools.files.adapters.change_arguments import lining


@tool(
    group="files",
    rights=WRITE,
    keywords=("insert", "delete", "move", "line", "number", "row"),
    aliases=(
        "line_operations",
        "insert_at_line",
        "insert_lines",
        "insert_line",
        "delete_lines_in_file",
        "delete_lines",
        "replace_lines",
        "move_lines",
        "insert_text_at_line",
        "insert_content",
        "insert",
        "edit_line",
        "insert_text",
    ),
    argument_aliases={
        "file_path": "path",
        "file_name": "path",
        "filename": "path",
        "file": "path",
        "op": "operation",
        "action": "operation",
        "command": "operation",
        "start_line": "start",
        "line": "start",
        "line_number": "start",
        "target_line": "start",
        "insert_line": "start",
        "move_from": "start",
        "end_line": "end",
        "move_to": "to",
        "destination": "to",
        "content_to_insert": "content",
        "new_content": "content",
        "text": "content",
        "lines": "content",
        "insert_after_pattern": "after",
        "insert_before_pattern": "expect",
        "verify_before_insert": "expect",
        "verify": "expect",
        "expected": "expect",
    },
    destructive=True,
    dialect=lining,
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

    def work(_: Checkpoint) -> tuple[Step, Told, str]:
        is_new = operation == "insert" and start == 1
        loaded = load_or_new(path) if is_new else load(path)
        done = edited_lines(loaded.text, edit)
        splice = Splice(0, len(loaded.text), done.text)
        data = need_size(path, loaded.faithful.spliced([splice]))
        plan = Step(edit_lines.name)
        plan.write(path, data, expected=loaded.fingerprint)
        line = f"{path.display}: {done.said}"
        told = Told(path.display, line, loaded.text, done.text, [], {"done": done.said})
        return plan, told, shown([told])

    plan, told, text = await in_thread(work, ctx.deadline)
    return await carry_out(plan, [told], text, ctx)
