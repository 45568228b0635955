"""Recall: the facts that a message is about, within a budget, for the first turn."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import Memory
from toolcrib.memory.times import DAY, day
from toolcrib.text.cleaner import one_line
from toolcrib.text.tokens import estimate

CANDIDATES = 40
MIN_SCORE = 0.15
NEAR_BEST = 0.6
"""A fact that is about less of the message than so much of the best is left out."""
RECENCY = 0.15
"""What recency counts beside relevance."""
HALF_LIFE = 90 * DAY
LINE_CHARS = 300


@dataclass(frozen=True, slots=True)
class RecalledFacts:
    """What fits a message: one fact a line, how many tokens that takes, and how many are marked.

    `outside` are those that may be outside text: they are never among `memories`.
    """

    memories: tuple[Memory, ...] = ()
    tokens: int = 0
    outside: int = 0

    @property
    def text(self) -> str:
        """The facts, one a line, each with its date."""
        return "\n".join(_line(memory) for memory in self.memories)


async def recall(
    memories: Memories, message: str, scopes: Sequence[str], max_tokens: int
) -> RecalledFacts:
    """The facts that a message is about, by relevance and recency, best first.

    Args:
        memories: where they are.
        message: of the user, in any language.
        scopes: those that the conversation sees.
        max_tokens: what all of them together may take.

    Raises:
        StorageFailure: the index cannot be used.
    """
    found = await memories.search(message, CANDIDATES, scopes, MIN_SCORE)
    now = time.time()
    scored = []
    for hit in found.hits:
        recency = 0.5 ** (max(now - hit.memory.changed, 0.0) / HALF_LIFE)
        scored.append((hit.score * (1 - RECENCY) + hit.score * recency * RECENCY, hit.memory))
    scored.sort(key=lambda pair: (-pair[0], -pair[1].changed))
    chosen: list[Memory] = []
    tokens = outside = 0
    for score, memory in scored:
        if score < scored[0][0] * NEAR_BEST:
            break
        if memory.outside:
            outside += 1
            continue
        cost = estimate(_line(memory)) + 1
        if tokens + cost <= max_tokens:
            chosen.append(memory)
            tokens += cost
    return RecalledFacts(tuple(chosen), tokens, outside)


def _line(memory: Memory) -> str:
    return f"- {one_line(memory.fact, LINE_CHARS)} ({day(memory.changed)})"
