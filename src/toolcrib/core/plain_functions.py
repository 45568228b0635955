"""Functions of a program as tools: sync or async, with or without `ctx`, of any return value."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, is_dataclass
from functools import partial, wraps
from typing import Any

from toolcrib.core.result import Result, json_numbers


def awaitable(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """The function as the pipeline calls it: async, and with a `ctx`.

    A sync function runs in a thread of its own, so that it may wait; it cannot be interrupted.
    """
    takes_ctx = "ctx" in inspect.signature(function).parameters
    is_async = inspect.iscoroutinefunction(function)
    if is_async and takes_ctx:
        return function

    @wraps(function)
    async def run(*, ctx: Any, **arguments: Any) -> Any:
        if takes_ctx:
            arguments["ctx"] = ctx
        if is_async:
            return await function(**arguments)
        return await asyncio.to_thread(partial(function, **arguments))

    return run


def result_of(value: Any) -> Result:
    """A return value as a result: text as it is, other values as JSON beside their text."""
    if isinstance(value, Result):
        return value
    if value is None:
        return Result("Done.")
    if isinstance(value, str):
        return Result(value)
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    elif hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    elif isinstance(value, tuple | set | frozenset):
        value = list(value)
    try:
        text = json.dumps(json_numbers(value), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return Result(str(value))
    return Result(text, json.loads(text))
