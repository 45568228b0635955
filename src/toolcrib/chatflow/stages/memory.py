"""The stage `memory`: facts of earlier conversations that a message is about."""

from __future__ import annotations

from toolcrib.chatflow.phrases import language_of, worded
from toolcrib.chatflow.prompt import Prompt, StageContext
from toolcrib.memory.memories import Memories
from toolcrib.memory.place import ConversationPlace
from toolcrib.memory.projects import Projects
from toolcrib.memory.recall import recall


async def memory(prompt: Prompt, context: StageContext) -> None:
    """Add what is remembered and fits a new message; nothing that may be outside text."""
    if not prompt.is_new_turn or not prompt.question.strip():
        prompt.note("memory", "no new message")
        return
    directory = context.ctx.session.directory if context.ctx else ""
    project = await context.use(Projects).current(directory)
    place = ConversationPlace(project, prompt.conversation)
    settings = context.config.stages
    facts = await recall(
        context.use(Memories), prompt.question, place.scopes, settings.memory_tokens
    )
    left_out = f", {facts.outside} left out that may be outside text" if facts.outside else ""
    prompt.note("memory", f"{len(facts.memories)} facts, {facts.tokens} tokens{left_out}")
    if facts.memories:
        language = settings.language or language_of(prompt.question)
        prompt.add("memory", f"{worded('memories', language)}\n{facts.text}]")
