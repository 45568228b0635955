"""Runs in a worker process: JavaScript that only computes, without files, network or clock."""

from __future__ import annotations

import re
import time
from typing import Any

import quickjs  # type: ignore[import-untyped,unused-ignore]

from toolcrib.core.errors import TimedOut, TooLarge
from toolcrib.core.package_data import package_text

MAX_OUTPUT_CHARS = 2_000_000
MEMORY_BYTES = 256_000_000
STACK_BYTES = 512 * 1024
SHIM = package_text("execution/interpreters/quickjs.js").replace(
    "MOST_OUTPUT", str(MAX_OUTPUT_CHARS)
)
OUR_FRAMES = re.compile(r"\n\s+at eval \(native\)\n\s+at run \(<input>:[\s\S]*$")
WORDS = ("await", "import", "export")


def prepare() -> None:
    """Load the engine."""
    run({"code": "1", "seconds": 1.0}, b"")


def run(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Run `code`, at most `seconds`; why it `failed` and what it wrote, as UTF-8.

    Raises:
        TimedOut, TooLarge: it takes too long, too much memory, or writes too much.
    """
    del data
    end = time.monotonic() + request["seconds"]
    context = quickjs.Context()
    context.set_memory_limit(MEMORY_BYTES)
    context.set_max_stack_size(STACK_BYTES)
    outside = context.eval(SHIM)
    failed = ""
    try:
        _execute(context, outside, request["code"], end)
        failed = OUR_FRAMES.sub("", str(outside("failed")()))
    except (quickjs.JSException, quickjs.StackOverflow) as error:
        failed = OUR_FRAMES.sub("", str(error).strip())
    if "InternalError: interrupted" in failed:
        raise TimedOut(f"The code was stopped after {request['seconds']:g} seconds.")
    if "too much output" in failed:
        raise TooLarge(f"The code writes more than {MAX_OUTPUT_CHARS:,} characters.")
    if failed == "null" or "out of memory" in failed:
        raise TooLarge(f"The code needs more than {MEMORY_BYTES // 1_000_000} MB of memory.")
    return {"failed": failed}, str(outside("output")()).encode("utf-8", "replace")


def _execute(context: Any, outside: Any, code: str, end: float) -> None:
    """Run the code, and then what waits, until nothing does or the time is over."""
    _limit(context, end)
    try:
        outside("run")(code)
    except quickjs.JSException as error:
        if "SyntaxError" not in str(error) or not any(word in code for word in WORDS):
            raise
        context.module(code)
    while True:
        _limit(context, end)
        while context.execute_pending_job():
            _limit(context, end)
        if not outside("tick")():
            break
    outside("end")()
    context.set_time_limit(-1)


def _limit(context: Any, end: float) -> None:
    left = end - time.monotonic()
    if left <= 0:
        raise quickjs.JSException("InternalError: interrupted")
    context.set_time_limit(left)
