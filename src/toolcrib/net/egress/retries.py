"""Trying a failed fetch again: when, and after how long."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from toolcrib.core.context import Ctx
from toolcrib.core.errors import ToolError
from toolcrib.core.settings import RetryConfig
from toolcrib.net.egress.response import Response

STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses that may pass by themselves."""
TOO_MANY = 429
ANSWER_SECONDS = 5.0
"""Seconds kept free before a caller must have its answer."""


class Clock:
    """The time of a fetch, all its tries and the waits between them together.

    Args:
        seconds: how long it may take from now on.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left; below 0 when the time is used up."""
        return self.end - time.monotonic()

    def stand_still(self, seconds: float) -> None:
        """Leave out a time that passed and does not count."""
        self.end += seconds


@dataclass(frozen=True, slots=True)
class Attempts:
    """The tries of one fetch: `retries` more after the first, each after a longer wait.

    All of it ends by `clock`: a try is begun only where the wait before it leaves time.
    A wait that a server asks for is kept to exactly. One that is longer than
    `retry.most_seconds`, or than the call has left, is not begun: the answer is handed
    out as it is, so that its reader learns of the wait. Without `refusals`, answers
    that ask to slow down or for proof of a human are handed out likewise.
    """

    retries: int
    config: RetryConfig
    ctx: Ctx | None
    label: str
    clock: Clock
    refusals: bool = True

    async def run(self, once: Callable[[], Awaitable[Response]]) -> Response:
        """The first good answer, or the last bad one.

        Raises:
            ToolError: what the last try raised.
        """
        for done in range(self.retries + 1):
            last = done == self.retries
            try:
                response = await once()
            except ToolError as error:
                if last or not error.details.get("retryable"):
                    raise
                if not await self._waited(done, None):
                    raise
                continue
            if last or not self._may_pass(response):
                return response
            if not await self._waited(done, response.retry_after):
                return response
        raise AssertionError

    async def _waited(self, done: int, asked: float | None) -> bool:
        """Wait before the next try; False where the wait would be too long."""
        # Full waits in step would bring all callers back at the same moment.
        usual = self.config.initial_seconds * 2**done * random.uniform(0.5, 1.0)  # noqa: S311
        wait = min(usual, self.config.most_seconds) if asked is None else asked
        if wait > self.config.most_seconds or wait >= self._left():
            return False
        if self.ctx is not None:
            number = f"attempt {done + 2} of {self.retries + 1}"
            await self.ctx.progress(f"Retrying {self.label} ({number}) in {wait:.1f} s")
        await asyncio.sleep(wait)
        return True

    def _left(self) -> float:
        if self.ctx is None:
            return self.clock.left
        ends = [end for end in (self.ctx.deadline, self.ctx.answer_by) if end is not None]
        left = min(ends) - time.monotonic() - ANSWER_SECONDS if ends else float("inf")
        return min(left, self.clock.left)

    def _may_pass(self, response: Response) -> bool:
        challenged = response.headers.get("cf-mitigated").lower() == "challenge"
        if challenged or response.status == TOO_MANY:
            return self.refusals
        return response.status in STATUSES
