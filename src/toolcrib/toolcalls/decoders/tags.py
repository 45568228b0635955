"""Calls written as tags, with one element for each argument."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.toolcalls.decoders.decoder import Answer, Cut, Item, Reading, cut, lost
from toolcrib.toolcalls.decoders.elements import arguments_of
from toolcrib.toolcalls.decoders.values import arguments_item
from toolcrib.toolcalls.families import CALL_TAGS, Tags
from toolcrib.toolcalls.growing_text import Wait
from toolcrib.toolcalls.jsontext import NotJson, decode
from toolcrib.toolcalls.markset import Found, MarkSet, joined
from toolcrib.toolcalls.offers import NAME
from toolcrib.toolcalls.shapes import Raw
from toolcrib.toolcalls.values import typed

LONGEST_HEADER = 300
FIRST = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=]+))""")
ATTRIBUTE = re.compile(r"""\b(type|string)\s*=\s*["']([^"']*)["']""")
OPENS = MarkSet(tags.opening for tags in CALL_TAGS)
BY_OPEN = {tags.opening: tags for tags in CALL_TAGS}
PLAIN_ARGUMENTS = {
    "<parameter=": "</parameter>",
    "<parameter name=": "</parameter>",
    "<param name=": "</param>",
}
CDATA, CDATA_END = "<![CDATA[", "]]>"


def tags_item(reading: Reading, at: int, mark: str, closers: MarkSet) -> Wait[Answer]:
    """A call whose opening tag begins here."""
    tags, text = BY_OPEN[mark], reading.text
    read = yield from _header(reading, at + len(mark), tags.end)
    if read is None:
        if text.ended and len(text.text) - at < LONGEST_HEADER and "<" not in text.text[at + 1 :]:
            return (yield from cut(reading, at, closers))
        return None
    header, after = read
    if not text.text.startswith(tags.end, after - len(tags.end)) and not (
        yield from _begins_body(reading, after, tags)
    ):
        return None
    name = first_word(header)
    if not NAME.fullmatch(name) or (tags.plain and _is_strange(reading, name)):
        return None
    at = after
    if header.endswith("/"):
        return Item(at, [Raw(name, {})])
    if tags.nested:
        end = yield from text.find(tags.close, at)
        if end < 0:
            return (yield from lost(reading, at, name, near=False))
        schema = reading.offers.schemas.get(reading.offers.spelt(name), {})
        found = arguments_of(text.text[at:end], tags.nested, schema)
        return Item(end + len(tags.close), [None if found is None else Raw(name, found)])
    return (yield from _body(reading, at, tags, name, closers))


def _is_strange(reading: Reading, name: str) -> bool:
    return bool(reading.offers) and reading.offers.resolve(name) is None


def first_word(header: str) -> str:
    """The name in `N`, `"N" index="1"` and `'N'`."""
    found = FIRST.match(header.removesuffix("/"))
    return next((part for part in found.groups() if part is not None), "") if found else ""


def _header(reading: Reading, at: int, end: str) -> Wait[tuple[str, int] | None]:
    """What stands in an opening tag, and the place after it; a line may end it as well."""
    text = reading.text
    while True:
        stop = text.text.find(end, at, at + LONGEST_HEADER)
        line = text.text.find("\n", at, stop if stop >= 0 else at + LONGEST_HEADER)
        if line >= 0 and not text.text[at:line].isspace() and line > at:
            return text.text[at:line], line
        if stop >= 0:
            return text.text[at:stop], stop + len(end)
        if text.ended or len(text.text) > at + LONGEST_HEADER:
            return None
        yield


def _begins_body(reading: Reading, at: int, tags: Tags) -> Wait[bool]:
    """Whether what follows an opening tag is what a call holds, and no prose."""
    marks = joined(tags.argument, tags.close, "{")
    _, mark = yield from reading.text.past(at, marks)
    return bool(mark)


def _body(reading: Reading, at: int, tags: Tags, name: str, closers: MarkSet) -> Wait[Answer]:
    text, arguments = reading.text, dict[str, Any]()
    at = yield from text.blank(at)
    if text.text[at : at + 1] == "{":
        found = yield from arguments_item(reading, at, joined(tags.close, closers), name, "")
        return (yield from _after_json(reading, found, tags))
    starts = (
        PLAIN_ARGUMENTS
        if tags.argument in PLAIN_ARGUMENTS
        else {tags.argument: tags.argument_close}
    )
    followers = joined(*starts, tags.close, closers)
    marks = joined(followers, "<tool_call>", tags.opening)
    while True:
        at, mark = yield from text.past(at, marks)
        if mark in starts:
            is_tired = reading.is_tired
            after = yield from _argument(
                reading,
                at + len(mark),
                tags,
                starts[mark],
                name,
                arguments,
                followers,
            )
            if after < 0:
                return (yield from lost(reading, at, name, near=is_tired))
            at = after
        elif mark == tags.close:
            return Item(at + len(mark), [Raw(name, arguments)])
        elif mark:  # the block ends, or another call begins, without the end of this one
            return Item(at, [Raw(name, arguments)])
        else:  # something between the arguments
            found_mark = yield from text.first(marks, at)
            if found_mark is None:
                return Cut(len(text.text), closed=False, name=name)
            at = found_mark.start


def _after_json(reading: Reading, found: Item | Cut, tags: Tags) -> Wait[Item | Cut]:
    if isinstance(found, Cut):
        return found
    at, mark = yield from reading.text.past(found.end, joined(tags.close))
    return Item(at + len(mark), found.calls) if mark else found


def _argument(
    reading: Reading,
    at: int,
    tags: Tags,
    close: str,
    name: str,
    arguments: dict[str, Any],
    followers: MarkSet,
) -> Wait[int]:
    """Read one argument into `arguments`; the place after it, or -1 where it has no end."""
    text = reading.text
    read = yield from _header(reading, at, tags.end)
    if read is None:
        return -1
    header, at = read
    key = first_word(header)
    if header.endswith("/"):
        arguments[key] = ""
        return at
    data = yield from _cdata(reading, at, close)
    if data is not None:
        arguments[key], at = data
        return at
    span = yield from _value_span(reading, at, tags, close, followers)
    if span is None:
        return -1
    raw = text.text[at : span[0]]
    if not tags.exact:
        is_padded = tags.argument == "<parameter=" and "</seed:tool_call>" not in followers
        raw = trimmed(raw, is_padded=is_padded)
    arguments[key] = _value(reading, raw, name, key, header)
    return span[1]


def _cdata(reading: Reading, at: int, close: str) -> Wait[tuple[str, int] | None]:
    text, parts = reading.text, list[str]()
    at, mark = yield from text.past(at, joined(CDATA))
    while mark:
        end = yield from text.find(CDATA_END, at)
        if end < 0:
            return None
        parts.append(text.text[at + len(CDATA) : end])
        at = end + len(CDATA_END)
        mark = yield from text.at(at, joined(CDATA))
    if not parts:
        return None
    at, mark = yield from text.past(at, joined(close))
    return ("".join(parts), at + len(mark)) if mark else None


def trimmed(raw: str, *, is_padded: bool) -> str:
    """A value without the one line break on either side that a format adds.

    Formats that add none may end a value with one of its own; those that do are `is_padded`.
    """
    bare = raw[2:] if raw.startswith("\r\n") else raw.removeprefix("\n")
    if bare is raw and not is_padded:
        return raw
    return bare[:-2] if bare.endswith("\r\n") else bare.removesuffix("\n")


def _value(reading: Reading, raw: str, name: str, key: str, header: str) -> Any:
    said = dict(ATTRIBUTE.findall(header))
    offers = reading.offers
    if said.get("string") == "true":
        return raw
    if said.get("string") == "false":
        try:
            return decode(raw)
        except NotJson:
            return typed(raw, offers.kinds(offers.spelt(name), key), unknown="json")
    if "type" in said:
        return typed(raw, frozenset({said["type"]}))
    return typed(raw, offers.kinds(offers.spelt(name), key))


def _value_span(
    reading: Reading, at: int, tags: Tags, close: str, followers: MarkSet
) -> Wait[tuple[int, int] | None]:
    """Where a value ends and where to go on after it.

    Its end mark counts where an argument or the end of the call follows, so that a value may
    hold such marks. A whole call within a value is passed over.
    """
    text, depth, first_end = reading.text, 0, None
    if reading.is_tired:
        return None
    marks = joined(followers, tags.opening, close)
    start, here = at, at
    while True:
        found = yield from text.first(marks, here)
        if found is None:
            text.wasted += len(text.text) - start
            return first_end
        mark, here = found.mark, found.end
        if mark == tags.opening:
            depth += yield from _opens_call(reading, here, tags)
        elif depth:
            depth -= mark == tags.close
        elif mark == close:
            if (yield from _is_followed(reading, here, followers)):
                return found.start, here
            first_end = first_end or (found.start, here)
        elif (yield from _ends_value(reading, found, tags, followers, first_end is None)):
            return found.start, found.start


def _opens_call(reading: Reading, at: int, tags: Tags) -> Wait[bool]:
    """Whether an opening mark within a value opens a call that will be closed."""
    read = yield from _header(reading, at, tags.end)
    return read is not None and (yield from _begins_body(reading, read[1], tags))


def _is_followed(reading: Reading, at: int, followers: MarkSet) -> Wait[bool]:
    at, mark = yield from reading.text.past(at, followers)
    return bool(mark) or at >= len(reading.text.text)


def _ends_value(
    reading: Reading, found: Found, tags: Tags, followers: MarkSet, whole: bool
) -> Wait[bool]:
    """Whether a mark ends a value whose own end mark is missing."""
    text, mark = reading.text, found.mark
    if mark == tags.close:
        return whole and (
            yield from _is_followed(
                reading, found.end, joined(followers, "<tool_call>", tags.opening)
            )
        )
    is_argument = mark.startswith(("<parameter", "<param"))
    line_start = is_argument and (
        text.text[max(0, found.start - 64) : found.start].rstrip(" \t")[-1:] == "\n"
    )
    return whole and line_start
