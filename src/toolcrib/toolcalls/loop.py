"""From mark to mark: what stands between them is content."""

from __future__ import annotations

import re

from toolcrib.toolcalls.bare import bare_calls
from toolcrib.toolcalls.blocks import Block, read_block, read_tags
from toolcrib.toolcalls.decoders.reading import Cut, Item, cut, marks_of
from toolcrib.toolcalls.families import AFTER_TAGS, KEPT, THOUGHTS
from toolcrib.toolcalls.fences import LONGEST_LEAD, is_short_lead, read_fence
from toolcrib.toolcalls.growing import Wait
from toolcrib.toolcalls.harmony import OPENINGS, read_message
from toolcrib.toolcalls.machine import Machine
from toolcrib.toolcalls.marks import CLOSERS, IS_TAG, KIND, LATER, LONGEST, TRIGGER, Kind, held
from toolcrib.toolcalls.offers import Offers
from toolcrib.toolcalls.output import Output
from toolcrib.toolcalls.reasoning import read_reasoning

HEADER = re.compile(
    r"[^\n]{0,200}?<\|(?:channel|message|constrain)\|>|[^\n{]{0,60}to=functions\.[^\n{]{1,100}\{"
)
MOST_MARKS = 10_000
"""What follows so many is text: no model means them."""
ALL = "all\n"
"""How Functionary says that what follows is for the user."""


def run(machine: Machine, *, reasoning: bool = False) -> Wait[None]:
    """Read the text to its end.

    Args:
        machine: what is read, and where to.
        reasoning: whether the text begins within reasoning.
    """
    if reasoning:
        yield from read_reasoning(machine, tuple(c for cs in THOUGHTS.values() for c in cs))
    text, out = machine.text, machine.out
    is_fresh = True
    while True:
        if is_fresh:
            is_fresh = yield from _at_start(machine)
            continue
        found = None
        if machine.marks < MOST_MARKS:
            pattern = TRIGGER if out.content.short(LONGEST_LEAD) is not None else LATER
            found = pattern.search(text.text, machine.pos)
        if found is not None:
            is_fresh = yield from _at_mark(machine, found)
            continue
        if text.ended:
            out.say(text.text[machine.pos :])
            break
        keep = held(text.text, machine.pos)
        keep = machine.pos + len(text.text[machine.pos : keep].rstrip(" \t\r\n"))
        out.say(text.text[machine.pos : keep])
        machine.pos = keep
        machine.trim()
        yield
    out.content.end()
    out.settle()


def whole(text: str, offers: Offers, *, inner: bool = True, reasoning: bool = False) -> Output:
    """Read a text that is all there."""
    machine = Machine(offers, None if inner else whole)
    machine.text.text = text
    machine.text.ended = True
    for _ in run(machine, reasoning=reasoning):
        raise AssertionError("a text that is all there was waited for")
    return machine.out


def _at_start(machine: Machine) -> Wait[bool]:
    """Look for calls without a mark where nothing went before, or only calls and reasoning."""
    text, out = machine.text, machine.out
    at = yield from text.blank(machine.pos)
    if at >= len(text.text):
        return False
    first, is_first = text.text[at], not out.content.has_begun
    if first == "<":
        return False  # a mark, most often
    if is_first:
        mark = yield from text.at(at, (*OPENINGS, ALL))
        if mark == ALL and machine.reading.offers:
            machine.pos = at + len(mark)
            return False
        if mark and mark != ALL and (yield from _is_header(machine, at)):
            yield from read_message(machine, at, mark)
            return True
    if first in "`~" and (yield from text.room(at, 3)) == first * 3:
        out.say(text.text[machine.pos : at])
        machine.pos = at
        yield from read_fence(machine, at)
        return False
    is_first = is_first or bool(out.calls)
    return (yield from _bare(machine, at, is_first=is_first))


def _is_header(machine: Machine, at: int) -> Wait[bool]:
    while True:
        if HEADER.match(machine.text.text, at):
            return True
        rest = machine.text.text[at : at + 240]
        if machine.text.ended or "\n" in rest or len(rest) >= 240:
            return False
        yield


def _bare(machine: Machine, at: int, *, is_first: bool) -> Wait[bool]:
    """Take calls without a mark, if they stand here."""
    text, out = machine.text, machine.out
    answer = yield from bare_calls(machine.reading, at, is_first=is_first)
    if answer is None:
        return False
    out.say(text.text[machine.pos : at])
    if isinstance(answer, Item):
        _take(machine, Block(answer.end, list(answer.calls)), at)
    else:
        _take(machine, Block(answer.end, cut=answer), at)
    return True


def _at_mark(machine: Machine, found: re.Match[str]) -> Wait[bool]:
    """Deal with a mark; whether something was taken out of the content here."""
    text, out = machine.text, machine.out
    mark, start = found[0], found.start()
    machine.marks += mark[-1] not in "[{:" or mark in KIND
    if mark[0] == "\n":
        return (yield from _at_line(machine, found))
    out.say(text.text[machine.pos : start])
    machine.pos = start
    if out.in_code:
        return _verbatim(machine, mark)
    kind = KIND[mark]
    if kind in ("arrow", "block", "tags"):
        return (yield from _at_call(machine, mark, kind))
    if kind == "harmony":
        yield from read_message(machine, start, mark)
        return True
    if kind == "ending":
        return (yield from _at_ending(machine, mark))
    if kind == "closer" and not (out.calls or out.notes) and mark in IS_TAG:
        return _verbatim(machine, mark)
    machine.pos = start + len(mark)
    if kind == "orphan" and not out.is_settled:
        out.was_reasoning()
        out.settle()
    out.content.break_off()
    if kind == "thought":
        yield from read_reasoning(machine, THOUGHTS[mark])
    return True


def _at_call(machine: Machine, mark: str, kind: Kind) -> Wait[bool]:
    start = machine.pos
    if kind == "block":
        return (yield from _at_block(machine, mark))
    if kind == "arrow":
        is_taken = yield from _bare(machine, start, is_first=False)
        return is_taken or _verbatim(machine, mark)
    block = yield from read_tags(machine.reading, start, AFTER_TAGS)
    return _verbatim(machine, mark) if block is None else _take(machine, block, start)


def _verbatim(machine: Machine, mark: str) -> bool:
    machine.out.say(mark)
    machine.pos += len(mark)
    return False


def _at_line(machine: Machine, found: re.Match[str]) -> Wait[bool]:
    """A line that may begin a fence or a call without a mark."""
    text, out = machine.text, machine.out
    sign = found[0].lstrip()
    at = found.end() - len(sign)
    out.say(text.text[machine.pos : found.start()])
    machine.pos = found.start()
    if sign in ("```", "~~~"):
        yield from read_fence(machine, at)
        return True
    if machine.reading.offers:
        is_announced = sign == "Action:" or is_short_lead(out.content)
        if is_announced and (yield from _bare(machine, at, is_first=False)):
            return True
    out.say(text.text[machine.pos : at])
    machine.pos = at
    return False


def _at_block(machine: Machine, mark: str) -> Wait[bool]:
    start, after = machine.pos, machine.pos + len(mark) - (mark in KEPT)
    block = yield from read_block(machine.reading, after, CLOSERS[mark])
    if block is None:
        if mark in IS_TAG:
            end = (yield from _unread(machine, mark, after)) if machine.out.calls else -1
            if end < 0:
                return _verbatim(machine, mark)
            return _take(machine, Block(end, [None]), start)
        broken = yield from cut(machine.reading, after - 1, CLOSERS[mark])
        if broken.closed and machine.text.text.endswith(CLOSERS[mark], 0, broken.end):
            return _take(machine, Block(broken.end, cut=broken), start)
        machine.pos = after
        machine.out.content.break_off()
        return True
    return _take(machine, block, start)


def _unread(machine: Machine, mark: str, at: int) -> Wait[int]:
    """Where a block beside calls ends that holds nothing which could be read, or -1.

    In prose its end mark would have more words after it.
    """
    text = machine.text
    pattern, longest = marks_of((mark, *CLOSERS[mark]))
    found = yield from text.first(pattern, at, longest)
    if found is None or found[0] == mark:
        return -1
    after = yield from text.blank(found.end())
    is_end = after >= len(text.text) or "\n" in text.text[found.end() : after]
    return found.end() if is_end or (yield from text.at(after, (mark,))) else -1


def _take(machine: Machine, block: Block, start: int) -> bool:
    """Keep what a block holds, and go on after it."""
    out, text = machine.out, machine.text
    written = text.text[start : block.end]
    for raw in block.calls:
        if raw is None:
            out.note("malformed", written)
        else:
            out.add(raw)
    is_end = block.end >= len(text.text)
    if block.cut is not None:
        out.lose(block.cut, written, ended=is_end)
    elif block.is_empty and is_end:
        out.lose(Cut(block.end, closed=False), written, ended=True)
    machine.pos = block.end
    out.content.break_off()
    return True


def _at_ending(machine: Machine, mark: str) -> Wait[bool]:
    """An end of a turn is dropped where the text ends, or something is taken out."""
    text, after = machine.text, machine.pos + len(mark)
    at = yield from text.blank(after)
    yield from text.room(at, LONGEST)
    follows = at >= len(text.text) or TRIGGER.match(text.text, at) is not None
    if not follows and (not machine.out.calls or mark in IS_TAG):
        return _verbatim(machine, mark)
    machine.pos = after
    machine.out.content.break_off()
    return True
