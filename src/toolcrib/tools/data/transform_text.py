"""`transform_text`: a pattern replaced in one file, or in some of its lines."""

from __future__ import annotations

from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, NoResults
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.pattern_replacement import PatternReplacement
from toolcrib.files.edits.report import ChangeReport, carry_out, render_reports
from toolcrib.files.edits.text_loader import load, need_size
from toolcrib.files.paths import WritablePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted


def adapt(arguments: dict[str, Any]) -> None:
    """Take `lines={start, end}`; every change can be undone, so `backup` needs nothing."""
    arguments.pop("backup", None)
    lines = arguments.pop("lines", None)
    if isinstance(lines, dict):
        for name in ("start", "end"):
            if lines.get(name) is not None:
                arguments.setdefault(name, lines[name])


@tool(
    group="data",
    rights=WRITE,
    keywords=("regex", "sed", "substitute", "replace", "groups"),
    aliases=("text_transform", "regex_replace"),
    argument_aliases={"file_name": "path", "file": "path", "file_path": "path", "regex": "pattern"},
    destructive=True,
    argument_adapter=adapt,
)
async def transform_text(
    path: WritablePath,
    pattern: Annotated[str, Param("RE2.", plain=True)],
    replacement: Annotated[str, Param("With $1.")],
    flags: Annotated[str, Param("g, i", plain=True)] = "g",
    start: Annotated[int, Param("First line.", plain=True)] = 1,
    end: Annotated[int, Param("Last line.", plain=True)] = -1,
    dry_run: bool = False,
    *,
    ctx: Ctx,
) -> Result:
    """Replace a pattern in a file.

    All matches, with flags="" the first; i is any case (RE2). `start` and `end` are lines,
    negative ones from the end. One undoable step; `dry_run` only shows it. For many files use
    `replace_in_files`.
    """
    unknown = set(flags) - set("gim")
    if unknown:
        raise BadInput(f"There is no flag {min(unknown)}.", hint="Flags are g, i or gi.")
    engine = PatternReplacement(pattern, replacement, ignore_case="i" in flags)
    ctx.session.taint(private=True)

    def work(_: Checkpoint) -> tuple[Step, ChangeReport]:
        loaded = load(path)
        first, last = _range(loaded.text, start, end)
        splices = [
            Splice(first + s.start, first + s.end, s.new)
            for s in engine.splices(loaded.text[first:last])
        ]
        left = 0 if flags else len(splices) - 1
        splices = splices if flags else splices[:1]
        step = Step(transform_text.name)
        if not splices:
            raise NoResults(
                f"Nothing to replace in {path.display}.", hint="search_files shows what is there."
            )
        data = need_size(path, loaded.faithful.spliced(splices))
        step.write(path, data, expected=loaded.fingerprint)
        count = len(splices)
        line = f"{path.display}: {counted(count, 'place')} replaced"
        if left > 0:
            line += f"\n{left} more {'fits' if left == 1 else 'fit'}: flags=g replaces all."
        after = loaded.faithful.spliced_text(splices)
        report = ChangeReport(
            path.display, line, loaded.text, after, [], {"replacements": count}, decoded=True
        )
        return step, report

    step, report = await in_thread(work, ctx.deadline)
    text = await in_thread(lambda _: render_reports([report]), ctx.deadline)
    text = f"{text}\n{engine.note}" if engine.note else text
    if dry_run:
        text = f"{text}\nNothing is changed yet: dry_run=false does it."
        data = {"dry_run": True, "files": [{"path": report.path, **report.data}]}
        return Result(text=text, data=data, private=True)
    return await carry_out(step, [report], text, ctx)


def _range(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the lines begin and end in a text.

    Raises:
        BadInput: there are no such lines.
    """
    lines = text.split("\n")
    count = len(lines) - (lines[-1] == "" and len(lines) > 1)
    first = start if start > 0 else count + 1 + start
    last = end if end > 0 else count + 1 + end
    if not 1 <= first <= last or first > count:
        raise BadInput(
            f"Lines {start} to {end} are not there.",
            hint=f"The file has {counted(count, 'line')}, from 1.",
        )
    offset = sum(len(line) + 1 for line in lines[: first - 1])
    size = sum(len(line) + 1 for line in lines[first - 1 : last])
    return offset, min(offset + size, len(text)) if last < count else len(text)
