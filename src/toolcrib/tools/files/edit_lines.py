"""`edit_lines`: lines inserted, replaced, deleted or moved by number."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, other_names, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.fences import file_text
from toolcrib.files.edits.left_out import placeholder
from toolcrib.files.edits.line_edits import LineEdit, Operation, apply_line_edit
from toolcrib.files.edits.report import ChangeReport, carry_out, render_reports
from toolcrib.files.edits.text_loader import MAX_TEXT_BYTES, load, load_or_new, need_size
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.tools.files.argument_adapters import adapt_line_edit


@tool(
    group="files",
    rights=WRITE,
    keywords=("insert", "delete", "move", "line", "number", "row"),
    argument_aliases=other_names(
        path=("file_path", "file"),
        operation=("op", "action", "command"),
        start=("line",),
        after=("after_line",),
        before=("before_line",),
    ),
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
    after: Annotated[str, Param("Insert after the line with this number or text.")] = "",
    before: Annotated[str, Param("Insert before that line.")] = "",
    max_lines: Annotated[int, Param("Lines to insert at most; 0: any.", unlisted=True)] = 0,
    *,
    ctx: Ctx,
) -> Result:
    """Insert, replace, delete or move lines by number.

    Send `expect` with them: when that line says something else, nothing is changed and the
    lines around are shown. Without `start` it names the place itself. Negative numbers
    count from the end. `after` and `before` also take a pattern, as in /^def main/.
    `edit_file` needs no numbers.
    """
    ctx.session.taint(private=True)
    sent = LineEdit(operation, start, end, content, to, expect, after, before)
    count = len((content or "").removesuffix("\n").split("\n"))
    if operation == "insert" and 0 < max_lines < count:
        raise BadInput(
            f"{count} lines are more than the {max_lines} that this inserts at once.",
            hint="edit_file and edit_lines insert any number; or insert them in parts.",
        )

    def work(_: Checkpoint) -> tuple[Step, ChangeReport, str, str]:
        is_new = operation == "insert" and start == 1
        loaded = load_or_new(path) if is_new else load(path)
        text, note = file_text(content or "", loaded.text, path.display)
        edit = replace(sent, content=text) if note else sent
        done = apply_line_edit(loaded.text, edit)
        _refuse_placeholder(content or "", loaded.text, done.replaced, path)
        splice = Splice(0, len(loaded.text), done.text)
        data = need_size(path, loaded.faithful.spliced([splice]))
        step = Step(edit_lines.name)
        step.write(path, data, expected=loaded.fingerprint)
        line = f"{path.display}: {done.summary}"
        notes, data_out = [note] if note else [], {"done": done.summary}
        report = ChangeReport(path.display, line, loaded.text, done.text, notes, data_out)
        return step, report, render_reports([report]), sha256(data).hexdigest()

    step, report, text, digest = await in_thread(work, ctx.deadline)
    result = await carry_out(step, [report], text, ctx)
    found = await in_thread(lambda _: path.read_bytes(MAX_TEXT_BYTES), ctx.deadline)
    if sha256(found).hexdigest() != digest:
        raise Conflict(
            f"{path.display} was written, and another program has changed it since.",
            hint="Read it again before the next edit.",
        )
    return result


def _refuse_placeholder(content: str, before: str, replaced: str, path: SafePath) -> None:
    found = placeholder(content, before, replaced, path.display)
    if found:
        raise BadInput(
            f"content has a line that stands for text left out: {found}",
            hint="Write out all lines of content, or name fewer lines.",
        )
