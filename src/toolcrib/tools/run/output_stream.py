"""Output while it comes: kept in its order, and told to whoever waits."""

from __future__ import annotations

import asyncio
import codecs
from typing import Self

from toolcrib.core.context import Ctx
from toolcrib.system.child import Chunk
from toolcrib.system.ring_buffer import Ring
from toolcrib.text.program_output import printed

TELL_SECONDS = 0.25
MOST_TOLD = 4_000
"""Characters of one message; of more, the end."""
MOST_WAITING = 4 * MOST_TOLD
"""Bytes between two messages that are looked at; of a flood, the end."""


class Follower:
    """Takes the chunks of a run.

    Attributes:
        ring: both streams in the order of arrival; the head and the tail of them.
    """

    def __init__(self, ctx: Ctx) -> None:
        self.ring = Ring()
        self._ctx = ctx
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._new = bytearray()
        self._waiting = ""
        self._telling: asyncio.Task[None] | None = None

    def __call__(self, chunk: Chunk) -> None:
        """Keep a chunk; it is told soon after. Nothing more is done with it for now."""
        self.ring.write(chunk.data)
        self._new += chunk.data[-MOST_WAITING:]
        if len(self._new) > MOST_WAITING:
            del self._new[:-MOST_WAITING]
            self._decoder.reset()
            self._waiting = ""

    async def __aenter__(self) -> Self:
        self._telling = asyncio.create_task(self._tell())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    async def _tell(self) -> None:
        """Tell whole lines a few times a second."""
        while True:
            await asyncio.sleep(TELL_SECONDS)
            self._waiting += self._decoder.decode(bytes(self._new))
            self._new.clear()
            lines, end, rest = self._waiting.rpartition("\n")
            if not end and len(self._waiting) < MOST_TOLD:
                continue
            self._waiting = rest if end else ""
            text = printed(lines if end else rest).strip("\n")
            if text:
                await self._ctx.progress(text[-MOST_TOLD:])
