"""What the decoders share: the text, the offers, and what they answer."""

# ruff: noqa: RUF001 - the marks of some formats have such characters

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from toolcrib.toolcalls.families import TAGS, TOKENS
from toolcrib.toolcalls.growing import ENOUGH, Growing, Wait
from toolcrib.toolcalls.offers import Offers
from toolcrib.toolcalls.shapes import Raw

OPENERS = (*TAGS, *TOKENS)
NAMED = re.compile(r"""["']?(?:name|tool|tool_name)["']?\s*[:=]\s*["']([\w.\-:/]{1,100})["']""")


@dataclass(frozen=True, slots=True)
class Reading:
    """A text with what its calls may be."""

    text: Growing
    offers: Offers

    @property
    def is_tired(self) -> bool:
        """Whether so much was read in vain that far ends are no longer looked for."""
        return self.text.wasted > ENOUGH


@dataclass(frozen=True, slots=True)
class Item:
    """One or more calls, and the place after them; None stands for a broken one."""

    end: int
    calls: list[Raw | None]


@dataclass(frozen=True, slots=True)
class Cut:
    """It began like a call. It has no end, or what it holds cannot be read."""

    end: int
    closed: bool
    name: str = ""


Answer = Item | Cut | None
"""None: this is no call at all."""


@lru_cache(maxsize=256)
def marks_of(marks: tuple[str, ...]) -> tuple[re.Pattern[str], int]:
    """A pattern of literal marks, and the length of the longest."""
    return re.compile(trie(marks)), max(map(len, marks))


def trie(marks: Iterable[str]) -> str:
    """A pattern that tries the characters that marks have in common once."""
    groups: dict[str, list[str]] = {}
    for mark in dict.fromkeys(marks):
        groups.setdefault(mark[:1], []).append(mark[1:])
    parts = []
    for first, rests in groups.items():
        if not first:
            continue
        rest = trie(rests)
        parts.append(re.escape(first) + (f"(?:{rest})?" if "" in rests and rest else rest))
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})" if parts else ""


OPENING = re.compile(trie(OPENERS))
NEAR = 100
"""How far is looked once too much was read in vain."""
MAXIMUM = 2**62
LONGEST_OPENER = max(map(len, OPENERS))


def _next_mark(
    reading: Reading, at: int, closers: tuple[str, ...]
) -> Wait[tuple[re.Match[str] | None, bool]]:
    """The next mark that can be meant as one, and whether it is an end mark.

    What is broken may be a string that was cut off, and marks may stand in it. Those that
    look like tags count where a line ends or begins with them: JSON has no lines in strings.
    """
    text, start = reading.text, at
    pattern, longest = marks_of(closers) if closers else (None, 0)
    limit = at + NEAR if reading.is_tired else MAXIMUM
    closer_at = opener_at = at
    closer: re.Match[str] | None = None
    opener: re.Match[str] | None = None
    while True:
        size = len(text.text)
        if pattern is not None and closer is None:
            closer = pattern.search(text.text, closer_at, limit)
            closer_at = max(closer_at, size - longest + 1)
        if opener is None:
            opener = OPENING.search(text.text, opener_at, limit)
            opener_at = max(opener_at, size - LONGEST_OPENER + 1)
        is_end = closer is not None and not (opener and opener.start() < closer.start())
        found = closer if is_end else opener
        if found is None and not text.ended and size < limit:
            yield
            continue
        if found is None or (yield from _is_meant(text, found, is_end=is_end)):
            text.wasted += (found.start() if found else min(size, limit)) - start
            return found, is_end
        if is_end:
            closer, closer_at = None, found.end()
        else:
            opener, opener_at = None, found.end()


def _is_meant(text: Growing, found: re.Match[str], *, is_end: bool) -> Wait[bool]:
    if found[0][0] != "<" or found[0][1] == "|" or "｜" in found[0]:
        return True
    if not is_end:
        before = text.text[max(0, found.start() - NEAR) : found.start()]
        return before.rstrip(" \t")[-1:] in ("", "\n")
    at = yield from text.blank(found.end())
    return at >= len(text.text) or "\n" in text.text[found.end() : at]


def cut(reading: Reading, at: int, closers: tuple[str, ...], name: str = "") -> Wait[Cut]:
    """Where to go on after what cannot be read: past its end mark, or at the next opening."""
    text = reading.text
    found, is_end = yield from _next_mark(reading, at + 1, closers)
    end = found.start() if found else len(text.text)
    if found is None and reading.is_tired:
        end = min(end, at + 1 + NEAR)
    if not name:
        named = NAMED.search(text.text, at, min(end, at + 400))
        name = named[1] if named else ""
    if found is not None and is_end:
        return Cut(found.end(), closed=True, name=name)
    return Cut(end, closed=found is not None, name=name)


def lost(reading: Reading, at: int, name: str = "") -> Wait[Cut]:
    """A value that is written as it is has no end: whatever stands in it is part of it."""
    text = reading.text
    while not text.ended:
        yield
    end = min(len(text.text), at + NEAR) if reading.is_tired else len(text.text)
    text.wasted += end - at
    return Cut(end, closed=False, name=name)


def closing(reading: Reading, at: int, closers: tuple[str, ...]) -> Wait[int]:
    """Where the next end mark stands, if no other block begins before it; else -1."""
    if not closers:
        return -1
    found, is_end = yield from _next_mark(reading, at + 1, closers)
    return found.start() if found is not None and is_end else -1
