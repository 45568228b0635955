"""One piece of work for all who want it at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiters: int = 0


class Flights(Generic[T]):
    """Runs equal work once. A waiter that gives up stops the work only if it is the last."""

    def __init__(self) -> None:
        self._running: dict[tuple[int, bytes], _Flight[T]] = {}

    async def join(self, key: bytes, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The outcome of the running work of this key, started if there is none."""
        place = (id(asyncio.get_running_loop()), key)
        flight = self._running.get(place)
        if flight is None:
            flight = self._running[place] = _Flight(asyncio.create_task(start()))
            flight.task.add_done_callback(lambda _: self._leave(place, flight))
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiters -= 1
            if not flight.waiters and not flight.task.done():
                self._leave(place, flight)
                flight.task.cancel()
                await asyncio.wait({flight.task})

    def _leave(self, place: tuple[int, bytes], flight: _Flight[T]) -> None:
        if self._running.get(place) is flight:
            del self._running[place]
        if flight.task.done() and not flight.task.cancelled():
            flight.task.exception()  # nobody may be left to take it
