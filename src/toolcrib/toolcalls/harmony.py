"""The messages of gpt-oss: a header that says to whom, on which channel, then the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolcrib.toolcalls.decoders.decoder import Cut, Item, cut
from toolcrib.toolcalls.decoders.values import arguments_item
from toolcrib.toolcalls.families import HARMONY_ENDS
from toolcrib.toolcalls.growing_text import Wait
from toolcrib.toolcalls.markset import MarkSet, joined
from toolcrib.toolcalls.offers import NAME
from toolcrib.toolcalls.reasoning_blocks import read_reasoning
from toolcrib.toolcalls.shapes import Raw

if TYPE_CHECKING:
    from toolcrib.toolcalls.state import Machine

CHANNEL = re.compile(r"<\|channel\|>\s*([a-z]+)")
RECIPIENT = re.compile(r"to=\s*([\w.\-:/@$]+)")
PEOPLE = {"assistant", "user", "all", "system", "developer", "self"}
HEADER_ENDS = MarkSet(("<|message|>", "{", *HARMONY_ENDS))
MESSAGE_ENDS = MarkSet(HARMONY_ENDS)
HEADER_STARTS = MarkSet(("<|start|>", "<|channel|>"))
BODY_ENDS = joined(MESSAGE_ENDS, HEADER_STARTS)
ENDS = {*HARMONY_ENDS, "<|constrain|>"}
LONGEST_HEADER = 500
OPENINGS = ("to=", "assistant to=", "assistant<|channel|>", "commentary to=", "analysis to=")
"""How a text begins whose prompt ended within a header."""


def read_message(machine: Machine, at: int, mark: str) -> Wait[None]:
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
    found = yield from text.first(HEADER_ENDS, at)
    if found is None or found.start - at > LONGEST_HEADER:
        machine.pos = len(text.text) if found is None else machine.pos
        return
    header = text.text[at : found.start]
    machine.pos = found.start if found.mark == "{" else found.end
    channel, to = CHANNEL.search(header), RECIPIENT.search(header)
    if to and to[1] not in PEOPLE and found.mark in ("<|message|>", "{", "<|call|>"):
        name = to[1]
        if machine.reading.offers.resolve(name) is None:
            name = name.removesuffix("json")  # the mark before it was taken out
        yield from _read_call(machine, name, empty=found.mark == "<|call|>")
    elif (to and to[1] == "self") or (channel and channel[1].startswith("analysis")):
        yield from read_reasoning(machine, MESSAGE_ENDS, HEADER_STARTS)


def _read_call(machine: Machine, recipient: str, *, empty: bool) -> Wait[None]:
    text, out = machine.text, machine.out
    start = machine.pos
    here = start if empty else (yield from text.blank(start))
    if empty or (yield from text.at(here, BODY_ENDS)):
        out.add(Raw(recipient, {}))
        return
    first = text.text[here : here + 1]
    if first == "<" and NAME.fullmatch(recipient):
        return  # tags, which are read by themselves
    answer: Item | Cut
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
        out.lose(answer, text.text[start : answer.end], ended=machine.pos >= len(text.text))
    out.content.break_off()
