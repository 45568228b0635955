"""`create_plan`: the steps of a longer task, written down."""

from __future__ import annotations

import re
import time
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.package_data import package_table
from toolcrib.core.result import Result
from toolcrib.core.tool import WRITE, Param, tool
from toolcrib.memory.place import origin_of, project_of
from toolcrib.memory.plans import MARKS, Plans, StepDraft, StepStatus

_BULLET = re.compile(r"\s*(?:[-*•+]\s+|\d{1,2}[.)]\s+)?")
_BOX = re.compile(r"\s*(?:[-*•+]\s+|\d{1,2}[.)]\s+)?\[([ xX>~/!-]?)\]\s+")
_BOXES: dict[str, StepStatus] = {
    **dict.fromkeys(("", " "), "pending"),
    **dict.fromkeys((">", "~", "/"), "in_progress"),
    **dict.fromkeys(("!", "-"), "blocked"),
    "x": "done",
}
_NUMBER = re.compile(r"(?:(?<=\s)|\A)(\d{1,2})[.)]\s+")
CANCELLED = "-"
"""The box of a step that is left undone, as other lists of tasks have it."""
MIN_PARTS = 2
"""So many with a semicolon between them may be one sentence."""


def _split(steps: list[str]) -> list[str]:
    """The steps, where all stand in one text: a line each, numbered from 1, or three with ;."""
    if len(steps) != 1:
        return steps
    text = steps[0].strip()
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        return [_BULLET.sub("", line, count=1).strip() for line in lines]
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


def _draft(text: str) -> StepDraft:
    """A step with the status that its box says, as `[x] Sow` does."""
    found = _BOX.match(text)
    if found is None:
        return StepDraft(text)
    note = "cancelled" if found[1] == CANCELLED else ""
    return StepDraft(text[found.end() :], _BOXES[found[1].lower()], note)


def _adapt(arguments: dict[str, Any]) -> None:
    """Steps as objects, such as `{"content": "Sow", "status": "done"}`, become `[x] Sow`."""
    for name in ("steps", "todos", "tasks"):
        if isinstance(arguments.get(name), list):
            arguments[name] = [_text(step) for step in arguments[name]]


def _text(step: Any) -> Any:
    if not isinstance(step, dict):
        return step
    keys = ("content", "step", "title", "task", "text", "description", "name")
    text = next((step[key] for key in keys if isinstance(step.get(key), str)), None)
    if text is None:
        return step
    word = str(step.get("status") or step.get("state") or "").strip().lower()
    word = re.sub(r"[\s-]+", "_", word)
    known: dict[str, str] = package_table("compat/models.toml")["words"]["update_plan_step"][
        "status"
    ]
    cancelled = word in ("cancelled", "canceled")
    mark = CANCELLED if cancelled else MARKS.get(known.get(word, word))
    return text if mark is None else f"[{mark}] {text}"


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
    drafts = [_draft(step) for step in _split(steps)]
    # A list of tasks that says how far they are is written again and again, for the same plan.
    rewrites = any(draft.status is not None for draft in drafts)
    plan = await ctx.use(Plans).create(goal, drafts, project.id, origin_of(ctx), rewrites=rewrites)
    now = time.time()
    return Result(plan.full(now), plan.to_json(now))
