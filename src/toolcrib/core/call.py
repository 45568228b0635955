"""One call on its way to a tool, and the pipeline that it goes through."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import Tool


@dataclass(frozen=True, slots=True)
class Call:
    """One call on its way to a tool.

    `arguments` are the caller's own (an object, or JSON text) until the validate
    middleware has replaced them by checked keyword arguments. `implied` are those that
    the name says by which the tool was called, where the caller sends nothing else.
    """

    tool: Tool
    arguments: Any
    ctx: Ctx
    implied: Mapping[str, Any] = field(default_factory=dict)


Proceed = Callable[[Call], Awaitable[Result]]
Middleware = Callable[[Call, Proceed], Awaitable[Result]]


async def run_tool(call: Call) -> Result:
    """The innermost step: the tool's own function."""
    return await call.tool.function(**call.arguments, ctx=call.ctx)


def fold(middleware: Sequence[Middleware], innermost: Proceed = run_tool) -> Proceed:
    """One callable out of many: the first of the sequence stands outermost."""
    handler = innermost
    for wrap in reversed(middleware):
        handler = _around(wrap, handler)
    return handler


def _around(wrap: Middleware, inner: Proceed) -> Proceed:
    async def handler(call: Call) -> Result:
        return await wrap(call, inner)

    return handler
