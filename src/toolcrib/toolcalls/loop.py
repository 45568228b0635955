"""From mark to mark: what stands between them is content."""

from __future__ import annotations

import re

from toolcrib.toolcalls.bare import bare_calls
from toolcrib.toolcalls.blocks import Block, read_block, read_tags
from toolcrib.toolcalls.decoders.decoder import Cut, Item, cut
from toolcrib.toolcalls.families import AFTER_TAGS, KEPT, STRIPPED, STRIPPED_FIRST, THOUGHTS
from toolcrib.toolcalls.fences import LONGEST_LEAD, is_short_lead, read_fence
from toolcrib.toolcalls.growing_text import Wait
from toolcrib.toolcalls.harmony import OPENINGS, read_message
from toolcrib.toolcalls.marks import CLOSERS, IS_TAG, KIND, LATER, MARKS, TRIGGER, Kind, held
from toolcrib.toolcalls.markset import NONE, MarkSet, joined
from toolcrib.toolcalls.offers import Offers
from toolcrib.toolcalls.output import Output
from toolcrib.toolcalls.reasoning_blocks import read_reasoning
from toolcrib.toolcalls.state import Machine

HEADER = re.compile(
    r"[^\n]{0,200}?<\|(?:channel|message|constrain)\|>|[^\n{]{0,60}to=functions\.[^\n{]{1,100}\{"
)
MOST_MARKS = 10_000
"""What follows so many is text: no model means them."""
ALL = "all\n"
"""How Functionary says that what follows is for the user."""
FIRST_WORDS = MarkSet((*OPENINGS, ALL))
EVERY_THOUGHT = MarkSet(mark for ends in THOUGHTS.values() for mark in ends)
ENDS_OF = {mark: joined(*ends) for mark, ends in THOUGHTS.items()}
AFTER = MarkSet(AFTER_TAGS)
HEADERS = MarkSet(STRIPPED)
ACTION = MarkSet(("Action:```", "Action: ```"))


def run(machine: Machine, *, reasoning: bool = False) -> Wait[None]:
    """Read the text to its end.

    Args:
        machine: what is read, and where to.
        reasoning: whether the text begins within reasoning.
    """
    if reasoning:
        yield from read_reasoning(machine, EVERY_THOUGHT)
    text, out = machine.text, machine.out
    is_fresh = True
    while True:
        if is_fresh:
            is_fresh = yield from _at_start(machine)
            continue
        found = None
        if machine.marks < MOST_MARKS:
            pattern = TRIGGER if out.content.size <= LONGEST_LEAD else LATER
            found = pattern.search(text.text, machine.pos)
        if found is not None:
            mark, (start, end), found = found[0], found.span(), None
            is_fresh = yield from _at_mark(machine, mark, start, end)
            continue
        if text.ended:
            machine.say_to(len(text.text))
            break
        keep = held(text.text, machine.pos)
        machine.say_to(keep)
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
    at = machine.pos
    if text.text.startswith("<", at):
        return False  # a mark, most often
    at = yield from text.blank(at)
    if at >= len(text.text):
        return False
    first, is_first = text.text[at], not out.content.has_begun
    if first == "<":
        return False
    if is_first or machine.is_stripped:
        mark = yield from text.at(at, FIRST_WORDS)
        if mark == ALL and machine.reading.offers:
            machine.pos = at + len(mark)
            return False
        if mark and mark != ALL and (yield from _is_header(machine, at)):
            yield from read_message(machine, at, mark)
            return True
    if first in "`~" and (yield from text.room(at, 3)) == first * 3:
        machine.say_to(at)
        yield from read_fence(machine, at, at)
        return False
    if first == "A" and (yield from _at_action(machine, at)):
        return True
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
    answer = yield from bare_calls(machine.reading, at, is_first=is_first)
    if answer is None:
        return False
    machine.say_to(at)
    if isinstance(answer, Item):
        _take(machine, Block(answer.end, list(answer.calls)), at)
    else:
        _take(machine, Block(answer.end, cut=answer), at)
    return True


def _at_mark(machine: Machine, mark: str, start: int, end: int) -> Wait[bool]:
    """Deal with a mark; whether something was taken out of the content here."""
    out = machine.out
    machine.marks += mark[-1] not in "[{:" or mark in KIND
    if mark[0] == "\n":
        return (yield from _at_line(machine, mark, start, end))
    machine.say_to(start)
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
    if kind == "stripped":
        return (yield from _at_stripped(machine, mark))
    if kind == "closer" and not (out.calls or out.notes) and mark in IS_TAG:
        return _verbatim(machine, mark)
    machine.pos = start + len(mark)
    if kind == "orphan" and not out.is_settled:
        out.was_reasoning("thought\n")
        out.settle()
    out.content.break_off()
    if kind == "thought":
        yield from read_reasoning(machine, ENDS_OF[mark])
    return True


def _at_stripped(machine: Machine, mark: str) -> Wait[bool]:
    """A header without its marks counts where the text began with one."""
    out = machine.out
    if not machine.is_stripped:
        said = out.content.text
        if not said.startswith(STRIPPED_FIRST) or not said[len(STRIPPED_FIRST) :][:1].strip():
            return _verbatim(machine, mark)
        out.was_reasoning(STRIPPED_FIRST)
        out.settle()
    machine.is_stripped = True
    machine.pos += len(mark)
    out.content.break_off()
    if mark.endswith(STRIPPED_FIRST):
        yield from read_reasoning(machine, NONE, HEADERS)
    return True


def _at_call(machine: Machine, mark: str, kind: Kind) -> Wait[bool]:
    start = machine.pos
    if kind == "block":
        return (yield from _at_block(machine, mark))
    if kind == "arrow":
        is_taken = yield from _bare(machine, start, is_first=False)
        return is_taken or _verbatim(machine, mark)
    block = yield from read_tags(machine.reading, start, AFTER)
    return _verbatim(machine, mark) if block is None else _take(machine, block, start)


def _verbatim(machine: Machine, mark: str) -> bool:
    machine.say_to(machine.pos + len(mark))
    return False


def _at_line(machine: Machine, line: str, start: int, end: int) -> Wait[bool]:
    """A line that may begin a fence or a call without a mark."""
    sign = line.lstrip()
    at = end - len(sign)
    machine.say_to(start)
    if sign in ("```", "~~~"):
        yield from read_fence(machine, at, at)
        return True
    if machine.reading.offers:
        if (yield from _at_action(machine, at)):
            return True
        is_announced = sign == "Action:" or is_short_lead(machine.out.content)
        if is_announced and (yield from _bare(machine, at, is_first=False)):
            return True
    machine.say_to(at)
    return False


def _at_action(machine: Machine, at: int) -> Wait[bool]:
    """`Action:` and a fence on its line, as Command-R writes."""
    mark = yield from machine.text.at(at, ACTION)
    if mark:
        yield from read_fence(machine, at + len(mark) - 3, at)
    return bool(mark)


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
        if broken.closed and machine.text.text.endswith(tuple(CLOSERS[mark].marks), 0, broken.end):
            return _take(machine, Block(broken.end, cut=broken), start)
        machine.pos = after
        machine.out.content.break_off()
        return True
    if block.is_empty:
        yield from machine.text.room(block.end, 1)  # whether it is the end of the text
    return _take(machine, block, start)


def _unread(machine: Machine, mark: str, at: int) -> Wait[int]:
    """Where a block beside calls ends that holds nothing which could be read, or -1.

    In prose its end mark would have more words after it.
    """
    text = machine.text
    found = yield from text.first(joined(mark, CLOSERS[mark]), at)
    if found is None or found.mark == mark:
        return -1
    after, again = yield from text.past(found.end, joined(mark))
    is_end = after >= len(text.text) or "\n" in text.text[found.end : after]
    return found.end if is_end or again else -1


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
    yield from text.room(at, MARKS.longest)
    follows = at >= len(text.text) or TRIGGER.match(text.text, at) is not None
    if not follows and (not machine.out.calls or mark in IS_TAG):
        return _verbatim(machine, mark)
    machine.pos = after
    machine.out.content.break_off()
    return True
