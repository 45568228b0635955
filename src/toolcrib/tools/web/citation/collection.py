"""Reading many pages for one question: in parallel, in time, whatever some of them do."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from toolcrib.core.context import Ctx
from toolcrib.core.errors import TimedOut, ToolError, UnsupportedContent
from toolcrib.net.egress.public_url import check_public_url
from toolcrib.web.pages.pages import PageText, read_page
from toolcrib.web.provider_api.provider import Found

GRACE = 4.0
"""Seconds that late pages get once half of those wanted are there."""
MARGIN = 4.0
"""Seconds kept free for what comes after reading, before the caller must have an answer."""
PATIENCE = 30.0
"""Seconds for all pages of a question."""
A_HOST = 2
"""Pages of one host before another host's turn."""


@dataclass(slots=True)
class Reading:
    """What became of a result: the page, or why there is none; neither if nobody asked."""

    found: Found
    page: PageText | None = None
    error: ToolError | None = None


@dataclass(slots=True)
class _Run:
    readings: list[Reading]
    waiting: deque[Reading]
    tasks: dict[asyncio.Task[None], Reading] = field(default_factory=dict)
    done: int = 0


async def gather(results: Sequence[Found], wanted: int, ctx: Ctx) -> list[Reading]:
    """Read results, best first, until `wanted` pages are there or time is up.

    One that fails is replaced by the next. A slow one holds nothing up: it is left behind
    and told as a timeout. Readings that were never begun are not given.

    Args:
        results: in the order of their rank.
        wanted: how many pages.
        ctx: the call; its `answer_by` bounds the time.
    """
    readings = [Reading(found) for found in _spread(results)]
    wanted = min(wanted, len(readings))
    run = _Run(readings, deque(readings))
    at_once = min(wanted, ctx.config.web.fetch.concurrency)
    last = time.monotonic() + PATIENCE
    if ctx.answer_by is not None:
        last = min(last, ctx.answer_by - MARGIN)
    await ctx.progress(f"Reading {wanted} pages", 0, wanted)
    try:
        while await _step(run, wanted, at_once, last, ctx):
            if run.done * 2 >= wanted:
                last = min(last, time.monotonic() + GRACE)
    finally:
        for task in run.tasks:
            task.cancel()
        await asyncio.gather(*run.tasks, return_exceptions=True)
    return [reading for reading in run.readings if reading.page or reading.error]


async def _step(run: _Run, wanted: int, at_once: int, last: float, ctx: Ctx) -> bool:
    """Begin what there is room for and wait for one to end; False when all is done."""
    while run.waiting and len(run.tasks) < min(at_once, wanted - run.done):
        reading = run.waiting.popleft()
        run.tasks[asyncio.create_task(_read(reading, ctx))] = reading
    left = last - time.monotonic()
    ended, _ = (
        await asyncio.wait(run.tasks, timeout=max(left, 0), return_when=asyncio.FIRST_COMPLETED)
        if run.tasks
        else (set(), set())
    )
    if not ended:
        for reading in run.tasks.values():
            reading.error = TimedOut("It was not there in time.")
        return False
    for task in ended:
        reading = run.tasks.pop(task)
        task.result()
        if reading.page is not None:
            run.done += 1
            host = urlsplit(reading.found.url).hostname or ""
            await ctx.progress(f"Read {run.done} of {wanted} ({host[:60]})", run.done, wanted)
    return bool(run.tasks) or (bool(run.waiting) and run.done < wanted)


async def _read(reading: Reading, ctx: Ctx) -> None:
    try:
        checked = check_public_url(reading.found.url, ctx)
        if ctx.judge is not None:
            ctx.judge(checked)
        page = await read_page(checked, ctx.config.web.fetch.format, ctx)
        if page.text.strip():
            reading.page = page
        else:
            reading.error = UnsupportedContent("The page has no text.")
    except ToolError as error:
        reading.error = error


def _spread(results: Sequence[Found]) -> list[Found]:
    """The results in their order, but for more than a few of one host, which come last."""
    counts: Counter[str] = Counter()
    first: list[Found] = []
    later: list[Found] = []
    for found in results:
        host = (urlsplit(found.url).hostname or "").removeprefix("www.")
        counts[host] += 1
        (first if counts[host] <= A_HOST else later).append(found)
    return first + later
