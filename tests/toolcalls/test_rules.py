"""The rules, one by one: what is a call, what is not, and what of which type comes out."""

# ruff: noqa: E501, RUF001, RUF005 - texts as models write them

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import each_case
from tests.toolcalls.scenarios import TOOLS
from toolcrib.toolcalls import ToolCallStream, parse_message, parse_tool_calls

pytestmark = pytest.mark.rows("X1", "X2", "E127")
W = "get_weather"
RULES: list = []


def case(name, text, calls, content=None, reasoning=None, tools=TOOLS):
    RULES.append(pytest.param(text, calls, content, reasoning, tools, id=name))


OSLO = [(W, {"city": "Oslo"})]
j = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
case("no close", f"<tool_call>\n{j}", OSLO)
case("no close text", f"<tool_call>\n{j}\nok", OSLO, "ok")
case(
    "args str",
    '<tool_call>{"name":"get_weather","arguments":"{\\"city\\": \\"Oslo\\"}"}</tool_call>',
    OSLO,
)
case(
    "missing brace",
    '<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}</tool_call>',
    OSLO,
)
case(
    "missing brace+sib",
    '<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}</tool_call>\n<tool_call>'
    + j
    + "</tool_call>",
    OSLO + OSLO,
)
case(
    "extra brace",
    '<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}}</tool_call>',
    OSLO,
    "",
)
case("single q", "<tool_call>{'name':'get_weather','arguments':{'city':'Oslo'}}</tool_call>", OSLO)
case(
    "trailing comma",
    '<tool_call>{"name":"get_weather","arguments":{"city":"Oslo",},}</tool_call>',
    OSLO,
)
case(
    "bad sib",
    '<tool_call>\n{"name": "x", "arguments": {"a": "b}}\n</tool_call>\n<tool_call>\n'
    + j
    + "\n</tool_call>",
    OSLO,
    "",
)
case("bad sib2", '<tool_call>\n{"name": "x", "argu\n<tool_call>\n' + j + "\n</tool_call>", OSLO, "")
case("closed think", "<think><tool_call>" + j + "</tool_call></think>No.", [], "No.")
case("open think", "<think>hm<tool_call>" + j + "</tool_call>", OSLO, "", "hm")
case("orphan", "hm <tool_call>" + j + "</tool_call></think>No.", [], "No.")
case("orphan2", "I think.\n</think>\n\n<tool_call>" + j + "</tool_call>", OSLO, "", "I think.")
case(
    "harm",
    "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>",
    [],
    "Hello",
    "hm",
)
case(
    "harm const",
    '<|channel|>commentary to=functions.get_weather<|constrain|>json<|message|>{"city":"Oslo"}',
    OSLO,
)
case(
    "harm2",
    '<|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{"city":"Oslo"}<|call|><|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{"city":"Oslo"}<|call|>',
    OSLO + OSLO,
)
case(
    "harm role",
    '<|start|>assistant to=functions.get_weather<|channel|>commentary<|constrain|>json<|message|>{"city":"Oslo"}<|call|>',
    OSLO,
)
case(
    "harm cut",
    '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Os',
    [],
    "",
)
case(
    "harm trailing",
    ' to=functions.get_weather<|channel|>commentary json<|message|>{"city":"Oslo"}<|call|>',
    OSLO,
)
case(
    "harm analysis then final no end",
    "<|channel|>analysis<|message|>hm<|channel|>final<|message|>Yo",
    [],
    "Yo",
    "hm",
)
case(
    "qwen nowrap",
    "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
    OSLO,
    "",
)
case(
    "qwen missing param close",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n<parameter=days>\n3\n</function>\n</tool_call>",
    [(W, {"city": "Oslo", "days": 3})],
)
case(
    "qwen no fn close",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</tool_call>",
    OSLO,
)
case(
    "qwen close last param missing",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</function>\n</tool_call>",
    OSLO,
)
case(
    "qwen trunc",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n",
    [],
    "",
)
case(
    "kimi no fn",
    '<|tool_calls_section_begin|><|tool_call_begin|>get_weather:0<|tool_call_argument_begin|>{"city":"Oslo"}<|tool_call_end|><|tool_calls_section_end|>',
    OSLO,
    "",
)
case(
    "kimi nosec",
    'ok <|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city":"Oslo"}<|tool_call_end|>',
    OSLO,
    "ok",
)
case(
    "kimi ws",
    '<|tool_calls_section_begin|>\n<|tool_call_begin|> functions.get_weather:0 <|tool_call_argument_begin|> {"city":"Oslo"} <|tool_call_end|>\n<|tool_calls_section_end|>',
    OSLO,
    "",
)
case(
    "kimi counter",
    '<|tool_call_begin|>3<|tool_call_argument_begin|>{"city":"Oslo"}<|tool_call_end|>',
    OSLO,
)
case(
    "ds3",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city":"Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    OSLO,
    "",
)
case(
    "ds31 noend",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city":"Oslo"}',
    OSLO,
    "",
)
case(
    "dsml json",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n{"city":"Oslo"}\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    OSLO,
    "",
)
case(
    "dsml self",
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="list_files"/>\n</｜DSML｜tool_calls>',
    [("list_files", {})],
    "",
)
case(
    "dsml noargs",
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="list_files">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    [("list_files", {})],
    "",
)
case(
    "dsml ws",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">  Oslo \n</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    [(W, {"city": "  Oslo \n"})],
)
case("glm", "<tool_call>list_files</tool_call>", [("list_files", {})])
case("glm2", "<tool_call>list_files\n</tool_call>", [("list_files", {})])
case(
    "glm unk",
    "<tool_call>foo\n<arg_key>a</arg_key>\n<arg_value>[1, 2]</arg_value>\n<arg_key>b</arg_key>\n<arg_value>true</arg_value>\n<arg_key>c</arg_key>\n<arg_value>x y</arg_value>\n</tool_call>",
    [("foo", {"a": [1, 2], "b": True, "c": "x y"})],
)
case("gemma", '<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>}<tool_call|>', OSLO, "")
case(
    "gemma nested",
    '<|tool_call>call:f{a:[1,{b:<|"|>x}<|"|>}],c:null,d:1.5,e:true,f:{}}<tool_call|>',
    [("f", {"a": [1, {"b": "x}"}], "c": None, "d": 1.5, "e": True, "f": {}})],
)
case("gemma empty", "<|tool_call>call:list_files{}<tool_call|>", [("list_files", {})])
case("gemma noend", '<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>}', OSLO)
case("gemma cut", '<|tool_call>call:get_weather{city:<|"|>Os', [], "")
case(
    "mistral array",
    '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
    OSLO,
    "",
)
case(
    "mistral text",
    'Hi[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}] bye',
    OSLO,
)
case("mistral noArr", '[TOOL_CALLS]{"name": "get_weather", "arguments": {"city": "Oslo"}}', OSLO)
case("mistral args", '[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}', OSLO)
case(
    "mistral bare",
    '[TOOL_CALLS]get_weather{"city": "Oslo"}[TOOL_CALLS]get_weather{"city": "Oslo"}',
    OSLO + OSLO,
)
case(
    "mistral trunc arr",
    '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "get_wea',
    OSLO,
)
case("llama", '{"name": "get_weather", "parameters": {"city": "Oslo"}}', OSLO)
case(
    "llama tag",
    '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}}<|eom_id|>',
    OSLO,
    "",
)
case("llama unk", '{"name": "Alice", "parameters": {"city": "Oslo"}}', [])
case(
    "llama type",
    '{"type": "function", "name": "get_weather", "parameters": {"city": "Oslo"}}',
    OSLO,
)
case("llama pytag", '<|python_tag|>get_weather.call(city="Oslo")', OSLO)
case("llama func", '<function=get_weather>{"city": "Oslo"}</function>', OSLO)
case("pythonic", '[get_weather(city="Oslo"), list_files()]', OSLO + [("list_files", {})])
case("pythonic pos", '[get_weather("Oslo")]', OSLO)
case("fence text", "Let me check.\n```json\n" + j + "\n```", OSLO, "Let me check.")
case("unoffered tools", f"<tool_call>{j}</tool_call>", OSLO, tools=[])
case("unoffered bare", j, [], j, tools=[])
case(
    "xml type None",
    '<tool_call>\n<function=write_file>\n<parameter=path>\nNone\n</parameter>\n<parameter=limit>\nNone\n</parameter>\n<parameter=overwrite>\nTrue\n</parameter>\n<parameter=opt>\n{"a": True, "b": None}\n</parameter>\n</function>\n</tool_call>',
    [
        (
            "write_file",
            {"path": "None", "limit": None, "overwrite": True, "opt": {"a": True, "b": None}},
        )
    ],
)
case(
    "value w example",
    "<tool_call>\n<function=write_file>\n<parameter=path>\na.md\n</parameter>\n<parameter=content>\nEx:\n<tool_call>\n<function=list_files>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>\nend\n</parameter>\n</function>\n</tool_call>",
    [
        (
            "write_file",
            {
                "path": "a.md",
                "content": "Ex:\n<tool_call>\n<function=list_files>\n<parameter=x>\n1\n</parameter>\n</function>\n</tool_call>\nend",
            },
        )
    ],
)
v = "<tool_call>\n<function=write_file>\n<parameter=path>\na.md\n</parameter>\n<parameter=content>\nEx:\n<tool_call>\n<function=list_files>\n</function>\n</tool_call>\nmore"
case("trunc w example", v, [])
case(
    "minimax",
    '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>\n</minimax:tool_call>',
    OSLO,
    "",
)
case(
    "anthropic",
    '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>\n</function_calls>',
    OSLO,
    "",
)
case("tool_code", '```tool_code\nget_weather(city="Oslo")\n```', OSLO)
case(
    "react",
    'Thought: I need it.\nAction: get_weather\nAction Input: {"city": "Oslo"}',
    OSLO,
    "Thought: I need it.",
)
case("name json", 'get_weather\n{"city": "Oslo"}', OSLO)
case(
    "arg in xml tc",
    '<tool_call>\n{"name": "mcp__srv__get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>',
    OSLO,
)
case(
    "openai",
    '{"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}}]}',
    OSLO,
)
case("tool_call empty", "<tool_call></tool_call>", [], "")
case("kimi empty sec", "Hi<|tool_calls_section_begin|><|tool_calls_section_end|>", [], "Hi")
case(
    "kimi think",
    '<think>Let me<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city":"Oslo"}<|tool_call_end|><|tool_calls_section_end|>',
    OSLO,
    "",
    "Let me",
)
case("hermes inline", "Ok then<tool_call>" + j + "</tool_call> fine", OSLO, "Ok then fine")
case(
    "unescaped nl",
    '<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": "x\ny"}}</tool_call>',
    [("write_file", {"path": "a", "content": "x\ny"})],
)
case("two in block", "<tool_call>\n" + j + "\n" + j + "\n</tool_call>", OSLO + OSLO, "")
case("fence xml", "```xml\n<tool_call>\n" + j + "\n</tool_call>\n```", OSLO, "")
case("list in tag", "<tool_call>[" + j + "," + j + "]</tool_call>", OSLO + OSLO)
case(
    "lfm text",
    '<|tool_call_start|>[get_weather(city="Oslo")]<|tool_call_end|>Checking.',
    OSLO,
    "Checking.",
)
case(
    "seed",
    "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Oslo</parameter>\n</function>\n</seed:tool_call>",
    OSLO,
    "",
)
case("unquoted mention", "Use <think> tags.", [])
case("seed think", "<seed:think>a</seed:think>b", [], "b", "a")
case("gptoss strip", 'commentary to=functions.get_weather json {"city":"Oslo"}', OSLO)
case(
    "surrogate",
    '<tool_call>{"name": "get_weather", "arguments": {"city": "\\ud83d"}}</tool_call>',
    [(W, {"city": "\ufffd"})],
)
case("nan", '<tool_call>{"name": "get_weather", "arguments": {"city": NaN}}</tool_call>', [])
case("broken args", '<tool_call>{"name": "get_weather", "arguments": "not json"}</tool_call>', [])
case(
    "fnname attr quotes",
    '<tool_call>\n<function="get_weather">\n<parameter="city">\nOslo\n</parameter>\n</function>\n</tool_call>',
    OSLO,
)
case(
    "fn space",
    "<tool_call>\n<function= get_weather >\n<parameter= city >\nOslo\n</parameter>\n</function>\n</tool_call>",
    OSLO,
)
case(
    "fence then call",
    "Code:\n```python\nx = 1\n```\n<tool_call>" + j + "</tool_call>",
    OSLO,
    "Code:\n```python\nx = 1\n```",
)
case("fence then call same line", "```\nx\n```<tool_call>" + j + "</tool_call>", OSLO)
case("inline code then call", "Use `a` and:\n<tool_call>" + j + "</tool_call>", OSLO)
case("missing open", j + "\n</tool_call>", OSLO, "")
case("bare then explain", j + "\n\nThat was it.", OSLO)
case("two bare nl", j + "\n" + j, OSLO + OSLO)
case("lead bare", "I will check.\n\n" + j, OSLO, "I will check.")
case("think then bare", "<think>x</think>\n\n" + j, OSLO, "", "x")
case("two fences", "```json\n" + j + "\n```\n```json\n" + j + "\n```", OSLO + OSLO)
case("array fence", "```json\n[" + j + ", " + j + "]\n```", OSLO + OSLO)
case(
    "glm text",
    "I will.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>\n\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>",
    OSLO + OSLO,
    "I will.",
)
case(
    "glm close in value",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>a </tool_call> b</arg_value>\n</tool_call>",
    [(W, {"city": "a </tool_call> b"})],
)
case(
    "xml ent",
    '<tool_call>\n<function=get_weather>\n<parameter=city>\na &lt; b & <c attr="1">x</c>\n</parameter>\n</function>\n</tool_call>',
    [(W, {"city": 'a &lt; b & <c attr="1">x</c>'})],
)
case("mistral sp", '[TOOL_CALLS] get_weather [ARGS] {"city": "Oslo"}', OSLO)
case(
    "mistral nl",
    '[TOOL_CALLS]\n[{"name": "get_weather", "arguments": {"city": "Oslo"}, "id": "abc"}]\n',
    OSLO,
)
case("mistral content brackets", "See [1] and [TOOL] a[0].", [], "See [1] and [TOOL] a[0].")
case(
    "mistral marker in arg",
    '[TOOL_CALLS]get_weather[ARGS]{"city": "a [TOOL_CALLS] b"}',
    [(W, {"city": "a [TOOL_CALLS] b"})],
)
case(
    "harm final after call",
    '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Oslo"}<|call|><|start|>assistant<|channel|>final<|message|>Done',
    OSLO,
    "Done",
)
case(
    "harm call tok in arg",
    '<|channel|>commentary to=functions.get_weather<|message|>{"city":"a<|call|>b"}<|call|>',
    [(W, {"city": "a<|call|>b"})],
)
case(
    "harm no json tag sp",
    '<|channel|>commentary to=functions.get_weather json<|message|>{"city":"Oslo"}<|call|>',
    OSLO,
)
case(
    "harm multi json",
    '<|start|>assistant<|channel|>analysis<|message|>t<|end|><|start|>assistant<|channel|>commentary<|message|>I will.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather<|constrain|>json<|message|>{"city":"Oslo"}<|call|>',
    OSLO,
    "I will.",
    "t",
)
case(
    "harm empty",
    "<|channel|>commentary to=functions.list_files <|constrain|>json<|message|>{}<|call|>",
    [("list_files", {})],
)
case(
    "gemma think",
    '<|channel>thought\nhm<channel|><|tool_call>call:get_weather{city:<|"|>Oslo<|"|>}<tool_call|><|tool_response>',
    OSLO,
    "",
    "hm",
)
case("gemma text", 'Ok <|tool_call>call:get_weather{city:<|"|>Oslo<|"|>}<tool_call|> then', OSLO)
case(
    "gemma num str",
    '<|tool_call>call:f{a:<|"|>12<|"|>,b:-3.5,c:[<|"|>x<|"|>,2]}<tool_call|>',
    [("f", {"a": "12", "b": -3.5, "c": ["x", 2]})],
)
case(
    "gemma two",
    '<|tool_call>call:a{}<tool_call|><|tool_call>call:b-c{x:<|"|>{}<|"|>}<tool_call|>',
    [("a", {}), ("b-c", {"x": "{}"})],
)
case(
    "ds31 text",
    'Hello<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city":"Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
    OSLO,
    "Hello",
)
case(
    "ds noouter",
    '<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city":"Oslo"}<｜tool▁call▁end｜>',
    OSLO,
)
case(
    "ds bad sib",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city":<｜tool▁call▁end｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city":"Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    OSLO,
    "",
)
case(
    "kimi bad sib",
    '<|tool_calls_section_begin|><|tool_call_begin|>bad<|tool_call_end|><|tool_call_begin|>functions.get_weather:1<|tool_call_argument_begin|>{"city":"Oslo"}<|tool_call_end|><|tool_calls_section_end|>',
    OSLO,
    "",
)
case(
    "kimi after",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city":"Oslo"}<|tool_call_end|><|tool_calls_section_end|>after',
    OSLO,
    "after",
)
case("llama py str", "{'name': 'get_weather', 'parameters': {'city': 'Oslo'}}", OSLO)
case(
    "llama pct",
    '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}} <|eot_id|>',
    OSLO,
    "",
)
case(
    "dsml text",
    'Hi.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    [(W, {"city": "Oslo", "days": 3})],
    "Hi.",
)
case(
    "dsml trunc",
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>\n',
    [],
    "",
)
case("tools unknown name", '<tool_call>{"name": "zzz", "arguments": {}}</tool_call>', [("zzz", {})])
case("hermes scratch", "<scratch_pad>a</scratch_pad><tool_call>" + j + "</tool_call>", OSLO)
case(
    "a broken call between marks that only stand at calls",
    "<|tool_call_begin|>bad<|tool_call_end|><|tool_call_begin|>functions.get_weather:1"
    '<|tool_call_argument_begin|>{"city":"Oslo"}<|tool_call_end|>',
    OSLO,
    "",
)


@each_case(("text", "calls", "content", "reasoning", "tools"), RULES)
def test_rule(text, calls, content, reasoning, tools) -> None:
    parsed = parse_tool_calls(text, tools)
    assert [(call.name, call.arguments) for call in parsed.calls] == calls
    assert content is None or parsed.content == content
    assert reasoning is None or parsed.reasoning == reasoning


def schema(**properties: dict) -> list[dict]:
    defs = {"level": {"type": "integer"}}
    return [{"name": "f", "parameters": {"properties": properties, "$defs": defs}}]


@each_case(
    ("kind", "raw", "value"),
    [
        ({"type": "string"}, "007", "007"),
        ({"type": "string"}, "true", "true"),
        ({"type": "string"}, "null", "null"),
        ({"type": "string"}, '{"a": 1}', '{"a": 1}'),
        ({"type": "integer"}, "7", 7),
        ({"type": "integer"}, "7.0", 7),
        ({"type": "integer"}, "seven", "seven"),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "number"}, "1e999", "1e999"),
        ({"type": "boolean"}, "False", False),
        ({"type": "array"}, "[1, 'a', None]", [1, "a", None]),
        ({"type": "object"}, "{'k': [1, True, None]}", {"k": [1, True, None]}),
        ({"type": ["integer", "null"]}, "null", None),
        ({"anyOf": [{"type": "boolean"}, {"type": "null"}]}, "true", True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "None", None),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "5", "5"),
        ({"$ref": "#/$defs/level"}, "3", 3),
        ({"enum": [1, 2]}, "2", 2),
        ({"type": "string", "nullable": True}, "null", None),
        ({"type": "int"}, "4", 4),
    ],
)
@each_case(
    "form",
    [
        "<tool_call>\n<function=f>\n<parameter=a>\n{}\n</parameter>\n</function>\n</tool_call>",
        "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>{}</arg_value>\n</tool_call>",
    ],
    ids=["tags", "pairs"],
)
def test_types_come_from_the_schema(form: str, kind: dict, raw: str, value: object) -> None:
    (call,) = parse_tool_calls(form.replace("{}", raw), schema(a=kind)).calls
    assert call.arguments == {"a": value}
    assert type(call.arguments["a"]) is type(value)


def test_what_the_schema_does_not_know_is_kept() -> None:
    text = "<tool_call>\n<function=f>\n<parameter=b>\n12\n</parameter>\n</function>\n</tool_call>"
    (call,) = parse_tool_calls(text, schema(a={"type": "integer"})).calls
    assert call.arguments == {"b": "12"}


@each_case(
    "written",
    ["functions.get_weather", "get_weather:0", "mcp__server__get_weather", "server.get_weather",
     "getWeather", "get-weather"],
)  # fmt: skip
def test_names_are_those_that_were_offered(written: str) -> None:
    text = f'<tool_call>{{"name": "{written}", "arguments": {{"city": "Oslo"}}}}</tool_call>'
    assert [call.name for call in parse_tool_calls(text, TOOLS).calls] == [W]


def test_a_prefix_of_the_server_may_be_left_out() -> None:
    text = '<tool_call>{"name": "run-query", "arguments": {"sql": "x"}}</tool_call>'
    assert [call.name for call in parse_tool_calls(text, TOOLS).calls] == ["mcp__db__run-query"]


def test_no_mark_begins_another() -> None:
    from toolcrib.toolcalls.marks import MARK_KINDS

    assert not [(a, b) for a in MARK_KINDS for b in MARK_KINDS if a != b and b.startswith(a)]


@each_case("text", [None, b"text", 3, {"content": "x"}])
def test_what_is_no_text_is_said(text: Any) -> None:
    with pytest.raises(TypeError, match=f"must be a str, not {type(text).__name__}"):
        parse_tool_calls(text)
    with pytest.raises(TypeError, match="must be a str"):
        ToolCallStream().feed(text)


@each_case("tools", ["x", b"x", {"name": "add"}, 3])
def test_what_is_no_list_of_tools_is_said(tools: Any) -> None:
    for form in (parse_tool_calls, parse_message):
        given: Any = {"content": "x"} if form is parse_message else "x"
        with pytest.raises(TypeError, match="tools must be a list of tools"):
            form(given, tools)
    with pytest.raises(TypeError, match="tools must be a list of tools"):
        ToolCallStream(tools)
    with pytest.raises(TypeError, match="message must be a mapping"):
        parse_message("x")  # type: ignore[arg-type]


CITY = ("get_weather", {"city": "Oslo"})
WRITTEN = {
    "attribute, JSON": '<tool_call name="get_weather"><args>{"city": "Oslo"}</args></tool_call>',
    "attribute, bare JSON": '<tool_call name="get_weather">{"city": "Oslo"}</tool_call>',
    "attribute, elements": "<tool_call name='get_weather'>\n<args>\n<city>Oslo</city>\n</args>\n"
    "</tool_call>",
    "attribute, parameters": '<tool_call name="get_weather"><parameter name="city">Oslo</parameter>'
    "</tool_call>",
    "attribute, no end": '<tool_call name="get_weather"><args>{"city": "Oslo"}</args>',
    "entity in JSON": '<tool_call>{"name": "get&#95;weather", "arguments": {"city": "Oslo"}}'
    "</tool_call>",
    "entity in a tag": "<tool_call><function=get&#x5f;weather><parameter=city>Oslo</parameter>"
    "</function></tool_call>",
    "entity in an attribute": '<invoke name="get&lowbar;weather"><parameter name="city">Oslo'
    "</parameter></invoke>",
    "no last bracket": '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}',
    "no last bracket, bare": '{"name": "get_weather", "arguments": {"city": "Oslo"}\n<|im_end|>',
    "no last bracket, fence": '```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}\n```',
    "no last bracket, array": '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}',
    "Qwen-Agent": '✿FUNCTION✿: get_weather\n✿ARGS✿: {"city": "Oslo"}\n✿RESULT✿',
    "Qwen-Agent, words before": 'Let me look.\n✿FUNCTION✿: get_weather\n✿ARGS✿: {"city": "Oslo"}\n'
    "✿RESULT✿: ",
    "Qwen-Agent, wide colons": '✿FUNCTION✿：get_weather\n✿ARGS✿：{"city": "Oslo"}\n✿RETURN✿：',
}


@each_case("name", WRITTEN)
def test_ways_of_some_models_and_agents(name: str) -> None:
    parsed = parse_tool_calls(WRITTEN[name], TOOLS)
    assert [(call.name, call.arguments) for call in parsed.calls] == [CITY], name
    assert parsed.diagnostics == []
    assert parsed.content in ("", "Let me look.")
    stream = ToolCallStream(TOOLS)
    for character in WRITTEN[name]:
        stream.feed(character)
    assert stream.close() == parsed


@each_case(
    "text",
    [
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"',
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo", "more": {"a": 1}',
        '<tool_call>{"name": "get_weather"',
        '<tool_call>{"name": "get_weather", "arguments": {"city": "O}',
        '{"name": "get_weather", "arguments": {"more": {"a": 1}',
        '✿FUNCTION✿: get_weather\n✿ARGS✿: {"city": "Os',
        '<tool_call name="get_weather"><args>{"city": "Os',
        '<tool_call name="get_weather"><args><city>Os',
    ],
)
def test_what_is_cut_off_within_the_arguments_does_not_run(text: str) -> None:
    parsed = parse_tool_calls(text, TOOLS)
    assert parsed.calls == []
    assert [note.code for note in parsed.diagnostics] == ["truncated"]


def test_calls_of_qwen_agent_follow_one_another() -> None:
    one = '✿FUNCTION✿: get_weather\n✿ARGS✿: {"city": "Oslo"}\n'
    parsed = parse_tool_calls(f"{one}{one}✿RESULT✿: 12\n✿RETURN✿: It is fine.", TOOLS)
    assert [(call.name, call.arguments) for call in parsed.calls] == [CITY, CITY]
