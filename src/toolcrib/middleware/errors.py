"""The only place where an exception becomes a result."""

from __future__ import annotations

import sys

from toolcrib.core.call import Call, ErrorInfo, Result
from toolcrib.core.errors import Internal, TimedOut, ToolError
from toolcrib.core.pipeline import Proceed


async def errors(call: Call, proceed: Proceed) -> Result:
    """Turn whatever goes wrong into a result; only cancellation passes through."""
    try:
        return await proceed(call)
    except ToolError as error:
        return Result(error=ErrorInfo.of(error))
    except TimeoutError:
        return Result(error=ErrorInfo.of(TimedOut(f"{call.tool.name} took too long.")))
    except Exception as error:  # noqa: BLE001 - the edge: a defect must not end the server
        print(f"toolcrib: {call.tool.name}: {error!r}", file=sys.stderr)  # noqa: T201
        return Result(error=ErrorInfo.of(Internal(f"{call.tool.name} failed: {describe(error)}")))


def describe(error: BaseException) -> str:
    """An exception in one short line."""
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
