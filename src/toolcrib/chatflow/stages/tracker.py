"""The stage `tracking`: whether what a long conversation did is kept, asked once, and done.

The question and its answer stand in the conversation itself, so nothing else is remembered.
"""

from __future__ import annotations

from toolcrib.chatflow.groups import ChatEntry
from toolcrib.chatflow.guard_texts import telling_lines, user_words
from toolcrib.chatflow.phrases import heard, language_of, worded
from toolcrib.chatflow.prompt import Prompt, StageContext, text_of
from toolcrib.chatflow.token_count import Calibration, count_messages, count_tools
from toolcrib.memory.context_entries import ContextEntries
from toolcrib.memory.memory_records import (
    MAX_CONTENT_CHARS,
    MAX_TITLE_CHARS,
    EntryDraft,
    Origin,
    project_scope,
)
from toolcrib.memory.projects import Projects
from toolcrib.state.redaction import redact_text
from toolcrib.text.cleaner import one_line

STAGE, YES, NO = "tracking", "tracking:yes", "tracking:no"
CHECKPOINT_TOKENS = 400
CHECKPOINT_GROWTH = 0.75
"""Share of the guard's trigger from which a checkpoint is written before it may act."""


async def tracking(prompt: Prompt, context: StageContext) -> None:
    """Ask when the conversation has grown long, hear the answer, keep checkpoints after a yes."""
    if not prompt.is_new_turn:
        prompt.note(STAGE, "no new message")
        return
    language = context.config.stages.language or language_of(prompt.question)
    stages = {addition.stage for addition in prompt.earlier}
    if NO in stages:
        prompt.note(STAGE, "the user said no")
        return
    share = await _share(prompt, context)
    if YES in stages:
        if share >= CHECKPOINT_GROWTH * context.config.guard.trigger:
            await _checkpoint(prompt, context)
        prompt.note(STAGE, "on: the user said yes")
        return
    answer = heard(prompt.question) if prompt.previous_additions(STAGE) else None
    if answer is not None:
        if answer:
            await _checkpoint(prompt, context)
        prompt.add(YES if answer else NO, worded("tracked" if answer else "untracked", language))
        prompt.note(STAGE, f"the user said {'yes' if answer else 'no'}")
        return
    threshold = context.config.memory.track_threshold
    if STAGE in stages or share * 100 < threshold:
        prompt.note(STAGE, "asked and not answered" if STAGE in stages else f"{share:.0%} full")
        return
    prompt.add(STAGE, worded("track", language))
    prompt.note(STAGE, f"asks: {share:.0%} of the window is full")


async def _share(prompt: Prompt, context: StageContext) -> float:
    """How full the window is, before the guard has taken anything out."""
    calibration = context.use(Calibration)
    window = prompt.window or await calibration.window(prompt.model) or context.config.guard.limit
    ratio = await calibration.ratio(prompt.model, prompt.conversation)
    tokens = (count_messages(prompt.messages) + count_tools(prompt.tools)) * ratio
    return tokens / window


async def _checkpoint(prompt: Prompt, context: StageContext) -> None:
    """Keep what was said and done so far, for the project."""
    messages = prompt.originals
    words = user_words([text_of(m) for m in messages if m.get("role") == "user"], CHECKPOINT_TOKENS)
    entries = [ChatEntry("", message) for message in messages]
    lines = telling_lines(entries, prompt.question, CHECKPOINT_TOKENS)
    has_results = any(message.get("role") == "tool" for message in messages)
    first = next((text_of(m) for m in messages if m.get("role") == "user"), "")
    content = redact_text(f"{words}\n\n{lines}")[:MAX_CONTENT_CHARS]
    title = redact_text(f"Checkpoint: {one_line(first)}")[:MAX_TITLE_CHARS]
    directory = context.ctx.session.directory if context.ctx else ""
    project = await context.use(Projects).current(directory)
    # What tools gave may be outside text, so such a checkpoint is marked like one.
    origin = Origin(prompt.conversation, "chat", "", has_results)
    draft = EntryDraft("summary", title, content)
    await context.use(ContextEntries).save([draft], project_scope(project.id), origin)
