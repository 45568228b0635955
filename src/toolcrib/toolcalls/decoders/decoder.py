"""What the decoders share: the text, the offers, and what they answer."""

# ruff: noqa: RUF001 - the marks of some formats have such characters

from __future__ import annotations

import re
from dataclasses import dataclass

from toolcrib.toolcalls.families import TAGS, TOKENS
from toolcrib.toolcalls.growing_text import ENOUGH, Growing, Wait
from toolcrib.toolcalls.marks import MARKS
from toolcrib.toolcalls.markset import MAXIMUM, Found, MarkSet
from toolcrib.toolcalls.offers import Offers
from toolcrib.toolcalls.shapes import Raw

OPENERS = frozenset((*TAGS, *TOKENS))
NAMED = re.compile(r"""["']?(?:name|tool|tool_name)["']?\s*[:=]\s*["']([\w.\-:/]{1,100})["']""")


@dataclass(slots=True)
class Reading:
    """A text with what its calls may be."""

    text: Growing
    offers: Offers

    @property
    def is_tired(self) -> bool:
        """Whether so much was read in vain that far ends are no longer looked for."""
        return self.text.wasted > ENOUGH


@dataclass(slots=True)
class Item:
    """One or more calls, and the place after them; None stands for a broken one."""

    end: int
    calls: list[Raw | None]


@dataclass(slots=True)
class Cut:
    """It began like a call. It has no end, or what it holds cannot be read."""

    end: int
    closed: bool
    name: str = ""


Answer = Item | Cut | None
"""None: this is no call at all."""


NEAR = 100
"""How far is looked once too much was read in vain."""


def _next_mark(reading: Reading, at: int, closers: MarkSet) -> Wait[tuple[Found | None, bool]]:
    """The next mark that can be meant as one, and whether it is an end mark.

    What is broken may be a string that was cut off, and marks may stand in it. Those that
    look like tags count where a line ends or begins with them: JSON has no lines in strings.
    """
    text, start = reading.text, at
    limit = at + NEAR if reading.is_tired else MAXIMUM
    while True:
        found = MARKS.find(text.text, at, limit)
        if found is not None and found.mark not in closers and found.mark not in OPENERS:
            at = found.start + 1
            continue
        size = len(text.text)
        if found is None and not text.ended and size < limit:
            at = max(at, size - MARKS.longest + 1)
            yield
            continue
        is_end = found is not None and found.mark in closers
        if found is None or (yield from _is_meant(text, found, is_end=is_end)):
            text.wasted += (found.start if found else min(size, limit)) - start
            return found, is_end
        at = found.end


def _is_meant(text: Growing, found: Found, *, is_end: bool) -> Wait[bool]:
    if found.mark[0] != "<" or found.mark[1] == "|" or "｜" in found.mark:
        return True
    if not is_end:
        before = text.text[max(0, found.start - NEAR) : found.start]
        return before.rstrip(" \t")[-1:] in ("", "\n")
    at = yield from text.blank(found.end)
    return at >= len(text.text) or "\n" in text.text[found.end : at]


def cut(reading: Reading, at: int, closers: MarkSet, name: str = "") -> Wait[Cut]:
    """Where to go on after what cannot be read: past its end mark, or at the next opening."""
    text = reading.text
    found, is_end = yield from _next_mark(reading, at + 1, closers)
    end = found.start if found else len(text.text)
    if found is None and reading.is_tired:
        end = min(end, at + 1 + NEAR)
    if not name:
        named = NAMED.search(text.text, at, min(end, at + 400))
        name = named[1] if named else ""
    if found is not None and is_end:
        return Cut(found.end, closed=True, name=name)
    return Cut(end, closed=found is not None, name=name)


def lost(reading: Reading, at: int, name: str, *, near: bool) -> Wait[Cut]:
    """A value that is written as it is has no end: whatever stands in it is part of it.

    Args:
        reading: the text.
        at: where the value begins.
        name: the tool's.
        near: whether its end was not looked for, since too much had been read in vain.
    """
    text = reading.text
    while not text.ended:
        yield
    end = min(len(text.text), at + NEAR) if near else len(text.text)
    text.wasted += end - at
    return Cut(end, closed=False, name=name)


def closing(reading: Reading, at: int, closers: MarkSet) -> Wait[int]:
    """Where the next end mark stands, if no other block begins before it; else -1."""
    if not closers.marks:
        return -1
    found, is_end = yield from _next_mark(reading, at + 1, closers)
    return found.start if found is not None and is_end else -1
