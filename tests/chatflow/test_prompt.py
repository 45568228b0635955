"""Prompts: how conversations are known again, and stages that fail."""

from __future__ import annotations

from typing import Any

from toolcrib.chatflow.flow import run_stages
from toolcrib.chatflow.prompt import Prompt, StageContext, chain_keys, conversation_id
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import Unavailable


def chat(*texts: str) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]


def test_keys_are_those_of_what_was_said() -> None:
    plain = chat("hello", "hi", "and now?")
    parts = [
        {"role": "system", "content": "It is noon."},
        {"role": "user", "content": [{"type": "text", "text": "hello", "cache_control": {}}]},
        {"role": "assistant", "content": "hi", "reasoning_content": "say hi", "tool_calls": None},
        {"role": "user", "content": [{"type": "text", "text": "and now?"}]},
    ]
    assert chain_keys(plain, "") == chain_keys(parts, "")[1:]
    keys = chain_keys(plain, "")
    assert conversation_id(plain, keys) == conversation_id(parts, chain_keys(parts, ""))
    assert not set(keys) & set(chain_keys(plain, "another token"))
    assert chain_keys(chat("hello", "hey", "and now?"), "")[0] == keys[0]
    assert chain_keys(chat("hello", "hey", "and now?"), "")[1:] != keys[1:]
    image = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a"}}]}]
    assert chain_keys(image, "") != chain_keys([{"role": "user", "content": ""}], "")


async def test_a_stage_that_fails_is_left_out() -> None:
    async def failing(prompt: Prompt, context: StageContext) -> None:
        raise Unavailable("The index is being made.")

    async def noting(prompt: Prompt, context: StageContext) -> None:
        prompt.note("noting", prompt.question)

    context = StageContext(Services(Config()))
    prompt = await run_stages(Prompt(chat("hello")), context, (failing, noting))
    lines = [(trace.stage, trace.line) for trace in prompt.trace]
    assert lines == [("failing", "left out: The index is being made."), ("noting", "hello")]
    assert not prompt.changed
    empty = await run_stages(Prompt([]), context, (noting,))
    assert empty.conversation == "chat-empty"
