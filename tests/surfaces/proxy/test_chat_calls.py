"""Calls that came as text, or broken, as calls: streamed in any cuts, and whole."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tests.servers.model import Raw, Turn, model_server
from tests.surfaces.proxy.proxies import CALL, TOOL, ask, asking
from tests.toolcalls.corpus import CASES
from tests.toolcalls.scenarios import TOOLS
from tests.toolcalls.texts_without_calls import SILENT
from toolcrib.surfaces.proxy.chat_mender import ChatStreamMender, mended_chat
from toolcrib.surfaces.proxy.messages_mender import mended_messages
from toolcrib.surfaces.proxy.responses_mender import mended_response
from toolcrib.toolcalls import parse_tool_calls

TEXTS = [case.text for case in CASES] + list(SILENT.values())
PATH = "/v1/chat/completions"


def event(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    value = {"id": "x", "model": "m", "choices": [choice], **more}
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def stream_of(pieces: Sequence[str], finish: str = "stop") -> bytes:
    head = event({"role": "assistant", "content": ""})
    texts = b"".join(event({"content": piece}) for piece in pieces)
    return head + texts + event({}, finish) + b"data: [DONE]\n\n"


def read(stream: bytes) -> tuple[str, str, list[tuple[str, str]], str]:
    """Content, reasoning, calls and the reason of the end, as a client puts them together."""
    content, reasoning, finish = "", "", ""
    calls: dict[int, list[str]] = {}
    for frame in stream.decode().split("\n\n"):
        if not frame.startswith("data: {"):
            continue
        for choice in json.loads(frame[6:]).get("choices", ()):
            delta = choice["delta"]
            content += delta.get("content") or ""
            reasoning += delta.get("reasoning_content") or ""
            finish = choice.get("finish_reason") or finish
            for part in delta.get("tool_calls") or ():
                call = calls.setdefault(part["index"], ["", ""])
                call[0] += part["function"].get("name") or ""
                call[1] += part["function"].get("arguments") or ""
    return content, reasoning, [(name, given) for name, given in calls.values()], finish


def cut(stream: bytes, places: Sequence[int]) -> list[bytes]:
    ends = sorted({min(place, len(stream)) for place in places} | {len(stream)})
    return [stream[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def mended(chunks: Sequence[bytes], tools: Sequence[Any]) -> bytes:
    mender = ChatStreamMender(tools)
    return b"".join(map(mender.feed, chunks)) + mender.close()


def check(text: str, pieces: Sequence[str], places: Sequence[int]) -> None:
    whole = parse_tool_calls(text, TOOLS)
    content, reasoning, calls, finish = read(mended(cut(stream_of(pieces), places), TOOLS))
    wanted = [(c.name, json.dumps(c.arguments, ensure_ascii=False)) for c in whole.calls]
    assert calls == wanted
    assert finish == ("tool_calls" if wanted else "stop")
    if not wanted and not whole.content and whole.diagnostics:
        assert content == "\n".join(found.text for found in whole.diagnostics)
    else:
        assert content == whole.content or (whole.reasoning and content.endswith(whole.content))
    assert reasoning in (whole.reasoning, "") or content != whole.content


def test_every_text_of_the_suites_in_one_piece() -> None:
    for text in TEXTS:
        check(text, [text], [])


@settings(max_examples=300)
@given(data=st.data())
def test_every_text_in_random_cuts(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    ends = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    pieces = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True) if a < b]
    check(text, pieces, data.draw(st.lists(st.integers(0, 5000), max_size=30)))


@settings(max_examples=100)
@given(
    words=st.lists(st.sampled_from(["Hi", " ", "\n", "grüße ", "a<b", "`x`", "1. "]), max_size=9)
)
def test_plain_text_is_untouched(words: list[str]) -> None:
    stream = stream_of(words)
    assert mended(cut(stream, range(0, len(stream), 7)), [TOOL]) == stream


def test_whole_answers_are_as_the_parser_alone() -> None:
    for text in TEXTS:
        message = {"role": "assistant", "content": text}
        body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        (choice,) = mended_chat(body, TOOLS)["choices"]
        whole = parse_tool_calls(text, TOOLS)
        found = [
            (call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in choice["message"].get("tool_calls", ())
        ]
        assert found == [(call.name, call.arguments) for call in whole.calls]
        assert choice["finish_reason"] == ("tool_calls" if found else "stop")


PARTS: list[tuple[str, list[dict[str, Any]], list[tuple[str, Any]]]] = [
    (
        "ids that are null or repeated",
        [
            {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": ""}},
            {"index": 0, "id": None, "function": {"name": "", "arguments": '{"city": '}},
            {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": '"Oslo"}'}},
        ],
        [("get_weather", {"city": "Oslo"})],
    ),
    (
        "no index",
        [
            {"id": "a", "function": {"name": "get_weather", "arguments": '{"city": "A"}'}},
            {"id": "b", "function": {"name": "get_weather", "arguments": '{"city": "B"}'}},
        ],
        [("get_weather", {"city": "A"}), ("get_weather", {"city": "B"})],
    ),
    (
        "one index for two calls",
        [
            {"index": 0, "id": i, "function": {"name": "get_weather", "arguments": given}}
            for i, given in (("a", '{"city": "A"}'), ("b", '{"city": "B"}'))
        ],
        [("get_weather", {"city": "A"}), ("get_weather", {"city": "B"})],
    ),
    (
        "an object, a prefix, a wrong type",
        [
            {"index": 0, "id": "a", "function": {"name": "functions.get_weather",
                                                 "arguments": {"city": "A", "days": "3"}}},
        ],
        [("get_weather", {"city": "A", "days": 3})],
    ),
    (
        "types by the schema in pieces",
        [
            {"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": '{"ci'}},
            {"index": 0, "function": {"arguments": 'ty": 1'}},
            {"index": 0, "function": {"arguments": '2, "days": "'}},
            {"index": 0, "function": {"arguments": '4"}}'}},
        ],
        [("get_weather", {"city": "12", "days": 4})],
    ),
    (
        "no arguments",
        [{"index": 0, "id": "a", "function": {"name": "get_weather", "arguments": ""}}],
        [("get_weather", {})],
    ),
]  # fmt: skip


@each_case(("name", "parts", "wanted"), PARTS)
def test_parts_of_calls_are_joined_and_mended(
    name: str, parts: list[dict[str, Any]], wanted: list[tuple[str, Any]]
) -> None:
    stream = b"".join(event({"tool_calls": [part]}) for part in parts) + event({}, "stop")
    _, _, calls, finish = read(mended([stream], [TOOL]))
    assert [(called, json.loads(given)) for called, given in calls] == wanted, name
    assert finish == "tool_calls"


def test_right_calls_are_untouched() -> None:
    turn = Turn("ok", [("get_weather", {"city": "Ös\nlo", "days": 12})] * 2, "hm", piece=1)
    stream = "".join(f"data: {data}\n\n" for data in turn.events()).encode()
    assert mended(cut(stream, range(0, len(stream), 11)), [TOOL]) == stream


def test_text_flows_while_a_call_is_held() -> None:
    mender = ChatStreamMender([TOOL])
    assert read(mender.feed(event({"content": "Let me look."})))[0] == "Let me look."
    assert mender.feed(event({"content": "\n<tool_call>"})) == b""
    assert mender.feed(b": keep-alive\n\n") == b": keep-alive\n\n"
    assert mender.feed(event({"content": CALL.removeprefix("<tool_call>")})) == b""
    _, _, calls, finish = read(mender.close())
    assert (calls, finish) == ([("get_weather", '{"city": "Oslo"}')], "tool_calls")


def test_reasoning_is_apart() -> None:
    content, reasoning, calls, _ = read(mended([stream_of(["<think>hm", "</think>Yes"])], [TOOL]))
    assert (content, reasoning, calls) == ("Yes", "hm", [])


def test_calls_of_reasoning_that_ends_with_them() -> None:
    stream = event({"reasoning_content": f"I call it.</think>{CALL}"}) + event({}, "stop")
    assert read(mended([stream], [TOOL]))[2] == [("get_weather", '{"city": "Oslo"}')]


def test_a_call_that_is_cut_off_stays_text() -> None:
    content, _, calls, finish = read(mended([stream_of([CALL[:40]], "length")], [TOOL]))
    assert (content, calls, finish) == (CALL[:40], [], "length")


@each_case("end", [b"", b"data: [DONE]\n\n", event({}, "stop")])
def test_a_call_at_the_end_of_any_stream(end: bytes) -> None:
    stream = event({"content": CALL}) + end
    _, _, calls, finish = read(mended([stream], [TOOL]))
    assert (len(calls), finish) == (1, "tool_calls")


def test_several_answers_at_once() -> None:
    frames = b""
    for index in (0, 1):
        choice = {"index": index, "delta": {"content": f"{index}{CALL}"}, "finish_reason": "stop"}
        frames += f"data: {json.dumps({'choices': [choice]})}\n\n".encode()
    out = mended([frames], [TOOL])
    assert out.count(b'"get_weather"') == 2
    assert out.count(b'"finish_reason":"tool_calls"') == 2


def test_calls_without_an_id_get_one_in_a_whole_answer() -> None:
    function = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
    calls = [{"type": "function", "function": function}] * 2
    calls += [{"id": "mine", "type": "function", "function": function}]
    choice = {"message": {"content": None, "tool_calls": calls}, "finish_reason": "tool_calls"}
    (found,) = mended_chat({"choices": [choice]}, [TOOL])["choices"]
    first, second, third = (call["id"] for call in found["message"]["tool_calls"])
    assert first.startswith("call_")
    assert second.startswith("call_")
    assert first != second
    assert third == "mine"
    use = {"type": "tool_use", "name": "get_weather", "input": {"city": "Oslo"}}
    assert mended_messages({"content": [use]}, [TOOL])["content"][0]["id"].startswith("toolu_")
    item = {"type": "function_call", **function}
    assert mended_response({"output": [item]}, [TOOL])["output"][0]["call_id"].startswith("call_")


@each_case("stream", [True, False])
async def test_through_the_proxy(stream: bool) -> None:
    turn = Turn(f"<think>Hm.</think>I look.\n{CALL}", piece=3)
    with model_server(turn) as server:
        async with asking(server.url) as client:
            answer = await client.post(PATH, json=ask(tools=[TOOL], stream=stream))
            off = await client.post(PATH, json=ask(stream=stream))
        async with asking(server.url, mend=False) as client:
            unmended = await client.post(PATH, json=ask(tools=[TOOL], stream=stream))
    assert off.text == unmended.text
    if stream:
        assert read(answer.content) == (
            "I look.",
            "Hm.",
            [("get_weather", '{"city": "Oslo"}')],
            "tool_calls",
        )
        return
    choice = answer.json()["choices"][0]
    assert choice["message"]["content"] == "I look."
    assert choice["message"]["reasoning_content"] == "Hm."
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"city": "Oslo"}'
    assert choice["finish_reason"] == "tool_calls"


async def test_what_breaks_off_gives_what_came() -> None:
    parts = (event({"content": "Hello\n"}), event({"content": CALL[:20]})[:-9])
    with model_server(Raw(parts, length=9999)) as server:
        async with asking(server.url) as client:
            answer = await client.post(PATH, json=ask(tools=[TOOL], stream=True))
    assert read(answer.content)[0].startswith("Hello")
    assert answer.text.endswith("data: [DONE]\n\n")
    assert '"code":"connection_failed"' in answer.text
