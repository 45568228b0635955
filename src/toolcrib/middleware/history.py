"""Every call leaves one record, also those that are refused or fail."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import traceback
from collections.abc import Mapping

from toolcrib.core.context import Call, Proceed
from toolcrib.core.errors import Internal, as_tool_error
from toolcrib.core.result import Result, well_formed
from toolcrib.state.history import History, HistoryEntry
from toolcrib.state.redaction import SecretFilter, redact
from toolcrib.text.tokens import estimate


async def history(call: Call, proceed: Proceed) -> Result:
    """Run the call and record it before its answer leaves."""
    if not call.ctx.config.history.enabled:
        return await proceed(call)
    began = time.time(), time.perf_counter()
    try:
        result = await proceed(call)
    except asyncio.CancelledError:
        await asyncio.shield(_record(call, began, "cancelled", Result()))
        raise
    except Exception as error:
        known = as_tool_error(error, call.tool.name)
        trace = "".join(traceback.format_exception(error, limit=-8))[-4000:]
        note = trace if isinstance(known, Internal) else ""
        await _record(call, began, known.stable_code, Result(text=known.message), note)
        raise
    outcome = result.error.code if result.error else "job" if result.job else "ok"
    await _record(call, began, outcome, result)
    return result


async def _record(
    call: Call, began: tuple[float, float], outcome: str, result: Result, note: str = ""
) -> None:
    ctx = call.ctx
    entry = HistoryEntry(
        id=ctx.call_id,
        time=began[0],
        surface=ctx.caller.surface,
        client=well_formed(ctx.caller.name),
        session=well_formed(ctx.session.id),
        tool=call.tool.name,
        arguments=_arguments(call),
        outcome=outcome,
        ms=(time.perf_counter() - began[1]) * 1000,
        tokens=result.tokens or (estimate(result.text) if result.text else 0),
        bytes_=len(result.text.encode("utf-8", "replace")),
        note=well_formed(note),
    )
    try:
        await ctx.use(History).record(entry)
    except Exception as error:  # noqa: BLE001 - what was done must still be answered
        ctx.warn(f"This call could not be recorded: {error}")


def _arguments(call: Call) -> str:
    given = call.arguments
    if isinstance(given, str):
        with contextlib.suppress(ValueError, RecursionError):
            given = json.loads(given)
    if not isinstance(given, Mapping):
        given = {} if given is None else {"arguments": given}
    try:
        redacted = redact(given, call.ctx.config.history.argument_chars)
        if call.ctx.secrets:
            redacted = SecretFilter(*call.ctx.secrets).value(redacted)
        return well_formed(json.dumps(redacted, ensure_ascii=False, default=str))
    except (ValueError, RecursionError):
        return "{}"
