"""Clients of others work unchanged: openai and anthropic."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import absent
from tests.servers.model import Raw, Turn, model_server
from tests.surfaces.proxy.dialect_streams import messages_stream, responses_stream
from tests.surfaces.proxy.proxies import CALL, TOOL, ask, proxied


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    try:
        import anthropic  # noqa: F401
        import openai  # noqa: F401
    except ImportError as error:
        absent(f"{error.name} is not installed")


async def test_openai_chat_completions() -> None:
    from openai import AsyncOpenAI

    native = Turn("Hm.", [("get_weather", {"city": "Ä", "days": "2"})], piece=2)
    with model_server(Turn(f"Look: {CALL}", piece=3), native, Turn("plain", piece=1)) as server:
        async with (
            proxied(server.url) as base,
            AsyncOpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0) as client,
        ):
            found: list[Any] = []
            for _ in range(3):
                async with client.chat.completions.stream(**ask(tools=[TOOL])) as stream:
                    async for _event in stream:
                        pass
                    found.append((await stream.get_final_completion()).choices[0])
            models = [model.id async for model in client.models.list()]
    calls = [
        [
            (call.function.name, json.loads(call.function.arguments))
            for call in one.message.tool_calls or ()
        ]
        for one in found
    ]
    assert calls == [
        [("get_weather", {"city": "Oslo"})],
        [("get_weather", {"city": "Ä", "days": 2})],
        [],
    ]
    assert [one.finish_reason for one in found] == ["tool_calls", "tool_calls", "stop"]
    assert found[2].message.content == "plain"
    assert models == ["scripted"]
    assert server.headers[0]["authorization"] == "Bearer k"


async def test_openai_responses() -> None:
    from openai import AsyncOpenAI

    tool: Any = {"type": "function", **TOOL["function"], "strict": False}
    with model_server(Raw((responses_stream(["Look: ", *CALL]),))) as server:
        server.any_path = True
        async with (
            proxied(server.url) as base,
            AsyncOpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0) as client,
            client.responses.stream(model="m", input="hi", tools=[tool]) as stream,
        ):
            async for _event in stream:
                pass
            final = await stream.get_final_response()
    message, call = final.output
    assert message.content[0].text == "Look:"  # type: ignore[union-attr]
    assert json.loads(call.arguments) == {"city": "Oslo"}  # type: ignore[union-attr]


async def test_anthropic_messages() -> None:
    from anthropic import AsyncAnthropic

    tool: Any = {"name": "get_weather", "input_schema": TOOL["function"]["parameters"]}
    with model_server(Raw((messages_stream(["Look: ", *CALL]),))) as server:
        server.any_path = True
        async with (
            proxied(server.url) as base,
            AsyncAnthropic(base_url=base, api_key="k", max_retries=0) as client,
        ):
            message: Any = {"role": "user", "content": "hi"}
            async with client.messages.stream(
                model="m", max_tokens=9, messages=[message], tools=[tool]
            ) as stream:
                final = await stream.get_final_message()
    text, use = final.content
    assert (text.type, use.type, final.stop_reason) == ("text", "tool_use", "tool_use")
    assert use.input == {"city": "Oslo"}  # type: ignore[union-attr]
    assert server.headers[0]["authorization"] == "Bearer k"


async def test_errors_are_those_that_clients_know() -> None:
    import anthropic
    import openai

    async with proxied("http://127.0.0.1:9/v1", config={"egress": {"allow_ports": [9]}}) as base:
        async with openai.AsyncOpenAI(base_url=f"{base}/v1", api_key="k", max_retries=0) as client:
            with pytest.raises(openai.APIStatusError) as first:
                await client.chat.completions.create(**ask())
        async with anthropic.AsyncAnthropic(base_url=base, api_key="k", max_retries=0) as other:
            message: Any = {"role": "user", "content": "hi"}
            with pytest.raises(anthropic.APIStatusError) as second:
                await other.messages.count_tokens(model="m", messages=[message])
    assert "cannot be reached" in first.value.message
    assert "cannot be reached" in second.value.message
