"""What differs between two lists of lines, in bounded time, and its unified form.

Lines that stand once in both sides anchor the comparison (patience); between them the
shortest script is searched (Myers) up to a number of changes, beyond which the gap is
given as removed and added whole. So nothing grows with the square of the input.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

MAX_SEARCHED_CHANGES = 400
"""Changes of one gap up to which the shortest script is searched."""
CONTEXT_LINES = 3


@dataclass(frozen=True, slots=True)
class DifferenceBlock:
    """Lines `a[a1:a2]` that became `b[b1:b2]`; what lies between blocks is equal."""

    a1: int
    a2: int
    b1: int
    b2: int


def common_ends(a: Sequence[object], b: Sequence[object]) -> tuple[int, int]:
    """How many first, and how many of the other last elements two sequences have in common."""
    length = min(len(a), len(b))
    head = next((i for i in range(length) if a[i] != b[i]), length)
    length -= head
    tail = next((i for i in range(length) if a[-1 - i] != b[-1 - i]), length)
    return head, tail


def _never() -> None:
    """No reason to stop."""


def differences(
    a: Sequence[str], b: Sequence[str], check: Callable[[], None] = _never
) -> list[DifferenceBlock]:
    """What differs, in order.

    Args:
        a: the lines of one side.
        b: those of the other.
        check: called now and then; it raises when the work should stop.
    """
    found: list[DifferenceBlock] = []
    todo = [(0, len(a), 0, len(b), True)]
    while todo:
        check()
        a1, a2, b1, b2, anchored = todo.pop()
        while a1 < a2 and b1 < b2 and a[a1] == b[b1]:
            a1, b1 = a1 + 1, b1 + 1
        while a1 < a2 and b1 < b2 and a[a2 - 1] == b[b2 - 1]:
            a2, b2 = a2 - 1, b2 - 1
        if a1 == a2 and b1 == b2:
            continue
        if a1 == a2 or b1 == b2:
            _add(found, DifferenceBlock(a1, a2, b1, b2))
            continue
        anchors = _anchors(a, b, a1, a2, b1, b2) if anchored else []
        if not anchors:
            for block in _shortest(a, b, a1, a2, b1, b2, check):
                _add(found, block)
            continue
        at_a, at_b, gaps = a1, b1, []
        for x, y in anchors:
            gaps.append((at_a, x, at_b, y, True))
            at_a, at_b = x + 1, y + 1
        gaps.append((at_a, a2, at_b, b2, True))
        todo += reversed(gaps)
    return found


def _add(found: list[DifferenceBlock], block: DifferenceBlock) -> None:
    if found and found[-1].a2 == block.a1 and found[-1].b2 == block.b1:
        found[-1] = DifferenceBlock(found[-1].a1, block.a2, found[-1].b1, block.b2)
    else:
        found.append(block)


def _anchors(
    a: Sequence[str], b: Sequence[str], a1: int, a2: int, b1: int, b2: int
) -> list[tuple[int, int]]:
    """Lines that stand once in each side, as many as come in the same order in both."""
    in_a, in_b = Counter(a[a1:a2]), Counter(b[b1:b2])
    place = {b[n]: n for n in range(b1, b2) if in_b[b[n]] == 1}
    pairs = [(n, place[a[n]]) for n in range(a1, a2) if in_a[a[n]] == 1 and a[n] in place]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, y) in enumerate(pairs):
        at = bisect_left(tails, y)
        before.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(y)
            ends.append(number)
        else:
            tails[at], ends[at] = y, number
    chain: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _shortest(
    a: Sequence[str],
    b: Sequence[str],
    a1: int,
    a2: int,
    b1: int,
    b2: int,
    check: Callable[[], None],
) -> list[DifferenceBlock]:
    """The fewest removed and added lines, or all of them where those are too many."""
    n, m = a2 - a1, b2 - b1
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for changes in range(min(n + m, MAX_SEARCHED_CHANGES) + 1):
        check()
        trail.append(dict(furthest))
        for k in range(-changes, changes + 1, 2):
            if k == -changes or (k != changes and furthest[k - 1] < furthest[k + 1]):
                x = furthest[k + 1]
            else:
                x = furthest[k - 1] + 1
            y = x - k
            while x < n and y < m and a[a1 + x] == b[b1 + y]:
                x, y = x + 1, y + 1
            furthest[k] = x
            if x >= n and y >= m:
                return list(_retraced(trail, n, m, a1, b1))
    return [DifferenceBlock(a1, a2, b1, b2)]


def _retraced(
    trail: list[dict[int, int]], n: int, m: int, a1: int, b1: int
) -> Iterator[DifferenceBlock]:
    steps: list[DifferenceBlock] = []
    x, y = n, m
    for changes in range(len(trail) - 1, 0, -1):
        furthest, k = trail[changes], x - y
        down = k == -changes or (k != changes and furthest[k - 1] < furthest[k + 1])
        k_before = k + 1 if down else k - 1
        x0 = furthest[k_before]
        y0 = x0 - k_before
        steps.append(
            DifferenceBlock(a1 + x0, a1 + x0, b1 + y0, b1 + y0 + 1)
            if down
            else DifferenceBlock(a1 + x0, a1 + x0 + 1, b1 + y0, b1 + y0)
        )
        x, y = x0, y0
    yield from reversed(steps)


def unified(
    a: Sequence[str],
    b: Sequence[str],
    blocks: Sequence[DifferenceBlock],
    context: int = CONTEXT_LINES,
) -> Iterator[str]:
    """The hunks of a unified diff, line by line, without its header.

    Args:
        a: the lines of one side, without their ends.
        b: those of the other.
        blocks: what `differences` gave.
        context: equal lines shown around a change.
    """
    for group in _grouped(blocks, context):
        first, last = group[0], group[-1]
        before = min(context, first.a1)
        after = min(context, len(a) - last.a2)
        a_from, b_from = first.a1 - before, first.b1 - before
        a_to, b_to = last.a2 + after, last.b2 + after
        yield f"@@ -{_range(a_from, a_to)} +{_range(b_from, b_to)} @@"
        at = a_from
        for block in group:
            yield from (f" {line}" for line in a[at : block.a1])
            yield from (f"-{line}" for line in a[block.a1 : block.a2])
            yield from (f"+{line}" for line in b[block.b1 : block.b2])
            at = block.a2
        yield from (f" {line}" for line in a[at:a_to])


def _grouped(blocks: Sequence[DifferenceBlock], context: int) -> Iterator[list[DifferenceBlock]]:
    group: list[DifferenceBlock] = []
    for block in blocks:
        if group and block.a1 - group[-1].a2 > 2 * context:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    count = end - start
    if count == 1:
        return f"{start + 1}"
    return f"{start + 1 if count else start},{count}"
