"""A name, then each argument as a key and a value (GLM and its kin)."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.toolcalls.decoders.reading import Answer, Item, Reading, cut, lost, marks_of
from toolcrib.toolcalls.families import KEY_VALUE, Pairs
from toolcrib.toolcalls.growing import Wait
from toolcrib.toolcalls.shapes import Raw
from toolcrib.toolcalls.values import typed

KEYS = tuple(pairs.key for pairs in KEY_VALUE)
NEXT_PAIR = {
    pairs.key: re.compile(
        rf"\s*({re.escape(pairs.key)}[^<>\n]{{1,100}}{re.escape(pairs.key_close)}\s*"
        rf"{re.escape(pairs.value)})"
    )
    for pairs in KEY_VALUE
}
BY_KEY = {pairs.key: pairs for pairs in KEY_VALUE}


def pairs_item(
    reading: Reading, at: int, key_mark: str, name: str, closers: tuple[str, ...]
) -> Wait[Answer]:
    """The arguments of a call, from the first key on."""
    pairs, text, arguments = BY_KEY[key_mark], reading.text, dict[str, Any]()
    kinds, spelt = reading.offers.kinds, reading.offers.spelt(name)
    while True:
        at = yield from text.blank(at)
        mark = yield from text.at(at, (pairs.key, *closers, "<tool_call>"))
        if mark != pairs.key:
            if mark:
                return Item(at, [Raw(name, arguments)])
            return (yield from cut(reading, at - 1, closers, name))
        read = yield from _pair(reading, at + len(pairs.key), pairs, closers)
        if read is None:
            return (yield from lost(reading, at, name))
        key, raw, at = read
        arguments[key] = typed(raw, kinds(spelt, key), unknown="json")


def _pair(
    reading: Reading, at: int, pairs: Pairs, closers: tuple[str, ...]
) -> Wait[tuple[str, str, int] | None]:
    text = reading.text
    end = yield from text.find(pairs.key_close, at)
    if end < 0:
        return None
    key = text.text[at:end].strip()
    pattern, longest = marks_of((pairs.value, pairs.key, *closers))
    value = yield from text.first(pattern, end, longest)
    if value is None or value[0] != pairs.value or not key or len(key) > 200:
        return None
    span = yield from _value_end(reading, value.end(), pairs, closers)
    return None if span is None else (key, text.text[value.end() : span[0]], span[1])


def _value_end(
    reading: Reading, at: int, pairs: Pairs, closers: tuple[str, ...]
) -> Wait[tuple[int, int] | None]:
    """The end mark of a value is the one after which a key or the end of the call stands."""
    text, start, first = reading.text, at, None
    while not reading.is_tired:
        end = yield from text.find(pairs.value_close, at)
        if end < 0:
            text.wasted += len(text.text) - start
            return first or _unmarked_last(text.text, start, closers)
        at = end + len(pairs.value_close)
        first = first or (end, at)
        after = yield from text.blank(at)
        if after >= len(text.text) or (
            yield from text.at(after, (pairs.key, *closers, "<tool_call>"))
        ):
            return _unmarked(text.text, start, end, pairs) or (end, at)
    return None


def _unmarked(text: str, start: int, end: int, pairs: Pairs) -> tuple[int, int] | None:
    """Where the value ends if its own end mark is missing: then a next pair stands within it."""
    opens = text.count(pairs.value, start, end)
    if not opens or opens <= text.count(pairs.value_close, start, end):
        return None
    found = NEXT_PAIR[pairs.key].search(text, start, end)
    return (found.start(), found.start(1)) if found else None


def _unmarked_last(text: str, start: int, closers: tuple[str, ...]) -> tuple[int, int] | None:
    """The same for the last value of a text that ends, on a line of its own, with its call."""
    bare = text.rstrip()
    for mark in closers:
        at = len(bare) - len(mark)
        if at > start and bare.endswith("\n" + mark):
            return at - 1, at
    return None
