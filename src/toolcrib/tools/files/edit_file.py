"""`edit_file`: text of a file replaced by other text."""

from __future__ import annotations

from typing import Annotated, TypedDict

from toolcrib.core.call import Result
from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.params import Param
from toolcrib.core.tool import WRITE, tool
from toolcrib.files.changes.step import Step
from toolcrib.files.edits.edits import Edit, Outcome, edited
from toolcrib.files.edits.files.loader import Loaded, load, load_or_new, need_size
from toolcrib.files.edits.files.report import Told, carry_out, shown
from toolcrib.files.edits.placeholders import placeholder
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.tools.files.adapters.change_arguments import editing

OLD = ("oldText", "old_string", "old_str", "old_content", "search", "find", "from", "old_code")
NEW = (
    "newText",
    "new_string",
    "new_str",
    "new_content",
    "replace",
    "replacement",
    "to",
    "new_code",
)


class Pair(TypedDict):
    """What to replace, and by what."""

    old: Annotated[str, Param(aliases=OLD)]
    new: Annotated[str, Param(aliases=NEW)]


class Replacement(Pair, total=False):
    """One of several edits."""

    all: Annotated[bool, Param(aliases=("replace_all",))]


@tool(
    group="files",
    rights=WRITE,
    keywords=("change", "modify", "replace", "substitute", "patch", "fix", "update", "sed"),
    aliases=(
        "edit",
        "edit_block",
        "replace_text_in_file",
        "multi_replace_text",
        "replace_in_file",
        "str_replace",
        "str_replace_editor",
        "str_replace_based_edit_tool",
        "search_replace",
        "search_and_replace",
        "multi_edit",
        "modify_file",
        "update_file",
        "fs_edit",
        "replace",
        "replace_string_in_file",
        "multi_replace_string_in_file",
        "replace_file_content",
        "replace_content",
        "single_find_and_replace",
        "edit_existing_file",
        "find_and_replace_in_file",
        "replace_text",
        "text_editor",
        "insert_edit_into_file",
        "multi_replace_file_content",
    ),
    argument_aliases={
        "file_path": "path",
        "file_name": "path",
        "filename": "path",
        "file": "path",
        "target_file": "path",
        "absolute_path": "path",
        **dict.fromkeys(OLD, "old"),
        **dict.fromkeys(NEW, "new"),
        "replace_all": "all",
        "replacements": "edits",
        "changes": "edits",
    },
    profiles=("default",),
    destructive=True,
    dialect=editing,
)
async def edit_file(
    path: WritablePath,
    old: Annotated[str, Param("Text to replace, once in the file.")] = "",
    new: str | None = None,
    all: Annotated[bool, Param("Replace every match.")] = False,  # noqa: A002
    edits: Annotated[list[Replacement] | None, Param("Several: all or none.")] = None,
    *,
    ctx: Ctx,
) -> Result:
    """Replace text in a file; shows a diff.

    Indentation, trailing space and quotation marks of `old` may differ from the file's;
    anything else must be the same, and there must be one such place. Several edits are done
    in order, none in text that another has written. An anchor or two (`12:a3f9-15:0c22`)
    may stand for `old`. `write_file` replaces a whole file.
    """
    wanted = _edits(old, new, edits, all_of_them=all)
    ctx.session.taint(private=True)

    def work(check: Checkpoint) -> tuple[Step, Told, str]:
        loaded = _load(path, wanted)
        cr = loaded.faithful.eol == "\r"
        outcome = edited(loaded.text, wanted, check, cr=cr)
        _refuse_placeholder(wanted, loaded.text)
        data = need_size(path, loaded.faithful.spliced(outcome.splices))
        plan = Step(edit_file.name)
        plan.write(path, data, expected=loaded.fingerprint)
        told = _told(path, loaded, outcome)
        return plan, told, shown([told])

    plan, told, text = await in_thread(work, ctx.deadline)
    return await carry_out(plan, [told], text, ctx)


def _edits(
    old: str, new: str | None, edits: list[Replacement] | None, *, all_of_them: bool
) -> list[Edit]:
    wanted = [Edit(e["old"], e["new"], e.get("all", all_of_them)) for e in edits or ()]
    if new is not None:
        wanted.insert(0, Edit(old, new, all_of_them))
    elif old:
        raise BadInput("new is missing.", hint='Send new; new="" deletes what old names.')
    if not wanted:
        raise BadInput("There is nothing to change.", hint="Send old and new, or edits.")
    return wanted


def _load(path: SafePath, edits: list[Edit]) -> Loaded:
    """The file; a new one where all that is asked for is to put a text into it."""
    return load_or_new(path) if len(edits) == 1 and not edits[0].old else load(path)


def _refuse_placeholder(edits: list[Edit], text: str) -> None:
    for edit in edits:
        found = placeholder(edit.new, text)
        if found:
            raise BadInput(
                f"new has a line that stands for text left out: {found}",
                hint="Write out all lines of new, or make smaller edits.",
            )


def _told(path: SafePath, loaded: Loaded, outcome: Outcome) -> Told:
    count = sum(outcome.counts)
    ways = list(dict.fromkeys(way for way in outcome.ways if way != "exact"))
    how = f" (found by: {'; '.join(ways)})" if ways else ""
    places = "1 place" if count == 1 else f"{count:,} places"
    line = f"{path.display}: {places} changed{how}" if loaded.exists else f"{path.display} created"
    notes = [f"Note: {note}." for note in outcome.notes]
    if loaded.faithful.encoding.guessed:
        notes.append(f"Note: the encoding is guessed: {loaded.faithful.encoding.name}.")
    after = loaded.faithful.spliced_text(outcome.splices)
    data = {"replacements": count, "matched": outcome.ways}
    return Told(path.display, line, loaded.text, after, notes, data)
