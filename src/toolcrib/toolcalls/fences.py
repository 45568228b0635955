"""Fenced code: content as it is, except for a fence that holds calls and nothing else."""

from __future__ import annotations

import re
from functools import lru_cache

from toolcrib.toolcalls.calls import begins_call
from toolcrib.toolcalls.decoders.decoder import OPENERS
from toolcrib.toolcalls.growing_text import Found, MarkSet, Wait, found_by
from toolcrib.toolcalls.marks import MARKS, TURN_ENDS, WRAPPERS
from toolcrib.toolcalls.output import ParserOutput, ParserState, TextFlow

LINE = re.compile(r"[^\n]*")
CALL_INFO_WORDS = {
    "", "json", "jsonc", "json5", "xml", "tool_call", "tool_calls", "tool_code", "tool", "text",
}  # fmt: skip
CODE = {"tool_code", "tool_call", "tool_calls"}
PRINTED = re.compile(r"^print\((.+)\)[ \t]*$", re.MULTILINE)
"""How Gemma asks for the result of a call."""
BLOCKS = OPENERS | frozenset(WRAPPERS)
ENDS = MarkSet(TURN_ENDS)
MAX_INFO_CHARS = 100
MAX_TICKS = 200
MAX_CLOSING_CHARS = 256
"""More than a line break, its indent and a closing run that is not yet long enough."""
MAX_LEAD_CHARS = 400
EXAMPLE_WORDS = re.compile(
    r"\b(?:e\.?g|ex[ae]mples?|format(?:ted)?|such as|like (?:this|so)|looks|"
    r"look like|syntax|schema|sample|"
    r"documentation|documents?|template|would|could|returns?|response|output|beispiel|"
    r"ejemplo)\b|例|示例|样例|範例|^#",
    re.IGNORECASE | re.MULTILINE,
)


@lru_cache(maxsize=64)
def _closing(tick: str, count: int) -> re.Pattern[str]:
    return re.compile(rf"\n[ \t]{{0,40}}{re.escape(tick)}{{{count},{MAX_TICKS}}}")


@lru_cache(maxsize=64)
def _partial(tick: str) -> re.Pattern[str]:
    return re.compile(rf"\n[ \t]{{0,40}}{re.escape(tick)}*\Z")


def announces_call(content: TextFlow) -> bool:
    """Whether the content so far announces a call, rather than shows or documents one."""
    return content.size <= MAX_LEAD_CHARS and not _shows(content.text)


def _shows(lead: str) -> bool:
    return "```" in lead or EXAMPLE_WORDS.search(lead) is not None


def read_fence(machine: ParserState, at: int, start: int) -> Wait[None]:
    """Read the fence whose opening run begins at a place; its heading begins at `start`."""
    text = machine.text
    tick = text.text[at]
    run = yield from text.run(re.compile(re.escape(tick) + "+"), at, MAX_INFO_CHARS)
    info = yield from text.run(LINE, at + len(run), MAX_INFO_CHARS)
    body = at + len(run) + len(info)
    word = info.strip().lower()
    if machine.reading.offers and word in CALL_INFO_WORDS and announces_call(machine.out.content):
        begins = yield from _begins(machine, body, word)
        if begins:
            read = yield from _calls(machine, start, run, body, word)
            if read:
                return
    machine.emit_to(body)
    yield from _verbatim(machine, tick, len(run))


def _begins(machine: ParserState, at: int, word: str) -> Wait[bool]:
    reading, text = machine.reading, machine.text
    at, mark = yield from text.mark_after_blank(at, MARKS)
    if mark in BLOCKS:
        return True
    first = text.text[at : at + 1]
    if first == "[":
        at = yield from text.skip_blank(at + 1)
        first = text.text[at : at + 1]
    if first == "{":
        return (yield from begins_call(reading, at))
    return bool(first) and word in CODE


def _calls(machine: ParserState, at: int, run: str, body: int, word: str) -> Wait[bool]:
    """Take the fences from here on as calls, if they are nothing else and nothing follows."""
    text, out = machine.text, machine.out
    found: list[ParserOutput] = []
    while True:
        end = yield from _search(machine, _closing(run[0], len(run)), body)
        stop = end.start if end else len(text.text)
        part = text.text[body:stop]
        if word in CODE and part.lstrip()[:1] not in ("[", "{", "<"):
            bare = PRINTED.sub(r"\1", part).strip()
            part = f"[{bare}]"
        inner = machine.inner(part)
        if inner is None or inner.content.has_begun or not (inner.calls or inner.notes):
            return False
        found.append(inner)
        after, mark = yield from text.mark_after_blank(end.end if end else stop, ENDS)
        if mark or after >= len(text.text):
            break
        if (yield from text.peek(after, len(run))) != run:
            return False
        info = yield from text.run(LINE, after + len(run), MAX_INFO_CHARS)
        body = after + len(run) + len(info)
    machine.emit_to(at)
    out.content.break_off()
    for inner in found:
        out.adopt(inner)
    machine.pos = after
    return True


def _search(machine: ParserState, pattern: re.Pattern[str], at: int) -> Wait[Found | None]:
    text = machine.text
    while True:
        found = found_by(pattern.search(text.text, at))
        if text.ended or (found and _is_whole(machine, found)):
            return found
        at = found.start if found else max(at, len(text.text) - MAX_CLOSING_CHARS)
        yield


def _is_whole(machine: ParserState, closing: Found) -> bool:
    """Whether nothing that comes can make a closing run longer."""
    return closing.end < len(machine.text.text) or len(closing.mark) >= MAX_TICKS


def _verbatim(machine: ParserState, tick: str, count: int) -> Wait[None]:
    text, out = machine.text, machine.out
    pattern, partial = _closing(tick, count), _partial(tick)
    while True:
        found = found_by(pattern.search(text.text, machine.pos))
        if found is not None and (text.ended or _is_whole(machine, found)):
            machine.emit_to(found.end)
            break
        if text.ended:
            machine.emit_to(len(text.text))
            break
        near = max(machine.pos, len(text.text) - MAX_CLOSING_CHARS)
        partial_run = found or found_by(partial.search(text.text, near))
        keep = partial_run.start if partial_run else len(text.text)
        machine.emit_to(keep)
        machine.trim()
        yield
    out.end_code()
