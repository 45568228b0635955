"""What two texts have in common, part by part, in bounded time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby

MOST_PAIRS = 100_000
"""Pairs of equal parts. The matcher takes time by them, again for each gap that it finds."""
Opcode = tuple[str, int, int, int, int]


def opcodes(a: Sequence[str], b: Sequence[str]) -> list[Opcode]:
    """How to turn one sequence into the other, as `SequenceMatcher.get_opcodes` says it.

    Where that could take long, what both begin and end with is taken first; what is between
    is then compared, part beside part where there are as many, or replaced as a whole.
    """
    if _pairs(a, b) <= MOST_PAIRS:
        return list(SequenceMatcher(None, a, b, autojunk=False).get_opcodes())
    most = min(len(a), len(b))
    head = next((i for i in range(most) if a[i] != b[i]), most)
    most -= head
    tail = next((i for i in range(most) if a[-1 - i] != b[-1 - i]), most)
    stop, end = len(a) - tail, len(b) - tail
    found: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    inner_a, inner_b = a[head:stop], b[head:end]
    if _pairs(inner_a, inner_b) <= MOST_PAIRS:
        matcher = SequenceMatcher(None, inner_a, inner_b, autojunk=False)
        found += [
            (tag, i1 + head, i2 + head, j1 + head, j2 + head)
            for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        ]
    elif len(inner_a) == len(inner_b):
        found += _side_by_side(inner_a, inner_b, head)
    else:
        found.append(("replace", head, stop, head, end))
    return [*found, ("equal", stop, len(a), end, len(b))] if tail else found


def _side_by_side(a: Sequence[str], b: Sequence[str], start: int) -> Iterator[Opcode]:
    at = start
    for same, run in groupby(zip(a, b, strict=True), key=lambda pair: pair[0] == pair[1]):
        end = at + sum(1 for _ in run)
        yield "equal" if same else "replace", at, end, at, end
        at = end


def _pairs(a: Sequence[str], b: Sequence[str]) -> int:
    counts = Counter(b)
    return sum(counts[part] for part in a)
