"""A patch as an argument: its paths checked before the call is allowed, its hunks applied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Conflict, NotFound, ToolError
from toolcrib.core.tool import Param
from toolcrib.files.changes.step import Step
from toolcrib.files.content.difference import common_ends
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.edits import EXACT, EditOutcome, found_by
from toolcrib.files.edits.indentation import lead_of, rewritten
from toolcrib.files.edits.left_out import placeholder
from toolcrib.files.edits.line_marks import (
    is_numbered,
    unclear_numbers,
    without_copied_numbers,
    without_numbers,
)
from toolcrib.files.edits.line_matches import (
    DIFFERENCE_NAMES,
    Candidate,
    Haystack,
    candidates,
    loose,
    nearest,
    significant,
    without_margins,
)
from toolcrib.files.edits.patch_parser import FilePatch, Hunk, read_patch
from toolcrib.files.edits.report import ChangeReport
from toolcrib.files.edits.text_loader import Loaded, load, load_or_new, need_size
from toolcrib.files.paths import SafePath, resolve_writable
from toolcrib.text.display import counted

# What the hunks of a patch come to in a text: found by the rules of every edit.

READ_AGAIN = "Read the file again and make the patch anew; nothing was changed."


def resolve_hunks(text: str, hunks: Sequence[Hunk]) -> EditOutcome:
    """Find what hunks mean in a text.

    Each is found by its lines, all of them, exactly or with the differences that `spans`
    knows. Where they stand several times, the line number, the lines named above, the end
    of the file or the hunk before must leave one place.

    Raises:
        NotFound: the lines of a hunk are not there.
        BadInput: they are there more than once, or two hunks change the same lines.
    """
    hay = Haystack(text)
    done = EditOutcome()
    after, moved, certain = 0, 0, True
    for number, hunk in enumerate(hunks, 1):
        name = f"hunk {number} of {len(hunks)}" if len(hunks) > 1 else "the hunk"
        if not hunk.old:
            done.splices.append(_added(hay, hunk, name))
            done.methods.append(EXACT)
            continue
        hunk, found, how = _found(hay, hunk, after, moved, name)  # noqa: PLW2901
        names = [how] if how else []
        plain = without_copied_numbers(hunk.new, hay.lines, found.first, found.last + 1)
        if plain is not None:
            hunk = replace(hunk, new=plain)  # noqa: PLW2901
            names.append(f"{DIFFERENCE_NAMES['numbers']} in the new lines")
        done.splices += _splices(hay, hunk, found)
        names += [n for key, n in DIFFERENCE_NAMES.items() if key in found.needs]
        done.methods.append(" + ".join(names) or EXACT)
        after = found.last + 1
        moved = found.first - hunk.at if hunk.at is not None else moved
        certain = certain and not moved
    if not certain and any(hunk.below and not hunk.old for hunk in hunks) and hay.text:
        raise BadInput(
            "A hunk only adds lines, and the line numbers of the patch are not those of the file.",
            hint="Begin or end each hunk with a line of the file, after a space.",
        )
    done.splices.sort(key=lambda splice: (splice.start, splice.end))
    for one, other in zip(done.splices, done.splices[1:], strict=False):
        if other.start < one.end:
            raise BadInput("Two hunks change the same lines.", hint="Put them into one hunk.")
    return done


def _added(hay: Haystack, hunk: Hunk, name: str) -> Splice:
    """Lines without any around: below the line that is named, else at the end of the file."""
    if hunk.below is not None and (hay.text or hunk.below):
        return _added_below(hay, hunk, hunk.below, name)
    if hay.text and (hunk.heads or hunk.at is not None):
        raise BadInput(
            f"{name.capitalize()} only adds lines, and nothing says where.",
            hint="Begin or end it with a line of the file, after a space.",
        )
    unended = bool(hay.text) and not hay.text.endswith("\n")
    body = "\n".join(hunk.new)
    ended = body if unended or hunk.new_ended is False else f"{body}\n"
    return Splice(len(hay.text), len(hay.text), f"\n{ended}" if unended else ended)


def _added_below(hay: Haystack, hunk: Hunk, below: int, name: str) -> Splice:
    count = len(hay.lines)
    if below > count:
        raise BadInput(
            f"{name.capitalize()} adds below line {below:,}, and the file has "
            f"{counted(count, 'line')}.",
            hint=READ_AGAIN,
        )
    splice = _between(hay, below, below, hunk.new)
    if below == count and hunk.new_ended is False:
        return replace(splice, new=splice.new.removesuffix("\n"))
    return splice


def _found(
    hay: Haystack, hunk: Hunk, after: int, moved: int, name: str
) -> tuple[Hunk, Candidate, str]:
    """A hunk with its place; where its lines are not there, without what is not of the file."""
    try:
        return hunk, _place(hay, hunk, after, moved, name), ""
    except NotFound as error:
        reason: ToolError = error
        best: tuple[Hunk, Candidate, str] | None = None
        for plain, first, how in _plainer(hunk):
            try:
                found = _place(hay, plain, after, moved, name)
            except ToolError:
                continue
            if plain.old is hunk.bare_old and found.needs:
                continue
            if first is None or found.first + 1 == first or not is_numbered(hay.lines):
                if plain.unclear:
                    reason = unclear_numbers("the new lines")
                elif "indent" not in found.needs:
                    return plain, found, how
                else:
                    best = best or (plain, found, how)
        if best is None:
            raise reason from None
        return best


def _plainer(hunk: Hunk) -> Iterator[tuple[Hunk, int | None, str]]:
    """The hunk without blank lines around, and without copied line numbers; the first of these.

    And with lines that stay as they were sent, which lack their sign then.
    """
    if hunk.bare_old not in ([], hunk.old):
        bare = replace(hunk, old=hunk.bare_old, new=hunk.bare_new)
        yield bare, None, "lines without a sign"
    old, new = without_margins(hunk.old, hunk.new)
    if len(old) < len(hunk.old):
        yield replace(hunk, old=old, new=new), None, "blank lines around"
    for plain in without_numbers(old, new):
        if plain.old != plain.new:
            unclear, lines = plain.new is None, plain.new or []
            numberless = replace(hunk, old=plain.old, new=lines, unclear=unclear)
            yield numberless, plain.first, DIFFERENCE_NAMES["numbers"]


_DEFINES = r"(?:class|def|func|function|fn|struct|impl|interface|enum|trait|module|namespace)"


def _place(hay: Haystack, hunk: Hunk, after: int, moved: int, name: str) -> Candidate:
    found = candidates(hay, hunk.old, hunk.new)
    found = [c for c in found if not c.needs or significant("\n".join(hunk.old))]
    if hunk.at_end:
        found = [c for c in found if c.last == len(hay.lines) - 1]
    if not found:
        near = nearest(hay, "\n".join(hunk.old))
        raise NotFound(f"The lines of {name} are not in the file.{near}", hint=READ_AGAIN)
    for chosen in (
        found,
        [c for c in found if hunk.at is not None and c.first == hunk.at + moved],
        _under_heads(hay, hunk.heads, found),
        [c for c in found if c.first >= after] if after and hunk.ordered else [],
    ):
        if len(chosen) == 1:
            return chosen[0]
    listed = ", ".join(str(c.first + 1) for c in found[:8])
    raise BadInput(
        f"The lines of {name} are there {len(found)} times, at lines {listed}.",
        hint="Add lines around it, so that there is only one such place.",
        lines=[c.first + 1 for c in found[:100]],
    )


def _under_heads(
    hay: Haystack, heads: Sequence[str], found: Sequence[Candidate]
) -> list[Candidate]:
    """The candidates that stand beneath the lines named, in what is indented under them."""
    if not heads:
        return []
    return [c for c in found if _is_under(hay, list(heads), c.first)]


def _is_under(hay: Haystack, heads: list[str], index: int) -> bool:
    """Whether all heads are met on the way from a line outwards, the innermost first."""
    wanted = [loose(head) for head in heads]
    solid = next((i for i in range(index, len(hay.lines)) if hay.keys[i]), index)
    depth = len(lead_of(hay.lines[solid]).expandtabs())
    for above in range(index - 1, -1, -1):
        if not hay.keys[above]:
            continue
        lead = len(lead_of(hay.lines[above]).expandtabs())
        if lead < depth:
            depth = lead
            if _is_head(hay.keys[above], wanted[-1]):
                wanted.pop()
                if not wanted:
                    return True
    return False


def _is_head(line: str, head: str) -> bool:
    """Whether a line is the one that was named, perhaps without its end, or defines that name."""
    if head.isidentifier() and re.search(rf"\b{_DEFINES} {head}\b", line):
        return True
    rest = line.removeprefix(head)
    return bool(head) and line.startswith(head) and not (rest[:1].isalnum() or rest[:1] == "_")


def _splices(hay: Haystack, hunk: Hunk, found: Candidate) -> list[Splice]:
    """The change of the lines between those that stay."""
    there = hay.lines[found.first : found.last + 1]
    lines = rewritten(hunk.old, hunk.new, there, found.indentation)
    head, tail = common_ends(there, lines)
    first, stop = found.first + head, found.last + 1 - tail
    middle = lines[head : len(lines) - tail]
    splices = [_between(hay, first, stop, middle)] if first < stop or middle else []
    return _with_end(hay, hunk, found, splices)


def _between(hay: Haystack, first: int, stop: int, middle: Sequence[str]) -> Splice:
    """Lines `first` to before `stop` replaced, each with its line end."""
    size = len(hay.text)
    start, end = min(hay.starts[first], size), min(hay.starts[stop], size)
    new = "".join(f"{line}\n" for line in middle)
    if hay.text.endswith("\n") or stop < len(hay.lines):
        return Splice(start, end, new)
    if first == len(hay.lines):
        return Splice(size, size, f"\n{new[:-1]}")
    if not new and start:
        return Splice(start - 1, end, "")
    return Splice(start, end, new[:-1])


def _with_end(hay: Haystack, hunk: Hunk, found: Candidate, splices: list[Splice]) -> list[Splice]:
    """The last line end added or taken away where the patch says so."""
    if found.last != len(hay.lines) - 1 or hunk.new_ended is None:
        return splices
    ended = hay.text.endswith("\n")
    if ended == hunk.new_ended:
        return splices
    if splices and splices[-1].end == len(hay.text):
        if not splices[-1].start and not hunk.new:
            return splices
        last = splices.pop()
        if not hunk.new_ended and not last.new:  # the line before is the last one now
            return [*splices, Splice(last.start - 1, last.end, "")]
        new = f"{last.new}\n" if hunk.new_ended else last.new.removesuffix("\n")
        return [*splices, Splice(last.start, last.end, new)]
    size = len(hay.text)
    return [*splices, Splice(size, size, "\n") if hunk.new_ended else Splice(size - 1, size, "")]


MODE_BITS = 0o777


@dataclass(frozen=True, slots=True)
class PatchPart:
    """What happens to one file, with the paths that the patch names for it."""

    patch: FilePatch
    path: SafePath | None
    other: SafePath | None = None
    target: SafePath | None = None

    def paths(self) -> list[SafePath]:
        """All of them."""
        return [path for path in (self.path, self.other, self.target) if path is not None]


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch whose paths are inside the workspace and may be written."""

    text: str
    parts: tuple[PatchPart, ...]

    def spellings(self) -> list[str]:
        """Every path in it, as rules on targets look at them."""
        return [name for part in self.parts for path in part.paths() for name in path.spellings()]

    def __str__(self) -> str:
        return self.text


def _checked(value: str, ctx: Ctx) -> Patch:
    parts = []
    for file in read_patch(value):
        names = (file.path, file.other, file.target)
        found = [resolve_writable(name, ctx) if name else None for name in names]
        parts.append(PatchPart(file, *found))
    return Patch(value, tuple(parts))


PatchText: TypeAlias = Annotated[
    Patch, Param("The patch.", kind="path", check=_checked, json_type="string")
]
"""A patch: every path in it is checked as a path to write, and is a target of the call."""


def confined(patch: Patch, path: SafePath) -> Patch:
    """The patch with a file for the part that names none.

    Raises:
        BadInput: it changes another file.
    """
    parts = []
    for part in patch.parts:
        for named in part.paths():
            if named.absolute != path.absolute:
                raise BadInput(
                    f"The patch names {named.display}, and only {path.display} may be changed.",
                    hint="Leave path away, or send the part of the patch for that file alone.",
                )
        parts.append(PatchPart(part.patch, path))
    if len(parts) > 1:
        raise BadInput(f"The patch has {len(parts)} parts for {path.display}.")
    return Patch(patch.text, tuple(parts))


def plan_part(step: Step, part: PatchPart) -> ChangeReport:
    """Add to a step what one part of a patch does. It blocks.

    Raises:
        NotFound: the file, or lines of a hunk, are not there.
        Conflict: a file that is to be new exists.
        BadInput: a hunk is ambiguous, or the patch names no file.
    """
    try:
        if part.path is None:
            raise BadInput("The patch names no file.", hint="Send path, or headers with the name.")
        if part.patch.does == "add":
            return _add(step, part.path, part.patch)
        if part.patch.does == "delete":
            return _delete(step, part.path, part.patch)
        return _update(step, part)
    except ToolError as error:
        name = part.path.display if part.path else ""
        if name and name not in error.message:
            error.message = f"{name}: {error.message}"
            error.args = (error.message,)
        raise


def _add(step: Step, path: SafePath, patch: FilePatch) -> ChangeReport:
    loaded = load_or_new(path)
    if loaded.exists and loaded.text:
        raise Conflict(
            f"{path.display} exists already.", hint="Change it with an update, or delete it first."
        )
    hunk = patch.hunks[0]
    text = "\n".join(hunk.new) + ("\n" if hunk.new and hunk.new_ended is not False else "")
    data = loaded.faithful.spliced([Splice(0, 0, text)]) if text else b""
    step.write(path, need_size(path, data), expected=loaded.fingerprint)
    line = f"{path.display} created: {counted(len(hunk.new), 'line')}"
    found = placeholder(text, "")
    notes = [f"Warning: a line stands for text left out: {found}"] if found else []
    return ChangeReport(path.display, line, "", text, notes, {"did": "add"})


def _delete(step: Step, path: SafePath, patch: FilePatch) -> ChangeReport:
    if not patch.checked:
        with path.open_read() as handle:
            step.delete(path, expected=handle.fingerprint)
        return ChangeReport(path.display, f"{path.display} deleted", data={"did": "delete"})
    loaded = load(path)
    done = resolve_hunks(loaded.text, patch.hunks)
    if loaded.faithful.spliced_text(done.splices).strip("\n"):
        raise Conflict(
            f"{path.display} has other lines than those that the patch deletes.",
            hint="Read the file again and make the patch anew.",
        )
    step.delete(path, expected=loaded.fingerprint)
    return ChangeReport(path.display, f"{path.display} deleted", data={"did": "delete"})


def _update(step: Step, part: PatchPart) -> ChangeReport:
    path, target = _standing(part), part.target
    if not part.patch.hunks and target is not None:
        step.move(path, target)
        return ChangeReport(path.display, _moved(path, target), data={"did": "move"})
    loaded = load(path)
    done = resolve_hunks(loaded.text, part.patch.hunks)
    after = loaded.faithful.spliced_text(done.splices)
    _refuse_empty(loaded, after, part.patch)
    data = need_size(path, loaded.faithful.spliced(done.splices))
    how = found_by(done.methods)
    hunks = counted(len(done.methods), "hunk")
    if target is None or target.absolute == path.absolute:
        step.write(path, data, expected=loaded.fingerprint, merged=not how)
        line = f"{path.display}: {hunks} applied{how}"
    else:
        step.write(target, data, expected="", mode=path.stat().st_mode & MODE_BITS)
        step.delete(path, expected=loaded.fingerprint)
        line = f"{_moved(path, target)}, {hunks} applied{how}"
    info = {"did": "update", "hunks": len(done.methods), "matched": done.methods}
    return ChangeReport(path.display, line, loaded.text, after, [], info)


def _standing(part: PatchPart) -> SafePath:
    """The file that is meant where a plain diff has two names."""
    assert part.path is not None
    if part.other is None:
        return part.path
    there = [path for path in (part.path, part.other) if _exists(path)]
    if len(there) > 1:
        raise BadInput(
            f"The patch may mean {there[0].display} or {there[1].display}.",
            hint="Write the same name after --- and +++.",
        )
    return there[0] if there else part.path


def _exists(path: SafePath) -> bool:
    try:
        path.stat()
    except NotFound:
        return False
    return True


def _refuse_empty(loaded: Loaded, after: str, patch: FilePatch) -> None:
    if after == loaded.text and not patch.target:
        raise BadInput("The patch changes nothing: old and new lines are the same.")
    for hunk in patch.hunks:
        found = placeholder(
            "\n".join(hunk.new), loaded.text, "\n".join(hunk.old), loaded.path.display
        )
        if found:
            raise BadInput(
                f"A line stands for text left out: {found}", hint="Write out all of the lines."
            )


def _moved(path: SafePath, target: SafePath) -> str:
    return f"{path.display} moved to {target.display}"
