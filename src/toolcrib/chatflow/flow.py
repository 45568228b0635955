"""The way of a prompt through its stages."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.chatflow.prompt import Prompt, Stage, StageContext, chain_keys, conversation_id
from toolcrib.core.errors import ToolError


async def run_stages(prompt: Prompt, context: StageContext, stages: Sequence[Stage]) -> Prompt:
    """Send a prompt through stages, in this order; the same prompt, changed where they say so.

    A stage that fails is left out, and the trace says why: a request that would pass without
    us is never lost.
    """
    prompt.keys = chain_keys(prompt.messages, prompt.owner)
    prompt.conversation = conversation_id(prompt.messages, prompt.keys)
    for stage in stages:
        name = getattr(stage, "__name__", "stage")
        try:
            await stage(prompt, context)
        except ToolError as error:
            prompt.note(name, f"left out: {error.message}")
    return prompt
