"""Running a jq program within bounds of time, memory, results and bytes."""

from __future__ import annotations

import importlib.util
import json
import sys
from functools import cache
from pathlib import Path

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, TimedOut, TooLarge, Unavailable
from toolcrib.kit.process import Processes

SECONDS = 5.0
MEGABYTES = 384
MAX_RESULTS = 1000
MAX_CHARS = 10_000
MAX_BYTES = 4_000_000
WORKER = str(Path(__file__).with_name("worker.py"))

# Imports must stand first in a program, so here they are a syntax error; the definitions
# hide what could tell of this machine. The line break ends a comment.
PROGRAM = (
    'def env: {{}}; def modulemeta: error("there are no modules"); '
    "{{}} as $ENV | limit({most}; (\n{program}\n))"
)


async def run_program(program: str, text: str, ctx: Ctx) -> list[str]:
    """The results of a jq program over a JSON text, each as JSON.

    The program runs in a child without environment, files and network, which is killed
    when its time is up.

    Raises:
        BadInput: it is no program, or it failed on this input.
        TimedOut, TooLarge: it takes too long, or too much memory.
        Unavailable: jq cannot be run here.
    """
    if not program.strip():
        raise BadInput("The filter is empty.", hint="A filter looks like: .items[] | {id, name}")
    if len(program) > MAX_CHARS:
        raise BadInput(f"The filter has more than {MAX_CHARS:,} characters.")
    whole = PROGRAM.format(most=MAX_RESULTS + 1, program=program.replace("\0", " "))
    asked = json.dumps({"program": whole, "text": text}).encode()
    done = await ctx.use(Processes).run(
        [sys.executable, "-I", "-S", "-B", WORKER, _module(), str(MEGABYTES)],
        cwd="/",
        stdin=asked,
        timeout=ctx.remaining(SECONDS),
        max_output=2 * MAX_BYTES,
        passed_on=(),
    )
    if done.timed_out:
        raise TimedOut(f"The filter was stopped after {SECONDS:g} s.", hint="Use a simpler filter.")
    if done.stdout.size > MAX_BYTES:
        raise TooLarge(f"The filter gives more than {MAX_BYTES:,} bytes.", hint="Select less.")
    return _results(bytes(done.stdout), done.exit_code)


def _results(output: bytes, exit_code: int) -> list[str]:
    try:
        answer = json.loads(output)
    except ValueError:
        raise TooLarge(
            "The filter needs too much memory.",
            hint="Use a filter that gives less.",
            exit_code=exit_code,
        ) from None
    if "error" in answer:
        said = _told(answer["error"])
        raise BadInput(
            f"The filter failed: {said}",
            hint="Mend the jq expression, or leave 'filter' out to see the whole answer.",
        )
    text: str = answer["text"]
    lines = text.split("\n") if text else []
    return [json.dumps(json.loads(line), ensure_ascii=False) for line in lines]


def _told(error: str) -> str:
    """The first line of what jq says, without where it stands in our own wrapping."""
    line = error.strip().split("\n", 1)[0].removeprefix("jq: error: ")
    return line.partition(" at <top-level>")[0][:300].rstrip(".") + "."


@cache
def _module() -> str:
    """The file of the extension module, found without loading it."""
    spec = importlib.util.find_spec("jq")
    if not sys.executable or spec is None or not spec.origin:
        raise Unavailable(
            "Filters need the package jq, which is not installed here.",
            hint="Leave 'filter' out, or install it with: pip install jq",
        )
    return spec.origin
