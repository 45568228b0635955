"""A stream tells as it goes, takes nothing back, and ends with the same as the whole text."""

# ruff: noqa: E501 - a list of marks

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.toolcalls.corpus import CASES
from tests.toolcalls.scenarios import TOOLS
from tests.toolcalls.texts_without_calls import SILENT
from toolcrib.toolcalls import (
    ContentDelta,
    Event,
    ReasoningDelta,
    ToolCall,
    ToolCallStream,
    parse_tool_calls,
)
from toolcrib.toolcalls.marks import MARK_KINDS

TEXTS = [case.text for case in CASES] + list(SILENT.values())
PIECES = st.sampled_from([*MARK_KINDS, "\n", " ", "`", "```\n", '{"name": "get_weather", ', '"', "{", "}",
                          "[", "]", '"arguments": {"city": "Oslo"}}', "get_weather", "(", ")", "x",
                          "city", "<parameter=city>", "</parameter>", "<arg_key>city</arg_key>",
                          "<arg_value>", "</arg_value>", "\\", "é", '<|"|>', "call:", ":", ",",
                          "Action: get_weather\n", "Action Input: ", "</function>", "'"])  # fmt: skip


def streamed(text: str, cuts: list[int], **more: bool) -> tuple[ToolCallStream, list[Event]]:
    stream, events, start = ToolCallStream(TOOLS, **more), list[Event](), 0
    for end in [*sorted(cuts), len(text)]:
        events += stream.feed(text[start:end])
        start = end
    return stream, events + stream.last()


def check(text: str, cuts: list[int]) -> None:
    whole = parse_tool_calls(text, TOOLS)
    stream, events = streamed(text, cuts)
    assert stream.close() == whole
    assert [event for event in events if isinstance(event, ToolCall)] == whole.calls
    content = "".join(event.text for event in events if isinstance(event, ContentDelta))
    # Longer only where reasoning turned out to have begun without its opening mark.
    assert content == whole.content or (whole.reasoning and content.endswith(whole.content))


@settings(max_examples=250)
@given(data=st.data())
def test_the_result_does_not_depend_on_the_split(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(TEXTS))
    text = text[: data.draw(st.integers(0, len(text)))] if data.draw(st.booleans()) else text
    text += data.draw(st.sampled_from(["", "\nDone.", "</think>", " x"]))
    check(text, data.draw(st.lists(st.integers(0, len(text)), max_size=8)))


@settings(max_examples=300)
@given(pieces=st.lists(PIECES, max_size=14), cuts=st.lists(st.integers(0, 300), max_size=6))
def test_any_marks_in_any_order(pieces: list[str], cuts: list[int]) -> None:
    text = "".join(pieces)
    check(text, [min(cut, len(text)) for cut in cuts])


@settings(max_examples=60)
@given(pieces=st.lists(PIECES, max_size=12))
def test_character_by_character(pieces: list[str]) -> None:
    text = "".join(pieces)
    check(text, list(range(1, len(text))))


@settings(max_examples=100)
@given(st.text())
def test_plain_text_comes_through_unchanged(text: str) -> None:
    if not any(mark in text for mark in MARK_KINDS):
        assert parse_tool_calls(text, []).content == text


def test_content_flows_without_waiting() -> None:
    stream = ToolCallStream(TOOLS)
    content = ""
    for number, word in enumerate(["Let ", "me ", "look < ", "at ", "a[0] ", "`x` ", "now."]):
        content += "".join(e.text for e in stream.feed(word) if isinstance(e, ContentDelta))
        expected = "Let me look < at a[0] `x` now."[: len(content)]
        assert content == expected, number
    assert content == "Let me look < at a[0] `x` now."


def test_only_what_may_be_a_mark_is_held_back() -> None:
    stream = ToolCallStream(TOOLS)
    assert stream.feed("Sure <tool") == [ContentDelta("Sure")]
    assert stream.feed("box> it is") == [ContentDelta(" <toolbox> it is")]
    assert stream.feed(".\n") == [ContentDelta(".")]
    assert stream.feed("```python\nx = 1\n") == [
        ContentDelta("\n```python"),
        ContentDelta("\nx = 1"),
    ]
    stream.feed("```\n")
    assert stream.close().content == "Sure <toolbox> it is.\n```python\nx = 1\n```\n"


def test_reasoning_flows_and_calls_follow_as_soon_as_they_are_whole() -> None:
    stream = ToolCallStream(TOOLS)
    assert stream.feed("<think>The us") == [ReasoningDelta("The us")]
    assert stream.feed("er wants</think>Look: ") == [
        ReasoningDelta("er wants"),
        ContentDelta("Look:"),
    ]
    assert stream.feed('<tool_call>{"name": "get_weather", "arg') == []
    (call,) = stream.feed('uments": {"city": "Oslo"}}</tool_call>')
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments) == ("get_weather", {"city": "Oslo"})


def test_a_call_is_not_told_while_it_may_still_be_reasoning() -> None:
    stream = ToolCallStream(TOOLS)
    call = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
    assert stream.feed(f"Maybe {call}\n") == [ContentDelta("Maybe")]
    stream.feed("</think>No.")
    assert [event for event in stream.last() if isinstance(event, ToolCall)] == []
    assert stream.close().reasoning == "Maybe"
    assert stream.close().content == "No."


def test_a_stream_that_is_known_to_begin_in_reasoning() -> None:
    stream, events = streamed("I think.</think>Hello", [3, 9, 14], reasoning=True)
    assert "".join(e.text for e in events if isinstance(e, ReasoningDelta)) == "I think."
    assert "".join(e.text for e in events if isinstance(e, ContentDelta)) == "Hello"
    assert stream.close() == parse_tool_calls("I think.</think>Hello", TOOLS, reasoning=True)


def test_a_closed_stream_takes_no_more() -> None:
    stream = ToolCallStream(TOOLS)
    stream.feed("x")
    assert stream.close() is stream.close()
    with pytest.raises(ValueError, match="closed"):
        stream.feed("y")
