"""Edits of a text: find what each one means, or refuse.

First exactly. Then, by whole lines, with the differences that `line_matches` knows; then the
same without copied line numbers, without blank lines around, and, for a part of a line, with
look-alike characters. Each method must lead to one place of the whole text (or `all` is set).

Several edits: each is looked for in the text as the ones before left it, but never in what
they wrote; all are done or none.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

from toolcrib.core.errors import BadInput, NotFound, TooLarge, ToolError
from toolcrib.files.content.faithful import Splice
from toolcrib.files.edits.indentation import lead_of, rewritten
from toolcrib.files.edits.line_marks import (
    NUMBERS_TAKEN_OFF,
    anchored,
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
    cause,
    nearest,
    places_of,
    significant,
    without_margins,
)
from toolcrib.files.edits.lookalikes import fold_each, respelt, with_file_spelling
from toolcrib.text.display import counted

# Several edits of one text: what was replaced so far, and the text as it is then.
#
# Each edit is looked for in the text as the ones before left it. Where nothing was written
# near its place that is the place in the text before all of them, so that what is known of
# that text serves every edit, and the text afterwards is rarely made before the end.


class Ranges:
    """Parts of a text that do not overlap, in order: where something was written."""

    def __init__(self, ranges: Iterable[tuple[int, int]] = ()) -> None:
        self._ranges = list(ranges)

    def add(self, start: int, end: int) -> None:
        """Add one that meets none of the others."""
        insort(self._ranges, (start, end))

    def meet(self, start: int, end: int) -> bool:
        """Whether a place overlaps one of them, or has an empty one inside."""
        at = max(bisect_left(self._ranges, (start, start)) - 1, 0)
        while at < len(self._ranges) and self._ranges[at][0] < end:
            a, b = self._ranges[at]
            if (start < b and end > a) or (a == b and start < a < end):
                return True
            at += 1
        return False


class EditProgress:
    """Where several edits of one text stand.

    Args:
        text: before all of them.
        many: whether there are many edits.
    """

    def __init__(self, text: str, *, many: bool = False) -> None:
        self.hay = Haystack(text, many=many)
        self.taken = Ranges()
        self._splices: list[tuple[int, int, str]] = []
        self._now: tuple[str, Ranges] | None = (text, Ranges())

    @property
    def splices(self) -> list[Splice]:
        """All changes so far, of the text before all edits, in order."""
        return [Splice(*splice) for splice in self._splices]

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self._current[0]

    @property
    def written(self) -> Ranges:
        """What of it was written by edits."""
        return self._current[1]

    @property
    def _current(self) -> tuple[str, Ranges]:
        if self._now is None:
            self._now = self._applied()
        return self._now

    def holds(self, splices: Sequence[Splice], old: str, *, exact: bool) -> bool:
        """Whether places in the text before all edits are what an edit means now.

        Nothing was written in the lines around them, and where the quote does not stand
        there as it is, it does not stand in what was written either.
        """
        if not self._splices:
            return True
        return all(map(self._is_untouched, splices)) and (exact or old not in self.text)

    def _is_untouched(self, splice: Splice) -> bool:
        text = self.hay.text
        low = text.rfind("\n", 0, splice.start) + 1
        high = text.find("\n", splice.end)
        high = len(text) if high < 0 else high
        if splice.end and text[splice.end - 1] == "\n":
            high = splice.end
        else:
            high += 1
        if self.taken.meet(low, max(high, low + 1)):
            return False
        return not low or self._ends_line(low)

    def _ends_line(self, low: int) -> bool:
        """Whether a line still begins here."""
        at = bisect_left(self._splices, (low,)) - 1
        if at < 0 or self._splices[at][1] < low:
            return True
        return self._splices[at][1] == low and self._splices[at][2].endswith("\n")

    def add(self, splices: Iterable[Splice]) -> None:
        """Take down changes of the text before all edits."""
        for splice in splices:
            insort(self._splices, (splice.start, splice.end, splice.new))
            self.taken.add(splice.start, splice.end)
        self._now = None

    def add_now(self, splices: Sequence[Splice]) -> None:
        """Take down changes of the text as it is now."""
        self.add([self._original(splice) for splice in splices])

    def _original(self, splice: Splice) -> Splice:
        moved = 0
        for start, end, new in self._splices:
            if start + moved >= splice.end:
                break
            moved += len(new) - (end - start)
        return Splice(splice.start - moved, splice.end - moved, splice.new)

    def _applied(self) -> tuple[str, Ranges]:
        parts: list[str] = []
        ranges: list[tuple[int, int]] = []
        text, done, moved = self.hay.text, 0, 0
        for start, end, new in self._splices:
            parts += [text[done:start], new]
            ranges.append((start + moved, start + moved + len(new)))
            moved += len(new) - (end - start)
            done = end
        return "".join([*parts, text[done:]]), Ranges(ranges)


# A quote that stands in the file as it is, and the care that its first and last line need.

WHOLE_LINES = "Send whole lines in old and new, each with the indentation that it has in the file."
_OPENERS = (":", "{", "(", "[")
_ITEM = ("- ", "* ")


def apart(places: Iterable[int], length: int) -> list[int]:
    """Those of the places that do not overlap, from the left."""
    free: list[int] = []
    for place in places:
        if not free or place >= free[-1] + length:
            free.append(place)
    return free


def replacement(hay: Haystack, at: int, old: str, new: str) -> tuple[Splice, str]:
    """The change at one place, and what was done beyond the letter of it ("" for nothing).

    Raises:
        BadInput: the first line of old lacks its indentation, so that nobody can tell where
            the other lines of new belong.
    """
    end = at + len(old)
    before = hay.text[hay.text.rfind("\n", 0, at) + 1 : at]
    if not new and old.endswith("\n") and not before.strip():
        # A line is taken out with the indentation that the quote lacks.
        return Splice(at - len(before), end, new), ""
    new, note = _indented(hay, at, old, new)
    if new and old.endswith("\n") and not new.endswith(("\n", " ", "\t")):
        new, note = f"{new}\n", note or "the line end after old was kept"
    joins = new and old.startswith("\n") and at > 0
    if joins and (new[0].isalnum() or new[0] == "_") and hay.text[at - 1] != "\n":
        new, note = f"\n{new}", note or "the line end before old was kept"
    if _within_word(hay.text, at) or _within_word(hay.text, end):
        note = note or "old begins or ends within a word of the file"
    return Splice(at, end, new), note


def refuse_part_of_number(hay: Haystack, at: int, old: str) -> None:
    """Refuse a quote that begins or ends within a number of the file: that is another number.

    Raises:
        BadInput: `x = 1` was quoted where the file has `x = 10`.
    """
    for place in (at, at + len(old)):
        if 0 < place < len(hay.text) and hay.text[place - 1 : place + 1].isdecimal():
            raise BadInput(
                f"old begins or ends within a number of line {hay.line_at(place) + 1}.",
                hint="Quote the whole number as the file has it, or the whole line.",
            )


def _within_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _indented(hay: Haystack, at: int, old: str, new: str) -> tuple[str, str]:
    """The new text where old is one line that starts within the indentation of its line."""
    before = hay.text[hay.text.rfind("\n", 0, at) + 1 : at]
    first, *others = new.split("\n")
    others = [line for line in others if line.strip()]
    if not before or before.strip() or not others or "\n" in old.strip("\n"):
        return new, ""
    lead = lead_of(old)
    if lead:
        if _is_as_in_file(new, lead, before):
            return new, ""
        return _shifted(new, before, lead)
    if not all(line.startswith(before) for line in others):
        raise _unclear(hay, at)
    if first.rstrip().endswith(_OPENERS) and lead_of(others[0]) == before:
        raise _unclear(hay, at)
    return new, ""


def _is_as_in_file(new: str, lead: str, before: str) -> bool:
    """Whether the lines after the first have the indentation of the file already.

    That is sure of a list, whose items have one depth, and of Python, where they are levels
    together with the first line as it will stand and are none with it as it was sent.
    """
    lines = [line for line in new.split("\n") if line.strip()]
    full = before + lead
    if not all(line.startswith(full) for line in lines[1:]):
        return False
    depths = [len(lead_of(line)) for line in lines[1:]]
    if all(line.lstrip().startswith(_ITEM) for line in lines):
        return set(depths) == {len(full)}
    opens = lines[0].rstrip().endswith(":")
    return opens and _are_levels([len(full), *depths]) and not _are_levels([len(lead), *depths])


def _are_levels(depths: Sequence[int]) -> bool:
    """Whether each line that is less deep than the one before has the depth of one above."""
    above = [depths[0]]
    for depth in depths[1:]:
        is_less = depth < above[-1]
        while above and above[-1] > depth:
            above.pop()
        if is_less and above[-1:] != [depth]:
            return False
        above.append(depth)
    return True


def _shifted(new: str, before: str, lead: str) -> tuple[str, str]:
    """The new text moved as far to the right as the old one stands."""
    first, *others = new.split("\n")
    if not all(line.startswith(lead) for line in (first, *others) if line.strip()):
        return new, ""
    moved = [f"{before}{line}" if line.strip() else line for line in others]
    return "\n".join([first, *moved]), "indented as in the file"


def _unclear(hay: Haystack, at: int) -> BadInput:
    return BadInput(
        f"'old' starts behind the indentation of line {hay.line_at(at) + 1}, so it is not clear "
        "where the other lines of 'new' belong.",
        hint=WHOLE_LINES,
    )


EXACT = "exact"
MIN_INDEXED_EDITS = 16
"""Edits from which on it pays to look the words of the text up."""
MAX_LISTED_LINES = 8
MAX_NAMED_LINES = 100
MAX_PLACES = 20_000
UNIQUE = (
    "Add lines before or after it to both old and new, so that it is the only one, or set all=true."
)
READ_AGAIN = "Read the file again and copy old from it, or use more or other lines."

_LINE_END = re.compile("\n")


@dataclass(frozen=True, slots=True)
class Edit:
    """What to replace by what. With `all`, wherever it stands.

    `lines` are the first and last line within which it stands, counted from 1 in the text
    before all edits; see `resolve_in_lines`.
    """

    old: str
    new: str
    all: bool = False
    lines: tuple[int, int] | None = None


@dataclass(slots=True)
class EditOutcome:
    """What the edits come to.

    `splices` are changes of the text before, in order. `methods` says of each edit how its
    place was found, `counts` how many places there were.
    """

    splices: list[Splice] = field(default_factory=list)
    methods: list[str] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, methods: Iterable[str], counts: Iterable[int], notes: Iterable[str]) -> None:
        """Take down what further edits come to, beside their changes."""
        self.methods += methods
        self.counts += counts
        self.notes += [note for note in notes if note not in self.notes]


@dataclass(frozen=True, slots=True)
class _Found:
    splices: list[Splice]
    method: str
    notes: Sequence[str] = ()


def found_by(methods: Iterable[str]) -> str:
    """How places were found that a quote does not name exactly; "" where all are exact."""
    others = dict.fromkeys(method for method in methods if method != EXACT)
    return f" (found by: {'; '.join(others)})" if others else ""


def resolve_edits(
    text: str, edits: Sequence[Edit], check: Callable[[], None] | None = None, *, cr: bool = False
) -> EditOutcome:
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
    outcome = EditOutcome()
    progress = EditProgress(text, many=len(edits) >= MIN_INDEXED_EDITS)
    for number, each in enumerate(edits, 1):
        if check is not None:
            check()
        try:
            found = _next(progress, _plain(each, cr=cr))
        except ToolError as error:
            if len(edits) > 1:
                _say_which(error, f"Edit {number} of {len(edits)}")
            raise
        outcome.add([found.method], [len(found.splices)], found.notes)
    outcome.splices = progress.splices
    return outcome


def resolve_in_lines(
    text: str, edits: Sequence[Edit], check: Callable[[], None] | None = None, *, cr: bool = False
) -> EditOutcome:
    """Resolve edits that name lines, each within its own lines of the text as it is now.

    Args:
        text: each line end a line feed.
        edits: see `Edit`; one without lines may stand anywhere.
        check: called between two edits, to stop by raising.
        cr: a carriage return alone ends a line of the file.

    Raises:
        NotFound, BadInput: as `resolve_edits` does, or the lines do not exist, or meet.
    """
    outcome = EditOutcome()
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    count = len(starts) - (starts[-1] == len(text))
    for number, each in enumerate(edits, 1):
        first, last = each.lines or (1, max(count, 1))
        if last > max(count, 1):
            raise BadInput(
                f"Edit {number} of {len(edits)}: the file has {counted(count, 'line')}, "
                f"not {last:,}.",
                hint="Read the file again. Nothing was changed.",
            )
        start = starts[first - 1]
        end = starts[last] if last < len(starts) else len(text)
        try:
            found = resolve_edits(text[start:end], [each], check, cr=cr)
        except ToolError as error:
            where = f"lines {first}-{last}" if each.lines else "the file"
            _say_which(error, f"Edit {number} of {len(edits)}, in {where}")
            raise
        outcome.splices += [Splice(start + s.start, start + s.end, s.new) for s in found.splices]
        outcome.add(found.methods, found.counts, found.notes)
    outcome.splices.sort(key=lambda splice: (splice.start, splice.end))
    for before, after in pairwise(outcome.splices):
        if after.start < before.end or after.start == before.start:
            raise _overlap()
    return outcome


def _say_which(error: ToolError, edit: str) -> None:
    """Name the edit of several that cannot be made."""
    error.message = f"{edit}: {error.message}"
    error.args = (error.message,)
    error.hint += " Nothing was changed."


def _plain(edit: Edit, *, cr: bool) -> Edit:
    old, new = edit.old.replace("\r\n", "\n"), edit.new.replace("\r\n", "\n")
    if cr:
        old, new = old.replace("\r", "\n"), new.replace("\r", "\n")
    return Edit(old, new, edit.all, edit.lines)


def _next(progress: EditProgress, edit: Edit) -> _Found:
    """Find one edit, in the text before all edits where that leads to the same."""
    _check(edit)
    if edit.old:
        with suppress(ToolError):
            found = _in_hay(progress.hay, edit, progress.taken)
            if found is not None and progress.holds(
                found.splices, edit.old, exact=found.method == EXACT
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
    for method in (
        _exactly,
        _at_end,
        _at_anchor,
        _by_lines,
        _without_numbers,
        _without_margins,
        _folded,
    ):
        found = method(hay, edit, written)
        if found is not None:
            plain = None if method == _without_numbers else _unnumbered(hay, edit, found)
            if plain is None:
                return found
            _check(plain)
            found = method(hay, plain, written)
            return found and replace(found, notes=[*found.notes, f"{NUMBERS_TAKEN_OFF} new"])
    return None


def _unnumbered(hay: Haystack, edit: Edit, found: _Found) -> Edit | None:
    """The edit without the numbers of the lines that new replaces; None where it has none."""
    if edit.all or len(found.splices) != 1 or not edit.new.lstrip()[:1].isdigit():
        return None
    splice = found.splices[0]
    first = hay.line_at(splice.start)
    if hay.text[hay.starts[first] : splice.start].strip():
        return None
    stop = hay.line_at(max(splice.start, splice.end - 1)) + 1
    lines = without_copied_numbers(edit.new.removesuffix("\n").split("\n"), hay.lines, first, stop)
    if lines is None:
        return None
    return replace(edit, new="\n".join(lines) + ("\n" if edit.new.endswith("\n") else ""))


def _check(edit: Edit) -> None:
    if edit.old == edit.new:
        raise BadInput("old and new are the same.", hint="Send a new that differs from old.")
    if edit.old and not edit.old.strip():
        raise BadInput(
            "old holds nothing but white space.", hint="Include a line before or after it."
        )


def _exactly(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    free = _free_places(hay, hay.places_of(edit.old), edit, written)
    if not free:
        return None
    if len(free) > MAX_PLACES:
        raise TooLarge(
            f"old is there {len(free):,} times; {MAX_PLACES:,} places are changed at once.",
            hint="Use a longer old, or change the file with a program.",
        )
    if not edit.all:
        refuse_part_of_number(hay, free[0], edit.old)
        _refuse_rival(hay, free[0], edit)
    done = [replacement(hay, at, edit.old, edit.new) for at in apart(free, len(edit.old))]
    return _Found([splice for splice, _ in done], EXACT, [note for _, note in done if note])


def _free_places(hay: Haystack, places: Sequence[int], edit: Edit, written: Ranges) -> list[int]:
    """Those of the places of an edit that none before it wrote; one, unless it is for all."""
    size = len(edit.old)
    free = [at for at in places if not written.meet(at, at + size)]
    if places and not free:
        raise _overlap()
    if len(free) > 1 and not edit.all:
        raise _several([hay.line_at(at) for at in free[:MAX_NAMED_LINES]], count=len(free))
    return free


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
    chosen: list[Candidate] = []
    for candidate in free:
        if not chosen or candidate.first > chosen[-1].last:
            chosen.append(candidate)
    return _Found([_splice(hay, old, new, c) for c in chosen], _method_name(chosen))


def _method_name(found: Sequence[Candidate]) -> str:
    needs = {need for candidate in found for need in candidate.needs}
    return (
        " + ".join(name for need, name in DIFFERENCE_NAMES.items() if need in needs)
        or "last line end"
    )


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
    refusal: BadInput | None = None
    for plain in without_numbers(_lines(edit.old), _new_lines(edit)):
        plain_new = [""] if plain.new is None else plain.new
        old, new = "\n".join(plain.old), "\n".join(plain_new)
        if edit.old.endswith("\n"):
            old, new = f"{old}\n", f"{new}\n" if plain_new else ""
        if not significant(old) or old == new:
            continue
        try:
            found = _by_lines(hay, Edit(old, new, edit.all), written)
        except BadInput as error:
            refusal = refusal or error
            continue
        if found is None or not _is_there(hay, found, plain.first):
            continue
        if plain.new is None:
            refusal = refusal or unclear_numbers("new")
            continue
        exact = found.method == "last line end"
        method = (
            DIFFERENCE_NAMES["numbers"]
            if exact
            else f"{DIFFERENCE_NAMES['numbers']} + {found.method}"
        )
        if DIFFERENCE_NAMES["indent"] not in method:
            return _Found(found.splices, method)
        best = best or _Found(found.splices, method)
    if best is None and refusal is not None:
        raise refusal
    return best


def _is_there(hay: Haystack, found: _Found, number: int) -> bool:
    """Whether the numbers were no part of the file: it has none, or they are those of its lines."""
    first = hay.line_at(found.splices[0].start) + 1
    return first == number or not is_numbered(hay.lines)


def _without_margins(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    """Blank lines that old and new both begin or end with are left out of both."""
    old, new = without_margins(edit.old.split("\n"), edit.new.split("\n"))
    plain = Edit("\n".join(old), "\n".join(new), edit.all)
    if plain.old in (edit.old, plain.new) or not significant(plain.old):
        return None
    found = _by_lines(hay, plain, written)
    return found and _Found(found.splices, f"blank lines around + {found.method}", found.notes)


def _folded(hay: Haystack, edit: Edit, written: Ranges) -> _Found | None:
    """A part of a line, but for characters that look alike."""
    if (edit.old.isascii() and hay.text.isascii()) or not significant(edit.old):
        return None
    folded, size = fold_each(edit.old), len(edit.old)
    free = _free_places(hay, places_of(hay.folded, folded), edit, written)
    splices = []
    for at in apart(free, size):
        there = hay.text[at : at + size]
        old, new = (respelt(edit.old, there, sent) for sent in (edit.old, edit.new))
        new = with_file_spelling(old, there, new)
        splices.append(replacement(hay, at, there, new)[0])
    return _Found(splices, DIFFERENCE_NAMES["unicode"]) if splices else None


def _several(
    lines: Sequence[int], candidate: Candidate | None = None, *, count: int = 0
) -> BadInput:
    count = count or len(lines)
    listed = ", ".join(str(line + 1) for line in lines[:MAX_LISTED_LINES])
    more = f" and {count - MAX_LISTED_LINES:,} more" if count > MAX_LISTED_LINES else ""
    but = "" if candidate is None else f" but for {_method_name([candidate])}"
    return BadInput(
        f"old is there {count:,} times{but}, at lines {listed}{more}.",
        hint=UNIQUE,
        lines=[line + 1 for line in lines[:MAX_NAMED_LINES]],
    )


def _overlap() -> BadInput:
    return BadInput(
        "old meets text that an edit before it has already replaced.",
        hint="Put the two changes into one edit.",
    )


def _absent(hay: Haystack, old: str) -> NotFound:
    reason = cause(hay, old)
    why = f": {reason}" if reason else ""
    hint = READ_AGAIN if significant(old) else f"{READ_AGAIN} A text so short must be exact."
    return NotFound(f"old is not in the file{why}.{nearest(hay, old)}", hint=hint)
