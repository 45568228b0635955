"""Blocks of calls: from an opening mark to its closing one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from toolcrib.toolcalls.decoders.decoder import OPENERS, Cut, Item, Reading
from toolcrib.toolcalls.decoders.items import LETTERS, LONGEST_NAME, read_item
from toolcrib.toolcalls.decoders.tags import OPENS
from toolcrib.toolcalls.families import AROUND, HEADINGS
from toolcrib.toolcalls.growing_text import Growing, Wait
from toolcrib.toolcalls.marks import MARKS
from toolcrib.toolcalls.markset import MarkSet
from toolcrib.toolcalls.shapes import Raw

SEPARATOR = re.compile(r"[ \t\r\n,;}\]]*")
INNER = OPENERS | frozenset(AROUND)
HEADS = MarkSet(HEADINGS)
CALLS = MarkSet(("<function=", "<invoke ", "<function "))


@dataclass(slots=True)
class Block:
    """What was found in a block.

    `calls` has None for a call that is whole and cannot be read; `cut` is what had no end.
    """

    end: int
    calls: list[Raw | None] = field(default_factory=list)
    cut: Cut | None = None
    is_empty: bool = False
    """Opened and closed, or ended, with nothing in between."""


def read_block(reading: Reading, at: int, closers: MarkSet) -> Wait[Block | None]:
    """The block whose opening mark ends here; None where what follows is no call."""
    text, block = reading.text, Block(at)
    while True:
        here, mark = yield from text.past(block.end, MARKS)
        if mark in closers or mark in INNER:
            # Another opening mark is read for itself.
            block.is_empty = not block.calls
            block.end = here + len(mark) if mark in closers else here
            return block
        if here >= len(text.text):
            block.is_empty, block.end = not block.calls, here
            return block
        if block.calls:
            after = yield from _next(reading, here, closers)
            if after < 0:
                begun = _begun(text, here, (*closers.marks,))
                block.end = begun.end if begun else block.end
                return block
            here = after
            if (yield from text.at(here, closers)):
                block.end = here
                continue
        answer = (yield from read_item(reading, here, closers)) or _begun(
            text, here, (*closers.marks, *INNER, *OPENS.marks)
        )
        if answer is None:
            return block if block.calls else None
        if isinstance(answer, Cut):
            block.cut, block.end = answer, answer.end
            return block
        block.calls += answer.calls
        block.end = answer.end


def _begun(text: Growing, at: int, marks: tuple[str, ...]) -> Cut | None:
    """The mark within which the text ends here, if it does."""
    rest = text.text[at : at + MARKS.longest + 1]
    is_begun = text.ended and len(rest) > 1 and any(mark.startswith(rest) for mark in marks)
    return Cut(len(text.text), closed=False) if is_begun else None


def _next(reading: Reading, at: int, closers: MarkSet) -> Wait[int]:
    """Where a further item of a block begins, or -1.

    A comma, a semicolon or a bracket too many may stand before it, or before the end mark.
    """
    text = reading.text
    here = yield from text.skip(SEPARATOR, at)
    if (yield from text.at(here, closers)) or here >= len(text.text):
        return here
    first = text.text[here]
    if first == "{":
        return here if (yield from text.room(here, 2))[1:2] in ('"', "'", "\n", " ") else -1
    if first == "<":
        return here if (yield from text.at(here, CALLS)) else -1
    if not (first.isalpha() or first == "_"):
        return -1
    name = yield from text.run(LETTERS, here, LONGEST_NAME)
    after = yield from text.room(here + len(name), 1)
    is_headed = after in ("(", "{") or (yield from text.at(here + len(name), HEADS))
    return here if is_headed else -1


def read_tags(reading: Reading, at: int, closers: MarkSet) -> Wait[Block | None]:
    """A call that needs no block, from its opening tag on."""
    answer = yield from read_item(reading, at, closers)
    if isinstance(answer, Item):
        return Block(answer.end, list(answer.calls))
    return Block(answer.end, cut=answer) if answer is not None else None
