"""toolcrib as a model in LM Studio: text, reasoning, calls, errors, cancelling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conditions import until
from tests.servers.lmstudio_host import HostedPlugin, message, panel, text
from tests.servers.model import Raw, Turn, model_server
from tests.surfaces.lmstudio.plugins import hosted
from tests.surfaces.lmstudio.test_prompts import FACT, long_chat
from tests.surfaces.proxy.proxies import CALL, TOOL


def settings(tmp_path: Path, url: str) -> dict[str, Any]:
    (tmp_path / "work").mkdir(exist_ok=True)
    return {
        "workspace": {"roots": [str(tmp_path / "work")]},
        "agent": {"base_url": url},
        "guard": {"summary": "extract"},
    }


async def generate(
    plugin: HostedPlugin, task: str, *messages: Any, tools: tuple[Any, ...] = (), **on: Any
) -> None:
    await plugin.send(
        "setGenerator",
        {
            "type": "generate",
            "taskId": task,
            "input": {"messages": list(messages)},
            "toolDefinitions": list(tools),
            "pluginConfig": panel(**on),
            "globalPluginConfig": panel(),
            "workingDirectoryPath": None,
        },
    )


def reply(plugin: HostedPlugin, task: str) -> list[tuple[str, Any]]:
    """What was generated, in its order; texts joined."""
    found: list[tuple[str, Any]] = []
    for _, one in plugin.reply:
        if one.get("taskId") != task:
            continue
        kind = one["type"]
        if kind == "fragmentGenerated":
            kind = one["opts"].get("reasoningType", "text")
        value = one.get("content") or one.get("toolName") or one.get("toolCallRequest")
        if found and found[-1][0] == kind and isinstance(value, str):
            value = found.pop()[1] + value
        found.append((kind, value))
    return found


@pytest.mark.rows("F01")
async def test_text_reasoning_and_calls(tmp_path: Path) -> None:
    answer = Turn("Hello there.", reasoning="The user greets.", piece=3)
    calls = [("get_weather", {"city": "Oslo"}), ("get_weather", {"city": "Rome"})]
    with model_server(answer, Turn("", calls, piece=4)) as server:
        async with hosted(settings(tmp_path, server.url)) as plugin:
            await generate(plugin, "t1", message("user", text("Hi")), model="scripted")
            await plugin.hears("complete", taskId="t1")
            await generate(plugin, "t2", message("user", text("Weather?")), tools=(TOOL,))
            await plugin.hears("complete", taskId="t2")
    assert reply(plugin, "t1") == [
        ("reasoning", "The user greets."),
        ("text", "Hello there."),
        ("complete", None),
    ]
    assert server.requested[0]["model"] == "scripted"
    assert "tools" not in server.requested[0]
    assert server.requested[1]["tools"] == [TOOL]
    kinds = [kind for kind, _ in reply(plugin, "t2")]
    one = [
        "toolCallGenerationStarted",
        "toolCallGenerationNameReceived",
        "toolCallGenerationArgumentFragmentGenerated",
        "toolCallGenerationEnded",
    ]
    assert kinds == [*one, *one, "complete"]
    ended = plugin.heard("toolCallGenerationEnded")
    assert [e["toolCallRequest"]["arguments"] for e in ended] == [
        {"city": "Oslo"},
        {"city": "Rome"},
    ]


@pytest.mark.rows("F01", "S8.6")
async def test_a_call_that_came_as_text_is_a_call(tmp_path: Path) -> None:
    with model_server(Turn(f"I look.\n{CALL}", piece=5)) as server:
        async with hosted(settings(tmp_path, server.url)) as plugin:
            await generate(plugin, "t1", message("user", text("Weather?")), tools=(TOOL,))
            await plugin.hears("complete", taskId="t1")
    (ended,) = plugin.heard("toolCallGenerationEnded")
    assert ended["toolCallRequest"]["name"] == "get_weather"
    assert ended["toolCallRequest"]["arguments"] == {"city": "Oslo"}
    assert "tool_call" not in dict(reply(plugin, "t1"))["text"]


@pytest.mark.rows("F01", "S8.4")
async def test_a_long_chat_is_kept_within_the_window(tmp_path: Path) -> None:
    with model_server(Turn("It is 4711.")) as server:
        server.pages = {"/props": {"default_generation_settings": {"n_ctx": 4096}}}
        async with hosted(settings(tmp_path, server.url)) as plugin:
            question = message("user", text("What is the number of the locker?"))
            await generate(plugin, "t1", *long_chat(), question)
            await plugin.hears("complete", taskId="t1")
    sent = server.requested[0]["messages"]
    assert FACT in str(sent)
    assert len(str(sent)) < 4096 * 4
    calls = {c["id"] for m in sent for c in m.get("tool_calls") or ()}
    assert calls == {m["tool_call_id"] for m in sent if m["role"] == "tool"}


async def test_what_a_server_refuses_and_what_breaks_off(tmp_path: Path) -> None:
    refusal = Raw((b'{"error":{"message":"no such model"}}',), 404, "application/json")
    broken = Turn("Half of", piece=2, drop=3)
    cut = Turn("", [("get_weather", '{"city": "Os')])
    with model_server(refusal, broken, cut, Turn("Well.")) as server:
        async with hosted(settings(tmp_path, server.url)) as plugin:
            hello = message("user", text("Hi"))
            await generate(plugin, "t1", hello, model="other")
            refused = await plugin.hears("error", taskId="t1")
            await generate(plugin, "t2", hello, model="scripted")
            off = await plugin.hears("error", taskId="t2")
            await generate(plugin, "t3", hello, model="scripted")
            await plugin.hears("toolCallGenerationFailed", taskId="t3")
            await generate(plugin, "t4", hello, model="scripted")
            await plugin.hears("complete", taskId="t4")
    assert "no such model" in refused["error"]["title"]
    assert "toolcrib" in off["error"]["title"]


async def test_no_model_server(tmp_path: Path) -> None:
    with model_server(Turn("x")) as server:
        url = server.url
    async with hosted(settings(tmp_path, url)) as plugin:
        await generate(plugin, "t1", message("user", text("Hi")))
        error = (await plugin.hears("error", taskId="t1"))["error"]["title"]
    assert "lms server start" in error


async def test_an_answer_that_is_cancelled_ends_at_the_server(tmp_path: Path) -> None:
    piece = b'data: {"choices":[{"index":0,"delta":{"content":"A long "}}]}\n\n'
    with model_server(Raw((piece,), stall=True)) as server:
        async with hosted(settings(tmp_path, server.url)) as plugin:
            await generate(plugin, "t1", message("user", text("Hi")), model="scripted")
            await plugin.hears("fragmentGenerated", taskId="t1")
            await plugin.send("setGenerator", {"type": "abort", "taskId": "t1"})
            await plugin.hears("aborted", taskId="t1")
            await until(server.left.is_set)
            assert not plugin.heard("complete", taskId="t1")
            assert not plugin.heard("error", taskId="t1")
