"""Calls that came as text, in the other dialects: Anthropic's, Ollama's and the responses API."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tests.servers.model import Raw, model_server
from tests.surfaces.proxy.dialect_streams import (
    Read,
    event,
    messages_stream,
    ollama_stream,
    read_messages,
    read_ollama,
    read_responses,
    responses_stream,
)
from tests.surfaces.proxy.proxies import CALL, TOOL, ask, asking
from tests.surfaces.proxy.test_chat_calls import TEXTS, cut
from tests.toolcalls.scenarios import TOOLS
from toolcrib.surfaces.proxy.messages_mender import MessagesStreamMender, mended_messages
from toolcrib.surfaces.proxy.ollama_mender import OllamaStreamMender, mended_ollama
from toolcrib.surfaces.proxy.responses_mender import ResponsesStreamMender, mended_response
from toolcrib.toolcalls import parse_tool_calls

Make, Take = Callable[[Sequence[str]], bytes], Callable[[bytes], Read]
DIALECTS: list[tuple[Any, Make, Take, str, str]] = [
    (MessagesStreamMender, messages_stream, read_messages, "end_turn", "tool_use"),
    (OllamaStreamMender, ollama_stream, read_ollama, "stop", "stop"),
    (ResponsesStreamMender, responses_stream, read_responses, "completed", "completed"),
]
PATHS = {"/v1/messages": DIALECTS[0], "/api/chat": DIALECTS[1], "/v1/responses": DIALECTS[2]}


def check(
    dialect: tuple[Any, Make, Take, str, str],
    text: str,
    pieces: Sequence[str],
    places: Sequence[int],
) -> None:
    make_mender, make, take, ends, ends_in_calls = dialect
    mender = make_mender(TOOLS)
    out = b"".join(map(mender.feed, cut(make(pieces), places))) + mender.close()
    content, calls, reason = take(out)
    whole = parse_tool_calls(text, TOOLS)
    assert calls == [(call.name, call.arguments) for call in whole.calls]
    assert reason == (ends_in_calls if calls else ends)
    if calls or whole.content or not whole.diagnostics:
        assert content == whole.content or (whole.reasoning and content.endswith(whole.content))


@each_case("dialect", DIALECTS)
def test_every_text_of_the_suites(dialect: tuple[Any, Make, Take, str, str]) -> None:
    for text in TEXTS[::3]:
        check(dialect, text, [text], [])


@settings(max_examples=100)
@given(data=st.data())
def test_every_text_in_random_cuts(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    ends = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    pieces = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True) if a < b]
    dialect = data.draw(st.sampled_from(DIALECTS))
    check(dialect, text, pieces, data.draw(st.lists(st.integers(0, 5000), max_size=30)))


@each_case("dialect", DIALECTS)
def test_plain_text_is_untouched(dialect: tuple[Any, Make, Take, str, str]) -> None:
    stream = dialect[1](["Hi", " you", "\n", "grüße ", "a<b", "."])
    mender = dialect[0]([TOOL])
    chunks = cut(stream, range(0, len(stream), 13))
    assert b"".join(map(mender.feed, chunks)) + mender.close() == stream


def test_whole_answers() -> None:
    for text in TEXTS[::5]:
        calls = [(call.name, call.arguments) for call in parse_tool_calls(text, TOOLS).calls]
        message = mended_messages({"content": [{"type": "text", "text": text}]}, TOOLS)
        blocks = [block for block in message["content"] if block["type"] == "tool_use"]
        assert [(block["name"], block["input"]) for block in blocks] == calls
        ollama = mended_ollama({"message": {"content": text}}, TOOLS)["message"]
        found = [call["function"] for call in ollama.get("tool_calls", ())]
        assert [(call["name"], call["arguments"]) for call in found] == calls
        item = {"type": "message", "content": [{"type": "output_text", "text": text}]}
        response = mended_response({"output": [item]}, TOOLS)["output"][1:]
        assert [(one["name"], json.loads(one["arguments"])) for one in response] == calls


def test_native_calls_of_the_messages_api_are_mended() -> None:
    block = {"type": "tool_use", "id": "t", "name": "functions.get_weather", "input": {}}
    out = messages_stream(["Hi "]).split(b"event: message_delta")[0]
    out += event({"type": "content_block_start", "index": 1, "content_block": block})
    for piece in ('{"city": "A", "da', 'ys": "3', '"}}'):
        delta = {"type": "input_json_delta", "partial_json": piece}
        out += event({"type": "content_block_delta", "index": 1, "delta": delta})
    out += event({"type": "content_block_stop", "index": 1})
    out += event({"type": "message_delta", "delta": {"stop_reason": "tool_use"}})
    mender = MessagesStreamMender([TOOL])
    text, calls, _ = read_messages(mender.feed(out) + mender.close())
    assert (text, calls) == ("Hi ", [("get_weather", {"city": "A", "days": 3})])


def test_native_calls_of_the_responses_api_are_mended() -> None:
    item = {"type": "function_call", "id": "fc", "call_id": "c", "name": "get_weather"}
    place = {"item_id": "fc", "output_index": 0}
    given = '{"city": 5}'
    stream = event({"type": "response.output_item.added", "output_index": 0, "item": item})
    for piece in given:
        delta = {"type": "response.function_call_arguments.delta", **place, "delta": piece}
        stream += event(delta)
    done = {"type": "response.function_call_arguments.done", **place, "arguments": given}
    stream += event(done)
    whole = {**item, "arguments": given}
    stream += event({"type": "response.output_item.done", "output_index": 0, "item": whole})
    stream += event({"type": "response.completed", "response": {"output": [whole]}})
    mender = ResponsesStreamMender([TOOL])
    out = (mender.feed(stream) + mender.close()).decode()
    assert out.count(json.dumps('{"city": "5"}')) == 3
    assert given.replace('"', '\\"') not in out


@each_case("path", list(PATHS))
async def test_through_the_proxy(path: str) -> None:
    _, make, take, _, ends = PATHS[path]
    kind = "application/x-ndjson" if path == "/api/chat" else "text/event-stream"
    with model_server(Raw((make(["I look.", "\n", *CALL]),), kind=kind)) as server:
        server.any_path = True
        async with asking(server.url) as client:
            body = ask(tools=[TOOL], stream=True)
            answer = await client.post(path, json=body)
    assert server.paths[-1] == path
    assert take(answer.content) == ("I look.", [("get_weather", {"city": "Oslo"})], ends)
