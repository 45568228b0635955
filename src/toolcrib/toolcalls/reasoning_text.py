"""Reasoning, from which no call runs, and the messages of gpt-oss with recipient and channel."""

from __future__ import annotations

import re

from toolcrib.toolcalls.decoders.decoder import OPENERS, BrokenCall, Item, arguments_item, cut
from toolcrib.toolcalls.decoders.tags import OPENS
from toolcrib.toolcalls.growing_text import NONE, MarkSet, Wait, joined
from toolcrib.toolcalls.marks import HARMONY_ENDS, MARKS, WRAPPERS
from toolcrib.toolcalls.output import ParserState
from toolcrib.toolcalls.tool_schemas import NAME
from toolcrib.toolcalls.values import RawCall

BEGINS = frozenset(
    mark for mark in (*OPENERS, *WRAPPERS, *OPENS.marks) if not mark.startswith("</")
)


def read_reasoning(machine: ParserState, closers: MarkSet, following: MarkSet = NONE) -> Wait[None]:
    """Read on to the end of the reasoning that has begun.

    What looks like a call is part of it. Where the reasoning has no end and calls are the
    last thing in it, the model forgot its end: then they are calls. Marks of `following` end it
    too and belong to what follows.
    """
    text, out = machine.text, machine.out
    ends = joined(closers, following)
    at = machine.pos
    while True:
        found = MARKS.find(text.text, at)
        if found is not None and found.mark not in ends and found.mark not in BEGINS:
            at = found.start + 1
            continue
        if found is not None and found.mark in ends:
            out.write_reasoning(text.text[machine.pos : found.start])
            machine.pos = found.start if found.mark in following else found.end
            break
        if found is not None:
            out.write_reasoning(text.text[machine.pos : found.start])
            machine.pos = found.start
            yield from _from_mark(machine, ends, following)
            break
        if text.ended:
            out.write_reasoning(text.text[machine.pos :])
            machine.pos = len(text.text)
            break
        keep = MARKS.begun(text.text, at)
        out.write_reasoning(text.text[machine.pos : keep])
        machine.pos = keep
        machine.trim()
        at = machine.pos
        yield
    out.reasoning.break_off()
    out.content.break_off()
    out.settle()


def _from_mark(machine: ParserState, ends: MarkSet, following: MarkSet) -> Wait[None]:
    """Read on from a mark of a call to the end of the reasoning that holds it."""
    text, out = machine.text, machine.out
    found = yield from text.first(ends, machine.pos)
    rest = text.text[machine.pos : found.start if found else None]
    inner = machine.inner(rest)
    if found is None:
        machine.pos = len(text.text)
        if inner is not None and (inner.calls or inner.notes) and not inner.content.has_begun:
            out.reasoning.break_off()
            out.adopt(inner)
            return
    else:
        machine.pos = found.start if found.mark in following else found.end
    out.write_reasoning(rest)
    for call in inner.calls if inner else ():
        out.note("in_reasoning", rest, call.name)


CHANNEL = re.compile(r"<\|channel\|>\s*([a-z]+)")
RECIPIENT = re.compile(r"to=\s*([\w.\-:/@$]+)")
PEOPLE = {"assistant", "user", "all", "system", "developer", "self"}
HEADER_ENDS = MarkSet(("<|message|>", "{", *HARMONY_ENDS))
MESSAGE_ENDS = MarkSet(HARMONY_ENDS)
HEADER_STARTS = MarkSet(("<|start|>", "<|channel|>"))
BODY_ENDS = joined(MESSAGE_ENDS, HEADER_STARTS)
ENDS = {*HARMONY_ENDS, "<|constrain|>"}
MAX_HEADER_CHARS = 500
OPENINGS = ("to=", "assistant to=", "assistant<|channel|>", "commentary to=", "analysis to=")
"""How a text begins whose prompt ended within a header."""


def read_message(machine: ParserState, at: int, mark: str) -> Wait[None]:
    """Read one header, and what it makes of its text.

    Args:
        machine: where the text and what was read are.
        at: where the mark stands.
        mark: one of the format's marks, or what a text begins with.
    """
    text, out = machine.text, machine.out
    out.settle()
    out.content.break_off()
    machine.pos = at + len(mark)
    if mark in ENDS:
        return
    machine.is_final = False
    found = yield from text.first(HEADER_ENDS, at)
    if found is None or found.start - at > MAX_HEADER_CHARS:
        machine.pos = len(text.text) if found is None else machine.pos
        return
    header = text.text[at : found.start]
    machine.pos = found.start if found.mark == "{" else found.end
    channel, to = CHANNEL.search(header), RECIPIENT.search(header)
    if to and to[1] not in PEOPLE and found.mark in ("<|message|>", "{", "<|call|>"):
        name = to[1]
        if machine.reading.schemas.resolve(name) is None:
            name = name.removesuffix("json")  # the mark before it was taken out
        yield from _read_call(machine, name, empty=found.mark == "<|call|>")
    elif channel and channel[1] == "final":
        machine.is_final = True
    elif (to and to[1] == "self") or (channel and channel[1].startswith("analysis")):
        yield from read_reasoning(machine, MESSAGE_ENDS, HEADER_STARTS)


def _read_call(machine: ParserState, recipient: str, *, empty: bool) -> Wait[None]:
    text, out = machine.text, machine.out
    start = machine.pos
    here = start if empty else (yield from text.skip_blank(start))
    if empty or (yield from text.mark_at(here, BODY_ENDS)):
        out.add(RawCall(recipient, {}))
        return
    first = text.text[here : here + 1]
    if first == "<" and NAME.fullmatch(recipient):
        return  # tags, which are read by themselves
    answer: Item | BrokenCall
    if first in ("{", '"'):
        answer = yield from arguments_item(machine.reading, here, BODY_ENDS, recipient, "")
    else:
        answer = yield from cut(machine.reading, here - 1, BODY_ENDS, recipient)
    machine.pos = answer.end
    if isinstance(answer, Item) and answer.calls[0] is not None:
        out.add(answer.calls[0])
    elif isinstance(answer, Item):
        out.note("malformed", text.text[start : answer.end], recipient)
    else:
        out.note_cut(answer, text.text[start : answer.end], ended=machine.pos >= len(text.text))
    out.content.break_off()
