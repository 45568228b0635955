"""A reminder where a host lets its model send the same call again and again."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import blake2b
from time import perf_counter

from toolcrib.core.context import Call, PlainService, Proceed
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result

MAX_SESSIONS = 500
DURATION = re.compile(r"\d+(\.\d+)? ?m?s\b")
"""What differs between two runs of the same thing."""
HOSTS = ("mcp", "openapi", "lmstudio")
"""Where a model is behind the call that nobody counts for: agents and the chat do it themselves."""


@dataclass(slots=True)
class Repetition(PlainService):
    """A service: the last call of each conversation, and how often in a row it was made."""

    last: OrderedDict[str, tuple[bytes, int, float]] = field(default_factory=OrderedDict)
    """By conversation: the call and its result, how often, and when its last result came."""

    def count(self, session: str, mark: bytes, began: float) -> int:
        """How often in a row this was, with this time.

        A call that began before the last result came is one with that: nobody had an answer yet.
        """
        before, number, ended = self.last.pop(session, (b"", 0, 0.0))
        if before != mark:
            number = 1
        elif began > ended:
            number += 1
        self.last[session] = mark, number, perf_counter()
        while len(self.last) > MAX_SESSIONS:
            self.last.popitem(last=False)
        return number


async def repeats(call: Call, proceed: Proceed) -> Result:
    """Let a call pass, and say so where it and its result are those of the calls before it."""
    limit = call.ctx.config.limits.repeats
    if not limit or call.ctx.caller.surface not in HOSTS:
        return await proceed(call)
    began = perf_counter()
    try:
        result = await proceed(call)
    except ToolError as error:
        _remind(call, error.message, limit, began)
        raise
    _remind(call, result.text, limit, began)
    return result


def _remind(call: Call, text: str, limit: int, began: float) -> None:
    try:
        sent = json.dumps(call.arguments, sort_keys=True, default=str)
    except (ValueError, TypeError, RecursionError):  # a program's own objects
        return
    content = "\0".join((call.tool.name, sent, DURATION.sub("", text)))
    mark = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    number = call.ctx.use(Repetition).count(call.ctx.session.id, mark, began)
    if number >= limit:
        call.ctx.warn(
            f"This very call was sent {number} times in a row, with the same result. "
            "Do something else, or answer with what there is."
        )
