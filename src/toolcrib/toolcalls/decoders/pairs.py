"""A name, then each argument as a key and a value (GLM and its kin)."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.toolcalls.decoders.decoder import Answer, Item, Reading, cut, lost
from toolcrib.toolcalls.families import KEY_VALUE, Pairs
from toolcrib.toolcalls.growing_text import Wait
from toolcrib.toolcalls.markset import MarkSet, joined
from toolcrib.toolcalls.shapes import Raw
from toolcrib.toolcalls.values import typed

KEYS = MarkSet(pairs.key for pairs in KEY_VALUE)
NEXT_PAIR = {
    pairs.key: re.compile(
        rf"\s*({re.escape(pairs.key)}[^<>\n]{{1,100}}{re.escape(pairs.key_close)}\s*"
        rf"{re.escape(pairs.value)})"
    )
    for pairs in KEY_VALUE
}
BY_KEY = {pairs.key: pairs for pairs in KEY_VALUE}


def pairs_item(
    reading: Reading, at: int, key_mark: str, name: str, closers: MarkSet
) -> Wait[Answer]:
    """The arguments of a call, from the first key on."""
    pairs, text, arguments = BY_KEY[key_mark], reading.text, dict[str, Any]()
    kinds, spelt = reading.offers.kinds, reading.offers.spelt(name)
    ends = joined(pairs.key, closers, "<tool_call>")
    while True:
        at, mark = yield from text.past(at, ends)
        if mark != pairs.key:
            if mark:
                return Item(at, [Raw(name, arguments)])
            return (yield from cut(reading, at - 1, closers, name))
        is_tired = reading.is_tired
        read = yield from _pair(reading, at + len(pairs.key), pairs, closers)
        if read is None:
            return (yield from lost(reading, at, name, near=is_tired))
        key, raw, at = read
        arguments[key] = typed(raw, kinds(spelt, key), unknown="json")


def _pair(
    reading: Reading, at: int, pairs: Pairs, closers: MarkSet
) -> Wait[tuple[str, str, int] | None]:
    text = reading.text
    end = yield from text.find(pairs.key_close, at)
    if end < 0:
        return None
    key = text.text[at:end].strip()
    value = yield from text.first(joined(pairs.value, pairs.key, closers), end)
    if value is None or value.mark != pairs.value or not key or len(key) > 200:
        return None
    span = yield from _value_end(reading, value.end, pairs, closers)
    return None if span is None else (key, text.text[value.end : span[0]], span[1])


def _value_end(
    reading: Reading, at: int, pairs: Pairs, closers: MarkSet
) -> Wait[tuple[int, int] | None]:
    """The end mark of a value is the one after which a key or the end of the call stands."""
    text, start, first = reading.text, at, None
    ends = joined(pairs.key, closers, "<tool_call>")
    while not reading.is_tired:
        end = yield from text.find(pairs.value_close, at)
        if end < 0:
            text.wasted += len(text.text) - start
            return first or _unmarked_last(text.text, start, closers)
        at = end + len(pairs.value_close)
        first = first or (end, at)
        after, mark = yield from text.past(at, ends)
        if mark or after >= len(text.text):
            return _unmarked(text.text, start, end, pairs) or (end, at)
    return None


def _unmarked(text: str, start: int, end: int, pairs: Pairs) -> tuple[int, int] | None:
    """Where the value ends if its own end mark is missing: then a next pair stands within it."""
    opens = text.count(pairs.value, start, end)
    if not opens or opens <= text.count(pairs.value_close, start, end):
        return None
    found = NEXT_PAIR[pairs.key].search(text, start, end)
    return (found.start(), found.start(1)) if found else None


def _unmarked_last(text: str, start: int, closers: MarkSet) -> tuple[int, int] | None:
    """The same for the last value of a text that ends, on a line of its own, with its call."""
    bare = text.rstrip()
    for mark in closers.marks:
        at = len(bare) - len(mark)
        if at > start and bare.endswith("\n" + mark):
            return at - 1, at
    return None
