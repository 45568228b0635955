"""Edits of a text: find what each one means, or refuse.

First exactly. Then, by whole lines, with the differences that `spans` knows; then the same
without copied line numbers, without blank lines around, and, for a part of a line, with
look-alike characters. Each way must lead to one place of the whole text (or `all` is set).

Several edits: each is looked for in the text as the ones before left it, but never in what
they wrote; all are done or none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from toolcrib.core.errors import BadInput, NotFound, TooLarge, ToolError
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.anchors import anchored
from toolcrib.files.edits.exact import apart, refuse_part_of_number, replacement
from toolcrib.files.edits.haystack import Haystack, places_of
from toolcrib.files.edits.line_numbers import is_numbered, stripped
from toolcrib.files.edits.lookalikes import fold_each, kept_spelling, respelt
from toolcrib.files.edits.nearest import cause, region
from toolcrib.files.edits.progress import Progress, Ranges
from toolcrib.files.edits.rewrite import rewritten
from toolcrib.files.edits.spans import NAMES, Candidate, candidates, significant

EXACT = "exact"
MANY = 16
"""Edits from which on it pays to look the words of the text up."""
SHOWN_LINES = 8
NAMED = 100
MOST_PLACES = 20_000
UNIQUE = (
    "Add lines before or after it to both old and new, so that it is the only one, or set all=true."
)
READ_AGAIN = "Read the file again and copy old from it, or use more or other lines."


@dataclass(frozen=True, slots=True)
class Edit:
    """What to replace by what. With `all`, wherever it stands."""

    old: str
    new: str
    all: bool = False


@dataclass(slots=True)
class Outcome:
    """What the edits come to.

    `splices` are changes of the text before, in order. `ways` says of each edit how its
    place was found, `counts` how many places there were.
    """

    splices: list[Splice] = field(default_factory=list)
    ways: list[str] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Found:
    splices: list[Splice]
    way: str
    notes: Sequence[str] = ()


def edited(
    text: str, edits: Sequence[Edit], check: Callable[[], None] | None = None, *, cr: bool = False
) -> Outcome:
    """Find what edits mean in a text.

    Args:
        text: each line end a line feed.
        edits: see `Edit`; of their line ends each is taken as one.
        check: called between two steps, to stop by raising.
        cr: a carriage return alone ends a line of the file.

    Raises:
        NotFound: an old text is not there; the message shows the nearest lines.
        BadInput: it is there more than once, is empty or blank, changes nothing, or meets
            what an edit before it wrote.
    """
    outcome = Outcome()
    progress = Progress(text, many=len(edits) >= MANY)
    for number, each in enumerate(edits, 1):
        if check is not None:
            check()
        try:
            found = _next(progress, _plain(each, cr=cr))
        except ToolError as error:
            if len(edits) > 1:
                error.message = f"Edit {number} of {len(edits)}: {error.message}"
                error.args = (error.message,)
                error.hint += " Nothing was changed."
            raise
        outcome.ways.append(found.way)
        outcome.counts.append(len(found.splices))
        outcome.notes += [note for note in found.notes if note not in outcome.notes]
    outcome.splices = progress.splices
    return outcome


def _plain(edit: Edit, *, cr: bool) -> Edit:
    old, new = edit.old.replace("\r\n", "\n"), edit.new.replace("\r\n", "\n")
    if cr:
        old, new = old.replace("\r", "\n"), new.replace("\r", "\n")
    return Edit(old, new, edit.all)


def _next(progress: Progress, edit: Edit) -> _Found:
    """Find one edit, in the text before all edits where that leads to the same."""
    _check(edit)
    if edit.old:
        with suppress(ToolError):
            found = _in_hay(progress.hay, edit, progress.taken)
            if found is not None and progress.holds(
                found.splices, edit.old, exact=found.way == EXACT
            ):
                progress.add(found.splices)
                return found
    found = _found(progress.text, edit, progress.written)
    progress.add_now(found.splices)
    return found


def _found(text: str, edit: Edit, written: Ranges) -> _Found:
    if not edit.old and text:
        raise BadInput(
            "old is empty, and the file is not.",
            hint="Name the lines to replace in old; write_file replaces the whole file.",
        )
    if not edit.old:
        return _Found([Splice(0, 0, edit.new)], "new text")
    hay = Haystack(text)
    found = _in_hay(hay, edit, written)
    if found is None:
        raise _absent(hay, edit.old)
    return found


def _in_hay(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    for way in (
        _exactly,
        _at_end,
        _at_anchor,
        _by_lines,
        _without_numbers,
        _without_margins,
        _folded,
    ):
        found = way(hay, edit, written)
        if found is not None:
            return found
    return None


def _check(edit: Edit) -> None:
    if edit.old == edit.new:
        raise BadInput("old and new are the same.", hint="Send a new that differs from old.")
    if edit.old and not edit.old.strip():
        raise BadInput(
            "old holds nothing but white space.", hint="Include a line before or after it."
        )


def _exactly(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    places = hay.places_of(edit.old)
    if not places:
        return None
    size = len(edit.old)
    free = [at for at in places if not written.meet(at, at + size)]
    if not free:
        raise _overlap()
    if len(free) > 1 and not edit.all:
        raise _several([hay.line_at(at) for at in free[:NAMED]], count=len(free))
    if len(free) > MOST_PLACES:
        raise TooLarge(
            f"old is there {len(free):,} times; {MOST_PLACES:,} places are changed at once.",
            hint="Use a longer old, or change the file with a program.",
        )
    if not edit.all:
        refuse_part_of_number(hay, free[0], edit.old)
        _refuse_rival(hay, free[0], edit)
    done = [replacement(hay, at, edit.old, edit.new) for at in apart(free, size)]
    return _Found([splice for splice, _ in done], EXACT, [note for _, note in done if note])


def _refuse_rival(hay: Haystack, at: int, edit: Edit) -> None:
    """Refuse lines that start within indentation where other whole lines fit as well."""
    before = hay.text[hay.text.rfind("\n", 0, at) + 1 : at]
    if not before or before.strip() or "\n" not in edit.old.strip("\n"):
        return
    lines = edit.old.removesuffix("\n").split("\n")
    index = hay.line_at(at)
    rivals = [c.first for c in candidates(hay, lines, []) if c.first != index]
    if rivals and significant(edit.old):
        raise _several(sorted([index, *rivals]))


def _at_end(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    """The last lines of a file that lacks the last line end, which the quote has."""
    old = edit.old.removesuffix("\n")
    at = len(hay.text) - len(old)
    if old == edit.old or not hay.text.endswith(old) or (at and hay.text[at - 1] != "\n"):
        return None
    if written.meet(at, len(hay.text)):
        raise _overlap()
    return _Found([Splice(at, len(hay.text), edit.new.removesuffix("\n"))], "last line end")


def _at_anchor(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    lines = anchored(hay.lines, edit.old)
    if lines is None:
        return None
    start, end = hay.starts[lines[0]], hay.end_of(lines[1])
    if written.meet(start, end):
        raise _overlap()
    if not edit.new:
        end = min(end + 1, len(hay.text))
    return _Found([Splice(start, end, edit.new.removesuffix("\n"))], "anchor")


def _by_lines(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    if not significant(edit.old):
        return None
    old, new = _lines(edit.old), _new_lines(edit)
    found = candidates(hay, old, new)
    free = [c for c in found if not written.meet(hay.starts[c.first], hay.end_of(c.last))]
    if found and not free:
        raise _overlap()
    if not free:
        return None
    if len(free) > 1 and not edit.all:
        raise _several([c.first for c in free], free[0])
    kept: list[Candidate] = []
    for candidate in free:
        if not kept or candidate.first > kept[-1].last:
            kept.append(candidate)
    return _Found([_splice(hay, old, new, c) for c in kept], _way(kept))


def _way(found: Sequence[Candidate]) -> str:
    needs = {need for candidate in found for need in candidate.needs}
    return " + ".join(name for need, name in NAMES.items() if need in needs) or "last line end"


def _splice(hay: Haystack, old: Sequence[str], new: Sequence[str], found: Candidate) -> Splice:
    start, end = hay.starts[found.first], hay.end_of(found.last)
    lines = rewritten(old, new, hay.lines[found.first : found.last + 1], found.indentation)
    if not lines:
        end = min(end + 1, len(hay.text))
    return Splice(start, end, "\n".join(lines))


def _lines(old: str) -> list[str]:
    return old.removesuffix("\n").split("\n")


def _new_lines(edit: Edit) -> list[str]:
    if not edit.new and edit.old.endswith("\n"):
        return []
    whole = edit.old.endswith("\n") and edit.new.endswith("\n")
    return (edit.new[:-1] if whole else edit.new).split("\n")


def _without_numbers(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    best: _Found | None = None
    refusal: ToolError | None = None
    for plain in stripped(_lines(edit.old), _new_lines(edit)):
        old, new = "\n".join(plain.old), "\n".join(plain.new)
        if edit.old.endswith("\n"):
            old, new = f"{old}\n", f"{new}\n" if plain.new else ""
        if not significant(old) or old == new:
            continue
        try:
            found = _by_lines(hay, Edit(old, new, edit.all), written)
        except BadInput as error:
            refusal = refusal or error
            continue
        if found is None or not _is_there(hay, found, plain.first):
            continue
        exact = found.way == "last line end"
        way = NAMES["numbers"] if exact else f"{NAMES['numbers']} + {found.way}"
        if NAMES["indent"] not in way:
            return _Found(found.splices, way)
        best = best or _Found(found.splices, way)
    if best is None and refusal is not None:
        raise refusal
    return best


def _is_there(hay: Haystack, found: _Found, number: int) -> bool:
    """Whether the numbers were no part of the file: it has none, or they are those of its lines."""
    first = hay.line_at(found.splices[0].start) + 1
    return first == number or not is_numbered(hay.lines)


def _without_margins(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    """Blank lines that old and new both begin or end with are left out of both."""
    old, new = edit.old.split("\n"), edit.new.split("\n")
    for end in (0, -1):
        while len(old) > 1 and len(new) > 1 and not old[end].strip() and not new[end].strip():
            del old[end], new[end]
    plain = Edit("\n".join(old), "\n".join(new), edit.all)
    if plain.old in (edit.old, plain.new) or not significant(plain.old):
        return None
    found = _by_lines(hay, plain, written)
    return found and _Found(found.splices, f"blank lines around + {found.way}", found.notes)


def _folded(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    """A part of a line, but for characters that look alike."""
    if (edit.old.isascii() and hay.text.isascii()) or not significant(edit.old):
        return None
    folded, size = fold_each(edit.old), len(edit.old)
    places = places_of(hay.folded, folded)
    free = [at for at in places if not written.meet(at, at + size)]
    if places and not free:
        raise _overlap()
    if len(free) > 1 and not edit.all:
        raise _several([hay.line_at(at) for at in free[:NAMED]], count=len(free))
    splices = []
    for at in apart(free, size):
        there = hay.text[at : at + size]
        old, new = (respelt(edit.old, there, sent) for sent in (edit.old, edit.new))
        new = kept_spelling(old, there, new)
        splices.append(replacement(hay, at, there, new)[0])
    return _Found(splices, NAMES["unicode"]) if splices else None


def _several(
    lines: Sequence[int], candidate: Candidate | None = None, *, count: int = 0
) -> BadInput:
    count = count or len(lines)
    shown = ", ".join(str(line + 1) for line in lines[:SHOWN_LINES])
    more = f" and {count - SHOWN_LINES:,} more" if count > SHOWN_LINES else ""
    but = "" if candidate is None else f" but for {_way([candidate])}"
    return BadInput(
        f"old is there {count:,} times{but}, at lines {shown}{more}.",
        hint=UNIQUE,
        lines=[line + 1 for line in lines[:NAMED]],
    )


def _overlap() -> BadInput:
    return BadInput(
        "old meets text that an edit before it has already replaced.",
        hint="Put the two changes into one edit.",
    )


def _absent(hay: Haystack, old: str) -> NotFound:
    reason, near = cause(hay, old), region(hay, old)
    why = f": {reason}" if reason else ""
    shown = f"\nThe nearest lines of the file:\n{near}" if near else ""
    hint = READ_AGAIN if significant(old) else f"{READ_AGAIN} A text so short must be exact."
    return NotFound(f"old is not in the file{why}.{shown}", hint=hint)
