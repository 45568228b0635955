"""Indentation: how that of a quote maps to the file's, and new lines written accordingly."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import gcd

from toolcrib.core.errors import BadInput
from toolcrib.files.edits.lookalikes import Opcode, opcodes, respelt, spaced, with_file_spelling

_LEAD = re.compile(r"[ \t]*")
LeadPair = tuple[str, str]
"""The indentation of a line as quoted, and as the file has it."""


class Unmapped(BadInput):
    """The place of a new line cannot be told."""

    default_hint = "Read these lines again and send old and new with the indentation of the file."


def lead_of(line: str) -> str:
    """The white space that a line starts with."""
    found = _LEAD.match(line)
    return found[0] if found else ""


@dataclass(frozen=True, slots=True)
class Units:
    """Columns of one level of indentation: in what was sent, and in the file; 0: unknown.

    `kind` is the character by which the file is mostly indented, "" where it is not.
    """

    sent: int
    file: int
    kind: str = ""


def unit_of(leads: Iterable[str]) -> int:
    """The columns that divide all indentation by spaces; 0 where nothing tells."""
    unit = gcd(*(len(lead) for lead in leads if lead and "\t" not in lead))
    return unit if unit > 1 else 0


def step_of(leads: Iterable[str]) -> int:
    """The columns by which a file mostly goes deeper; 0 where it does not by spaces."""
    steps: Counter[int] = Counter()
    before = 0
    for lead in leads:
        if "\t" not in lead:
            if len(lead) > before:
                steps[len(lead) - before] += 1
            before = len(lead)
    return steps.most_common(1)[0][0] if steps else 0


class Indentation:
    """Where lines of a quoted text stand in the file.

    Args:
        pairs: of each line that is not blank, in order.
        units: see `Units`.
    """

    def __init__(self, pairs: Sequence[LeadPair], units: Units) -> None:
        self._pairs = pairs
        self._units = units
        self._known: dict[str, list[tuple[int, str]]] = {}
        self._placed: dict[str, str | None] = {}
        for index, (sent, there) in enumerate(pairs):
            self._known.setdefault(sent, []).append((index, there))
        self.same = all(sent == there for sent, there in pairs)
        self.clipped = not self.same and _is_clipped(pairs)
        self._ratio = None if self.same or self.clipped else _ratio(pairs)

    @property
    def fits(self) -> bool:
        """Whether the lines have the same shape: equal stays equal, deeper stays deeper."""
        return self.same or self.clipped or _has_shape(self._pairs)

    def place(self, lead: str, near: int, *, first: bool) -> str:
        """The indentation in the file of a new line.

        Args:
            lead: as sent.
            near: the index of the pair beside which the line stands.
            first: whether it is the first line of the new text.

        Raises:
            Unmapped: nothing tells.
        """
        if self.same:
            return lead
        if self.clipped:
            return self._beside_clipped(lead, first=first)
        if lead in self._known:
            known = self._known[lead]
            at = bisect_left(known, (near, ""))
            return min(known[max(at - 1, 0) : at + 1], key=lambda pair: abs(pair[0] - near))[1]
        if lead not in self._placed:
            shifted = self._shifted(lead)
            sure = shifted is not None and not self._between_levels(lead, shifted)
            self._placed[lead] = shifted if sure else self._scaled(lead)
        placed = self._placed[lead]
        if placed is not None:
            return placed
        raise Unmapped(
            f"A line of new starts with {_described(lead)}, and nothing tells where that is in "
            "the file, which is indented in another way than old."
        )

    def _beside_clipped(self, lead: str, *, first: bool) -> str:
        if first and not lead:
            return self._pairs[0][1]
        if not lead:
            raise Unmapped("A line of new is not indented, and neither was the first one of old.")
        return lead

    def _shifted(self, lead: str) -> str | None:
        """By what all lines have more, or less, than in the file."""
        sent, there = self._pairs[0]
        if there.endswith(sent):
            more = there[: len(there) - len(sent)]
            if all(f == more + s for s, f in self._pairs):
                return self._deeper(more, lead)
        if sent.endswith(there):
            less = sent[: len(sent) - len(there)]
            if all(s == less + f for s, f in self._pairs) and lead.startswith(less):
                return self._deeper("", lead[len(less) :])
        return None

    def _between_levels(self, lead: str, placed: str) -> bool:
        """Whether a line further out than all of old would stand at no level of the file."""
        step = self._units.file
        if step < 2 or any(len(lead) >= len(sent) for sent, _ in self._pairs):
            return False
        even = all(set(there) <= {" "} and len(there) % step == 0 for _, there in self._pairs)
        return even and len(placed) % step != 0

    def _deeper(self, base: str, rest: str) -> str | None:
        """Indentation on top of another, in the way of the file."""
        known_indent = any(sent and there for sent, there in self._pairs)
        kinds = {c for _, there in self._pairs for c in there} or set(self._units.kind)
        if not rest or known_indent or not kinds or set(rest) == kinds:
            return base + rest
        if len(kinds) > 1 or len(set(rest)) > 1:
            return None
        if "\t" in kinds:
            unit = self._units.sent
            return base + "\t" * (len(rest) // unit) if unit and len(rest) % unit == 0 else None
        return base + " " * (len(rest) * self._units.file) if self._units.file else None

    def _scaled(self, lead: str) -> str | None:
        """By the proportion of the two ways of indenting."""
        sent_kind = {c for sent, _ in self._pairs for c in sent} | set(lead)
        file_kind = {c for _, there in self._pairs for c in there}
        if len(sent_kind) > 1 or len(file_kind) > 1:
            return None
        ratio = self._ratio or self._by_units(sent_kind, file_kind)
        if ratio is None:
            return None
        sent, there = self._pairs[0]
        columns = len(there) + (len(lead) - len(sent)) * ratio
        if columns < 0 or columns.denominator != 1:
            return None
        return (next(iter(file_kind), "") or next(iter(sent_kind), " ")) * int(columns)

    def _by_units(self, sent: set[str], there: set[str]) -> Fraction | None:
        a = 1 if "\t" in sent else self._units.sent
        b = 1 if "\t" in there else self._units.file
        if not (sent and there and a and b) or sent == there:
            return None
        return Fraction(b, a)


def _is_clipped(pairs: Sequence[LeadPair]) -> bool:
    """Whether all is the same, but that the quote starts behind the first indentation."""
    (sent, there), rest = pairs[0], pairs[1:]
    return not sent and bool(there) and bool(rest) and all(s == f for s, f in rest)


def _ratio(pairs: Sequence[LeadPair]) -> Fraction | None:
    """Columns of the file for a column sent, where at least two depths tell."""
    points = {len(sent): len(there) for sent, there in pairs}
    if len(points) < 2:
        return None
    (a, fa), (b, fb) = sorted(points.items())[:2]
    ratio = Fraction(fb - fa, b - a)
    even = all(f - fa == (s - a) * ratio for s, f in points.items())
    return ratio if even and ratio > 0 else None


def _has_shape(pairs: Sequence[LeadPair]) -> bool:
    """Whether deeper is deeper and equal is equal on both sides, for one width of a tab."""
    distinct = set(pairs)
    for width in (8, 4):
        depths = sorted({(_depth(a, width), _depth(b, width)) for a, b in distinct})
        if all(a < c and b < d for (a, b), (c, d) in pairwise(depths)):
            return True
    return False


def _depth(lead: str, width: int) -> int:
    return len(lead.expandtabs(width))


def _described(lead: str) -> str:
    if not lead:
        return "no white space"
    if set(lead) == {"\t"}:
        return f"{len(lead)} tabs"
    return f"{len(lead)} spaces" if set(lead) == {" "} else "tabs and spaces"


# The new text as it belongs into the file, where the old one was not quoted exactly.


def rewritten(
    old: Sequence[str], new: Sequence[str], there: Sequence[str], indentation: Indentation
) -> list[str]:
    """Lines to write instead of those that are there.

    Lines that old and new share stay as they are in the file. The others are indented as
    the file is, and keep its spelling where old and new agree.

    Raises:
        Unmapped: a new line is indented in a way that nothing in old explains.
    """
    lines: list[str] = []
    old, new = [spaced(line) for line in old], [spaced(line) for line in new]
    before, standing = "\n".join(map(str.strip, old)), "\n".join(map(str.strip, there))
    old, new = (
        respelt(before, standing, "\n".join(texts)).split("\n")
        if before != standing and texts
        else texts
        for texts in (old, new)
    )
    tails = [_tail(line) for line, sent in zip(there, old, strict=True) if _tail(sent)]
    if tails and not any(tails):
        # What was sent has space at ends of lines that the file does not have.
        old, new = ([line.rstrip() for line in texts] for texts in (old, new))
    for tag, i1, i2, j1, j2 in _opcodes(old, new):
        if tag == "equal":
            lines += there[i1:i2]
        elif j1 < j2:
            lines += _changed(old, new, there, indentation, (i1, i2, j1, j2))
    return lines


def _opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    return opcodes([line.rstrip() for line in old], [line.rstrip() for line in new])


def _changed(
    old: Sequence[str],
    new: Sequence[str],
    there: Sequence[str],
    indentation: Indentation,
    hunk: tuple[int, int, int, int],
) -> list[str]:
    i1, i2, j1, j2 = hunk
    contents = _contents(old[i1:i2], there[i1:i2], new[j1:j2])
    paired = i2 - i1 == j2 - j1
    solid = [index for index, line in enumerate(old) if line.strip()]
    lines = []
    for offset, (line, content) in enumerate(zip(new[j1:j2], contents, strict=True)):
        index = min(i1 + offset, max(i2 - 1, i1))
        if not line.strip():
            lines.append(line if indentation.same else "")
            continue
        near = bisect_left(solid, index)
        placed = indentation.place(lead_of(line), near, first=j1 + offset == 0)
        tail = _tail(line)
        if paired and _tail(old[index]) == tail:
            tail = _tail(there[index])
        lines.append(f"{placed}{content}{tail}")
    return lines


def _contents(old: Sequence[str], there: Sequence[str], new: Sequence[str]) -> list[str]:
    """The new lines without outer space, in the spelling of the file."""
    plain = [line.strip(" \t") for line in new]
    before, standing = ("\n".join(line.strip() for line in lines) for lines in (old, there))
    respelled = with_file_spelling(before, standing, "\n".join(plain)).split("\n")
    return respelled if len(respelled) == len(plain) else plain


def _tail(line: str) -> str:
    return line[len(line.rstrip()) :]
