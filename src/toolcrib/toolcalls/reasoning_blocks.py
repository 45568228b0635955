"""Reasoning: told apart from content, and never a place to run calls from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.toolcalls.decoders.decoder import OPENERS
from toolcrib.toolcalls.decoders.tags import OPENS
from toolcrib.toolcalls.families import AROUND
from toolcrib.toolcalls.growing_text import Wait
from toolcrib.toolcalls.marks import MARKS
from toolcrib.toolcalls.markset import NONE, MarkSet, joined

if TYPE_CHECKING:
    from toolcrib.toolcalls.state import Machine

BEGINS = frozenset(mark for mark in (*OPENERS, *AROUND, *OPENS.marks) if not mark.startswith("</"))


def read_reasoning(machine: Machine, closers: MarkSet, kept: MarkSet = NONE) -> Wait[None]:
    """Read on to the end of the reasoning that has begun.

    What looks like a call is part of it. Where the reasoning has no end and calls are the
    last thing in it, the model forgot its end: then they are calls. Marks of `kept` end it
    too and belong to what follows.
    """
    text, out = machine.text, machine.out
    ends = joined(closers, kept)
    at = machine.pos
    while True:
        found = MARKS.find(text.text, at)
        if found is not None and found.mark not in ends and found.mark not in BEGINS:
            at = found.start + 1
            continue
        if found is not None and found.mark in ends:
            out.think(text.text[machine.pos : found.start])
            machine.pos = found.start if found.mark in kept else found.end
            break
        if found is not None:
            out.think(text.text[machine.pos : found.start])
            machine.pos = found.start
            yield from _from_mark(machine, ends, kept)
            break
        if text.ended:
            out.think(text.text[machine.pos :])
            machine.pos = len(text.text)
            break
        keep = MARKS.begun(text.text, at)
        out.think(text.text[machine.pos : keep])
        machine.pos = keep
        machine.trim()
        at = machine.pos
        yield
    out.reasoning.break_off()
    out.content.break_off()
    out.settle()


def _from_mark(machine: Machine, ends: MarkSet, kept: MarkSet) -> Wait[None]:
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
        machine.pos = found.start if found.mark in kept else found.end
    out.think(rest)
    for call in inner.calls if inner else ():
        out.note("in_reasoning", rest, call.name)
