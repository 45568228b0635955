"""How many requests one host gets at a time, and how far apart they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from toolcrib.core.errors import RateLimited
from toolcrib.net.egress.url import Target
from toolcrib.net.pace import Pace


@dataclass(slots=True)
class _Host:
    gate: asyncio.Semaphore
    users: int = 0


class HostLimits:
    """Places for requests, for each host and port.

    Args:
        at_once: requests of this process to one host at the same time.
        gap: seconds between the starts of two requests to one host, over all processes.
        pace: gives what keeps the gap; None keeps none.
    """

    def __init__(self, at_once: int, gap: float, pace: Callable[[], Pace] | None) -> None:
        self._at_once = at_once
        self._gap = gap
        self._pace = pace
        # A semaphore belongs to the loop in which it was waited for.
        self._hosts: dict[tuple[int, str], _Host] = {}

    @asynccontextmanager
    async def place(self, target: Target, patience: float) -> AsyncGenerator[None]:
        """Hold a place while a request runs.

        Args:
            target: where the request goes.
            patience: the longest wait in seconds.

        Raises:
            RateLimited: the wait would be longer.
        """
        loop = asyncio.get_running_loop()
        key = (id(loop), target.authority)
        host = self._hosts.setdefault(key, _Host(asyncio.Semaphore(self._at_once)))
        host.users += 1
        try:
            started = loop.time()
            await _entered(host.gate, target.host, patience)
            try:
                if self._pace is not None and self._gap > 0:
                    left = patience - (loop.time() - started)
                    await self._pace().turn(f"host {target.authority}", self._gap, left)
                yield
            finally:
                host.gate.release()
        finally:
            host.users -= 1
            if not host.users:
                self._hosts.pop(key, None)


async def _entered(gate: asyncio.Semaphore, name: str, patience: float) -> None:
    if not gate.locked():
        await gate.acquire()
        return
    try:
        async with asyncio.timeout(patience):
            await gate.acquire()
    except TimeoutError:
        raise RateLimited(
            f"Too many requests to {name} at once: none ended within {patience:.0f} s.",
            hint="Send fewer at a time, or try again later.",
        ) from None
