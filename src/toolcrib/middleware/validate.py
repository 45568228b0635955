"""Arguments are made to fit or refused, with the right names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolcrib.core.arguments import bind, usage
from toolcrib.core.call import Call, Result
from toolcrib.core.errors import BadInput, TooLarge
from toolcrib.core.pipeline import Proceed


async def validate(call: Call, proceed: Proceed) -> Result:
    """Replace the caller's arguments by checked keyword arguments.

    Raises:
        TooLarge: more text than `limits.max_argument_chars`.
        BadInput: anything that the tool does not take.
    """
    limit = call.ctx.config.limits.max_argument_chars
    if _size(call.arguments) > limit:
        raise TooLarge(
            f"The arguments of {call.tool.name} are larger than {limit:,} characters.",
            hint="Send less at a time, or raise limits.max_argument_chars.",
        )
    try:
        bound = await bind(call.tool, call.arguments, call.ctx)
        return await proceed(replace(call, arguments=bound))
    except BadInput as error:
        if error.hint == BadInput.default_hint:
            error.hint = usage(call.tool)
        raise


def _size(value: Any) -> int:
    """Characters of text in a JSON value."""
    total, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            total += len(item)
        elif isinstance(item, Mapping):
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, list | tuple):
            waiting += item
        total += 1
    return total
