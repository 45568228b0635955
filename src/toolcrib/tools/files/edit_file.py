"""`edit_file`: text of a file replaced by other text."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, TypedDict

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Line, Param, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.content.outline import is_prose
from toolcrib.files.edits.edits import (
    EXACT,
    Edit,
    EditOutcome,
    found_by,
    resolve_edits,
    resolve_in_lines,
)
from toolcrib.files.edits.fences import TAKEN_OFF, has_fence, unfenced
from toolcrib.files.edits.left_out import placeholder
from toolcrib.files.edits.report import ChangeReport, carry_out, render_reports
from toolcrib.files.edits.text_loader import Loaded, load, load_or_new, need_size
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted
from toolcrib.tools.files.argument_adapters import adapt_edit

OLD_ALIASES = (
    *("oldText", "old_string", "old_str", "old_content", "search", "find", "from", "old_code"),
)
NEW_ALIASES = (
    *("newText", "new_string", "new_str", "new_content", "replace", "replacement", "to"),
    "new_code",
)

MAX_TRIES = 20
"""Of an exact edit whose file is changed by others at the same time."""
START_ALIASES = ("start_line", "line")
END_ALIASES = ("end_line",)


class TextPair(TypedDict):
    """What to replace, and by what."""

    old: Annotated[str, Param(aliases=OLD_ALIASES)]
    new: Annotated[str, Param(aliases=NEW_ALIASES)]


class Replacement(TextPair, total=False):
    """One of several edits."""

    all: Annotated[bool, Param(aliases=("replace_all",))]
    start: Annotated[Line, Param("First line of its place.", unlisted=True, aliases=START_ALIASES)]
    end: Annotated[Line, Param("Last line of its place.", unlisted=True, aliases=END_ALIASES)]


@tool(
    group="files",
    rights=WRITE,
    keywords=("change", "modify", "replace", "substitute", "patch", "fix", "update", "sed"),
    aliases=("modify_file", "update_file", "fs_edit", "find_and_replace_in_file"),
    argument_aliases={
        "file_path": "path",
        "file": "path",
        **dict.fromkeys(OLD_ALIASES, "old"),
        **dict.fromkeys(NEW_ALIASES, "new"),
    },
    profiles=("default",),
    destructive=True,
    argument_adapter=adapt_edit,
)
async def edit_file(
    path: WritablePath,
    old: Annotated[str, Param("Text to replace, once in the file.")] = "",
    new: str | None = None,
    all: Annotated[bool, Param("Replace every match.")] = False,  # noqa: A002
    edits: Annotated[list[Replacement] | None, Param("Several: all or none.", plain=True)] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Replace text in a file; shows a diff.

    Indentation, trailing space and quotation marks of `old` may differ from the file's;
    anything else must be the same, and there must be one such place. Several edits are done
    in order, none in text that another has written. An anchor or two (`12:a3f9-15:0c22`)
    may stand for `old`. `write_file` replaces a whole file.
    """
    sent = _edits(old, new, edits, all_of_them=all)
    ctx.session.taint(private=True)

    def work(check: Checkpoint) -> tuple[Step, ChangeReport, str, bool]:
        loaded = _load(path, sent)
        wanted = [_unfenced(each, loaded) for each in sent]
        cr = loaded.faithful.eol == "\r"
        resolve = resolve_in_lines if any(each.lines for each in wanted) else resolve_edits
        outcome = resolve(loaded.text, wanted, check, cr=cr)
        _refuse_placeholder(wanted, loaded)
        data = need_size(path, loaded.faithful.spliced(outcome.splices))
        step = Step(edit_file.name)
        exact = set(outcome.methods) == {EXACT}
        step.write(path, data, expected=loaded.fingerprint, merged=exact)
        report = _report(path, loaded, outcome)
        report.notes += [TAKEN_OFF] if wanted != sent else []
        if exact and _is_stale(path, loaded, ctx):
            report.notes.append("Note: the file changed since it was read.")
        return step, report, render_reports([report]), exact

    for tries_left in range(MAX_TRIES - 1, -1, -1):
        step, report, text, exact = await in_thread(work, ctx.deadline)
        try:
            return await carry_out(step, [report], text, ctx)
        except Conflict:
            # Another call changed the file between: the places are looked for again.
            if not exact or not tries_left:
                raise
    raise AssertionError


def _unfenced(edit: Edit, loaded: Loaded) -> Edit:
    """The edit without fences of Markdown that are not of a file without any."""
    if has_fence(loaded.text):
        return edit
    old, new = unfenced(edit.old), unfenced(edit.new)
    if old is None and is_prose(loaded.path.display):
        return edit
    return replace(edit, old=edit.old if old is None else old, new=edit.new if new is None else new)


def _is_stale(path: SafePath, loaded: Loaded, ctx: Ctx) -> bool:
    """Whether the conversation has read the file as it was before others changed it."""
    real = path.settled()
    seen = ctx.session.reads.get(real.real_absolute)
    return bool(seen and loaded.exists and seen != loaded.fingerprint)


def _edits(
    old: str, new: str | None, edits: list[Replacement] | None, *, all_of_them: bool
) -> list[Edit]:
    wanted = [Edit(e["old"], e["new"], e.get("all", all_of_them), _lines(e)) for e in edits or ()]
    if new is not None:
        wanted.insert(0, Edit(old, new, all_of_them))
    elif old:
        raise BadInput("new is missing.", hint='Send new; new="" deletes what old names.')
    if not wanted:
        raise BadInput("There is nothing to change.", hint="Send old and new, or edits.")
    return wanted


def _lines(edit: Replacement) -> tuple[int, int] | None:
    """The lines within which an edit is, where it says so."""
    start, end = edit.get("start"), edit.get("end")
    if start is None and end is None:
        return None
    first = start or end or 1
    last = end or max(first, 1) + edit["old"].removesuffix("\n").count("\n")
    if first < 1 or last < first:
        raise BadInput(
            f"Lines {first} to {last} are no place.", hint="Lines count from 1, start before end."
        )
    return first, last


def _load(path: SafePath, edits: list[Edit]) -> Loaded:
    """The file; a new one where all that is asked for is to put a text into it."""
    return load_or_new(path) if len(edits) == 1 and not edits[0].old else load(path)


def _refuse_placeholder(edits: list[Edit], loaded: Loaded) -> None:
    for edit in edits:
        found = placeholder(edit.new, loaded.text, edit.old, loaded.path.display)
        if found:
            raise BadInput(
                f"new has a line that stands for text left out: {found}",
                hint="Write out all lines of new, or make smaller edits.",
            )


def _report(path: SafePath, loaded: Loaded, outcome: EditOutcome) -> ChangeReport:
    count = sum(outcome.counts)
    changed = f"{counted(count, 'place')} changed{found_by(outcome.methods)}"
    line = f"{path.display}: {changed}" if loaded.exists else f"{path.display} created"
    notes = [f"Note: {note}." for note in outcome.notes]
    if loaded.faithful.encoding.guessed:
        notes.append(f"Note: the encoding is guessed: {loaded.faithful.encoding.name}.")
    after = loaded.faithful.spliced_text(outcome.splices)
    data = {"replacements": count, "matched": outcome.methods}
    return ChangeReport(path.display, line, loaded.text, after, notes, data)
