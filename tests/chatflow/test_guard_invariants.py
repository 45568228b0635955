"""What holds of every conversation that the guard has been over, whatever its summariser does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from tests.chatflow.histories import damaged, history, problems
from toolcrib.chatflow.flow import run_stages
from toolcrib.chatflow.groups import ChatEntry
from toolcrib.chatflow.guard import guard
from toolcrib.chatflow.guard_texts import content_text
from toolcrib.chatflow.prompt import Complete, Prompt, StageContext
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.core.errors import Unavailable
from toolcrib.state.results import Results

DAY, NIGHT, PARTS = 120, 2_120, 10
TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {}}}]


async def good(messages: Any, *, model: str, max_tokens: int) -> str:
    return "## Goal\nTo mend the build.\n## Open steps\nLook at the parser once more."


async def failing(messages: Any, *, model: str, max_tokens: int) -> str:
    raise Unavailable("The model is gone.")


async def broken(messages: Any, *, model: str, max_tokens: int) -> str:
    raise RuntimeError("no")


async def hanging(messages: Any, *, model: str, max_tokens: int) -> str:
    await asyncio.Event().wait()
    return ""


async def echoing(messages: Any, *, model: str, max_tokens: int) -> str:
    return str(messages[-1]["content"])


async def overflowing(messages: Any, *, model: str, max_tokens: int) -> str:
    return "words and words " * 20_000


async def silent(messages: Any, *, model: str, max_tokens: int) -> str:
    return "<think>What could it be?</think>"


SUMMARISERS: tuple[Complete | None, ...] = (
    *(good, failing, broken, hanging, echoing, overflowing, silent),
    None,
)


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    config = Config.load(
        {"store": {"url": "sqlite://"}, "guard": {"summary_seconds": 0.005, "limit": 4_000}}
    )
    opened = Services(config)
    yield opened
    await opened.close()


async def over(
    messages: list[dict[str, Any]], seed: int, services: Services, complete: Complete | None
) -> Prompt:
    random = Random(seed)
    prompt = Prompt(
        json.loads(json.dumps(messages)),
        tools=TOOLS if random.random() < 0.7 else [],
        window=random.choice((None, 2_048, 4_000, 8_192)),
        owner=f"owner {seed}",
        has_tool_choice=random.random() < 0.1,
        answer_tokens=random.choice((0, 500)),
    )
    return await run_stages(prompt, StageContext(services, complete=complete), (guard,))


async def check(seed: int, services: Services) -> list[str]:
    """Everything that must hold of one history; what does not, in words."""
    sent = history(seed)
    complete = SUMMARISERS[seed % len(SUMMARISERS)]
    prompt = await over(sent, seed, services, complete)
    found = problems(sent, prompt.messages)
    if not prompt.changed and prompt.messages != sent:
        found.append("changed and not said")
    again = await over(sent, seed, services, complete)
    if again.messages != prompt.messages:
        found.append("the second time it is another")
    if prompt.tokens:
        room = (prompt.window or 4_000) - prompt.answer_tokens
        if prompt.tokens > room and prompt.messages == sent and len(sent) > 30:
            found.append("too long and nothing done")
    found += await unreadable(sent, prompt, services)
    longer = [*sent, *history(seed + 1)[1:]]
    if not problems(longer, longer):
        later = await over(longer, seed, services, complete)
        found += [f"the next time: {p}" for p in problems(longer, later.messages)]
    hurt = damaged(sent, Random(seed))
    mended = await over(hurt, seed, services, complete)
    found += [f"of a damaged one: {p}" for p in problems(hurt, mended.messages, legal=False)]
    return [f"history {seed}: {problem}" for problem in found]


async def unreadable(sent: list[dict[str, Any]], prompt: Prompt, services: Services) -> list[str]:
    """Messages that are gone from the prompt and do not stand in the stored results."""
    left = [m.get("content") for m in prompt.messages]
    gone = [m for m in sent if m.get("content") and m["content"] not in left]
    text = json.dumps(prompt.messages)
    words = set(text.replace("\\", " ").replace('"', " ").replace(".", " ").split())
    handles = {word.strip("[];:,)(") for word in words if len(word.strip("[];:,)(")) == 8}
    stored = []
    for handle in handles:
        try:
            stored.append((await services.use(Results).read(handle, prompt.conversation)).text)
        except Exception:
            continue
    whole = "\n".join(stored)
    texts = [content_text(ChatEntry("", message)) for message in gone]
    # A summary stands before an answer that was sent, and is no change of it.
    displayed = "\n".join(str(content) for content in left)
    return [f"not to be read: {t[:60]!r}" for t in texts if t not in whole and t not in displayed]


async def over_many(seeds: range, services: Services) -> list[str]:
    found = []
    for seed in seeds:
        found += await check(seed, services)
        if len(found) > 10:
            break
    return found


@pytest.mark.rows("C167", "C175")
async def test_the_invariants_hold(services: Services) -> None:
    assert await over_many(range(DAY), services) == []


@pytest.mark.parametrize("part", range(PARTS))
async def test_the_invariants_hold_of_many(part: int, services: Services) -> None:
    assert await over_many(range(DAY + part, NIGHT, PARTS), services) == []
