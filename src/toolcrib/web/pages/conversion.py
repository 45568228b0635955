"""The conversion of an answer: in a thread, or in a process of its own where that is better."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, Self

from toolcrib.core.context import Ctx
from toolcrib.core.errors import Busy, Unavailable
from toolcrib.core.services import Services
from toolcrib.execution.worker.task import Task
from toolcrib.execution.worker.workers import Workers
from toolcrib.system.threads import in_thread
from toolcrib.web.conversion.document import Document, Raw
from toolcrib.web.conversion.serialization import unpacked
from toolcrib.web.handlers import Handlers, documents

SMALL = 4_096
"""Bytes of a page of HTML up to which converting it is not worth a wait for a place."""
LARGE = 1_000_000
"""Bytes of a page of HTML from which on it is converted in a process that can be killed."""
MANY = 20_000
"""Elements, or so, from which on as well."""
MOST_PROCESSES = 2
PAGE = Task(
    "toolcrib.web.handlers.child:convert",
    "Reading the page",
    seconds=20.0,
    megabytes=2_048,
    most=64_000_000,
    hint="Use another address with the same content; format=raw gives the page as it was sent.",
)


class Lanes:
    """A service: where ordinary pages are converted when there are several at once.

    One thread, since threads share the interpreter, and a process for each processor where
    there are several: the thread has to leave half of its own to the event loop. A single
    page always finds the thread free.
    """

    def __init__(self, processes: int | None = None) -> None:
        processors = os.cpu_count() or 1
        if processes is None:
            processes = processors if processors > 1 else 0
        self._free: asyncio.PriorityQueue[int] = asyncio.PriorityQueue()
        for lane in range(1 + min(processes, MOST_PROCESSES)):
            self._free.put_nowait(lane)

    @classmethod
    def open(cls, services: Services) -> Self:  # noqa: ARG003 - what a service is opened with
        """By the processors of this machine."""
        return cls()

    @asynccontextmanager
    async def one(self) -> AsyncIterator[bool]:
        """A place to work; true for one in a process of its own."""
        lane = await self._free.get()
        try:
            yield lane > 0
        finally:
            self._free.put_nowait(lane)


async def converted(raw: Raw, ctx: Ctx) -> Document:
    """The document in an answer.

    Raises:
        UnsupportedContent: nothing reads this kind, or the bytes are not of it.
        MissingExtra: a document of this kind needs an optional package.
        TimedOut, TooLarge: the work was stopped.
        Internal: a handler failed.
    """
    handlers = ctx.use(Handlers)
    if handlers.is_document(raw):
        return await documents.convert(raw, ctx)
    if raw.format == "raw" or len(raw.body) <= SMALL or not handlers.is_page(raw):
        return await in_thread(lambda _: handlers.convert(raw), ctx.deadline)
    if is_heavy(raw):
        return await _apart(raw, ctx)
    async with ctx.use(Lanes).one() as apart:
        if apart:
            return await _apart(raw, ctx)
        return await in_thread(lambda _: handlers.convert(raw), ctx.deadline)


async def _apart(raw: Raw, ctx: Ctx) -> Document:
    try:
        told, text = await ctx.use(Workers).run(PAGE, _asked(raw), raw.body, ctx.deadline)
    except (Unavailable, Busy):  # Where no process can be started a thread has to do.
        return await in_thread(lambda _: ctx.use(Handlers).convert(raw), ctx.deadline)
    return unpacked(told, text)


def is_heavy(raw: Raw) -> bool:
    """Whether a page could hold the interpreter for long."""
    return len(raw.body) > LARGE or raw.body.count(b"<") > 2 * MANY


def _asked(raw: Raw) -> dict[str, Any]:
    asked = asdict(raw)
    del asked["body"]
    return asked
