"""Calls in a text: in blocks between marks, and bare ones of offered tools.

A bare call has no mark; it counts only where nothing else can be meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from toolcrib.toolcalls.decoders import pythonic
from toolcrib.toolcalls.decoders.decoder import (
    OPENERS,
    Answer,
    BrokenCall,
    Item,
    Reading,
    arguments_item,
    cut,
    json_item,
    repaired_json,
)
from toolcrib.toolcalls.decoders.gemma import gemma_item
from toolcrib.toolcalls.decoders.tags import KEYS, OPENS, pairs_item, tags_item
from toolcrib.toolcalls.growing_text import BLANK, NONE, GrowingText, MarkSet, Wait, end_of, joined
from toolcrib.toolcalls.marks import (
    AFTER_TAGS,
    MARKS,
    NAME_ENDS,
    NAME_FIRST,
    NAME_SEPARATORS,
    TURN_ENDS,
    WRAPPERS,
)
from toolcrib.toolcalls.tool_schemas import NAME
from toolcrib.toolcalls.values import (
    ARGUMENTS,
    IDS,
    LISTS,
    NAMES,
    NotJson,
    RawCall,
    as_arguments,
    calls_of,
    decode,
    is_plain_call,
)

# Choice of the decoder of an item, from how the item begins.

LETTERS = re.compile(r"[\w.\-:/@$]+")
MAX_NAME_CHARS = 256
CALL_ID, CALL_NAME, FENCE, PLUGIN = "[CALL_ID]", "<|tool_call:name|>", "```", "<|plugin|>"
ITEM_HEADS = MarkSet((*NAME_SEPARATORS, *NAME_ENDS, CALL_ID, CALL_NAME))
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
        return (yield from _named_item(reading, at, closers))
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


def _named_item(reading: Reading, at: int, closers: MarkSet) -> Wait[Answer]:
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
        at, mark = yield from text.mark_after_blank(at, ITEM_HEADS)
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
    schemas = reading.schemas
    if headed or not schemas or schemas.resolve(name) is not None:
        return Item(at, [RawCall(name, {}, given)])
    return None


def _with_json(reading: Reading, at: int, closers: MarkSet, name: str, given: str) -> Wait[Answer]:
    found = yield from arguments_item(reading, at, closers, name, given)
    if not isinstance(found, Item):
        return found
    calls = found.calls
    if name.isdigit() and calls[0] is not None:  # Kimi's counter alone
        meant = reading.schemas.taking(calls[0].arguments)
        calls = [RawCall(meant, calls[0].arguments, given) if meant else None]
    return Item((yield from after_fence(reading, found.end)), calls)


SEPARATOR = re.compile(r"[ \t\r\n,;}\]]*")
INNER = OPENERS | frozenset(WRAPPERS)
HEADS = MarkSet(NAME_SEPARATORS)
CALLS = MarkSet(("<function=", "<invoke ", "<function "))


@dataclass(slots=True)
class CallBlock:
    """What was found in a block.

    `calls` has None for a call that is whole and cannot be read; `cut` is what had no end.
    """

    end: int
    calls: list[RawCall | None] = field(default_factory=list)
    cut: BrokenCall | None = None
    is_empty: bool = False
    """Opened and closed, or ended, with nothing in between."""


def read_block(reading: Reading, at: int, closers: MarkSet) -> Wait[CallBlock | None]:
    """The block whose opening mark ends here; None where what follows is no call."""
    text, block = reading.text, CallBlock(at)
    while True:
        here, mark = yield from text.mark_after_blank(block.end, MARKS)
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
            if (yield from text.mark_at(here, closers)):
                block.end = here
                continue
        answer = (yield from read_item(reading, here, closers)) or _begun(
            text, here, (*closers.marks, *INNER, *OPENS.marks)
        )
        if answer is None:
            return block if block.calls else None
        if isinstance(answer, BrokenCall):
            block.cut, block.end = answer, answer.end
            return block
        block.calls += answer.calls
        block.end = answer.end


def _begun(text: GrowingText, at: int, marks: tuple[str, ...]) -> BrokenCall | None:
    """The mark within which the text ends here, if it does."""
    rest = text.text[at : at + MARKS.max_length + 1]
    is_begun = text.ended and len(rest) > 1 and any(mark.startswith(rest) for mark in marks)
    return BrokenCall(len(text.text), closed=False) if is_begun else None


def _next(reading: Reading, at: int, closers: MarkSet) -> Wait[int]:
    """Where a further item of a block begins, or -1.

    A comma, a semicolon or a bracket too many may stand before it, or before the end mark.
    """
    text = reading.text
    here = yield from text.skip(SEPARATOR, at)
    if (yield from text.mark_at(here, closers)) or here >= len(text.text):
        return here
    first = text.text[here]
    if first == "{":
        return here if (yield from text.peek(here, 2))[1:2] in ('"', "'", "\n", " ") else -1
    if first == "<":
        return here if (yield from text.mark_at(here, CALLS)) else -1
    if not (first.isalpha() or first == "_"):
        return -1
    name = yield from text.run(LETTERS, here, MAX_NAME_CHARS)
    after = yield from text.peek(here + len(name), 1)
    is_headed = after in ("(", "{") or (yield from text.mark_at(here + len(name), HEADS))
    return here if is_headed else -1


def read_tags(reading: Reading, at: int, closers: MarkSet) -> Wait[CallBlock | None]:
    """A call that needs no block, from its opening tag on."""
    answer = yield from read_item(reading, at, closers)
    if isinstance(answer, Item):
        return CallBlock(answer.end, list(answer.calls))
    return CallBlock(answer.end, cut=answer) if answer is not None else None


KEY = re.compile(r"""\{\s{0,99}["']([^"'\\]{0,40})["']\s{0,99}:\s{0,99}""")
TEXT = re.compile(r"""["']([^"'\\]{0,200})["']""")
OPEN_KEY = re.compile(
    r"""\{\s{0,99}(?:["'](?:[^"'\\]{0,40}(?:["']\s{0,99}(?::\s{0,99}(?:["'][^"'\\]{0,200})?)?)?)?)?"""
)
PROVISIONAL = {*ARGUMENTS, *IDS, *LISTS, "type", "function_call", "content"}
REACT = re.compile(r"Action:[ \t]*([\w.\-:/]+)[ \t]*\r?\n[ \t]*Action Input:[ \t]*\n?")
MAX_REACT_CHARS = 400
NEWLINE = re.compile(r"[ \t]*\r?\n\s*")
LAST = MarkSet((*TURN_ENDS, *AFTER_TAGS))
BETWEEN = re.compile(r"[ \t\r\n;,]*")


def bare_calls(reading: Reading, at: int, *, is_first: bool) -> Wait[Answer]:
    """The calls that stand here without a mark.

    Args:
        reading: the text, and the tools that were offered.
        at: the first character of a line, after white space.
        is_first: whether nothing but reasoning and calls went before. Elsewhere the calls
            must be all that follows.
    """
    first = reading.text.text[at : at + 1]
    if not reading.schemas or not first:
        return None
    if first == "{":
        return (yield from _objects(reading, at, is_first=is_first))
    if first == "[":
        return (yield from _bracket(reading, at, is_first=is_first))
    if first == "A" and (yield from reading.text.mark_at(at, joined("Action:"))):
        return (yield from _react(reading, at))
    if first == ">" and (yield from reading.text.mark_at(at, joined(">>>"))):
        return (yield from _named(reading, at + 3))
    if is_first and (first.isalpha() or first == "_"):
        return (yield from _named(reading, at))
    return None


def begins_call(reading: Reading, at: int) -> Wait[bool]:
    """Whether the object that opens here begins like a call of an offered tool."""
    text = reading.text
    while True:
        key = KEY.match(text.text, at)
        if key is not None:
            if key[1] in PROVISIONAL:
                return True
            if key[1] not in NAMES:
                return False
            if text.text[key.end() : key.end() + 1] == "{":
                return key[1] == "function"
            value = TEXT.match(text.text, key.end())
            if value is not None:
                return reading.schemas.resolve(value[1]) is not None
        if text.ended or end_of(OPEN_KEY.match(text.text, at), at) < len(text.text):
            return False
        key = value = None
        yield


def _objects(reading: Reading, at: int, *, is_first: bool) -> Wait[Answer]:
    found: list[RawCall | None] = []
    here, end = at, at
    while (yield from reading.text.peek(here, 1)) == "{" and (
        yield from begins_call(reading, here)
    ):
        read = yield from _plain(reading, here)
        if not isinstance(read, Item):
            if isinstance(read, BrokenCall) and (found or is_first):
                return Item(read.end, [*found, None]) if found else read
            break
        found += read.calls
        end = read.end
        here = yield from reading.text.skip(BETWEEN, end)
    if not found or not (yield from _is_all(reading, end, is_first=is_first)):
        return None
    return Item(end, found)


def _plain(reading: Reading, at: int) -> Wait[Answer]:
    text = reading.text
    end = -1 if reading.is_exhausted else (yield from text.balanced(at))
    if end < 0:
        whole = yield from repaired_json(reading, at)
        if whole is not None and is_plain_call(whole[1], reading.schemas):
            return Item(whole[0], calls_of(whole[1], reading.schemas))
        named = KEY.match(text.text, at)
        is_named = named is not None and named[1] in NAMES
        return (
            BrokenCall(len(text.text), closed=False, name=_name_at(reading, at))
            if is_named
            else None
        )
    value = _decoded(text.text[at:end])
    if not is_plain_call(value, reading.schemas):
        return None
    return Item(end, calls_of(value, reading.schemas))


def _name_at(reading: Reading, at: int) -> str:
    key = KEY.match(reading.text.text, at)
    value = TEXT.match(reading.text.text, key.end()) if key else None
    return value[1] if value else ""


def _decoded(span: str) -> Any:
    try:
        return decode(span)
    except NotJson:
        return None


def _is_all(reading: Reading, at: int, *, is_first: bool) -> Wait[bool]:
    """Whether nothing follows, or, of what stands first, only what stands on another line."""
    text = reading.text
    line, mark = yield from text.mark_after_blank(at, LAST)
    if mark or line >= len(text.text):
        return True
    return is_first and ("\n" in text.text[at:line] or text.text[line] in ";<")


def _bracket(reading: Reading, at: int, *, is_first: bool) -> Wait[Answer]:
    text = reading.text
    inner = yield from text.skip_blank(at + 1)
    first = text.text[inner : inner + 1]
    if first == "{":
        if not (yield from begins_call(reading, inner)):
            return None
        found = yield from _plain(reading, at)
        if not isinstance(found, Item):
            return found
        return found if (yield from _is_all(reading, found.end, is_first=is_first)) else None
    if not (first.isalpha() or first == "_"):
        return None
    name = yield from text.run(LETTERS, inner, MAX_NAME_CHARS)
    if reading.schemas.resolve(name.removesuffix(".call")) is None:
        return None
    after = yield from text.peek(inner + len(name), 1)
    if after == "]" and inner == at + 1:
        return (yield from _arguments(reading, inner + len(name) + 1, name, needs_line=True))
    if after != "(":
        return None
    answer = yield from pythonic.list_item(reading, at, NONE)
    if isinstance(answer, Item):
        *whole, last = answer.calls
        if last is not None or text.text[answer.end - 1] == "]":
            whole.append(last)  # else the list was cut off in its last call
        is_known = all(raw and reading.schemas.resolve(raw.name) for raw in whole)
        is_all = yield from _is_all(reading, answer.end, is_first=False)
        return answer if is_all and is_known else None
    return answer


def _named(reading: Reading, at: int) -> Wait[Answer]:
    """`NAME` and its arguments as JSON: on the next line, or after `[ARGS]`."""
    text = reading.text
    name = yield from text.run(LETTERS, at, MAX_NAME_CHARS)
    here = end_of(BLANK.match(text.text, at + len(name)), at)
    if not name or text.text[here : here + 1] not in ("{", "[", ""):
        return None  # prose, most often
    after = yield from text.mark_at(at + len(name), joined("[ARGS]"))
    if reading.schemas.resolve(name) is None:
        return None
    if name.startswith("call:") and (yield from text.peek(at + len(name), 1)) == "{":
        return (yield from gemma_item(reading, at + len(name), name.removeprefix("call:")))
    return (yield from _arguments(reading, at + len(name) + len(after), name, needs_line=not after))


def _arguments(reading: Reading, at: int, name: str, *, needs_line: bool) -> Wait[Answer]:
    text = reading.text
    here = yield from text.skip_blank(at)
    if text.text[here : here + 1] != "{":
        return None
    if needs_line and here > at and not NEWLINE.fullmatch(text.text, at, here):
        return None
    end = -1 if reading.is_exhausted else (yield from text.balanced(here))
    if end < 0:
        return BrokenCall(len(text.text), closed=False, name=name)
    arguments = as_arguments(_decoded(text.text[here:end]) or ())
    if arguments is None and text.text[here:end].strip("{} \t\r\n"):
        return None
    end = yield from _after_end_mark(reading, end, name)
    return Item(end, [RawCall(name, arguments or {})])


def _after_end_mark(reading: Reading, at: int, name: str) -> Wait[int]:
    marks = joined("[END_TOOL_REQUEST]", "[/TOOL_REQUEST]", f"[/{name}]")
    here, mark = yield from reading.text.mark_after_blank(at, marks)
    return here + len(mark) if mark else at


def _react(reading: Reading, at: int) -> Wait[Answer]:
    text = reading.text
    while (found := REACT.match(text.text, at)) is None or found.end() == len(text.text):
        if text.ended or len(text.text) - at > MAX_REACT_CHARS:
            break
        found = None
        yield
    if found is None or reading.schemas.resolve(found[1]) is None:
        return None
    name, end, found = found[1], found.end(), None
    here = yield from text.skip_blank(end)
    if text.text[here : here + 1] != "{":
        return None
    return (yield from _arguments(reading, here, name, needs_line=False))
