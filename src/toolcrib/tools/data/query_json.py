"""`query_json`: parts of a JSON file by a path or by jq."""

from __future__ import annotations

import json
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.core.result import Result, json_numbers
from toolcrib.core.tool import READ, Param, other_names, tool
from toolcrib.data.json_path import bare_query, find, loads, may_be_program, pointed, steps_of
from toolcrib.execution.jq import run_program
from toolcrib.files.content.kinds import decoded
from toolcrib.files.new_names import refuse_file_name
from toolcrib.files.paths import WorkspacePath
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted

MAX_BYTES = 10_000_000


@tool(
    group="data",
    rights=READ,
    keywords=("jq", "jsonpath", "jsonl", "path", "filter", "transform"),
    aliases=("json_query", "transform_json", "read_json", "jq"),
    argument_aliases=other_names(
        path=("file", "file_path"),
        query=("path_expression", "expression", "filter"),
        input=("json", "data"),
    ),
)
async def query_json(
    query: Annotated[str, Param("items[*].name")] = ".",
    path: WorkspacePath | None = None,
    input: str = "",  # noqa: A002 - as its fellows
    *,
    ctx: Ctx,
) -> Result:
    """Read parts of a JSON file by path or jq.

    JSON Lines are read too. Paths are names, indexes and wildcards: `users[0].name`,
    `$.users[*].id`. Anything else is a program of jq, such as
    `[.users[] | select(.age > 30)] | length`.
    """
    if (path is None) == (not input):
        raise BadInput("Give 'path' or 'input', one of them.", hint='As path="data.json".')
    name = path.display if path is not None else "The input"
    text = input
    if path is None:
        await refuse_file_name(input, "input", ctx)
    else:
        place = path
        data = await in_thread(lambda _: place.read_bytes(MAX_BYTES), ctx.deadline)
        text = decoded(data)
    value = await in_thread(lambda _: json_numbers(loads(text, name)), ctx.deadline)
    results, missing = await _found(query, value, ctx)
    facts: dict[str, Any] = {"found": bool(results), "count": len(results), "results": results}
    if not results:
        return Result(text=f"Nothing found. {missing}".strip(), data=facts, private=True)
    head = f"{counted(len(results), 'result')}:\n" if len(results) > 1 else ""
    one = len(results) == 1
    listed = "\n".join(
        json.dumps(r, ensure_ascii=False, indent=1 if one else None) for r in results
    )
    return Result(text=f"{head}{listed}", data=facts, private=True)


async def _found(query: str, value: Any, ctx: Ctx) -> tuple[list[Any], str]:
    """What a path or a program gives, and why a path gives nothing.

    A name that is there goes first: `length` and `a-b` may be both a name and a program.
    """
    query = bare_query(query)
    steps = steps_of(query)
    missing = ""
    if steps is not None:
        results, missing = await in_thread(lambda _: find(value, steps), ctx.deadline)
        pointer = pointed(query)
        if not results and pointer:
            results, missing = find(value, pointer)
        if results or pointer or not may_be_program(query):
            return results, missing
    plain = await in_thread(lambda _: json.dumps(value), ctx.deadline)
    program = query.strip().removeprefix("$") if steps is not None else query
    try:
        lines = await run_program(program, plain, ctx)
    except (BadInput, Unavailable):
        if steps is None:
            raise
        return [], missing
    return [json.loads(line) for line in lines], ""
