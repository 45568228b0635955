"""Blocking work in a thread, which stops soon after nobody waits for it any more."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from toolcrib.core.errors import Cancelled, TimedOut, ToolError

# Work on the event loop that has no end of its own, taken in turns with everything else.

BUSY = 0.002
"""Seconds of work after which everything else has its turn."""
REST = 0.001
"""Seconds of that turn: an answer to a client takes a dozen rounds of the loop, not one."""


class Turns:
    """Call `rest` between two steps of the work."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    async def rest(self) -> None:
        """Let the others work, if it has been long enough."""
        if time.monotonic() - self._began > BUSY:
            await asyncio.sleep(REST)
            self._began = time.monotonic()


# Short ids that a person can read out and type.

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Base 32 without i, l, o and u, which are misread."""
ID_CHARS = 8
"""Characters of an id that is made of a content."""


def random_id(length: int = 6) -> str:
    """A random id, five bits a character."""
    return _spell(secrets.randbits(5 * length), length)


def content_id(*parts: str) -> str:
    """An id that is the same for the same texts."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return _spell(int.from_bytes(digest.digest(), "big"), ID_CHARS)


def plain_id(typed: str) -> str:
    """An id as somebody typed it, brought to the form that is stored."""
    return typed.strip().lower().translate(str.maketrans("ilo", "110"))


def _spell(number: int, length: int) -> str:
    return "".join(ALPHABET[(number >> (5 * place)) & 31] for place in range(length))


T = TypeVar("T")
P = ParamSpec("P")
MAX_INLINE_CHARS = 8_000
"""Characters of the worst text that are worked through in a moment."""


class Checkpoint:
    """Called by blocking work between two steps; it raises when the work should stop."""

    def __init__(self, deadline: float | None = None) -> None:
        self._deadline = deadline
        self._is_stopped = False

    def stop(self) -> None:
        """Let the next step be the last."""
        self._is_stopped = True

    def __call__(self) -> None:
        """Pass, or stop the work.

        Raises:
            Cancelled: nobody waits for the result.
            TimedOut: the deadline of the call has passed.
        """
        if self._is_stopped:
            raise Cancelled("The call was cancelled.")
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise TimedOut("The time for this call is used up.")


async def in_thread(work: Callable[[Checkpoint], T], deadline: float | None = None) -> T:
    """Run blocking work without holding up the event loop.

    Args:
        work: takes a `Checkpoint` and calls it between its steps.
        deadline: a `time.monotonic()` value after which it stops, or None.

    Raises:
        TimedOut: the deadline passed first. What `work` raises passes through.
    """
    check = Checkpoint(deadline)
    try:
        return await asyncio.to_thread(explained, work, check)
    finally:
        check.stop()


async def in_thread_if_large(
    size: int, work: Callable[P, T], *args: P.args, **named: P.kwargs
) -> T:
    """Work through a text of so many characters, a long one in a thread.

    That keeps the event loop free only if the work lets others run: one search by a regular
    expression over all of it does not.
    """
    if size < MAX_INLINE_CHARS:
        return work(*args, **named)
    return await asyncio.to_thread(work, *args, **named)


def explained(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Do work in a thread; what its failure says is worked out there too."""
    try:
        return work(*args, **named)
    except ToolError as error:
        _ = error.hint
        raise
