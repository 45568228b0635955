"""The stage `hints`: when to delegate and when to plan, by how often the user wants it."""

from __future__ import annotations

from toolcrib.chatflow.phrases import language_of, worded
from toolcrib.chatflow.prompt import Prompt, StageContext

PLAN_TOOLS = {"create_plan", "update_plan_step"}


async def hints(prompt: Prompt, context: StageContext) -> None:
    """Add the hints for which the model has the tools to a new message."""
    if not prompt.is_new_turn:
        prompt.note("hints", "no new message")
        return
    settings = context.config.stages
    language = settings.language or language_of(prompt.question)
    names = tool_names(prompt)
    lines = []
    if settings.delegation != "never" and "delegate_task" in names:
        when = worded(settings.delegation, language)
        lines.append(worded("delegation", language, when=when))
    if context.config.plan.hint != "never" and names >= PLAN_TOOLS:
        lines.append(worded(f"plan_{context.config.plan.hint}", language))
    if lines:
        prompt.add("hints", "\n".join(lines))
    prompt.note("hints", f"{len(lines)} added")


def tool_names(prompt: Prompt) -> set[str]:
    """The names of the tools that the model is offered."""
    functions = (tool.get("function") or tool for tool in prompt.tools)
    return {str(function.get("name") or "") for function in functions}
