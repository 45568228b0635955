"""Folding middleware around a tool: one signature, one order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from toolcrib.core.call import Call, Result

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
