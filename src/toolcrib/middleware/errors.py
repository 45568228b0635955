"""Errors: where an exception becomes a result; and recovery before the first call."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from dataclasses import dataclass, field, replace

from toolcrib.core.context import Call, PlainService, Proceed
from toolcrib.core.errors import Internal, ToolDisabled, ToolError, as_tool_error
from toolcrib.core.result import ErrorInfo, Result, well_formed
from toolcrib.core.tool import READ, WRITE, Tool
from toolcrib.text.cleaner import clean

NOT_OURS = "A defect of that tool, which does not come with toolcrib: whoever wrote it mends it."


async def errors(call: Call, proceed: Proceed) -> Result:
    """Turn whatever goes wrong into a result; only cancellation passes through."""
    try:
        result = await proceed(call)
    except Exception as error:  # noqa: BLE001 - the edge: a defect must not end the server
        known = as_tool_error(error, call.tool.name)
        if isinstance(known, Internal):
            print(f"toolcrib: {call.tool.name}: {error!r}", file=sys.stderr)  # noqa: T201
            if not _is_ours(call.tool):
                known.hint = NOT_OURS
        if not isinstance(known, ToolDisabled):
            known.hint += _not_offered(known.hint, call)
        # A message may quote a server, a page or a file name.
        known.message, known.hint = clean(known.message).text, clean(known.hint).text
        result = Result(error=ErrorInfo.of(known))
    # What another's tool computes is left as it is: it may be JSON. The next call has the news,
    # which on a command line there is none of. Nobody reads now what a scheduled call gives.
    pure = not call.tool.rights and not _is_ours(call.tool)
    surface = call.ctx.caller.surface
    waits = (pure and surface != "cli") or surface == "schedule"
    news = () if waits else call.ctx.services.news()
    notes = [f"Note: {note}" for note in (*call.ctx.warnings, *news)]
    call.ctx.warnings.clear()
    text = well_formed("\n".join([result.text, *notes] if result.text else notes))
    return result if text == result.text else replace(result, text=text)


def _not_offered(hint: str, call: Call) -> str:
    """What to know of the tools that a hint names and that the caller does not have."""
    missing = call.ctx.registry.named_in(hint) - {tool.name for tool in call.ctx.offered}
    return f" ({', '.join(sorted(missing))}: not offered here.)" if missing and hint else ""


def _is_ours(tool: Tool) -> bool:
    """Whether a tool comes with toolcrib."""
    return tool.function.__module__.partition(".")[0] == "toolcrib"


# Before a call that sees files: what a process left in the middle is put right, once, and what
# the conversation has had protected is so again.


@dataclass(slots=True)
class Recovery(PlainService):
    """A service: whether that was done in this toolbox."""

    done: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


async def recovery(call: Call, proceed: Proceed) -> Result:
    """Let no call see a tree that is half changed since the process before was killed.

    Nor what is protected for this conversation since a process before.
    """
    if call.ctx.session.protected:
        from toolcrib.files.paths import Workspace

        call.ctx.use(Workspace).gate.protection.add(call.ctx.session.protected)
    state = call.ctx.use(Recovery)
    if not state.done and call.tool.rights & (READ | WRITE):
        async with state.lock:
            if not state.done:
                await _recover(call)
                state.done = True
    return await proceed(call)


async def _recover(call: Call) -> None:
    from toolcrib.files.changes.undo_schema import has_unfinished

    with suppress(ToolError):  # a store that cannot be used is told by whoever needs it
        if await has_unfinished(call.ctx.services):
            from toolcrib.files.changes.changes import Changes

            await call.ctx.use(Changes).recover()
