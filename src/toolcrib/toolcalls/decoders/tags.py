"""Calls written as tags: one element for each argument, nested elements, or pairs."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.toolcalls.decoders.decoder import (
    Answer,
    BrokenCall,
    Item,
    Reading,
    arguments_item,
    cut,
    unclosed,
)
from toolcrib.toolcalls.growing_text import Found, MarkSet, Wait, joined
from toolcrib.toolcalls.marks import PAIR_FORMATS, TAG_FORMATS, PairFormat, TagFormat
from toolcrib.toolcalls.tool_schemas import NAME, OBJECT, Schema, json_types, unescaped_name
from toolcrib.toolcalls.values import NotJson, RawCall, decode, typed_value

# A name, then each argument as a key and a value (GLM and others).

KEYS = MarkSet(pairs.key for pairs in PAIR_FORMATS)
NEXT_PAIR = {
    pairs.key: re.compile(
        rf"\s*({re.escape(pairs.key)}[^<>\n]{{1,100}}{re.escape(pairs.key_close)}\s*"
        rf"{re.escape(pairs.value)})"
    )
    for pairs in PAIR_FORMATS
}
BY_KEY = {pairs.key: pairs for pairs in PAIR_FORMATS}


def pairs_item(
    reading: Reading, at: int, key_mark: str, name: str, closers: MarkSet
) -> Wait[Answer]:
    """The arguments of a call, from the first key on."""
    pairs, text, arguments = BY_KEY[key_mark], reading.text, dict[str, Any]()
    kinds, spelt = reading.schemas.kinds, reading.schemas.canonical_name(name)
    ends = joined(pairs.key, closers, "<tool_call>")
    while True:
        at, mark = yield from text.mark_after_blank(at, ends)
        if mark != pairs.key:
            if mark:
                return Item(at, [RawCall(name, arguments)])
            return (yield from cut(reading, at - 1, closers, name))
        is_tired = reading.is_exhausted
        read = yield from _pair(reading, at + len(pairs.key), pairs, closers)
        if read is None:
            return (yield from unclosed(reading, at, name, near=is_tired))
        key, raw, at = read
        arguments[key] = typed_value(raw, kinds(spelt, key), unknown="json")


def _pair(
    reading: Reading, at: int, pairs: PairFormat, closers: MarkSet
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
    reading: Reading, at: int, pairs: PairFormat, closers: MarkSet
) -> Wait[tuple[int, int] | None]:
    """The end mark of a value is the one after which a key or the end of the call stands."""
    text, start, first = reading.text, at, None
    ends = joined(pairs.key, closers, "<tool_call>")
    while not reading.is_exhausted:
        end = yield from text.find(pairs.value_close, at)
        if end < 0:
            text.wasted += len(text.text) - start
            return first or _unmarked_last(text.text, start, closers)
        at = end + len(pairs.value_close)
        first = first or (end, at)
        after, mark = yield from text.mark_after_blank(at, ends)
        if mark or after >= len(text.text):
            return _unmarked(text.text, start, end, pairs) or (end, at)
    return None


def _unmarked(text: str, start: int, end: int, pairs: PairFormat) -> tuple[int, int] | None:
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


# Arguments as nested elements whose every tag has a mark before it (MiniMax M3).

TAG = re.compile(r"<(/?)([\w.\-]+)>")
MAX_DEPTH = 100
Child = tuple[str, Any]


def arguments_of(span: str, mark: str, schema: Schema) -> dict[str, Any] | None:
    """The arguments of the text within a call, or None where its tags do not fit together."""
    root: list[Child] = []
    stack: list[tuple[str, list[Child], str, Any]] = [("", root, "", schema)]
    for piece in span.split(mark)[1:]:
        tag = TAG.match(piece)
        if tag is None or len(stack) > MAX_DEPTH:
            return None
        if not tag[1]:
            stack.append((tag[2], [], piece[tag.end() :], _within(stack[-1][3], tag[2])))
            continue
        name, children, text, own = stack.pop()
        if name != tag[2] or not stack:
            return None
        kinds = json_types(own, schema)
        unknown = "string" if len(stack) == 1 else "json"
        value = _nested(children, kinds) if children else typed_value(text, kinds, unknown=unknown)
        stack[-1][1].append((name, value))
    return dict(root) if len(stack) == 1 else None


def _within(schema: Any, name: str) -> Any:
    if not isinstance(schema, OBJECT):
        return None
    known = schema.get("properties")
    if isinstance(known, OBJECT) and name in known:
        return known[name]
    return schema.get("items") if name == "item" else None


def _nested(children: list[Child], kinds: frozenset[str]) -> Any:
    if "object" not in kinds and all(name == "item" for name, _ in children):
        return [value for _, value in children]
    return dict(children)


MAX_HEADER_CHARS = 300
FIRST = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=]+))""")
ATTRIBUTE = re.compile(r"""\b(type|string)\s*=\s*["']([^"']*)["']""")
OPENS = MarkSet(tags.opening for tags in TAG_FORMATS)
BY_OPEN = {tags.opening: tags for tags in TAG_FORMATS}
PLAIN_ARGUMENTS = {
    "<parameter=": "</parameter>",
    "<parameter name=": "</parameter>",
    "<param name=": "</param>",
}
END_OF = {f"<{word}>": f"</{word}>" for word in ("args", "arguments", "parameters")}
AROUND = MarkSet(END_OF)
"""What may stand around the arguments; it says nothing more."""
NO_ELEMENTS = MarkSet((*PLAIN_ARGUMENTS, *END_OF.values()))
ELEMENT = re.compile(r"<([A-Za-z_][\w.\-]{0,100})>")
CDATA, CDATA_END = "<![CDATA[", "]]>"


def tags_item(reading: Reading, at: int, mark: str, closers: MarkSet) -> Wait[Answer]:
    """A call whose opening tag begins here."""
    tags, text = BY_OPEN[mark], reading.text
    read = yield from _header(reading, at + len(mark), tags.end)
    if read is None:
        if text.ended and len(text.text) - at < MAX_HEADER_CHARS and "<" not in text.text[at + 1 :]:
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
        return Item(at, [RawCall(name, {})])
    if tags.nested:
        end = yield from text.find(tags.close, at)
        if end < 0:
            return (yield from unclosed(reading, at, name, near=False))
        schema = reading.schemas.by_name.get(reading.schemas.canonical_name(name), {})
        found = arguments_of(text.text[at:end], tags.nested, schema)
        return Item(end + len(tags.close), [None if found is None else RawCall(name, found)])
    return (yield from _body(reading, at, tags, name, closers))


def _is_strange(reading: Reading, name: str) -> bool:
    return bool(reading.schemas) and reading.schemas.resolve(name) is None


def first_word(header: str) -> str:
    """The name in `N`, `"N" index="1"` and `'N'`; `&#95;` in it is an underscore."""
    found = FIRST.match(header.removesuffix("/"))
    word = next((part for part in found.groups() if part is not None), "") if found else ""
    return unescaped_name(word)


def _header(reading: Reading, at: int, end: str) -> Wait[tuple[str, int] | None]:
    """What stands in an opening tag, and the place after it; a line may end it as well."""
    text = reading.text
    while True:
        stop = text.text.find(end, at, at + MAX_HEADER_CHARS)
        line = text.text.find("\n", at, stop if stop >= 0 else at + MAX_HEADER_CHARS)
        if line >= 0 and not text.text[at:line].isspace() and line > at:
            return text.text[at:line], line
        if stop >= 0:
            return text.text[at:stop], stop + len(end)
        if text.ended or len(text.text) > at + MAX_HEADER_CHARS:
            return None
        yield


def _begins_body(reading: Reading, at: int, tags: TagFormat) -> Wait[bool]:
    """Whether what follows an opening tag is what a call holds, and no prose."""
    marks = joined(tags.argument, tags.close, "{")
    _, mark = yield from reading.text.mark_after_blank(at, marks)
    return bool(mark)


def _body(reading: Reading, at: int, tags: TagFormat, name: str, closers: MarkSet) -> Wait[Answer]:
    text, arguments = reading.text, dict[str, Any]()
    at = yield from text.skip_blank(at)
    around = yield from text.mark_at(at, AROUND)
    if around:
        at = yield from text.skip_blank(at + len(around))
    if text.text[at : at + 1] == "{":
        ends = joined(tags.close, closers, *((END_OF[around],) if around else ()))
        found = yield from arguments_item(reading, at, ends, name, "")
        return (yield from _after_json(reading, found, tags))
    if around and text.text[at : at + 1] == "<" and not (yield from text.mark_at(at, NO_ELEMENTS)):
        return (yield from _elements(reading, at, tags, name, END_OF[around]))
    starts = (
        PLAIN_ARGUMENTS
        if tags.argument in PLAIN_ARGUMENTS
        else {tags.argument: tags.argument_close}
    )
    followers = joined(*starts, tags.close, closers)
    marks = joined(followers, "<tool_call>", tags.opening)
    while True:
        at, mark = yield from text.mark_after_blank(at, marks)
        if mark in starts:
            is_tired = reading.is_exhausted
            after = yield from _argument(
                reading, at + len(mark), tags, starts[mark], name, arguments, followers
            )
            if after < 0:
                return (yield from unclosed(reading, at, name, near=is_tired))
            at = after
        elif mark == tags.close:
            return Item(at + len(mark), [RawCall(name, arguments)])
        elif mark:  # the block ends, or another call begins, without the end of this one
            return Item(at, [RawCall(name, arguments)])
        else:  # something between the arguments
            found_mark = yield from text.first(marks, at)
            if found_mark is None:
                return BrokenCall(len(text.text), closed=False, name=name)
            at = found_mark.start


def _after_json(
    reading: Reading, found: Item | BrokenCall, tags: TagFormat
) -> Wait[Item | BrokenCall]:
    if isinstance(found, BrokenCall):
        return found
    end, mark = found.end, ""
    while mark != tags.close:
        at, mark = yield from reading.text.mark_after_blank(
            end, joined(tags.close, *END_OF.values())
        )
        if not mark:
            break
        end = at + len(mark)
    return Item(end, found.calls)


def _elements(reading: Reading, at: int, tags: TagFormat, name: str, close: str) -> Wait[Answer]:
    """Arguments as elements of their own names: `<args><path>a.txt</path></args>`."""
    text, schemas = reading.text, reading.schemas
    end = yield from text.find(close, at)
    if end < 0:
        return (yield from unclosed(reading, at, name, near=reading.is_exhausted))
    spelt, arguments = schemas.canonical_name(name), dict[str, Any]()
    while at < end:
        found = ELEMENT.match(text.text, at, end)
        shut = text.text.find(f"</{found[1]}>", at, end) if found else -1
        if found is None or shut < 0:
            return Item(end + len(close), [None])
        raw = trimmed(text.text[found.end() : shut], is_padded=True)
        arguments[found[1]] = typed_value(raw, schemas.kinds(spelt, found[1]))
        at = yield from text.skip_blank(shut + len(found[1]) + 3)
    item = Item(end + len(close), [RawCall(name, arguments)])
    return (yield from _after_json(reading, item, tags))


def _argument(
    reading: Reading,
    at: int,
    tags: TagFormat,
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
    at, mark = yield from text.mark_after_blank(at, joined(CDATA))
    while mark:
        end = yield from text.find(CDATA_END, at)
        if end < 0:
            return None
        parts.append(text.text[at + len(CDATA) : end])
        at = end + len(CDATA_END)
        mark = yield from text.mark_at(at, joined(CDATA))
    if not parts:
        return None
    at, mark = yield from text.mark_after_blank(at, joined(close))
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
    attributes = dict(ATTRIBUTE.findall(header))
    schemas = reading.schemas
    if attributes.get("string") == "true":
        return raw
    if attributes.get("string") == "false":
        try:
            return decode(raw)
        except NotJson:
            return typed_value(
                raw, schemas.kinds(schemas.canonical_name(name), key), unknown="json"
            )
    if "type" in attributes:
        return typed_value(raw, frozenset({attributes["type"]}))
    return typed_value(raw, schemas.kinds(schemas.canonical_name(name), key))


def _value_span(
    reading: Reading, at: int, tags: TagFormat, close: str, followers: MarkSet
) -> Wait[tuple[int, int] | None]:
    """Where a value ends and where to go on after it.

    Its end mark counts where an argument or the end of the call follows, so that a value may
    hold such marks. A whole call within a value is passed over.
    """
    text, depth, first_end = reading.text, 0, None
    if reading.is_exhausted:
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


def _opens_call(reading: Reading, at: int, tags: TagFormat) -> Wait[bool]:
    """Whether an opening mark within a value opens a call that will be closed."""
    read = yield from _header(reading, at, tags.end)
    return read is not None and (yield from _begins_body(reading, read[1], tags))


def _is_followed(reading: Reading, at: int, followers: MarkSet) -> Wait[bool]:
    at, mark = yield from reading.text.mark_after_blank(at, followers)
    return bool(mark) or at >= len(reading.text.text)


def _ends_value(
    reading: Reading, found: Found, tags: TagFormat, followers: MarkSet, whole: bool
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
