"""Nothing that a model can write raises, and time grows with the text and no faster."""

# ruff: noqa: RUF001, Q003 - texts as models write them

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from tests.toolcalls.scenarios import TOOLS
from toolcrib.toolcalls import ToolCallStream, parse_message, parse_tool_calls

# Each is repeated. A reading whose time grew with the square would take minutes.
UNITS = [
    "<tool_call>", "<tool_call>{", '<tool_call>{"', "<tool_call>{'", "<tool_call>f(",
    "<tool_call>[f(a=1),", "<tool_call>{}</tool_call>", "[[[[", '{"', "\\", '"\\', "`", "```\n",
    '```json\n{"name": "get_weather", ', "~~~\n", "<|channel|>", "<|start|>assistant<|channel|>",
    "<function=f><parameter=a>", '<invoke name="get_weather">', "</parameter>",
    "<tool_call>f<arg_key>a</arg_key><arg_value>", "[TOOL_CALLS]", "[TOOL_CALLS]f[ARGS]{",
    "<think>", "</think>", "<think><tool_call>", " ", "\n", '\n{"name": "get_weather", ',
    "\n[get_weather(", "<|tool_call>call:f{a:", '<|tool_call>call:f{a:<|"|>', "<", ">>>",
    "<｜tool▁call▁begin｜>", "<|python_tag|>", ']<]minimax[>[<invoke name="f">]<]minimax[>[<a>',
    "functools[", "</s>\n", "\nAction: get_weather\nAction Input: {", "x", "é<",
    '<|open|>call tool="f"<|sep|>', "<tool_call>\n<function=f>\n<parameter=a>\n1\n",
]  # fmt: skip
CEILING = 5.0
"""Seconds of computing for a megabyte. The slowest takes a good one on a busy machine."""


@each_case("unit", UNITS)
def test_time_is_bounded(unit: str) -> None:
    text = (unit * (100_000 // len(unit) + 1))[:100_000]
    started = time.process_time()
    parse_tool_calls(text, TOOLS)
    assert time.process_time() - started < CEILING


LONG = [
    "<function=f><parameter=a>", "<function=f><parameter=a>1</parameter>", ">>>", "[e~[", "\n[",
    "functools[", "[TOOL_CALLS]f[ARGS]{", '<invoke name="get_weather">', "</think>", "```\n",
    "<tool_call>{", "<tool_call>f<arg_key>a</arg_key><arg_value>", "[TOOL_CALLS]f", "word ", "\\",
    "<|tool_call>call:f{a:", "<think>x", "<tool_call>[f(a=x), ", "<tool_call>\n{'a': [1, ", "\n",
]  # fmt: skip


@each_case("unit", LONG)
def test_a_megabyte_of_marks(unit: str) -> None:
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    started = time.process_time()
    parse_tool_calls(text, TOOLS)
    assert time.process_time() - started < CEILING


def test_what_follows_very_many_marks_is_text() -> None:
    text = "</s>x" * 20_000 + "<tool_call>"
    assert parse_tool_calls(text, TOOLS).content.endswith("</s>x<tool_call>")


BODY = "ab c" * 240_000


@each_case(
    ("before", "after"),
    [
        ('<tool_call>{"name": "write_file", "arguments": {"path": "', '"}}'),
        ("<function=write_file><parameter=path>", "</parameter></function>"),
        ("<tool_call>write_file<arg_key>path</arg_key><arg_value>", "</arg_value></tool_call>"),
        ("<|tool_call_start|>[write_file(path='", "')]<|tool_call_end|>"),
        ('<|tool_call>call:write_file{path:<|"|>', '<|"|>}<tool_call|>'),
        ('<|channel|>commentary to=functions.write_file<|message|>{"path": "', '"}<|call|>'),
        ('```json\n{"name": "write_file", "arguments": {"path": "', '"}}\n```'),
    ],
    ids=range(7),
)
def test_a_large_call_in_small_pieces(before: str, after: str) -> None:
    text, stream = before + BODY + after, ToolCallStream(TOOLS)
    started = time.process_time()
    for start in range(0, len(text), 16):
        stream.feed(text[start : start + 16])
    (call,) = stream.close().calls
    # A text that was copied with each piece would take many times as long.
    assert time.process_time() - started < CEILING
    assert call.arguments["path"] == BODY


@each_case("unit", ["\n", " ", "`", "\\", "x", "<", '{"', "</parameter>", "<think>"])
@each_case("before", ["", "<tool_call>{", "<tool_call><function=f><parameter=a>"])
def test_a_stream_of_marks(before: str, unit: str) -> None:
    stream, left = ToolCallStream(TOOLS), 60_000
    started = time.process_time()
    stream.feed(before)
    while left > 0:
        stream.feed(unit)
        left -= len(unit)
    stream.close()
    assert time.process_time() - started < CEILING


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from([*UNITS, *"{}[]\"'<>|:,()=\\", "name", "1e999", "NaN"]), max_size=20)
)
def test_never_raises(parts: list[str]) -> None:
    parse_tool_calls("".join(parts), TOOLS)
    parse_tool_calls("<tool_call>" + "".join(parts) + "</tool_call>", TOOLS)


@each_case(
    "inside",
    ["[" * 100_000, "{\"a\":" * 100_000, "f(" * 50_000, "1" * 100_000, "-" * 100_000 + "1",
     "f(a=" + "(" * 50_000, "call:f{a:" + "[" * 50_000, '{"name": "f", "arguments": 1e999}',
     "call:f{a:" + "[" * 500 + "]" * 500 + "}", "f(a=" + "[" * 500 + "]" * 500 + ")",
     "f(a=b'x')", "f(a=1e999)", "f(**{1: 2})", "f(a={[]: 1})", "f(a=" + "9" * 5000 + ")",
     '{"name": "f", "arguments": {"a": ' + "9" * 5000 + "}}", "f(a={1, 2})", "f(a=1j)",
     "call:f{a:1,\"b}", "call:f{\"a}", "call:f{a:1,}", "f(a=...)",
     "f(a=x)", "f(a=(yield))", "f(a=lambda: 1)", "f(a=\x00)"],
    ids=range(26),
)  # fmt: skip
def test_deep_long_and_odd_values(inside: str) -> None:
    for before, after in (("<tool_call>", "</tool_call>"), ("<|tool_call>", "<tool_call|>")):
        for call in parse_tool_calls(before + inside + after, []).calls:
            assert isinstance(call.arguments, dict)


@each_case(
    "tools",
    [None, [], [None], [{}], [{"name": 3}], ["get_weather"], [{"function": None, "name": "f"}],
     [{"name": "f", "parameters": {"properties": [], "required": "x"}}],
     [{"name": "f", "parameters": {"properties": {"a": {"$ref": "#/$defs/a"}},
                                   "$defs": {"a": {"$ref": "#/$defs/a"}}}}],
     [{"name": "f", "parameters": {"properties": {"a": {"anyOf": 3, "enum": [None, {}]}}}}]],
    ids=range(10),
)  # fmt: skip
def test_odd_tools(tools: list | None) -> None:
    text = "<tool_call><function=f><parameter=a>1</parameter></function></tool_call>"
    assert [call.name for call in parse_tool_calls(text, tools).calls] == ["f"]


@each_case(
    "message",
    [{}, {"content": None}, {"content": 3, "tool_calls": "x"}, {"tool_calls": [None, 3, {}]},
     {"content": [{"type": "text", "text": "hi"}, None]}, {"function_call": {"name": None}},
     {"tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}],
    ids=range(7),
)  # fmt: skip
def test_odd_messages(message: dict) -> None:
    assert parse_message(message, TOOLS).calls == []


def test_a_schema_of_choices_in_a_circle_is_left_after_a_while() -> None:
    circle = {"anyOf": [{"$ref": f"#/properties/{name}"} for name in "xyz" * 10]}
    schema = {"type": "object", "properties": dict.fromkeys("xyz", circle)}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    content = "<function=f><parameter=x>1</parameter></function>"
    parsed = parse_tool_calls(content, [tool])
    assert [call.name for call in parsed.calls] == ["f"]
