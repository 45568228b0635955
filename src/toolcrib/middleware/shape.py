"""A result is made fit to be read: cleaned, fenced, within its budget, with the way on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from toolcrib.core.context import Call, Proceed, room_in
from toolcrib.core.errors import StorageFailure
from toolcrib.core.result import Next, Result
from toolcrib.core.tool import NET
from toolcrib.middleware.known_links import remember_links
from toolcrib.state.results import Results
from toolcrib.text.cleaner import clean
from toolcrib.text.fence import fence
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import head_and_tail

T = TypeVar("T")
MARKER = "\n\n[{dropped} of {total} characters left out here]\n\n"
LONG = 50_000
"""Characters from which on a text is not worked on in the event loop."""


async def shape(call: Call, proceed: Proceed) -> Result:
    """Clean and fence untrusted text, and cut what is over the budget."""
    result = await proceed(call)
    if (result.source and not result.fenced) or call.tool.rights & NET:
        result = replace(result, text=await _clean(call, result.text))
    remember_links(call, result)
    budget = call.ctx.budget(call.tool.name, result.max_tokens)
    # A character is hardly ever more than one token, so short texts need no count.
    tokens = result.tokens
    if not tokens and len(result.text) > budget:
        tokens = await _long_work(estimate, result.text)
    if tokens > budget:
        result, tokens = await _shorten(call, result, budget), 0
    if result.source and not result.fenced:
        tokens += estimate(fence("", result.source)) if tokens else 0
        result = replace(result, text=fence(result.text, result.source), fenced=True)
    return replace(result, tokens=tokens) if tokens else result


async def _clean(call: Call, text: str) -> str:
    cleaned = await _long_work(clean, text)
    if cleaned.removed:
        count = sum(cleaned.removed.values())
        call.ctx.warn(f"{count} invisible characters were removed.")
    return cleaned.text


async def _long_work(work: Callable[[str], T], text: str) -> T:
    """Work on a text, beside the event loop where it may take long."""
    return work(text) if len(text) < LONG else await asyncio.to_thread(work, text)


async def _shorten(call: Call, result: Result, budget: int) -> Result:
    whole = result.text if result.next is None else f"{result.text}\nTo go on: {result.next}"
    head, tail, (start, end) = await asyncio.to_thread(head_and_tail, whole, room_in(budget))
    marker = MARKER.format(dropped=f"{end - start:,}", total=f"{len(whole):,}")
    cut = replace(result, text=f"{head}{marker}{tail}", truncated=True)
    try:
        handle = await call.ctx.use(Results).keep(whole, call.ctx.session.id, result.source)
    except StorageFailure as error:
        call.ctx.warn(f"The rest could not be kept: {error.message}")
        return replace(cut, next=None)
    arguments = {"handle": handle, "offset": len(head)}
    return replace(cut, next=Next("read_more", arguments))
