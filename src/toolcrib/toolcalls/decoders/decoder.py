"""Records and steps that the decoders share, and calls written as JSON."""

# ruff: noqa: RUF001 - the marks of some formats have such characters

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from toolcrib.toolcalls.growing_text import (
    MAX_WASTED_CHARS,
    NO_LIMIT,
    Found,
    GrowingText,
    MarkSet,
    Wait,
)
from toolcrib.toolcalls.marks import MARKS, TAG_BLOCKS, TOKEN_BLOCKS, TURN_ENDS
from toolcrib.toolcalls.tool_schemas import ToolSchemas
from toolcrib.toolcalls.values import NotJson, RawCall, as_arguments, calls_of, decode, value_at

OPENERS = frozenset((*TAG_BLOCKS, *TOKEN_BLOCKS))
LAST_MARKS = re.compile(rf"(?:\s+|{'|'.join(map(re.escape, TURN_ENDS))})+\Z")
NAMED = re.compile(r"""["']?(?:name|tool|tool_name)["']?\s*[:=]\s*["']([\w.\-:/]{1,100})["']""")


@dataclass(slots=True)
class Reading:
    """A text with what its calls may be."""

    text: GrowingText
    schemas: ToolSchemas

    @property
    def is_exhausted(self) -> bool:
        """Whether so much was read in vain that far ends are no longer looked for."""
        return self.text.wasted > MAX_WASTED_CHARS


@dataclass(slots=True)
class Item:
    """One or more calls, and the place after them; None stands for a broken one."""

    end: int
    calls: list[RawCall | None]


@dataclass(slots=True)
class BrokenCall:
    """It began like a call. It has no end, or what it holds cannot be read."""

    end: int
    closed: bool
    name: str = ""


Answer = Item | BrokenCall | None
"""None: this is no call at all."""


MAX_NEAR_CHARS = 100
"""How far is looked once too much was read in vain."""


def _next_mark(reading: Reading, at: int, closers: MarkSet) -> Wait[tuple[Found | None, bool]]:
    """The next mark that can be meant as one, and whether it is an end mark.

    What is broken may be a string that was cut off, and marks may stand in it. Those that
    look like tags count where a line ends or begins with them: JSON has no lines in strings.
    """
    text, start = reading.text, at
    limit = at + MAX_NEAR_CHARS if reading.is_exhausted else NO_LIMIT
    while True:
        found = MARKS.find(text.text, at, limit)
        if found is not None and found.mark not in closers and found.mark not in OPENERS:
            at = found.start + 1
            continue
        size = len(text.text)
        if found is None and not text.ended and size < limit:
            at = max(at, size - MARKS.max_length + 1)
            yield
            continue
        is_end = found is not None and found.mark in closers
        if found is None or (yield from _is_meant(text, found, is_end=is_end)):
            text.wasted += (found.start if found else min(size, limit)) - start
            return found, is_end
        at = found.end


def _is_meant(text: GrowingText, found: Found, *, is_end: bool) -> Wait[bool]:
    if found.mark[0] != "<" or found.mark[1] == "|" or "｜" in found.mark:
        return True
    if not is_end:
        before = text.text[max(0, found.start - MAX_NEAR_CHARS) : found.start]
        return before.rstrip(" \t")[-1:] in ("", "\n")
    at = yield from text.skip_blank(found.end)
    return at >= len(text.text) or "\n" in text.text[found.end : at]


def cut(reading: Reading, at: int, closers: MarkSet, name: str = "") -> Wait[BrokenCall]:
    """Where to go on after what cannot be read: past its end mark, or at the next opening."""
    text = reading.text
    found, is_end = yield from _next_mark(reading, at + 1, closers)
    end = found.start if found else len(text.text)
    if found is None and reading.is_exhausted:
        end = min(end, at + 1 + MAX_NEAR_CHARS)
    if not name:
        named = NAMED.search(text.text, at, min(end, at + 400))
        name = named[1] if named else ""
    if found is not None and is_end:
        return BrokenCall(found.end, closed=True, name=name)
    return BrokenCall(end, closed=found is not None, name=name)


def unclosed(reading: Reading, at: int, name: str, *, near: bool) -> Wait[BrokenCall]:
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
    end = min(len(text.text), at + MAX_NEAR_CHARS) if near else len(text.text)
    text.wasted += end - at
    return BrokenCall(end, closed=False, name=name)


def closing(reading: Reading, at: int, closers: MarkSet) -> Wait[int]:
    """Where the next end mark stands, if no other block begins before it; else -1."""
    if not closers.marks:
        return -1
    found, is_end = yield from _next_mark(reading, at + 1, closers)
    return found.start if found is not None and is_end else -1


def json_item(reading: Reading, at: int, closers: MarkSet) -> Wait[Answer]:
    """An object or an array of calls."""
    found = yield from json_value(reading, at, closers)
    if found is not None:
        end, value = found
        return Item(end, calls_of(value, reading.schemas))
    repaired = yield from repaired_json(reading, at)
    if repaired is not None:
        return Item(repaired[0], calls_of(repaired[1], reading.schemas))
    if reading.text.text[at] == "[":
        salvaged, after = yield from _salvaged(reading, at)
        if salvaged:
            lost = yield from cut(reading, after - 1, closers)
            return Item(lost.end, salvaged)
    return (yield from cut(reading, at, closers))


def arguments_item(
    reading: Reading, at: int, closers: MarkSet, name: str, given: str
) -> Wait[Item | BrokenCall]:
    """The JSON arguments of a call whose name is known, also as a string of JSON."""
    if reading.text.text[at] == '"':
        found = yield from _string(reading, at)
    else:
        found = yield from json_value(reading, at, closers)
    if found is None:
        return (yield from cut(reading, at, closers, name))
    arguments = as_arguments(found[1])
    return Item(found[0], [None if arguments is None else RawCall(name, arguments, given)])


def json_value(reading: Reading, at: int, closers: MarkSet) -> Wait[tuple[int, Any] | None]:
    """The value that begins here, and the place after it.

    First as far as its brackets reach, whatever marks its strings hold; then up to the next
    end mark, for a value whose last brackets are missing.
    """
    text = reading.text
    if text.ended and not reading.is_exhausted:  # the quick way to the same
        begun = value_at(text.text, at)
        if begun is not None:
            return begun
    end = -1 if reading.is_exhausted else (yield from text.balanced(at))
    if end > 0:
        try:
            return end, _decoded(text.text[at:end])
        except NotJson:
            text.wasted += end - at
    end = yield from closing(reading, at, closers)
    if end > 0:
        try:
            return end, decode(text.text[at:end], closed=True)
        except NotJson:
            pass
    return None


def repaired_json(reading: Reading, at: int) -> Wait[tuple[int, Any] | None]:
    """A call at the end of the text without its last bracket, and the place after it.

    Its arguments must have their end: what was cut off within them is lost.
    """
    text = reading.text
    if reading.is_exhausted:
        return None
    while not text.ended:
        yield
    text.wasted += len(text.text) - at
    rest = LAST_MARKS.sub("", text.text[at:])
    if not rest.endswith("}"):
        return None
    try:
        return at + len(rest), decode(rest, closed=True)
    except NotJson:
        return None


def _decoded(span: str) -> Any:
    """The value, also where all its outer brackets are doubled, as templates write them."""
    try:
        return decode(span)
    except NotJson:
        if not (span.startswith("{{") and span.endswith("}}")):
            raise
    return decode(span[1:-1])


def _string(reading: Reading, at: int) -> Wait[tuple[int, Any] | None]:
    end = -1 if reading.is_exhausted else (yield from reading.text.quoted('"', at + 1))
    if end < 0:
        return None
    try:
        return end, decode(reading.text.text[at:end])
    except NotJson:
        return None


def _salvaged(reading: Reading, at: int) -> Wait[tuple[list[RawCall | None], int]]:
    """The whole calls of an array that has no end, and where a broken one follows them."""
    text, found = reading.text, list[RawCall | None]()
    while not reading.is_exhausted:
        at = yield from text.skip_blank(at + 1)
        if text.text[at : at + 1] == ",":
            continue
        if text.text[at : at + 1] != "{":
            break
        end = yield from text.balanced(at)
        if end < 0:
            break
        try:
            found += calls_of(decode(text.text[at:end]), reading.schemas)
        except NotJson:
            found.append(None)
        at = end - 1
    return ([*found, None] if any(found) else []), at
