"""Choice of the decoder of an item, from how the item begins."""

from __future__ import annotations

import re

from toolcrib.toolcalls.decoders import pythonic
from toolcrib.toolcalls.decoders.decoder import (
    Answer,
    Item,
    Reading,
    arguments_item,
    cut,
    json_item,
)
from toolcrib.toolcalls.decoders.gemma import gemma_item
from toolcrib.toolcalls.decoders.tags import KEYS, OPENS, pairs_item, tags_item
from toolcrib.toolcalls.growing_text import MarkSet, Wait, joined
from toolcrib.toolcalls.marks import NAME_ENDS, NAME_FIRST, NAME_SEPARATORS
from toolcrib.toolcalls.offers import NAME
from toolcrib.toolcalls.values import RawCall

LETTERS = re.compile(r"[\w.\-:/@$]+")
MAX_NAME_CHARS = 256
CALL_ID, CALL_NAME, FENCE, PLUGIN = "[CALL_ID]", "<|tool_call:name|>", "```", "<|plugin|>"
HEADS = MarkSet((*NAME_SEPARATORS, *NAME_ENDS, CALL_ID, CALL_NAME))
TAG_STARTS = joined(OPENS, PLUGIN)
KEYS_OR_TAGS = joined(KEYS, OPENS)


def read_item(reading: Reading, at: int, closers: MarkSet) -> Wait[Answer]:
    """The item that begins here (no white space before it)."""
    text = reading.text
    first = text.text[at : at + 1]
    if first == "{":
        return (yield from json_item(reading, at, closers))
    if first == "[":
        after = yield from text.skip_blank(at + 1)
        if text.text[after : after + 1].isalpha() or text.text[after : after + 1] == "_":
            return (yield from pythonic.list_item(reading, at, closers))
        if text.text[after : after + 1] in ("{", "[", "]", "", '"'):
            return (yield from json_item(reading, at, closers))
    if first == "`":
        return (yield from _fenced(reading, at, closers))
    mark = yield from text.mark_at(at, TAG_STARTS)
    if mark == PLUGIN:
        at = yield from text.skip_blank(at + len(mark))
        return (yield from read_item(reading, at, closers))
    if mark:
        return (yield from tags_item(reading, at, mark, closers))
    if first.isalnum() or first in ("_", "$", "@"):
        return (yield from _named(reading, at, closers))
    return None


def _fenced(reading: Reading, at: int, closers: MarkSet) -> Wait[Answer]:
    """JSON in a fence within a block."""
    inner = yield from fence_body(reading, at)
    if inner < 0 or reading.text.text[inner : inner + 1] not in ("{", "["):
        return None
    found = yield from read_item(reading, inner, closers)
    if not isinstance(found, Item):
        return found
    return Item((yield from after_fence(reading, found.end)), found.calls)


def fence_body(reading: Reading, at: int) -> Wait[int]:
    """The first character within a fence that opens here, or -1."""
    text = reading.text
    if (yield from text.peek(at, 3)) != FENCE:
        return -1
    word = yield from text.run(LETTERS, at + 3, 32)
    return (yield from text.skip_blank(at + 3 + len(word)))


def after_fence(reading: Reading, at: int) -> Wait[int]:
    """The place after a closing fence, if one stands here."""
    after, mark = yield from reading.text.mark_after_blank(at, joined(FENCE))
    return after + 3 if mark else at


def _named(reading: Reading, at: int, closers: MarkSet) -> Wait[Answer]:
    """A name, and the mark after it, which decides the form."""
    text = reading.text
    name = yield from text.run(LETTERS, at, MAX_NAME_CHARS)
    start, at = at, at + len(name)
    if name.startswith("call:") and (yield from text.peek(at, 1)) == "{":
        return (yield from gemma_item(reading, at, name.removeprefix("call:")))
    if (yield from text.peek(at, 1)) == "(":
        return (yield from pythonic.call_item(reading, start, at, closers))
    name, given, at, was_headed = yield from _heading(reading, name, at)
    if not NAME.fullmatch(name):
        return None
    mark = (yield from text.mark_at(at, KEYS_OR_TAGS)) or (yield from text.mark_at(at, closers))
    if mark in KEYS:
        return (yield from pairs_item(reading, at, mark, name, closers))
    if mark in OPENS:
        return (yield from tags_item(reading, at, mark, closers)) if was_headed else None
    if mark:
        return _bare_name(reading, at, name, given, headed=was_headed)
    if text.text[at : at + 1] == "`":
        inner = yield from fence_body(reading, at)
        at = inner if inner >= 0 else at
    if text.text[at : at + 1] == "{" or (was_headed and text.text[at : at + 1] == '"'):
        return (yield from _with_json(reading, at, closers, name, given))
    if at >= len(text.text):
        return (yield from cut(reading, at - 1, closers, name))
    return (yield from cut(reading, at, closers, name)) if was_headed else None


def _heading(reading: Reading, name: str, at: int) -> Wait[tuple[str, str, int, bool]]:
    """What stands between the name and the arguments: the name, an id, the place after it."""
    text, given, was_headed = reading.text, "", False
    while True:
        at, mark = yield from text.mark_after_blank(at, HEADS)
        if not mark:
            return name, given or _own_id(name), at, was_headed
        was_headed = True
        at = yield from text.skip_blank(at + len(mark))
        if mark not in (CALL_ID, CALL_NAME, *NAME_FIRST):
            continue
        word = yield from text.run(LETTERS, at, MAX_NAME_CHARS)
        at += len(word)
        if mark == CALL_ID:
            given = word
        elif word and not (mark in NAME_FIRST and text.text.startswith(FENCE, at - len(word))):
            given, name = (name if mark == CALL_NAME else given), word


def _own_id(name: str) -> str:
    """Kimi's names are ids: `functions.NAME:0`."""
    return name if re.search(r":\d+$", name) else ""


def _bare_name(reading: Reading, at: int, name: str, given: str, *, headed: bool) -> Answer:
    offers = reading.offers
    if headed or not offers or offers.resolve(name) is not None:
        return Item(at, [RawCall(name, {}, given)])
    return None


def _with_json(reading: Reading, at: int, closers: MarkSet, name: str, given: str) -> Wait[Answer]:
    found = yield from arguments_item(reading, at, closers, name, given)
    if not isinstance(found, Item):
        return found
    calls = found.calls
    if name.isdigit() and calls[0] is not None:  # Kimi's counter alone
        meant = reading.offers.taking(calls[0].arguments)
        calls = [RawCall(meant, calls[0].arguments, given) if meant else None]
    return Item((yield from after_fence(reading, found.end)), calls)
