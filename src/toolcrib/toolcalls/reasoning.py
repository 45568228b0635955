"""Reasoning: told apart from content, and never a place to run calls from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolcrib.toolcalls.decoders.reading import MAXIMUM, OPENERS, marks_of, trie
from toolcrib.toolcalls.decoders.tags import OPENS
from toolcrib.toolcalls.families import AROUND
from toolcrib.toolcalls.growing import Wait

if TYPE_CHECKING:
    from toolcrib.toolcalls.machine import Machine

BEGINS = tuple(mark for mark in (*OPENERS, *AROUND, *OPENS) if not mark.startswith("</"))
BEGIN = re.compile(trie(BEGINS))
LONGEST_BEGIN = max(map(len, BEGINS))


def read_reasoning(
    machine: Machine, closers: tuple[str, ...], kept: tuple[str, ...] = ()
) -> Wait[None]:
    """Read on to the end of the reasoning that has begun.

    What looks like a call is part of it. Where the reasoning has no end and calls are the
    last thing in it, the model forgot its end: then they are calls. Marks of `kept` end it
    too and belong to what follows.
    """
    text, out = machine.text, machine.out
    ends = (*closers, *kept)
    pattern, longest = marks_of(ends)
    longest = max(longest, LONGEST_BEGIN)
    while True:
        end = pattern.search(text.text, machine.pos)
        found = BEGIN.search(text.text, machine.pos, end.start() if end else MAXIMUM) or end
        if found is not None and found[0] in ends:
            out.think(text.text[machine.pos : found.start()])
            machine.pos = found.start() if found[0] in kept else found.end()
            break
        if found is not None:
            out.think(text.text[machine.pos : found.start()])
            machine.pos = found.start()
            yield from _from_mark(machine, ends, kept)
            break
        if text.ended:
            out.think(text.text[machine.pos :])
            machine.pos = len(text.text)
            break
        keep = max(machine.pos, len(text.text) - longest + 1)
        keep = next(
            (at for at in range(keep, len(text.text)) if _may_begin(text.text[at:], ends)),
            len(text.text),
        )
        out.think(text.text[machine.pos : keep])
        machine.pos = keep
        machine.trim()
        yield
    out.reasoning.break_off()
    out.content.break_off()
    out.settle()


def _may_begin(rest: str, closers: tuple[str, ...]) -> bool:
    return any(mark.startswith(rest) for mark in (*closers, *BEGINS))


def _from_mark(machine: Machine, ends: tuple[str, ...], kept: tuple[str, ...]) -> Wait[None]:
    """Read on from a mark of a call to the end of the reasoning that holds it."""
    text, out = machine.text, machine.out
    pattern, longest = marks_of(ends)
    found = yield from text.first(pattern, machine.pos, longest)
    rest = text.text[machine.pos : found.start() if found else None]
    inner = machine.inner(rest)
    if found is None:
        machine.pos = len(text.text)
        if inner is not None and (inner.calls or inner.notes) and not inner.content.has_begun:
            out.reasoning.break_off()
            out.adopt(inner)
            return
    else:
        machine.pos = found.start() if found[0] in kept else found.end()
    out.think(rest)
    for call in inner.calls if inner else ():
        out.note("in_reasoning", rest, call.name)
