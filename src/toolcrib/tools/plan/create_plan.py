"""`create_plan`: the steps of a longer task, written down."""

from __future__ import annotations

import re
import time
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, tool
from toolcrib.memory.place import origin_of, project_of
from toolcrib.memory.plans import Plans

_MARK = re.compile(r"\s*(?:[-*•+]\s+|\d{1,2}[.)]\s+)?(?:\[[ xX]?\]\s+)?")
_NUMBER = re.compile(r"(?:(?<=\s)|\A)(\d{1,2})[.)]\s+")
MIN_PARTS = 2
"""So many with a semicolon between them may be one sentence."""


def _split(steps: list[str]) -> list[str]:
    """The steps, where all stand in one text: a line each, numbered from 1, or three with ;."""
    if len(steps) != 1:
        return steps
    text = steps[0].strip()
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        return [line[_mark_end(line) :].strip() for line in lines]
    parts = [part.strip() for part in text.rstrip(";").split("; ") if part.strip()]
    if len(parts) > MIN_PARTS and not _NUMBER.match(text):
        return parts
    numbers = list(_NUMBER.finditer(text))
    if [int(found[1]) for found in numbers] != list(range(1, len(numbers) + 1)):
        return steps
    if len(numbers) < 2 or numbers[0].start():
        return steps
    ends = [*(found.start() for found in numbers[1:]), len(text)]
    return [text[found.end() : end].strip(" ,;") for found, end in zip(numbers, ends, strict=True)]


def _mark_end(line: str) -> int:
    found = _MARK.match(line)
    return found.end() if found else 0


def _adapt(arguments: dict[str, Any]) -> None:
    """Steps as objects, such as `{"content": "Sow", "status": "pending"}`, are their texts."""
    for name in ("steps", "todos", "tasks"):
        if isinstance(arguments.get(name), list):
            arguments[name] = [_text(step) for step in arguments[name]]


def _text(step: Any) -> Any:
    if not isinstance(step, dict):
        return step
    keys = ("content", "step", "title", "task", "text", "description", "name")
    return next((step[key] for key in keys if isinstance(step.get(key), str)), step)


@tool(
    group="plan",
    rights=WRITE,
    keywords=("todo", "task list", "steps", "checklist", "roadmap", "organize"),
    argument_aliases={"task": "goal", "title": "goal", "todos": "steps", "tasks": "steps"},
    argument_adapter=_adapt,
)
async def create_plan(
    goal: Annotated[str, Param("What is to be reached.", plain=True)],
    steps: Annotated[list[str], Param("1 to 30 sentences.", plain=True)],
    *,
    ctx: Ctx,
) -> Result:
    """Write down the steps of a longer task, to work through one by one.

    Use it for more than three steps. It is kept beyond this conversation; another plan may
    stay open beside it. update_plan_step moves a step on.
    """
    project = await project_of(ctx)
    plan = await ctx.use(Plans).create(goal, _split(steps), project.id, origin_of(ctx))
    now = time.time()
    return Result(plan.full(now), plan.to_json(now))
