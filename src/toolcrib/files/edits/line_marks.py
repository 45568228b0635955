"""Marks before lines: anchors (`12:a3f9`, number and hash) and line numbers that were copied."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import blake2b
from itertools import islice

from toolcrib.core.errors import BadInput, Conflict
from toolcrib.files.edits.indentation import lead_of

DIGITS = 4
_ANCHOR = re.compile(r"\s*(\d{1,7}):([0-9a-f]{4,16})(?:\s*-\s*(\d{1,7}):([0-9a-f]{4,16}))?\s*")


def hash_of(line: str) -> str:
    """A short hash of a line without its outer space."""
    return blake2b(line.strip().encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def anchor(number: int, line: str) -> str:
    """The anchor of a line."""
    return f"{number}:{hash_of(line)[:DIGITS]}"


def anchored(lines: Sequence[str], text: str) -> tuple[int, int] | None:
    """The indices of the first and last line that an anchor or a pair of them names.

    None where the text is no anchor.

    Raises:
        Conflict: a line says something else by now.
    """
    match = _ANCHOR.fullmatch(text)
    if match is None:
        return None
    first = _index(lines, int(match[1]), match[2])
    last = _index(lines, int(match[3]), match[4]) if match[3] else first
    if last < first:
        raise Conflict(f"{text.strip()} ends before it starts.", hint="Send the first line first.")
    return first, last


def _index(lines: Sequence[str], number: int, digits: str) -> int:
    if 1 <= number <= len(lines) and hash_of(lines[number - 1]).startswith(digits):
        return number - 1
    there = [n for n, line in enumerate(lines, 1) if hash_of(line).startswith(digits)]
    moved = f" That text is now line {there[0]}." if len(there) == 1 else ""
    raise Conflict(
        f"Line {number} is not what {number}:{digits} was made of.{moved}",
        hint="Read the file again for new anchors.",
        lines=there[:20],
    )


# Copied line numbers.

_NUMBERED = re.compile(
    r"(?P<lead>[ \t]*)(?P<word>L|line )?(?P<number>\d{1,7})(?P<hash>:[0-9a-f]{3,8}(?=[|\t]))?"
    r"(?P<sep>\t|[ \t]*[|\u2502\u2192]|:|\.(?= ))(?P<rest>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class UnnumberedEdit:
    """Old and new without line numbers, and the number that old started with.

    `new` is None where nobody can tell whether numbers in it are of the text.
    """

    first: int
    old: list[str]
    new: list[str] | None


@dataclass(frozen=True, slots=True)
class _Numbering:
    """How the lines of a text are numbered, each one more than the one before."""

    lines: list[str]
    marks: list[re.Match[str]]
    space: str = ""

    @property
    def first(self) -> int:
        return int(self.marks[0]["number"])

    @property
    def last(self) -> int:
        return int(self.marks[-1]["number"])

    @property
    def rests(self) -> list[str]:
        return [self.rest(mark) for mark in self.marks]

    def rest(self, mark: re.Match[str]) -> str:
        return mark["rest"].removeprefix(self.space)

    def match(self, line: str) -> re.Match[str] | None:
        """The mark of another line, if it is written as these are."""
        mark = _NUMBERED.fullmatch(line)
        if mark is None or _form(mark) != _form(self.marks[0]):
            return None
        if mark["rest"].strip() and not mark["rest"].startswith(self.space):
            return None
        leads = {known["lead"] for known in self.marks}
        ends = {known.end("number") for known in self.marks}
        aligned = mark.end("number") in ends and leads != {""}
        return mark if mark["lead"] in leads or aligned else None


def _form(mark: re.Match[str]) -> tuple[str | None, bool, str]:
    return mark["word"], mark["hash"] is None, mark["sep"].strip(" ")


def _has_form(lines: Iterable[str], mark: re.Match[str]) -> bool:
    """Whether lines start with numbers that are written as another one is."""
    found = (_NUMBERED.fullmatch(line) for line in lines if line.lstrip()[:1] in "0123456789Ll")
    return any(_form(own) == _form(mark) for own in found if own)


def _numbering(lines: Sequence[str]) -> _Numbering | None:
    """How lines are numbered; None where not all are, in one form, each one more."""
    marks = [mark for mark in map(_NUMBERED.fullmatch, lines) if mark]
    numbers = [int(mark["number"]) for mark in marks]
    if not marks or numbers != list(range(numbers[0], numbers[0] + len(lines))):
        return None
    return _Numbering(list(lines), marks) if len({*map(_form, marks)}) == 1 else None


def without_numbers(old: Sequence[str], new: Sequence[str]) -> list[UnnumberedEdit]:
    """Both texts without the numbers that the lines of the old one start with.

    None where not every line of the old text has one, each one more than that before.
    Two where a space may belong to the separator or to the line.
    """
    found = _numbering(old)
    if found is None:
        return []
    solid = [rest for rest in found.rests if rest.strip()]
    spaces = [" ", ""] if solid and all(rest.startswith(" ") for rest in solid) else [""]
    forms = [_Numbering(found.lines, found.marks, space) for space in spaces]
    return [UnnumberedEdit(form.first, form.rests, _new_without(form, new)) for form in forms]


def _new_without(old: _Numbering, new: Sequence[str]) -> list[str] | None:
    """The new text without copied numbers; None where it may be meant in two ways.

    A line of the old text has its number wherever it comes again. The numbers of the other
    lines are copied where all of them have one and they count on, and are text where the
    lines stand in the file with them, or where they have nothing to do with those of old.
    """
    copied = dict(zip(old.lines, old.rests, strict=True))
    known = {rest.strip() for rest in old.rests if rest.strip()}
    fresh = [line for line in new if line.strip() and line not in copied]
    marks = [mark for mark in map(old.match, fresh) if mark]
    plain = [copied.get(line, line) for line in new]
    if not marks:
        return plain
    bare = [old.rest(mark) for mark in marks]
    own = any(line.strip() in known for line in fresh)
    again = any(rest.strip() in known for rest in bare)
    every = len(marks) == len(fresh)
    if not own and every and (again or _counts_on(old, new)) and _alike(old, bare):
        return [copied[x] if x in copied else _bare(old, x) for x in new]
    numbers = [int(mark["number"]) for mark in marks]
    near = any(old.first <= number <= old.last + len(new) for number in numbers)
    counts = every and len(numbers) > 1 and numbers == [*range(numbers[0], numbers[-1] + 1)]
    return plain if not again and (own or not (near or counts)) else None


def _bare(old: _Numbering, line: str) -> str:
    mark = old.match(line)
    return old.rest(mark) if mark else line


def _alike(old: _Numbering, bare: Sequence[str]) -> bool:
    """Whether lines have numbers of their own where those of the old text have."""
    return not _has_form(old.rests, old.marks[0]) or _has_form(bare, old.marks[0])


def _counts_on(old: _Numbering, new: Sequence[str]) -> bool:
    """Whether the numbers of new lines start where old does, and go on between its lines."""
    before = None
    for line in new:
        mark = _NUMBERED.fullmatch(line) if line in old.lines else old.match(line)
        if mark is None:
            continue
        number = int(mark["number"])
        if line not in old.lines:
            if before is None and number != old.first:
                return False
            if before is not None and not before <= number <= max(before + 1, old.last):
                return False
        before = number
    return True


MAX_COMPARED = 20
MAX_COMPARED_CHARS = 1000
MIN_SIMILARITY = 0.7
MIN_CERTAIN_LINE = 20
"""A line from which on a number before it, as in `130: text`, is no key that fits by chance."""
NUMBERS_TAKEN_OFF = "copied line numbers were taken off"


def without_copied_numbers(
    new: Sequence[str], lines: Sequence[str], first: int, stop: int
) -> list[str] | None:
    """New lines without their numbers, where these are those of the lines that they replace.

    None where a line has none, the file has such numbers of its own, the edit does nothing
    but number its lines, or the numbers may be of the text: at the first line, where nothing
    of it comes again.

    Args:
        new: what shall be written.
        lines: the lines of the file.
        first: the index of the first line that is replaced.
        stop: the index after the last one.
    """
    solid = [line for line in new if line.strip()]
    found = _numbering(solid) if solid else None
    if found is None or found.first != first + 1 or _has_form(lines, found.marks[0]):
        return None
    separator, word = found.marks[0]["sep"], found.marks[0]["word"]
    replaced = [line for line in lines[first:stop] if line.strip()]
    chance = not first or (separator == ":" and len(solid) == 1 and first < MIN_CERTAIN_LINE)
    certain = word or separator.strip() == "\u2192"
    if separator == "." or (chance and not certain and not _come_again(found.rests, replaced)):
        return None
    rests = [rest for rest in found.rests if rest.strip()]
    if rests and all(rest.startswith(" ") for rest in rests):
        lead = lead_of(replaced[0]) if replaced else None
        spaced = separator == ":" or separator.startswith(" ")
        by_lead = [s for s in ("", " ") if lead == lead_of(rests[0].removeprefix(s))]
        space = by_lead[0] if by_lead else " " if spaced else ""
        found = _Numbering(found.lines, found.marks, space)
    plain = dict(zip(found.lines, found.rests, strict=True))
    if [rest.strip() for rest in found.rests] == [line.strip() for line in replaced]:
        return None
    return [plain.get(line, line) for line in new]


def _come_again(new: Sequence[str], old: Sequence[str]) -> bool:
    """Whether a line says nearly the same as the one in its place."""
    pairs = islice(zip(new, old, strict=False), MAX_COMPARED)
    return any(
        SequenceMatcher(None, a.strip().lower(), b.strip().lower()).ratio() >= MIN_SIMILARITY
        for a, b in pairs
        if len(a) + len(b) < MAX_COMPARED_CHARS
    )


def unclear_numbers(name: str) -> BadInput:
    """The error for new text whose numbers may be copied, or of the text."""
    return BadInput(
        f"old begins with line numbers, and of the numbers in {name} it is not clear whether "
        "they are line numbers too.",
        hint="Send both texts without line numbers, as they stand in the file.",
    )


def is_numbered(lines: Iterable[str]) -> bool:
    """Whether a file has lines of its own that start with a number and a separator."""
    return any(line.lstrip()[:1].isdigit() and _NUMBERED.fullmatch(line) for line in lines)
