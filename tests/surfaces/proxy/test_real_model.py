"""A real llama.cpp with a real small model behind the proxy: calls, memories and the guard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.cases import each_case
from tests.servers.local_model import local_model, missing
from tests.surfaces.proxy.proxies import TOOL, proxied, proxied_box, settings
from tests.surfaces.proxy.test_chat_calls import read
from tests.surfaces.proxy.test_stages import FILLER, NEEDLE, PATH, call, state
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import USER, MemoryDraft, Origin

MODEL = "qwen2.5-coder-0.5b"
pytestmark = [
    pytest.mark.skipif(bool(missing(MODEL)), reason=missing(MODEL) or "the model is there"),
    pytest.mark.timeout(400),
]
WEATHER = "What is the weather in Oslo? Use the tool."


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with local_model(MODEL) as url:
        yield url


def request_body(text: str, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"model": "m", "messages": messages, "temperature": 0, "max_tokens": 40, **more}


@each_case("stream", [True, False])
async def test_a_call_that_the_server_leaves_as_text(
    server: str, tmp_path: Path, stream: bool
) -> None:
    body = request_body(WEATHER, tools=[TOOL], stream=stream)
    async with (
        proxied(f"{server}/v1", config=state(tmp_path)) as base,
        httpx2.AsyncClient(timeout=200) as client,
    ):
        bare = await client.post(f"{server}{PATH}", json=body)
        mended = await client.post(f"{base}{PATH}", json=body)
    if stream:
        assert read(bare.content)[2] == []
        _, _, calls, finish = read(mended.content)
    else:
        assert not bare.json()["choices"][0]["message"].get("tool_calls")
        choice = mended.json()["choices"][0]
        functions = [made["function"] for made in choice["message"]["tool_calls"]]
        calls = [(made["name"], made["arguments"]) for made in functions]
        finish = choice["finish_reason"]
    assert [(name, json.loads(arguments)["city"]) for name, arguments in calls] == [
        ("get_weather", "Oslo")
    ]
    assert finish == "tool_calls"


async def test_the_model_answers_by_a_memory(server: str, tmp_path: Path) -> None:
    tree = settings([f"{server}/v1"], stages=["memory"]) | state(tmp_path)
    body = request_body("What is the name of my cat? Answer with one word.")
    async with (
        proxied_box(tree) as (base, toolbox),
        httpx2.AsyncClient(timeout=200) as client,
    ):
        draft = MemoryDraft("The name of the user's cat is Quillon.", USER)
        await toolbox.use(Memories).save(draft, Origin())
        bare = await client.post(f"{server}{PATH}", json=body)
        answer = await client.post(f"{base}{PATH}", json=body)
    assert "Quillon" not in bare.text
    assert "Quillon" in answer.json()["choices"][0]["message"]["content"]


async def test_what_is_longer_than_the_window_is_answered(server: str, tmp_path: Path) -> None:
    text = FILLER * 1_500 + NEEDLE + "\n" + FILLER * 200
    body = request_body("Look at the log.")
    body["messages"] += [
        call(1, "get_weather", city="A"),
        {"role": "tool", "tool_call_id": "c1", "content": text},
        {"role": "user", "content": "What is the number of the locker? Answer with the number."},
    ]
    async with (
        proxied(f"{server}/v1", config=state(tmp_path)) as base,
        httpx2.AsyncClient(timeout=200) as client,
    ):
        bare = await client.post(f"{server}{PATH}", json=body)
        answer = await client.post(f"{base}{PATH}", json=body)
    assert bare.status_code == 400  # it does not fit
    assert answer.status_code == 200, answer.text
    assert "4711" in answer.json()["choices"][0]["message"]["content"]
