"""The way of a prompt through its stages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module

from toolcrib.chatflow.edits import EditLog, Edits
from toolcrib.chatflow.phrases import language_of
from toolcrib.chatflow.prompt import (
    Prompt,
    Stage,
    StageContext,
    apply_additions,
    chain_keys,
    conversation_id,
)
from toolcrib.core.config import Config
from toolcrib.core.errors import BadInput, ToolError
from toolcrib.memory.memory_records import USER, session_scope
from toolcrib.memory.work_state import WorkStates

HANDLE = "read_more(handle="
STAGES = {
    "tracking": "toolcrib.chatflow.stages.tracker",
    "first_turn": "toolcrib.chatflow.stages.first_turn",
    "attachments": "toolcrib.chatflow.stages.attachments",
    "projects": "toolcrib.chatflow.stages.projects",
    "paths": "toolcrib.chatflow.stages.paths",
    "documents": "toolcrib.chatflow.stages.documents",
    "memory": "toolcrib.chatflow.stages.memory",
    "hints": "toolcrib.chatflow.stages.hints",
    "clock": "toolcrib.chatflow.stages.clock",
    "capture": "toolcrib.chatflow.stages.capture",
    "repeats": "toolcrib.chatflow.stages.repeats",
    "guard": "toolcrib.chatflow.guard",
}
"""All stages in their order, each a function of its name in this module.

Answers of the user are heard first, and the clock comes at the end of a message. The guard is
last, for it counts what the others add.
"""


def select_stages(names: Iterable[str], config: Config) -> tuple[Stage, ...]:
    """Stages by name, in their order.

    Args:
        names: those that the surface has on, such as `guard` and `clock`.
        config: `stages.use` adds to them, and `stages.skip` takes away.

    Raises:
        BadInput: there is no such stage.
    """
    wanted = {*names, *config.stages.use} - set(config.stages.skip)
    unknown = sorted(wanted - STAGES.keys())
    if unknown:
        raise BadInput(
            f"There is no stage '{unknown[0][:40]}'.", hint=f"There are: {', '.join(STAGES)}."
        )
    return tuple(
        getattr(import_module(module), name) for name, module in STAGES.items() if name in wanted
    )


async def run_stages(prompt: Prompt, context: StageContext, stages: Sequence[Stage]) -> Prompt:
    """Send a prompt through stages, in this order; the same prompt, changed where they say so.

    What stages added to earlier messages is added again first, byte for byte. A stage that
    fails is left out, and the trace says why: a request that would pass without us is never
    lost.
    """
    _begin(prompt)
    # The order of `stages` is theirs: the guard comes last, since it counts what they add.
    before = [stage for stage in stages if stage_name(stage) != "guard"]
    if before and prompt.messages:
        stale = await _add_again(prompt, context)
        _count_message(prompt, context)
        for stage in before:
            await _run(stage, prompt, context)
        await _remember(prompt, context, stale=stale)
        named = any(HANDLE in a.text for a in (*prompt.earlier, *prompt.additions))
        prompt.offers_read_more = named and bool(prompt.tools) and not prompt.has_tool_choice
    for stage in stages:
        if stage not in before:
            await _run(stage, prompt, context)
    return prompt


def _begin(prompt: Prompt) -> None:
    """Know the conversation; what an earlier run did to the prompt counts no more."""
    prompt.originals = list(prompt.messages)
    prompt.messages = list(prompt.messages)
    prompt.keys = chain_keys(prompt.messages, prompt.owner)
    prompt.conversation = prompt.session or conversation_id(prompt.messages, prompt.keys)
    prompt.additions, prompt.known, prompt.notices = [], {}, []
    prompt.tokens = prompt.estimated_tokens = 0
    prompt.changed = prompt.offers_read_more = False
    prompt.report = ""


def _count_message(prompt: Prompt, context: StageContext) -> None:
    """Note in the state of the work that the user said something, and in which language."""
    if prompt.is_new_turn and prompt.question:
        language = context.config.stages.language or language_of(prompt.question)
        for scope in (USER, session_scope(prompt.conversation)):
            context.use(WorkStates).note(scope, {"messages": 1, "language": language})


async def _run(stage: Stage, prompt: Prompt, context: StageContext) -> None:
    try:
        await stage(prompt, context)
    except ToolError as error:
        prompt.note(stage_name(stage), f"left out: {error.message}")
    except Exception as error:  # noqa: BLE001 - the request goes on without this stage
        prompt.note(stage_name(stage), f"left out: {type(error).__name__}: {str(error)[:200]}")


def stage_name(stage: Stage) -> str:
    """What a stage is called in notes and lists."""
    return getattr(stage, "__name__", "stage")


async def _add_again(prompt: Prompt, context: StageContext) -> bool:
    """Add to earlier messages what stages added to them when they came.

    Returns:
        Whether something is stored for the turn that begins, which holds no longer.
    """
    sent = list(prompt.keys)
    edits = await context.use(EditLog).load(sent, ("add",))
    # A turn that begins is worked on anew: another conversation may have begun the same.
    fresh = sent[-1] if prompt.is_new_turn else ""
    count = 0
    for key in sent:
        if key != fresh and key in edits.additions:
            prompt.known[key] = edits.additions[key]
            apply_additions(prompt, key, edits.additions[key])
            count += len(edits.additions[key])
    if count:
        prompt.note("stages", f"{count} earlier additions added again")
    return bool(edits.additions.get(fresh))


async def _remember(prompt: Prompt, context: StageContext, *, stale: bool) -> None:
    """Store what stages added now, so that later requests have it too."""
    at = prompt.last_user
    if at is None or not (prompt.additions or stale):
        return
    edits = Edits(additions={prompt.keys[at]: tuple(prompt.additions)})
    await context.use(EditLog).save(prompt.owner, edits)
