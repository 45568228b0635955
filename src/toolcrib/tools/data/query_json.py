"""`query_json`: parts of a JSON file by a path or by jq."""

from __future__ import annotations

import json
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, tool
from toolcrib.data.json_path import find, loads, steps_of
from toolcrib.execution.jq import run_program
from toolcrib.files.content.kinds import decoded
from toolcrib.files.paths import WorkspacePath
from toolcrib.system.threads import in_thread
from toolcrib.text.display import counted

MAX_BYTES = 10_000_000


@tool(
    group="data",
    rights=READ,
    keywords=("jq", "jsonpath", "jsonl", "path", "filter", "transform"),
    aliases=("json_query", "transform_json", "read_json", "jq"),
    argument_aliases={
        "file": "path",
        "file_path": "path",
        "path_expression": "query",
        "expression": "query",
        "filter": "query",
        "json": "input",
        "data": "input",
    },
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
    if path is not None:
        place = path
        data = await in_thread(lambda _: place.read_bytes(MAX_BYTES), ctx.deadline)
        text = decoded(data)
    value = await in_thread(lambda _: loads(text, name), ctx.deadline)
    steps = steps_of(query)
    if steps is None:
        plain = await in_thread(lambda _: json.dumps(value), ctx.deadline)
        lines = await run_program(query, plain, ctx)
        results, missing = [json.loads(line) for line in lines], ""
    else:
        found_here = steps
        results, missing = await in_thread(lambda _: find(value, found_here), ctx.deadline)
    facts: dict[str, Any] = {"found": bool(results), "count": len(results), "results": results}
    if not results:
        return Result(text=f"Nothing found. {missing}".strip(), data=facts, private=True)
    head = f"{counted(len(results), 'result')}:\n" if len(results) > 1 else ""
    one = len(results) == 1
    listed = "\n".join(
        json.dumps(r, ensure_ascii=False, indent=1 if one else None) for r in results
    )
    return Result(text=f"{head}{listed}", data=facts, private=True)
