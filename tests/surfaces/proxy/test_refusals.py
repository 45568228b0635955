"""What a server refuses as we made it, and takes as it came, is not lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2

from tests.cases import each_case
from tests.servers.model import Answer, Raw, Turn, model_server
from tests.surfaces.proxy.proxies import TOOL, ask, proxied
from tests.surfaces.proxy.test_stages import FILLER, PATH, WINDOW, call, history, state


def refusal(message: str, status: int) -> Raw:
    reply = {"error": {"code": status, "message": message}}
    return Raw((json.dumps(reply).encode(),), status, "application/json")


def alternating(body: dict[str, Any]) -> Answer:
    """As the templates of Gemma and Mistral: the user and the model take turns."""
    spoken = [m for m in body["messages"] if m["role"] != "tool" and not m.get("tool_calls")]
    for place, message in enumerate(spoken):
        if message["role"] != ("assistant" if place % 2 else "user"):
            return refusal("Conversation roles must alternate user/assistant/...", 500)
    return Turn("fine")


def without_tools(body: dict[str, Any]) -> Answer:
    """As Ollama with a model whose template knows no tools."""
    return refusal("m does not support tools", 400) if body.get("tools") else Turn("fine")


def without_read_more(body: dict[str, Any]) -> Answer:
    """As a server that limits the number of tools."""
    return refusal("too many tools", 422) if len(body.get("tools") or ()) > 1 else Turn("fine")


def only_results_of_its_own(body: dict[str, Any]) -> Answer:
    """As a template that cannot show what tools gave."""
    if any(message["role"] == "tool" for message in body["messages"]):
        return refusal("Only user and assistant roles are supported!", 500)
    return Turn("", [("list_directory", {"path": "."})]) if body.get("tools") else Turn("fine")


@each_case("stream", [True, False])
async def test_a_history_that_the_template_takes_as_it_is(tmp_path: Path, stream: bool) -> None:
    user = {"role": "user", "content": "Look."}
    alone = {"role": "tool", "tool_call_id": "gone", "content": FILLER * 100}
    messages = [user, alone, {"role": "assistant", "content": "x"}, user]
    with model_server(alternating) as server:
        async with (
            proxied(server.url, config=state(tmp_path)) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            body = ask(stream=stream) | {"messages": messages}
            answer = await client.post(PATH, json=body)
    assert (answer.status_code, "fine" in answer.text) == (200, True)
    assert [requested == body for requested in server.requested] == [False, True]


@each_case("script", [without_tools, only_results_of_its_own])
@each_case("stream", [True, False])
async def test_tools_of_ours_that_the_model_cannot_have(
    tmp_path: Path, script: Any, stream: bool
) -> None:
    with model_server(script) as server:
        async with (
            proxied(server.url, config=state(tmp_path), tools="list_directory") as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            answer = await client.post(PATH, json=ask(stream=stream))
    assert (answer.status_code, "fine" in answer.text) == (200, True)
    assert "error" not in answer.text
    assert server.requested[-1] == ask(stream=stream)


async def test_a_tool_more_than_the_server_takes(tmp_path: Path) -> None:
    with model_server(without_read_more) as server:
        server.pages = WINDOW
        async with (
            proxied(server.url, config=state(tmp_path)) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            answer = await client.post(PATH, json=ask(tools=[TOOL]) | {"messages": history()})
    assert (answer.status_code, "fine" in answer.text) == (200, True)


@each_case("status", [401, 429, 503])
async def test_other_refusals_are_not_asked_for_twice(tmp_path: Path, status: int) -> None:
    with model_server(refusal("not now", status)) as server:
        async with (
            proxied(server.url, config=state(tmp_path), tools="list_directory") as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            answer = await client.post(PATH, json=ask())
    assert (answer.status_code, len(server.requested)) == (status, 1)


@each_case("tools", ["", "list_directory"])
async def test_a_store_that_cannot_be_read(tmp_path: Path, tools: str) -> None:
    (tmp_path / "state.db").write_bytes(b"no database at all" * 1000)
    messages = [*ask()["messages"], call(1, "x"), {"role": "tool", "tool_call_id": "c1"}]
    messages[-1]["content"] = FILLER * 100
    with model_server(Turn("fine")) as server:
        async with (
            proxied(server.url, config=state(tmp_path), tools=tools, stages=["memory"]) as base,
            httpx2.AsyncClient(base_url=base, timeout=60) as client,
        ):
            answer = await client.post(PATH, json=ask() | {"messages": messages})
    assert (answer.status_code, "fine" in answer.text) == (200, True)
