"""The filter by jq: a program of it run within bounds of time, memory, results and bytes."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING

from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.execution.workers import Task, Workers

if TYPE_CHECKING:
    from toolcrib.core.context import Ctx

MAX_RESULTS = 1000
MAX_CHARS = 10_000
FILTER = Task(
    "toolcrib.execution.jq_child:run",
    "The filter",
    seconds=5.0,
    megabytes=384,
    max_bytes=4_000_000,
    hint="Use a simpler filter, or one that gives less.",
)

# Imports must stand first in a program, so here they are a syntax error; the definitions
# hide what could tell of this machine. The line break ends a comment. As text of JSON, numbers that
# the program only passes on have all their digits: as values they would be rounded to floats.
PROGRAM = (
    'def env: {{}}; def modulemeta: error("there are no modules"); '
    "{{}} as $ENV | limit({max_results}; (\n{program}\n)) | tojson"
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
    if find_spec("jq") is None:
        raise Unavailable(
            "Filters need the package jq, which is not installed here.",
            hint="Leave 'filter' out, or install it with: pip install jq",
        )
    whole = PROGRAM.format(max_results=MAX_RESULTS + 1, program=program.replace("\0", " "))
    request = {"program": whole}
    try:
        _, output = await ctx.use(Workers).run(FILTER, request, text.encode(), ctx.deadline)
    except BadInput as error:
        raise BadInput(
            f"The filter failed: {_first_line(error.message)}",
            hint="Mend the jq expression, or leave it out to see the whole.",
        ) from None
    lines = output.decode().split("\n") if output else []
    return [json.dumps(json.loads(line), ensure_ascii=False) for line in lines]


def _first_line(error: str) -> str:
    """The first line of an error of jq, without its place in our own wrapping."""
    line = error.strip().split("\n", 1)[0].removeprefix("jq: error: ")
    return line.partition(" at <top-level>")[0][:300].rstrip(".") + "."
