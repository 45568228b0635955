"""Texts off the beaten track mean what their format says, whole or streamed."""

from __future__ import annotations

import random

import pytest

from tests.cases import each_case
from tests.toolcalls.faulty_calls import OFFERED as SPOKEN_OFFERED
from tests.toolcalls.faulty_calls import SPOKEN
from tests.toolcalls.more_unusual_calls import MORE
from tests.toolcalls.unusual_calls import HEARD, OFFERED, Heard
from toolcrib.toolcalls import ToolCallStream, parse_message, parse_tool_calls
from toolcrib.toolcalls.marks import MARK_KINDS

pytestmark = pytest.mark.rows("X1", "X2", "E127")
ALL = [*HEARD, *MORE]
IDS = [f"{one.family}: {one.name}" for one in ALL]
MENTIONS = {"final names a recipient", "a mention in backticks first"}
FAMILIES = {
    "deepseek", "kimi", "glm", "qwen-xml", "hermes", "gemma", "mistral", "llama", "gpt-oss",
}  # fmt: skip


def test_every_family_is_heard() -> None:
    assert {one.family for one in ALL} == FAMILIES
    assert len(set(IDS)) == len(ALL) >= 150


@each_case("one", ALL, ids=IDS)
def test_it_means_what_its_format_says(one: Heard) -> None:
    parsed = parse_tool_calls(one.text, OFFERED)
    found = [(call.name, call.arguments) for call in parsed.calls]
    assert repr(found) == repr(one.calls)  # 1 is not 1.0 and not True
    assert one.content is None or parsed.content == one.content
    assert one.reasoning is None or parsed.reasoning == one.reasoning
    if one.calls and one.name not in MENTIONS:
        assert not [mark for mark in MARK_KINDS if mark in parsed.content]


@each_case("one", ALL, ids=IDS)
def test_a_stream_ends_with_the_same(one: Heard) -> None:
    whole, dice = parse_tool_calls(one.text, OFFERED), random.Random(one.name)
    for size in (1, 7):
        stream, at = ToolCallStream(OFFERED), 0
        while at < len(one.text):
            step = dice.randint(1, size)
            stream.feed(one.text[at : at + step])
            at += step
        assert stream.close() == whole


@each_case("one", SPOKEN, ids=[one.name for one in SPOKEN])
def test_what_local_models_write(one: Heard) -> None:
    whole, stream = parse_tool_calls(one.text, SPOKEN_OFFERED), ToolCallStream(SPOKEN_OFFERED)
    found = [(call.name, call.arguments) for call in whole.calls]
    assert repr(found) == repr(one.calls)
    assert one.content is None or whole.content == one.content
    assert one.reasoning is None or whole.reasoning == one.reasoning
    for character in one.text:
        stream.feed(character)
    assert stream.close() == whole


STRUCTURED = [{"id": "a", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}]
WRITTEN = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
THOUGHT = 'Hm.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'


@each_case("key", ["tool_calls", "calls", "function_call"])
@each_case("thoughts", ["reasoning_content", "reasoning", "thinking"])
def test_structured_calls_come_before_content_and_content_before_reasoning(
    key: str, thoughts: str
) -> None:
    given = STRUCTURED[0]["function"] if key == "function_call" else STRUCTURED
    message = {key: given, "content": WRITTEN, thoughts: THOUGHT}

    def cities() -> list[str]:
        return [call.arguments["city"] for call in parse_message(message, OFFERED).calls]

    assert cities() == ["Oslo"]
    message[key] = None
    assert cities() == ["Rome"]
    message["content"] = ""
    assert cities() == ["Paris"]
    assert parse_message(message, OFFERED).reasoning == "Hm."
    message["content"] = "No call is needed."
    assert cities() == []
    message |= {"content": None, thoughts: None}
    assert cities() == []


def test_broken_structured_calls_do_not_hide_those_of_the_content() -> None:
    broken = [{"function": {"name": "get_weather", "arguments": "{"}}]
    parsed = parse_message({"tool_calls": broken, "content": WRITTEN}, OFFERED)
    assert [call.arguments for call in parsed.calls] == [{"city": "Rome"}]
    assert [note.code for note in parsed.diagnostics] == ["malformed"]
