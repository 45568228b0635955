"""Memories as a model reads them: one a line, with date, scope, tags and source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from toolcrib.core.result import Next, Result
from toolcrib.memory.memory_records import Memory
from toolcrib.memory.times import day
from toolcrib.text.cleaner import one_line

MAX_LINE_CHARS = 500
"""Characters of a fact in a list; the whole of it is in its history."""
MAX_SOURCES = 3
_FROM_MEMORIES = re.compile(r"^(?:memories from )+")


def line_of(memory: Memory) -> str:
    """A memory in one line: nothing in it can pass for another."""
    return f"{memory.id}: {quoted(memory)} ({about(memory)})"


def quoted(memory: Memory, chars: int = MAX_LINE_CHARS) -> str:
    """The fact in one line; of a file its path and how long it is."""
    if memory.path:
        return f"{memory.path}, {len(memory.fact):,} characters: {one_line(memory.fact, 200)}"
    short = one_line(memory.fact, chars)
    return short if len(short) < chars else f"{short}…"


def about(memory: Memory) -> str:
    """When a memory is from, where it holds, its tags and its source."""
    parts = [day(memory.changed), memory.scope.partition(":")[0]]
    parts += [f"tags {', '.join(memory.tags)}"] if memory.tags else []
    parts += [f"until {day(memory.expires)}"] if memory.expires is not None else []
    parts += [f"from {one_line(memory.source, 200)}"] if memory.source else []
    return ", ".join(parts)


def parted(memories: Iterable[Memory]) -> tuple[list[Memory], list[Memory]]:
    """Those of the user and of their conversations, and those that may be outside text."""
    own: list[Memory] = []
    outside: list[Memory] = []
    for memory in memories:
        (outside if memory.outside else own).append(memory)
    return own, outside


def listing(memories: Sequence[Memory], more: Sequence[Memory], following: Next | None) -> Result:
    """Memories as a result. Those from outside stand alone, so that they cannot mix with others.

    Own facts taint a conversation as a file does, and outside text as a page does, unless whoever
    saved it had read private things too; both at once would make each later call to the web ask.

    Args:
        memories: what is shown: all own, or all from outside.
        more: others, from outside, that are only counted.
        following: the call that goes on.
    """
    outside = bool(memories) and memories[0].outside
    lines = [line_of(memory) for memory in memories]
    if more:
        lines.append(f"{len(more)} more may be outside text (from {sources_of(more)}).")
    return Result(
        "\n".join(lines),
        {"memories": [memory.to_json() for memory in memories], "outside": len(more)},
        next=following,
        truncated=following is not None,
        source=f"memories from {sources_of(memories)}" if outside else "",
        impersonal=all(m.outside and not m.private for m in memories),
    )


def sources_of(memories: Iterable[Memory]) -> str:
    """Where some memories come from, by name."""
    # A conversation that had read such memories is no source of its own.
    bare = (_FROM_MEMORIES.sub("", one_line(m.source, 80)) or "outside" for m in memories)
    names = list(dict.fromkeys(bare))
    rest = f" and {len(names) - MAX_SOURCES} more" if len(names) > MAX_SOURCES else ""
    return ", ".join(names[:MAX_SOURCES]) + rest
