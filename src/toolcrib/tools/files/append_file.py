"""`append_file`: text at the end of a file."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import random
from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.content.faithful import Splice
from toolcrib.files.content.lines import line_count
from toolcrib.files.edits.fences import file_text
from toolcrib.files.edits.report import ChangeReport, carry_out, render_reports
from toolcrib.files.edits.text_loader import load_or_new, need_size
from toolcrib.files.paths import WritablePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted

PAUSES = [0.02 * 1.3**number for number in range(20)]
"""Seconds to wait at most, where others change the file meanwhile: some 12 together."""


@tool(
    group="files",
    rights=WRITE,
    keywords=("add", "end", "log", "extend"),
    aliases=("append_to_file", "append_text", "add_to_file", "fs_append"),
    argument_aliases={"file_path": "path", "file": "path", "text": "content", "data": "content"},
)
async def append_file(
    path: WritablePath,
    content: Annotated[str, Param("Text to add.")],
    *,
    ctx: Ctx,
) -> Result:
    """Add text to the end of a file, which is made if missing.

    The text begins on a line of its own.
    """
    if not content:
        raise BadInput("There is nothing to add.", hint="Send the text as content.")
    ctx.session.taint(private=True)

    def work(_: Checkpoint) -> tuple[Step, ChangeReport, str]:
        loaded = load_or_new(path)
        before = loaded.text
        text, note = file_text(content.replace("\r\n", "\n"), before, path.display)
        notes = [note] if note else []
        if before and not before.endswith("\n") and not text.startswith("\n"):
            text = f"\n{text}"
            notes.append("Note: the last line had no line end, so one was put before the text.")
        splice = Splice(len(before), len(before), text)
        data = need_size(path, loaded.faithful.spliced([splice]))
        step = Step(append_file.name)
        step.write(path, data, expected=loaded.fingerprint, merged=True)
        after = before + text
        added = counted(line_count(after) - line_count(before), "line")
        line = f"{path.display}: {added} added, {counted(len(data), 'byte')} now"
        info = {"created": not loaded.exists, "size": len(data)}
        report = ChangeReport(path.display, line, before, after, notes, info)
        return step, report, render_reports([report], 12)

    for pause in PAUSES:
        step, report, text = await in_thread(work, ctx.deadline)
        # Whoever else adds to the file now is no reason not to.
        with suppress(Conflict):
            return await carry_out(step, [report], text, ctx)
        await asyncio.sleep(pause * random())  # noqa: S311 - so that two do not meet again
    step, report, text = await in_thread(work, ctx.deadline)
    return await carry_out(step, [report], text, ctx)
