"""Blocks of calls: from an opening mark to its closing one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from toolcrib.toolcalls.decoders.items import LETTERS, LONGEST_NAME, read_item
from toolcrib.toolcalls.decoders.reading import OPENERS, Cut, Item, Reading
from toolcrib.toolcalls.decoders.tags import OPENS
from toolcrib.toolcalls.families import AROUND, HEADINGS
from toolcrib.toolcalls.growing import LONGEST_MARK, Growing, Wait
from toolcrib.toolcalls.shapes import Raw

SEPARATOR = re.compile(r"[ \t\r\n,;}\]]*")
INNER = (*OPENERS, *AROUND)
FIRSTS = {mark[0] for mark in INNER}
"""End marks begin with these too."""


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


def read_block(reading: Reading, at: int, closers: tuple[str, ...]) -> Wait[Block | None]:
    """The block whose opening mark ends here; None where what follows is no call."""
    text, block = reading.text, Block(at)
    inner = (*closers, *INNER, *OPENS)
    while True:
        here = yield from text.blank(block.end)
        mark = ""
        if text.text[here : here + 1] in FIRSTS:
            mark = yield from text.at(here, (*closers, *INNER))
        if mark:
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
                begun = _begun(text, here, closers)
                block.end = begun.end if begun else block.end
                return block
            here = after
            if (yield from text.at(here, closers)):
                block.end = here
                continue
        answer = (yield from read_item(reading, here, closers)) or _begun(text, here, inner)
        if answer is None:
            return block if block.calls else None
        if isinstance(answer, Cut):
            block.cut, block.end = answer, answer.end
            return block
        block.calls += answer.calls
        block.end = answer.end


def _begun(text: Growing, at: int, marks: tuple[str, ...]) -> Cut | None:
    """The mark within which the text ends here, if it does."""
    rest = text.text[at : at + LONGEST_MARK]
    is_begun = text.ended and len(rest) > 1 and any(mark.startswith(rest) for mark in marks)
    return Cut(len(text.text), closed=False) if is_begun else None


def _next(reading: Reading, at: int, closers: tuple[str, ...]) -> Wait[int]:
    """Where a further item of a block begins, or -1.

    A comma, a semicolon or a bracket too many may stand before it, or before the end mark.
    """
    text = reading.text
    while True:
        found = SEPARATOR.match(text.text, at)
        here = found.end() if found else at
        if here < len(text.text) or text.ended:
            break
        yield
    if (yield from text.at(here, closers)) or here >= len(text.text):
        return here
    first = text.text[here]
    if first == "{":
        return here if (yield from text.room(here, 2))[1:2] in ('"', "'", "\n", " ") else -1
    if first == "<":
        return here if (yield from text.at(here, ("<function=", "<invoke ", "<function "))) else -1
    if not (first.isalpha() or first == "_"):
        return -1
    name = yield from text.run(LETTERS, here, LONGEST_NAME)
    after = yield from text.room(here + len(name), 1)
    is_headed = after in ("(", "{") or (yield from text.at(here + len(name), HEADINGS))
    return here if is_headed else -1


def read_tags(reading: Reading, at: int, closers: tuple[str, ...]) -> Wait[Block | None]:
    """A call that needs no block, from its opening tag on."""
    answer = yield from read_item(reading, at, closers)
    if isinstance(answer, Item):
        return Block(answer.end, list(answer.calls))
    return Block(answer.end, cut=answer) if answer is not None else None
