"""Whole lines of a file that a quote means, although it is not exactly what stands there.

Each line of the quote must be a line of the file but for these differences: trailing
space, indentation (of the same shape), the width of inner space outside of quotation
marks, and characters that look alike. Nothing is ever taken because it is similar.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import accumulate, islice

from toolcrib.core.errors import TooLarge
from toolcrib.files.edits.indentation import Indentation, LeadPair, Units, lead_of, step_of, unit_of
from toolcrib.files.edits.lookalikes import fold, fold_each, spaced

# The text of a file, made ready to be searched line by line.

_WORD = re.compile(r"\w+")
MAX_INDEXED_PLACES = 2000
"""Places of a word that are looked at; for one that is there more often the text is searched."""


class Haystack:
    """A text and what is known of its lines.

    Attributes:
        text: all of it, each line end a line feed.
        many: whether it is searched so often that its words are worth an index.
    """

    def __init__(self, text: str, *, many: bool = False) -> None:
        self.text = text
        self.many = many

    def places_of(self, old: str) -> list[int]:
        """Where a quote stands, overlapping ones included."""
        if not self.many:
            return places_of(self.text, old)
        # A word at the end of the quote may be a part of one of the text.
        inner = [m for m in _WORD.finditer(old) if m.start() and m.end() < len(old)]
        rarest = min(inner, key=lambda m: len(self.words.get(m[0], ())), default=None)
        if rarest is None:
            return places_of(self.text, old)
        known = self.words.get(rarest[0], ())
        if len(known) > MAX_INDEXED_PLACES:
            return places_of(self.text, old)
        starts = (at - rarest.start() for at in known)
        return [at for at in starts if at >= 0 and self.text.startswith(old, at)]

    @cached_property
    def words(self) -> dict[str, list[int]]:
        """Where each word of the text begins."""
        found: dict[str, list[int]] = defaultdict(list)
        for match in _WORD.finditer(self.text):
            found[match[0]].append(match.start())
        return found

    @cached_property
    def folded(self) -> str:
        """The text with plain characters for look-alikes, of the same length."""
        return fold_each(self.text)

    @cached_property
    def lines(self) -> list[str]:
        """Without line ends; what follows the last line end is no line if it is empty."""
        lines = self.text.split("\n")
        if not lines[-1]:
            lines.pop()
        return lines

    @cached_property
    def starts(self) -> list[int]:
        """Where each line starts, and where one after the last would."""
        return list(accumulate((len(line) + 1 for line in self.lines), initial=0))

    @cached_property
    def keys(self) -> list[str]:
        """Each line as loosely as lines are ever compared."""
        return [loose(line) for line in self.lines]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The indices of the lines of each key."""
        found: dict[str, list[int]] = defaultdict(list)
        for index, key in enumerate(self.keys):
            found[key].append(index)
        return found

    @cached_property
    def step(self) -> int:
        """The columns by which the file mostly goes deeper; 0 where it does not by spaces."""
        return step_of(lead_of(line) for line in self.lines if line.strip())

    @cached_property
    def kind(self) -> str:
        """The character by which the file is mostly indented; "" where it is not."""
        tabs = sum(line.startswith("\t") for line in self.lines)
        spaces = sum(line.startswith("  ") for line in self.lines)
        return ("\t" if tabs > spaces else " ") if tabs or spaces else ""

    def line_at(self, position: int) -> int:
        """The index of the line that holds a place of the text."""
        return max(min(bisect_right(self.starts, position) - 1, len(self.lines) - 1), 0)

    def end_of(self, index: int) -> int:
        """Where a line ends, its line end left out."""
        return self.starts[index] + len(self.lines[index])


def places_of(text: str, old: str) -> list[int]:
    """Where a quote stands, overlapping ones included."""
    found: list[int] = []
    at = text.find(old)
    while at >= 0:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def loose(line: str) -> str:
    """A line without what a quote may get wrong: outer and doubled space, look-alikes."""
    return " ".join(fold(line).split())


def without_margins(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both without the blank lines that both begin or end with."""
    old, new = list(old), list(new)
    for end in (0, -1):
        while len(old) > 1 and len(new) > 1 and not old[end].strip() and not new[end].strip():
            del old[end], new[end]
    return old, new


MIN_SOLID_CHARS = 8
"""Characters that are not space which a quote must have to be found by these ways."""
MIN_ALNUM_CHARS = 3
MAX_COMPARED_LINES = 500_000
"""Lines that are looked at closely for one quote."""
DIFFERENCE_NAMES = {
    "numbers": "line numbers",
    "trailing": "trailing space",
    "indent": "indentation",
    "inner": "inner space",
    "unicode": "look-alike characters",
}
_QUOTES = "\"'`"
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])(?<!\b[bfnruxeBFNRUXE])(?<!\b[bfrBFR]{2})'(?=[^\W\d_])")
"""One within a word; behind the sign of a string, as in `f'x'`, it is a quotation mark."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Lines of the file that a quote may mean, and in which ways the two differ."""

    first: int
    last: int
    needs: frozenset[str]
    indentation: Indentation


def significant(text: str) -> bool:
    """Whether a quote says enough to be looked for in other ways than exactly."""
    solid = "".join(text.split())
    return len(solid) >= MIN_SOLID_CHARS and sum(map(str.isalnum, solid)) >= MIN_ALNUM_CHARS


def candidates(hay: Haystack, old: Sequence[str], new: Sequence[str]) -> list[Candidate]:
    """The nearest candidates for a quote; more than one means that it is ambiguous.

    Of two candidates the one wins that differs in fewer ways, all of them ways of the other.
    """
    units = Units(unit_of(lead_of(line) for line in (*old, *new)), hay.step, hay.kind)
    limit = MAX_COMPARED_LINES // max(len(old), 1) + 1
    firsts = list(islice(_aligned(hay, old), limit + 1))
    if len(firsts) > limit:
        raise TooLarge(
            f"old has {len(old):,} lines and may be meant at more than {limit:,} places.",
            hint="Use fewer lines, with one that is there only once.",
        )
    found = [c for first in firsts if (c := _candidate(hay, old, first, units))]
    kinds = {c.needs for c in found}
    return [c for c in found if not any(_nearer(needs, c.needs) for needs in kinds)]


def _nearer(a: frozenset[str], b: frozenset[str]) -> bool:
    core_a, core_b = a - {"trailing"}, b - {"trailing"}
    return core_a < core_b or (core_a == core_b and a < b)


def _aligned(hay: Haystack, old: Sequence[str]) -> Iterator[int]:
    """The first lines of all runs that are loosely the same as a quote."""
    keys = [loose(line) for line in old]
    solid = [index for index, key in enumerate(keys) if key]
    if not solid:
        return
    rarest = min(solid, key=lambda index: len(hay.places.get(keys[index], ())))
    for place in hay.places.get(keys[rarest], ()):
        first = place - rarest
        if first >= 0 and hay.keys[first : first + len(keys)] == keys:
            yield first


def _candidate(hay: Haystack, old: Sequence[str], first: int, units: Units) -> Candidate | None:
    there = hay.lines[first : first + len(old)]
    needs: set[str] = set()
    pairs: list[LeadPair] = []
    for sent, line in zip(old, there, strict=True):
        if sent.strip():
            pairs.append((lead_of(spaced(sent)), lead_of(spaced(line))))
        if sent == line:
            continue
        differences = _differences(sent, line)
        if differences is None:
            return None
        needs |= differences
    indentation = Indentation(pairs, units)
    if not indentation.fits:
        return None
    if not indentation.same:
        needs.add("indent")
    return Candidate(first, first + len(old) - 1, frozenset(needs), indentation)


def _differences(sent: str, line: str) -> set[str] | None:
    """How two lines differ apart from their indentation; None where they differ for good."""
    differences: set[str] = set()
    if len(sent) - len(sent.rstrip()) != len(line) - len(line.rstrip()):
        differences.add("trailing")
    if not sent.strip():
        return differences
    if lead_of(spaced(line)) != lead_of(line) or lead_of(spaced(sent)) != lead_of(sent):
        differences.add("unicode")
    a, b = sent.strip(), line.strip()
    if a == b:
        return differences
    if fold(a) == fold(b):
        return differences | {"unicode"}
    if any(mark in b for mark in _QUOTES) and _inside_quotes(a) != _inside_quotes(b):
        return None
    differences.add("inner")
    return differences if " ".join(a.split()) == " ".join(b.split()) else differences | {"unicode"}


def _inside_quotes(line: str) -> list[str]:
    """What stands in quotation marks, where the width of space matters."""
    parts: list[str] = []
    mark, start, escaped = "", 0, False
    text = _APOSTROPHE.sub("_", fold(line))
    for index, char in enumerate(text):
        if escaped:
            escaped = False
        elif mark and char == "\\":
            escaped = True
        elif mark:
            if char == mark:
                parts.append(text[start:index])
                mark = ""
        elif char in _QUOTES:
            mark, start = char, index + 1
    return [*parts, text[start:]] if mark else parts


# What a reader needs to mend a quote that was not found: the lines most like it.

MAX_REGION_LINES = 12
MAX_LINE_CHARS = 160
MAX_COMMON_PLACES = 50
MAX_SIMILAR_LINES = 5_000
MIN_SIMILARITY = 0.6


def numbered(lines: Sequence[str], first: int) -> str:
    """Lines with their numbers, each cut to a bounded length."""
    return "\n".join(f"{number:>5}  {cut(line)}" for number, line in enumerate(lines, first))


def cut(line: str) -> str:
    """A line in bounded length."""
    lines_out = line.encode("utf-8", "replace").decode() if not line.isascii() else line
    return (
        lines_out
        if len(lines_out) <= MAX_LINE_CHARS
        else f"{lines_out[:MAX_LINE_CHARS]}… ({len(lines_out):,} characters)"
    )


_BLOCK_MARK = re.compile(r"\s*(?:<{5,9} ?SEARCH|={5,9}|>{5,9} ?REPLACE)\s*")


def cause(hay: Haystack, old: str) -> str:
    """A known reason why a quote is not found; "" where there is none."""
    if "\\n" in old or "\\t" in old:
        real = old.replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t")
        if real in hay.text or _region(hay, real.split("\n")) is not None:
            return (
                r"old has a backslash and a letter (\n or \t) where the file may have white space"
            )
    if any(_BLOCK_MARK.fullmatch(line) and line not in hay.lines for line in old.split("\n")):
        return "old has marks of a SEARCH/REPLACE block: send the lines between them as old and new"
    if "\ufffd" in old:
        return "old has U+FFFD, which stands for bytes that are no text: leave that line out"
    return ""


def nearest(hay: Haystack, old: str) -> str:
    """The lines most like a quote, with their numbers and what the quote says instead.

    As further lines of a message; "" where there are none.
    """
    lines = old.strip("\n").split("\n")
    first = _region(hay, lines)
    if first is None:
        return ""
    lines_out: list[str] = []
    for offset, sent in enumerate(lines[:MAX_REGION_LINES]):
        index = first + offset
        if not 0 <= index < len(hay.lines):
            continue
        there = hay.lines[index]
        lines_out.append(f"{index + 1:>5}  {cut(there)}")
        if loose(sent) != hay.keys[index]:
            lines_out.append(f"  old: {cut(sent)}")
        elif sent.rstrip() != there.rstrip():
            lines_out.append(f"  old: {cut(sent)}   (differs in space or look-alikes only)")
    if len(lines) > MAX_REGION_LINES:
        lines_out.append(f"  ({len(lines) - MAX_REGION_LINES} more lines)")
    return "\n".join(["", "The nearest lines of the file:", *lines_out]) if lines_out else ""


def _region(hay: Haystack, lines: Sequence[str]) -> int | None:
    """The index of the line where a quote would best begin."""
    votes: Counter[int] = Counter()
    for offset, line in enumerate(lines[:200]):
        key = loose(line)
        places = hay.places.get(key, ())
        if len(key) > 2 and len(places) <= MAX_COMMON_PLACES:
            for place in places:
                votes[place - offset] += len(key)
    if votes:
        return votes.most_common(1)[0][0]
    longest_index = max(range(len(lines)), key=lambda index: len(lines[index]))
    key = loose(lines[longest_index])[:300]
    like = get_close_matches(
        key, {k[:300] for k in hay.keys[:MAX_SIMILAR_LINES] if k}, n=1, cutoff=MIN_SIMILARITY
    )
    if not key or not like:
        return None
    index = next(i for i, k in enumerate(hay.keys) if k[:300] == like[0])
    return index - longest_index
