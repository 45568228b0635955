"""Fenced code: kept as it is, except for a fence that holds calls and nothing else."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from toolcrib.toolcalls.bare import begins_call
from toolcrib.toolcalls.decoders.reading import OPENERS
from toolcrib.toolcalls.families import AROUND, ENDINGS
from toolcrib.toolcalls.growing import Wait
from toolcrib.toolcalls.output import Flow, Output

if TYPE_CHECKING:
    from toolcrib.toolcalls.machine import Machine

LINE = re.compile(r"[^\n]*")
INFO = {"", "json", "jsonc", "json5", "xml", "tool_call", "tool_calls", "tool_code", "tool", "text"}
CODE = {"tool_code", "tool_call", "tool_calls"}
PRINTED = re.compile(r"^print\((.+)\)[ \t]*$", re.MULTILINE)
"""How Gemma asks for the result of a call."""
LONGEST_INFO = 100
LONGEST_LEAD = 400
SHOWING = re.compile(
    r"\b(?:e\.?g|ex[ae]mples?|format(?:ted)?|such as|like (?:this|so)|looks|"
    r"look like|syntax|schema|sample|"
    r"documentation|documents?|template|would|could|returns?|response|output|beispiel|"
    r"ejemplo)\b|例|示例|样例|範例|^#",
    re.IGNORECASE | re.MULTILINE,
)


@lru_cache(maxsize=64)
def _closing(tick: str, count: int) -> re.Pattern[str]:
    return re.compile(rf"(?:\n|\A)[ \t]{{0,40}}{re.escape(tick)}{{{count},}}")


@lru_cache(maxsize=64)
def _partial(tick: str) -> re.Pattern[str]:
    return re.compile(rf"\n[ \t]{{0,40}}{re.escape(tick)}*\Z")


def is_short_lead(said: Flow) -> bool:
    """Whether what was said so far announces a call, rather than shows or documents one."""
    text = said.short(LONGEST_LEAD)
    return text is not None and "```" not in text and not SHOWING.search(text)


def read_fence(machine: Machine, at: int) -> Wait[None]:
    """Read the fence whose opening run begins here."""
    text = machine.text
    tick = text.text[at]
    run = yield from text.run(re.compile(re.escape(tick) + "+"), at, LONGEST_INFO)
    info = yield from text.run(LINE, at + len(run), LONGEST_INFO)
    body = at + len(run) + len(info)
    word = info.strip().lower()
    if machine.reading.offers and word in INFO and is_short_lead(machine.out.content):
        begins = yield from _begins(machine, body, word)
        if begins:
            read = yield from _calls(machine, at, run, body, word)
            if read:
                return
    machine.out.say(text.text[machine.pos : body])
    machine.pos = body
    yield from _verbatim(machine, tick, len(run))


def _begins(machine: Machine, at: int, word: str) -> Wait[bool]:
    reading, text = machine.reading, machine.text
    at = yield from text.blank(at)
    if (yield from text.at(at, (*OPENERS, *AROUND))):
        return True
    first = text.text[at : at + 1]
    if first == "[":
        at = yield from text.blank(at + 1)
        first = text.text[at : at + 1]
    if first == "{":
        return (yield from begins_call(reading, at))
    return bool(first) and word in CODE


def _calls(machine: Machine, at: int, run: str, body: int, word: str) -> Wait[bool]:
    """Take the fences from here on as calls, if they are nothing else and nothing follows."""
    text, out = machine.text, machine.out
    found: list[Output] = []
    while True:
        end = yield from _search(machine, _closing(run[0], len(run)), body)
        stop = end.start() if end else len(text.text)
        part = text.text[body:stop]
        if word in CODE and part.lstrip()[:1] not in ("[", "{", "<"):
            bare = PRINTED.sub(r"\1", part).strip()
            part = f"[{bare}]"
        inner = machine.inner(part)
        if inner is None or inner.content.has_begun or not (inner.calls or inner.notes):
            return False
        found.append(inner)
        after = yield from text.blank(end.end() if end else stop)
        if after >= len(text.text) or (yield from text.at(after, ENDINGS)):
            break
        if (yield from text.room(after, len(run))) != run:
            return False
        info = yield from text.run(LINE, after + len(run), LONGEST_INFO)
        body = after + len(run) + len(info)
    out.say(text.text[machine.pos : at])
    out.content.break_off()
    for inner in found:
        out.adopt(inner)
    machine.pos = after
    return True


def _search(machine: Machine, pattern: re.Pattern[str], at: int) -> Wait[re.Match[str] | None]:
    text = machine.text
    while True:
        found = pattern.search(text.text, at)
        if (found is not None and found.end() < len(text.text)) or text.ended:
            return found
        if found is None:
            at = max(at, len(text.text) - 64)
        yield


def _verbatim(machine: Machine, tick: str, count: int) -> Wait[None]:
    text, out = machine.text, machine.out
    pattern, partial = _closing(tick, count), _partial(tick)
    while True:
        found = pattern.search(text.text, machine.pos)
        if found is not None and (found.end() < len(text.text) or text.ended):
            out.say(text.text[machine.pos : found.end()])
            machine.pos = found.end()
            break
        if text.ended:
            out.say(text.text[machine.pos :])
            machine.pos = len(text.text)
            break
        held = found or partial.search(text.text, max(machine.pos, len(text.text) - 128))
        keep = held.start() if held else len(text.text)
        out.say(text.text[machine.pos : keep])
        machine.pos = keep
        machine.trim()
        yield
    out.leave_code()
