"""A result is made fit to be read: cleaned, fenced, within its budget, with the way on."""

from __future__ import annotations

import asyncio
import re
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
from toolcrib.text.display import counted
from toolcrib.text.fence import fence
from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import head_and_tail

T = TypeVar("T")
MARKER = "\n\n[{dropped} of {total} characters left out here]\n\n"
END_LINES = 5
MAX_ERROR_LINES = 10
MAX_LINE_CHARS = 400
ERROR_LINE = re.compile(r"error|exception|fail|fatal|panic|denied|not found", re.IGNORECASE)
HIDDEN = "[{count} hidden]"
LONG = 50_000
"""Characters from which on a text is not worked on in the event loop."""


async def shape(call: Call, proceed: Proceed) -> Result:
    """Clean and fence untrusted text, and cut what is over the budget."""
    result = await proceed(call)
    if (result.source and not result.fenced) or call.tool.rights & NET:
        result = replace(result, text=await _clean(call, result.text))
    remember_links(call, result)
    limit = call.ctx.config.run.short_output
    if limit and call.tool.group == "run" and len(result.text) > limit:
        result = await _short_output(call, result)
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


async def _short_output(call: Call, result: Result) -> Result:
    """Only the ends of an output and its errors; all of it can be read by its handle."""
    text = await asyncio.to_thread(ends_and_errors, result.text)
    if len(text) >= len(result.text):
        return result
    try:
        handle = await call.ctx.use(Results).keep(result.text, call.ctx.session.id, result.source)
    except StorageFailure:
        return result  # what cannot be read later is better shown
    following = result.next or Next("read_more", {"handle": handle})
    if result.next is not None:
        text += f"\n[hidden lines: read_more(handle={handle})]"
    return replace(result, text=text, truncated=True, next=following, tokens=0)


def ends_and_errors(text: str) -> str:
    """The first and last lines of an output, and those of errors, with how many are hidden."""
    lines = text.splitlines()
    ends = {*range(END_LINES), *range(len(lines) - END_LINES, len(lines))}
    errors = [n for n, line in enumerate(lines) if ERROR_LINE.search(line[:MAX_LINE_CHARS])]
    last, parts = 0, []
    for at in sorted({at for at in ends if 0 <= at < len(lines)} | {*errors[:MAX_ERROR_LINES]}):
        if at > last:
            parts.append(HIDDEN.format(count=counted(at - last, "line")))
        line = lines[at]
        more = len(line) - MAX_LINE_CHARS
        parts.append(line if more <= 0 else f"{line[:MAX_LINE_CHARS]}[{more:,} more characters]")
        last = at + 1
    return "\n".join(parts)


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
