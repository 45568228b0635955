"""JSON calls, and a name followed by JSON arguments."""

from __future__ import annotations

from typing import Any

from toolcrib.toolcalls.decoders.decoder import Answer, Cut, Item, Reading, closing, cut
from toolcrib.toolcalls.growing_text import Wait
from toolcrib.toolcalls.jsontext import NotJson, begun_value, decode
from toolcrib.toolcalls.markset import MarkSet
from toolcrib.toolcalls.shapes import Raw, as_arguments, calls_of


def json_item(reading: Reading, at: int, closers: MarkSet) -> Wait[Answer]:
    """An object or an array of calls."""
    found = yield from json_value(reading, at, closers)
    if found is not None:
        end, value = found
        return Item(end, calls_of(value, reading.offers))
    if reading.text.text[at] == "[":
        kept, after = yield from _salvaged(reading, at)
        if kept:
            lost = yield from cut(reading, after - 1, closers)
            return Item(lost.end, kept)
    return (yield from cut(reading, at, closers))


def arguments_item(
    reading: Reading, at: int, closers: MarkSet, name: str, given: str
) -> Wait[Item | Cut]:
    """The JSON arguments of a call whose name is known, also as a string of JSON."""
    if reading.text.text[at] == '"':
        found = yield from _string(reading, at)
    else:
        found = yield from json_value(reading, at, closers)
    if found is None:
        return (yield from cut(reading, at, closers, name))
    arguments = as_arguments(found[1])
    return Item(found[0], [None if arguments is None else Raw(name, arguments, given)])


def json_value(reading: Reading, at: int, closers: MarkSet) -> Wait[tuple[int, Any] | None]:
    """The value that begins here, and the place after it.

    First as far as its brackets reach, whatever marks its strings hold; then up to the next
    end mark, for a value whose last brackets are missing.
    """
    text = reading.text
    if text.ended and not reading.is_tired:  # the quick way to the same
        begun = begun_value(text.text, at)
        if begun is not None:
            return begun
    end = -1 if reading.is_tired else (yield from text.balanced(at))
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


def _decoded(span: str) -> Any:
    """The value, also where all its outer brackets are doubled, as templates write them."""
    try:
        return decode(span)
    except NotJson:
        if not (span.startswith("{{") and span.endswith("}}")):
            raise
    return decode(span[1:-1])


def _string(reading: Reading, at: int) -> Wait[tuple[int, Any] | None]:
    end = -1 if reading.is_tired else (yield from reading.text.quoted('"', at + 1))
    if end < 0:
        return None
    try:
        return end, decode(reading.text.text[at:end])
    except NotJson:
        return None


def _salvaged(reading: Reading, at: int) -> Wait[tuple[list[Raw | None], int]]:
    """The whole calls of an array that has no end, and where a broken one follows them."""
    text, found = reading.text, list[Raw | None]()
    while not reading.is_tired:
        at = yield from text.blank(at + 1)
        if text.text[at : at + 1] == ",":
            continue
        if text.text[at : at + 1] != "{":
            break
        end = yield from text.balanced(at)
        if end < 0:
            break
        try:
            found += calls_of(decode(text.text[at:end]), reading.offers)
        except NotJson:
            found.append(None)
        at = end - 1
    return ([*found, None] if any(found) else []), at
