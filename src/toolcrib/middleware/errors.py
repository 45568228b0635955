"""The only place where an exception becomes a result, and where notes are added to it."""

from __future__ import annotations

import sys
from dataclasses import replace

from toolcrib.core.call import Call, ErrorInfo, Result, well_formed
from toolcrib.core.errors import Internal, as_tool_error
from toolcrib.core.pipeline import Proceed
from toolcrib.text.cleaner import clean


async def errors(call: Call, proceed: Proceed) -> Result:
    """Turn whatever goes wrong into a result; only cancellation passes through."""
    try:
        result = await proceed(call)
    except Exception as error:  # noqa: BLE001 - the edge: a defect must not end the server
        known = as_tool_error(error, call.tool.name)
        if isinstance(known, Internal):
            print(f"toolcrib: {call.tool.name}: {error!r}", file=sys.stderr)  # noqa: T201
        # A message may quote a server, a page or a file name.
        known.message, known.hint = clean(known.message).text, clean(known.hint).text
        result = Result(error=ErrorInfo.of(known))
    notes = [f"Note: {note}" for note in (*call.ctx.warnings, *call.ctx.services.news())]
    call.ctx.warnings.clear()
    text = well_formed("\n".join([result.text, *notes] if result.text else notes))
    return result if text == result.text else replace(result, text=text)
