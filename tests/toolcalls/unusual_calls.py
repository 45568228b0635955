"""What models say off the beaten track: white space, lost marks, marks in values, siblings.

Each text is written by hand from the rules of its model's format, with the calls that it
means, and what a person would read where that is in question.
"""

# ruff: noqa: E501, E741, UP031, RUF001 - texts as models write them

from __future__ import annotations

from typing import Any, NamedTuple

from tests.toolcalls.scenarios import tool

Calls = list[tuple[str, dict[str, Any]]]


class Heard(NamedTuple):
    """One text, and what it means."""

    family: str
    name: str
    text: str
    calls: Calls
    content: str | None = None
    reasoning: str | None = None


OFFERED = [
    tool("get_weather", ("city",), city="string", unit={"enum": ["celsius", "fahrenheit"]}, days="integer"),
    tool(
        "search",
        ("query",),
        query="string",
        limit={"anyOf": [{"type": "integer"}, {"type": "null"}]},
        tags={"type": "array", "items": {"type": "string"}},
        filters={"type": "object", "properties": {"year": {"type": "integer"}}},
    ),
    tool("write_file", ("path", "content"), path="string", content="string"),
    tool("run_python", ("code",), code="string"),
    tool("get_time"),
    tool(
        "set_all",
        (),
        flag="boolean",
        ratio="number",
        level={"type": "integer", "nullable": True},
        zip="string",
        opt={"type": ["object", "null"]},
        ids={"type": "array", "items": {"type": "integer"}},
        mixed={"anyOf": [{"type": "string"}, {"type": "integer"}]},
        maybe={"oneOf": [{"type": "number"}, {"type": "null"}]},
        free={},
    ),
    tool("get-stock", ("symbol",), symbol="string"),
    tool("mcp__db__query", ("sql",), sql="string"),
]  # fmt: skip
HEARD: list[Heard] = []


def heard(family: str, name: str, text: str, calls: Calls, content: str | None = None, reasoning: str | None = None) -> None:  # fmt: skip
    HEARD.append(Heard(family, name, text, calls, content, reasoning))


OSLO = ("get_weather", {"city": "Oslo"})
ROME = ("get_weather", {"city": "Rome"})
TIME = ("get_time", {})
CODE = (
    'def f(x):\n    """Say "hi"."""\n    return {"a": [x, \'b\']}\n\nprint(f(1) < 2 and f(2) > 1)'
)
CODE_JSON = '"def f(x):\\n    \\"\\"\\"Say \\"hi\\".\\"\\"\\"\\n    return {\\"a\\": [x, \'b\']}\\n\\nprint(f(1) < 2 and f(2) > 1)"'

# --- DeepSeek ---------------------------------------------------------------------------
B, E = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
C, D, S = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
EOS = "<｜end▁of▁sentence｜>"


def v3(name: str, arguments: str) -> str:
    return f"{C}function{S}{name}\n```json\n{arguments}\n```{D}"


def v31(name: str, arguments: str) -> str:
    return f"{C}{name}{S}{arguments}{D}"


O, R = '{"city": "Oslo"}', '{"city": "Rome"}'
ds = "deepseek"
heard(
    ds,
    "V3 two, a line between",
    f"{B}{v3('get_weather', O)}\n{v3('get_weather', R)}{E}",
    [OSLO, ROME],
    "",
)
heard(
    ds,
    "V3 with text and the end of the turn",
    f"I will check both.{B}{v3('get_weather', O)}{E}{EOS}",
    [OSLO],
    "I will check both.",
)
heard(
    ds,
    "V3 fence without a language",
    f"{B}{C}function{S}get_weather\n```\n{O}\n```{D}{E}",
    [OSLO],
    "",
)
heard(ds, "V3 without a fence", f"{B}{C}function{S}get_weather\n{O}{D}{E}", [OSLO], "")
heard(ds, "V3 fence not closed", f"{B}{C}function{S}get_weather\n```json\n{O}\n{D}{E}", [OSLO], "")
heard(ds, "V3 CRLF", f"{B}{C}function{S}get_weather\r\n```json\r\n{O}\r\n```{D}{E}", [OSLO], "")
heard(
    ds,
    "V3 JSON over lines",
    f'{B}{C}function{S}search\n```json\n{{\n  "query": "a\\nb",\n  "limit": null\n}}\n```{D}{E}',
    [("search", {"query": "a\nb", "limit": None})],
    "",
)
heard(
    ds,
    "V3 a fence in the value",
    f'{B}{C}function{S}write_file\n```json\n{{"path": "a.md", "content": "```json\\n{{}}\\n```\\n"}}\n```{D}{E}',
    [("write_file", {"path": "a.md", "content": "```json\n{}\n```\n"})],
    "",
)
heard(
    ds, "V3 all end marks missing", f"{B}{C}function{S}get_weather\n```json\n{O}\n```", [OSLO], ""
)
heard(ds, "V3 cut in the value", f'{B}{C}function{S}get_weather\n```json\n{{"city": "Os', [], "")
heard(
    ds,
    "V3 first whole, second cut",
    f'{B}{v3("get_weather", O)}\n{C}function{S}get_weather\n```json\n{{"ci',
    [OSLO],
    "",
)
heard(
    ds,
    "R1 reasoning without its opening",
    f"The user asks for it.\n</think>\n\n{B}{v3('get_weather', O)}{E}",
    [OSLO],
    "",
    "The user asks for it.",
)
heard(
    ds,
    "R1 reasoning with the marks named",
    f"<think>\nI must write {B} now.\n</think>\n{B}{v3('get_weather', O)}{E}",
    [OSLO],
    "",
)
heard(
    ds, "R1 no end of the list", f"<think>\nx\n</think>\n{B}{v3('get_weather', O)}", [OSLO], "", "x"
)
heard(
    ds,
    "R1 begin mark as tool_calls_begin",
    f"<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>get_weather\n```json\n{O}\n```<｜tool_call_end｜><｜tool_calls_end｜>",
    [OSLO],
    "",
)
heard(
    ds,
    "R1 begin mark with spaces",
    f"<｜tool calls begin｜><｜tool call begin｜>function<｜tool sep｜>get_weather\n```json\n{O}\n```<｜tool call end｜><｜tool calls end｜>",
    [OSLO],
    "",
)
heard(
    ds,
    "R1 begin mark with escaped underscores",
    f"<｜tool\\_calls\\_begin｜>{C}function{S}get_weather\n```json\n{O}\n```{D}{E}",
    [OSLO],
    "",
)
heard(
    ds,
    "R1 distilled, begin mark shortened",
    f"<｜tool▁calls｜>{C}function{S}get_weather\n```json\n{O}\n```{D}{E}",
    [OSLO],
    "",
)
heard(
    ds,
    "R1 ASCII bars",
    f"<|tool▁calls▁begin|><|tool▁call▁begin|>function<|tool▁sep|>get_weather\n```json\n{O}\n```<|tool▁call▁end|><|tool▁calls▁end|>",
    [OSLO],
    "",
)
heard(
    ds,
    "ASCII bars and underscores",
    f"<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>get_weather\n```json\n{O}\n```<|tool_call_end|><|tool_calls_end|>",
    [OSLO],
    "",
)
heard(
    ds,
    "ASCII V3.1",
    f"<|tool_calls_begin|><|tool_call_begin|>get_weather<|tool_sep|>{O}<|tool_call_end|><|tool_calls_end|>",
    [OSLO],
    "",
)
heard(ds, "V3.1 two", f"{B}{v31('get_weather', O)}{v31('get_time', '{}')}{E}", [OSLO, TIME], "")
heard(ds, "V3.1 white space", f"{B}\n{C} get_weather {S} {O} {D}\n{E}\n", [OSLO], "")
heard(
    ds,
    "V3.1 reasoning and text",
    f"</think>Let me look.{B}{v31('get_weather', O)}{E}{EOS}",
    [OSLO],
    "Let me look.",
)
heard(
    ds,
    "V3.1 marks in the value",
    f"{B}{v31('search', chr(123) + chr(34) + 'query' + chr(34) + ': ' + chr(34) + D + ' and ' + E + chr(34) + chr(125))}{E}",
    [("search", {"query": f"{D} and {E}"})],
    "",
)
heard(ds, "V3.1 only the section begins", f"{B}get_weather{S}{O}{D}{E}", [OSLO])
heard(
    ds,
    "V3.1 arguments as a string",
    f"{B}{v31('get_weather', chr(34) + '{' + chr(92) + chr(34) + 'city' + chr(92) + chr(34) + ':' + chr(92) + chr(34) + 'Oslo' + chr(92) + chr(34) + '}' + chr(34))}{E}",
    [OSLO],
    "",
)
heard(ds, "V3.1 no arguments at all", f"{B}{C}get_time{S}{D}{E}", [TIME], "")
heard(
    ds,
    "V3.1 the broken one of three",
    f"{B}{v31('get_weather', O)}{v31('get_weather', '{city Oslo')}{v31('get_weather', R)}{E}",
    [OSLO, ROME],
    "",
)
heard(
    ds,
    "V3.1 sections twice",
    f"{B}{v31('get_weather', O)}{E}\nAnd also\n{B}{v31('get_weather', R)}{E}",
    [OSLO, ROME],
)
X, Y = "<｜DSML｜", "</｜DSML｜"


def v32(name: str, *arguments: str, outer: str = "function_calls") -> str:
    return f'{X}{outer}>\n{X}invoke name="{name}">\n{"".join(a + chr(10) for a in arguments)}{Y}invoke>\n{Y}{outer}>'


def arg32(key: str, kind: str, value: str) -> str:
    return f'{X}parameter name="{key}" string="{kind}">{value}{Y}parameter>'


heard(
    ds,
    "V3.2 types",
    v32(
        "set_all",
        arg32("flag", "false", "true"),
        arg32("ratio", "false", "1.0"),
        arg32("zip", "true", "01234"),
        arg32("opt", "false", '{"a": null}'),
        arg32("ids", "false", "[1, 2]"),
        arg32("level", "false", "null"),
    ),
    [
        (
            "set_all",
            {
                "flag": True,
                "ratio": 1.0,
                "zip": "01234",
                "opt": {"a": None},
                "ids": [1, 2],
                "level": None,
            },
        )
    ],
    "",
)
heard(
    ds,
    "V3.2 two invokes",
    f'{X}function_calls>\n{X}invoke name="get_weather">\n{arg32("city", "true", "Oslo")}\n{Y}invoke>\n{X}invoke name="get_time">\n{Y}invoke>\n{Y}function_calls>',
    [OSLO, TIME],
    "",
)
heard(
    ds,
    "V3.2 code",
    v32("run_python", arg32("code", "true", CODE)),
    [("run_python", {"code": CODE})],
    "",
)
heard(
    ds,
    "V3.2 ends missing after a whole call",
    f'{X}function_calls>\n{X}invoke name="get_weather">\n{arg32("city", "true", "Oslo")}\n{Y}invoke>',
    [OSLO],
    "",
)
heard(
    ds,
    "V3.2 no section",
    f'{X}invoke name="get_weather">{arg32("city", "true", "Oslo")}{Y}invoke>',
    [OSLO],
    "",
)
heard(
    ds,
    "V3.2 string attribute missing",
    f'{X}function_calls>\n{X}invoke name="get_weather">\n{X}parameter name="city">Oslo{Y}parameter>\n{X}parameter name="days">3{Y}parameter>\n{Y}invoke>\n{Y}function_calls>',
    [("get_weather", {"city": "Oslo", "days": 3})],
    "",
)
heard(
    ds,
    "V3.2 a tag of its own in the value",
    v32(
        "write_file",
        arg32("path", "true", "a"),
        arg32("content", "true", "x </parameter> </invoke> y"),
    ),
    [("write_file", {"path": "a", "content": "x </parameter> </invoke> y"})],
    "",
)
heard(
    ds,
    "V3.2 after unopened reasoning",
    "Think.</think>\n\n" + v32("get_weather", arg32("city", "true", "Oslo")) + EOS,
    [OSLO],
    "",
    "Think.",
)
heard(
    ds,
    "V3.2 ASCII bars",
    '<|DSML|function_calls>\n<|DSML|invoke name="get_weather">\n<|DSML|parameter name="city" string="true">Oslo</|DSML|parameter>\n</|DSML|invoke>\n</|DSML|function_calls>',
    [OSLO],
    "",
)
heard(
    ds,
    "V4 outer tool_calls",
    v32("get_weather", arg32("city", "true", "Oslo"), outer="tool_calls"),
    [OSLO],
    "",
)
heard(
    ds,
    "V3.2 cut in the second call",
    f'{X}function_calls>\n{X}invoke name="get_time">\n{Y}invoke>\n{X}invoke name="get_weather">\n{X}parameter name="city" string="true">Os',
    [TIME],
    "",
)

# --- Kimi K2 ----------------------------------------------------------------------------
KB, KE = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
kimi = "kimi"


def k2(name: str, arguments: str, end: str = "<|tool_call_end|>") -> str:
    return f"<|tool_call_begin|>{name}<|tool_call_argument_begin|>{arguments}{end}"


heard(
    kimi,
    "two and a space",
    f"{KB} {k2('functions.get_weather:0', O)} {k2('functions.get_weather:1', R)} {KE}",
    [OSLO, ROME],
    "",
)
heard(
    kimi,
    "text, no end of section",
    f"Sure! {KB}{k2('functions.get_weather:0', O)}",
    [OSLO],
    "Sure!",
)
heard(kimi, "no end of the call", f"{KB}{k2('functions.get_weather:0', O, '')}{KE}", [OSLO], "")
heard(
    kimi,
    "no end of the first call",
    f"{KB}{k2('functions.get_weather:0', O, '')}{k2('functions.get_weather:1', R)}{KE}",
    [OSLO, ROME],
    "",
)
heard(kimi, "no ends at all", f"{KB}{k2('functions.get_weather:0', O, '')}", [OSLO], "")
heard(
    kimi,
    "singular section mark",
    f"<|tool_call_section_begin|>{k2('functions.get_weather:0', O)}<|tool_call_section_end|>",
    [OSLO],
    "",
)
heard(
    kimi,
    "name with dashes",
    f"{KB}{k2('functions.get-stock:0', chr(123) + chr(34) + 'symbol' + chr(34) + ': ' + chr(34) + 'A' + chr(34) + chr(125))}{KE}",
    [("get-stock", {"symbol": "A"})],
    "",
)
heard(
    kimi,
    "name of a server",
    f"{KB}{k2('functions.mcp__db__query:4', chr(123) + chr(34) + 'sql' + chr(34) + ': ' + chr(34) + 'SELECT 1' + chr(34) + chr(125))}{KE}",
    [("mcp__db__query", {"sql": "SELECT 1"})],
    "",
)
heard(kimi, "id without index", f"{KB}{k2('functions.get_weather', O)}{KE}", [OSLO], "")
heard(kimi, "id without functions and index", f"{KB}{k2('get_weather', O)}{KE}", [OSLO], "")
heard(kimi, "id with an underscore", f"{KB}{k2('functions_get_weather_0', O)}{KE}", [OSLO])
heard(kimi, "id as call_get_weather_0", f"{KB}{k2('call_get_weather_0', O)}{KE}", [OSLO])
heard(kimi, "no arguments", f"{KB}{k2('functions.get_time:0', '{}')}{KE}", [TIME], "")
heard(kimi, "arguments empty", f"{KB}{k2('functions.get_time:0', '')}{KE}", [TIME], "")
heard(
    kimi,
    "end marks in the value",
    f"{KB}{k2('functions.search:0', '{%squery%s: %sa <|tool_call_end|> b <|tool_calls_section_end|>%s}' % (chr(34), chr(34), chr(34), chr(34)))}{KE}",
    [("search", {"query": "a <|tool_call_end|> b <|tool_calls_section_end|>"})],
    "",
)
heard(
    kimi,
    "reasoning not closed",
    f"<think>I need the weather.{KB}{k2('functions.get_weather:0', O)}{KE}",
    [OSLO],
    "",
    "I need the weather.",
)
heard(
    kimi,
    "reasoning never opened, closed",
    f"I need the weather.</think>{KB}{k2('functions.get_weather:0', O)}{KE}",
    [OSLO],
    "",
    "I need the weather.",
)
heard(kimi, "end of turn", f"{KB}{k2('functions.get_weather:0', O)}{KE}<|im_end|>", [OSLO], "")
heard(
    kimi,
    "broken JSON, whole sibling",
    f"{KB}{k2('functions.get_weather:0', '{city}')}{k2('functions.get_weather:1', R)}{KE}",
    [ROME],
    "",
)
heard(
    kimi,
    "cut in the arguments",
    f"{KB}{k2('functions.get_weather:0', '{%scity%s: %sOs' % (chr(34), chr(34), chr(34)), '')}",
    [],
    "",
)
heard(
    kimi,
    "cut in the id",
    f"{KB}{k2('functions.get_weather:0', O)}<|tool_call_begin|>functions.get_we",
    [OSLO],
    "",
)
heard(
    kimi,
    "two sections",
    f"{KB}{k2('functions.get_weather:0', O)}{KE}Then:{KB}{k2('functions.get_weather:1', R)}{KE}",
    [OSLO, ROME],
    "Then:",
)
heard(
    kimi,
    "code",
    f"{KB}{k2('functions.run_python:0', '{%scode%s: ' % (chr(34), chr(34)) + CODE_JSON + '}')}{KE}",
    [("run_python", {"code": CODE})],
    "",
)
heard(
    kimi,
    "lines around every mark",
    f"\n{KB}\n<|tool_call_begin|>\nfunctions.get_weather:0\n<|tool_call_argument_begin|>\n{O}\n<|tool_call_end|>\n{KE}\n",
    [OSLO],
    "",
)

# --- GLM --------------------------------------------------------------------------------
glm = "glm"


def g(name: str, *pairs: tuple[str, str], line: str = "\n") -> str:
    inner = "".join(
        f"<arg_key>{k}</arg_key>{line}<arg_value>{v}</arg_value>{line}" for k, v in pairs
    )
    return f"<tool_call>{name}{line}{inner}</tool_call>"


heard(
    glm,
    "4.7 without lines",
    g("get_weather", ("city", "Oslo"), ("days", "2"), line=""),
    [("get_weather", {"city": "Oslo", "days": 2})],
    "",
)
heard(glm, "4.7 no arguments", "<tool_call>get_time</tool_call>", [TIME], "")
heard(
    glm,
    "4.7 two without a space",
    g("get_weather", ("city", "Oslo"), line="") + g("get_weather", ("city", "Rome"), line=""),
    [OSLO, ROME],
    "",
)
heard(
    glm,
    "numbers for strings",
    g("set_all", ("zip", "01234"), ("level", "3"), ("ratio", "2"), ("mixed", "12")),
    [("set_all", {"zip": "01234", "level": 3, "ratio": 2, "mixed": "12"})],
    "",
)
heard(
    glm,
    "a string in quotes stays in quotes",
    g("get_weather", ("city", '"Oslo"')),
    [("get_weather", {"city": '"Oslo"'})],
)
heard(
    glm,
    "null and bools",
    g("set_all", ("flag", "true"), ("level", "null"), ("maybe", "null"), ("opt", "null")),
    [("set_all", {"flag": True, "level": None, "maybe": None, "opt": None})],
    "",
)
heard(
    glm,
    "array and object",
    g("search", ("query", "x"), ("tags", '["a", "b"]'), ("filters", '{"year": 2024}')),
    [("search", {"query": "x", "tags": ["a", "b"], "filters": {"year": 2024}})],
    "",
)
heard(
    glm,
    "an array in Python",
    g("search", ("query", "x"), ("tags", "['a', 'b']")),
    [("search", {"query": "x", "tags": ["a", "b"]})],
    "",
)
heard(glm, "code", g("run_python", ("code", CODE)), [("run_python", {"code": CODE})], "")
heard(
    glm,
    "tags of its own in the value",
    g(
        "write_file",
        ("path", "a"),
        ("content", "x <arg_key>k</arg_key> <arg_value>v</arg_value> y"),
    ),
    [("write_file", {"path": "a", "content": "x <arg_key>k</arg_key> <arg_value>v</arg_value> y"})],
    "",
)
heard(
    glm,
    "the end mark in the value",
    g("write_file", ("path", "a"), ("content", "one </tool_call> two")),
    [("write_file", {"path": "a", "content": "one </tool_call> two"})],
    "",
)
heard(
    glm,
    "white space of a value",
    g("write_file", ("path", "a"), ("content", "  x\n")),
    [("write_file", {"path": "a", "content": "  x\n"})],
    "",
)
heard(
    glm,
    "empty value",
    g("write_file", ("path", "a"), ("content", "")),
    [("write_file", {"path": "a", "content": ""})],
    "",
)
heard(
    glm,
    "lines before the name",
    "<tool_call>\nget_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>",
    [OSLO],
    "",
)
heard(glm, "CRLF", g("get_weather", ("city", "Oslo"), line="\r\n"), [OSLO], "")
heard(
    glm,
    "no end of the call",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>",
    [],
)
heard(
    glm,
    "no end before the next call",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n"
    + g("get_weather", ("city", "Rome")),
    [OSLO, ROME],
    "",
)
heard(
    glm,
    "no end of a value before the next key",
    "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>x\n<arg_key>limit</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    [("search", {"query": "x", "limit": 3})],
)
heard(
    glm,
    "no end of the last value",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo\n</tool_call>",
    [OSLO],
)
heard(
    glm,
    "reasoning, text and call",
    "<think>Hm.</think>\nLet me look.\n" + g("get_weather", ("city", "Oslo")),
    [OSLO],
    "Let me look.",
    "Hm.",
)
heard(
    glm,
    "unopened reasoning",
    "Hm.</think>\n" + g("get_weather", ("city", "Oslo")),
    [OSLO],
    "",
    "Hm.",
)
heard(
    glm,
    "empty reasoning, end of turn",
    "\n<think></think>\n" + g("get_weather", ("city", "Oslo")) + "<|observation|>",
    [OSLO],
    "",
)
heard(
    glm,
    "reasoning closed by the call",
    "<think>Hm.\n" + g("get_weather", ("city", "Oslo")),
    [OSLO],
    "",
    "Hm.",
)
heard(
    glm, "cut in a value", "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Os", [], ""
)
heard(
    glm, "one whole, one cut", g("get_time") + "\n<tool_call>get_weather\n<arg_key>ci", [TIME], ""
)
heard(
    glm,
    "unicode",
    g("get_weather", ("city", "東京 “x” 🎉")),
    [("get_weather", {"city": "東京 “x” 🎉"})],
    "",
)
heard(
    glm,
    "escapes are characters",
    g("write_file", ("path", "C:\\new\\t"), ("content", "a\\nb")),
    [("write_file", {"path": "C:\\new\\t", "content": "a\\nb"})],
    "",
)
heard(
    glm,
    "JSON in the tag",
    '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>',
    [OSLO],
    "",
)
heard(glm, "name then JSON", '<tool_call>get_weather\n{"city": "Oslo"}\n</tool_call>', [OSLO], "")
heard(glm, "text after", g("get_weather", ("city", "Oslo")) + "\nDone.", [OSLO], "Done.")
heard(
    glm,
    "a mention in backticks first",
    "I use `<tool_call>` now:\n" + g("get_weather", ("city", "Oslo")),
    [OSLO],
    "I use `<tool_call>` now:",
)

# --- Qwen3-Coder ------------------------------------------------------------------------
qx = "qwen-xml"


def q(name: str, *pairs: tuple[str, str], line: str = "\n", outer: bool = True) -> str:
    inner = "".join(f"<parameter={k}>{line}{v}{line}</parameter>{line}" for k, v in pairs)
    call = f"<function={name}>{line}{inner}</function>"
    return f"<tool_call>{line}{call}{line}</tool_call>" if outer else call


heard(
    qx,
    "no outer tag, two",
    q("get_weather", ("city", "Oslo"), outer=False)
    + "\n"
    + q("get_weather", ("city", "Rome"), outer=False),
    [OSLO, ROME],
    "",
)
heard(
    qx,
    "outer end only",
    "I will.\n" + q("get_weather", ("city", "Oslo"), outer=False) + "\n</tool_call>",
    [OSLO],
    "I will.",
)
heard(qx, "no lines", q("get_weather", ("city", "Oslo"), line=""), [OSLO], "")
heard(qx, "CRLF", q("get_weather", ("city", "Oslo"), line="\r\n"), [OSLO], "")
heard(
    qx,
    "two in one block",
    "<tool_call>\n"
    + q("get_weather", ("city", "Oslo"), outer=False)
    + "\n"
    + q("get_time", outer=False)
    + "\n</tool_call>",
    [OSLO, TIME],
    "",
)
heard(
    qx,
    "two blocks and words between",
    q("get_weather", ("city", "Oslo")) + "\nand\n" + q("get_weather", ("city", "Rome")),
    [OSLO, ROME],
    "and",
)
heard(
    qx,
    "no end of the block",
    "<tool_call>\n" + q("get_weather", ("city", "Oslo"), outer=False),
    [OSLO],
    "",
)
heard(
    qx,
    "no end of the function",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</tool_call>",
    [OSLO],
    "",
)
heard(
    qx,
    "second block begins without ends",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>",
    [OSLO, ROME],
    "",
)
heard(
    qx,
    "types",
    q(
        "set_all",
        ("flag", "true"),
        ("ratio", "1.5"),
        ("level", "null"),
        ("zip", "007"),
        ("opt", '{"a": [1, {"b": null}]}'),
        ("ids", "[1, 2]"),
        ("mixed", "5"),
        ("maybe", "2.5"),
    ),
    [
        (
            "set_all",
            {
                "flag": True,
                "ratio": 1.5,
                "level": None,
                "zip": "007",
                "opt": {"a": [1, {"b": None}]},
                "ids": [1, 2],
                "mixed": "5",
                "maybe": 2.5,
            },
        )
    ],
    "",
)
heard(
    qx,
    "types as Python",
    q("set_all", ("flag", "False"), ("opt", "{'a': True, 'b': None}"), ("ids", "[1, 2,]")),
    [("set_all", {"flag": False, "opt": {"a": True, "b": None}, "ids": [1, 2]})],
    "",
)
heard(
    qx,
    "anyOf with null, a number",
    q("search", ("query", "12"), ("limit", "5")),
    [("search", {"query": "12", "limit": 5})],
    "",
)
heard(
    qx,
    "anyOf with null, null",
    q("search", ("query", "null"), ("limit", "null")),
    [("search", {"query": "null", "limit": None})],
    "",
)
heard(
    qx,
    "a value with its own end mark",
    q("write_file", ("path", "a.xml"), ("content", "<a>\n</parameter>\n</a>")),
    [("write_file", {"path": "a.xml", "content": "<a>\n</parameter>\n</a>"})],
    "",
)
heard(
    qx,
    "a value with all end marks",
    q("write_file", ("path", "a"), ("content", "x </parameter> y </function> z </tool_call> w")),
    [("write_file", {"path": "a", "content": "x </parameter> y </function> z </tool_call> w"})],
    "",
)
heard(
    qx,
    "a value with an opening mark",
    q("write_file", ("path", "a"), ("content", "see <function=foo> and <parameter=x> here")),
    [("write_file", {"path": "a", "content": "see <function=foo> and <parameter=x> here"})],
    "",
)
heard(
    qx,
    "code and indentation",
    q("run_python", ("code", "    x = 1\n\n    if x < 2:\n        y = '</b>'\n")),
    [("run_python", {"code": "    x = 1\n\n    if x < 2:\n        y = '</b>'\n"})],
    "",
)
heard(
    qx,
    "blank lines of a value",
    q("write_file", ("path", "a"), ("content", "\nx\n\n")),
    [("write_file", {"path": "a", "content": "\nx\n\n"})],
    "",
)
heard(
    qx,
    "empty value",
    q("write_file", ("path", "a"), ("content", "")),
    [("write_file", {"path": "a", "content": ""})],
    "",
)
heard(
    qx,
    "empty value without lines",
    "<tool_call>\n<function=write_file>\n<parameter=path>a</parameter>\n<parameter=content></parameter>\n</function>\n</tool_call>",
    [("write_file", {"path": "a", "content": ""})],
    "",
)
heard(
    qx,
    "entities are characters",
    q("write_file", ("path", "a"), ("content", "&lt;b&gt; &amp; <br/>")),
    [("write_file", {"path": "a", "content": "&lt;b&gt; &amp; <br/>"})],
    "",
)
heard(
    qx,
    "a value that is no number",
    q("get_weather", ("city", "Oslo"), ("days", "three")),
    [("get_weather", {"city": "Oslo", "days": "three"})],
    "",
)
heard(
    qx,
    "name attribute",
    '<tool_call>\n<function name="get_weather">\n<parameter name="city">Oslo</parameter>\n</function>\n</tool_call>',
    [OSLO],
    "",
)
heard(
    qx,
    "quotes around names",
    "<tool_call>\n<function='get_weather'>\n<parameter='city'>\nOslo\n</parameter>\n</function>\n</tool_call>",
    [OSLO],
    "",
)
heard(
    qx,
    "no bracket after the name",
    "<tool_call>\n<function=get_weather\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>",
    [OSLO],
)
heard(
    qx,
    "no bracket after the key",
    "<tool_call>\n<function=get_weather>\n<parameter=city\nOslo\n</parameter>\n</function>\n</tool_call>",
    [OSLO],
)
heard(
    qx,
    "function not offered",
    "<tool_call>\n<function=fly>\n<parameter=to>\nMoon\n</parameter>\n</function>\n</tool_call>",
    [("fly", {"to": "Moon"})],
    "",
)
heard(
    qx,
    "one not offered beside one that is",
    q("fly", ("n", "1")) + q("get_time"),
    [("fly", {"n": "1"}), TIME],
    "",
)
heard(
    qx,
    "unopened reasoning",
    "Hm.\n</think>\n\n" + q("get_weather", ("city", "Oslo")),
    [OSLO],
    "",
    "Hm.",
)
heard(
    qx,
    "cut after a whole parameter",
    "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nhalf of",
    [],
    "",
)
heard(qx, "cut in the tag", q("get_time") + "\n<tool_call>\n<func", [TIME], "")
heard(
    qx,
    "JSON in the function tag",
    '<tool_call>\n<function=get_weather>\n{"city": "Oslo"}\n</function>\n</tool_call>',
    [OSLO],
    "",
)
heard(qx, "end of turn", q("get_weather", ("city", "Oslo")) + "<|im_end|>", [OSLO], "")
heard(
    qx,
    "text before on the same line",
    "Looking: " + q("get_weather", ("city", "Oslo")),
    [OSLO],
    "Looking:",
)
heard(
    qx,
    "text after the function in the block",
    "<tool_call>\n" + q("get_weather", ("city", "Oslo"), outer=False) + "\nok\n</tool_call>",
    [OSLO],
)
heard(
    qx,
    "diff in the value",
    q(
        "write_file",
        ("path", "p"),
        ("content", "--- a\n+++ b\n@@ -1 +1 @@\n-<parameter=x>\n+<parameter=y>\n"),
    ),
    [
        (
            "write_file",
            {"path": "p", "content": "--- a\n+++ b\n@@ -1 +1 @@\n-<parameter=x>\n+<parameter=y>\n"},
        )
    ],
    "",
)

# --- Hermes and Qwen's JSON -------------------------------------------------------------
he = "hermes"
J, JR = (
    '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
    '{"name": "get_weather", "arguments": {"city": "Rome"}}',
)


def h(inner: str, line: str = "\n") -> str:
    return f"<tool_call>{line}{inner}{line}</tool_call>"


heard(he, "no lines, two", h(J, "") + h(JR, ""), [OSLO, ROME], "")
heard(he, "CRLF", h(J, "\r\n") + "\r\n" + h(JR, "\r\n"), [OSLO, ROME], "")
heard(
    he,
    "opening mark instead of the end",
    f"<tool_call>\n{J}\n<tool_call>\n{JR}\n</tool_call>",
    [OSLO, ROME],
    "",
)
heard(he, "opening mark as the end", f"<tool_call>\n{J}\n<tool_call>", [OSLO], "")
heard(he, "no end, two", f"<tool_call>\n{J}\n<tool_call>\n{JR}", [OSLO, ROME], "")
heard(he, "no opening", f"{J}\n</tool_call>", [OSLO], "")
heard(he, "no opening after text", f"I will look.\n{J}\n</tool_call>", [OSLO], "I will look.")
heard(he, "parameters", h('{"name": "get_weather", "parameters": {"city": "Oslo"}}'), [OSLO], "")
heard(
    he, "arguments first", h('{"arguments": {"city": "Oslo"}, "name": "get_weather"}'), [OSLO], ""
)
heard(he, "arguments null", h('{"name": "get_time", "arguments": null}'), [TIME], "")
heard(he, "no arguments", h('{"name": "get_time"}'), [TIME], "")
heard(he, "arguments an empty string", h('{"name": "get_time", "arguments": ""}'), [TIME], "")
heard(
    he,
    "arguments a string over lines",
    h('{"name": "get_weather", "arguments": "{\\n  \\"city\\": \\"Oslo\\"\\n}"}'),
    [OSLO],
    "",
)
heard(
    he,
    "OpenAI's form",
    h('{"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Oslo"}}}'),
    [OSLO],
    "",
)
heard(
    he,
    "an id",
    h('{"id": "c_1", "name": "get_weather", "arguments": {"city": "Oslo"}}'),
    [OSLO],
    "",
)
heard(he, "an array", h(f"[{J}, {JR}]"), [OSLO, ROME], "")
heard(he, "two with a comma", h(f"{J},\n{JR}"), [OSLO, ROME], "")
heard(he, "a fence within", h(f"```json\n{J}\n```"), [OSLO], "")
heard(he, "a fence around", f"```\n{h(J)}\n```", [OSLO], "")
heard(
    he,
    "types are JSON's",
    h(
        '{"name": "set_all", "arguments": {"flag": true, "ratio": 1e2, "level": null, "zip": "007", "ids": [1], "opt": {"a": 1.0}}}'
    ),
    [
        (
            "set_all",
            {
                "flag": True,
                "ratio": 100.0,
                "level": None,
                "zip": "007",
                "ids": [1],
                "opt": {"a": 1.0},
            },
        )
    ],
    "",
)
heard(
    he,
    "unicode escapes",
    h('{"name": "get_weather", "arguments": {"city": "\\u6771\\u4eac \\ud83c\\udf89"}}'),
    [("get_weather", {"city": "東京 🎉"})],
    "",
)
heard(
    he,
    "escaped slashes and tabs",
    h('{"name": "write_file", "arguments": {"path": "a\\/b", "content": "\\tx\\\\y\\u0022"}}'),
    [("write_file", {"path": "a/b", "content": '\tx\\y"'})],
    "",
)
heard(
    he,
    "code",
    h('{"name": "run_python", "arguments": {"code": ' + CODE_JSON + "}}"),
    [("run_python", {"code": CODE})],
    "",
)
heard(
    he,
    "line breaks in the string",
    h('{"name": "run_python", "arguments": {"code": "x = 1\nprint(x)\t# y"}}'),
    [("run_python", {"code": "x = 1\nprint(x)\t# y"})],
    "",
)
heard(
    he,
    "the marks in a string",
    h('{"name": "search", "arguments": {"query": "what is </tool_call> and <tool_call>?"}}'),
    [("search", {"query": "what is </tool_call> and <tool_call>?"})],
    "",
)
heard(
    he,
    "braces in a string",
    h('{"name": "search", "arguments": {"query": "}}]{ \\" }"}}'),
    [("search", {"query": '}}]{ " }'})],
    "",
)
heard(
    he,
    "bad first",
    h('{"name": "get_weather", "arguments": {"city": }}') + "\n" + h(JR),
    [ROME],
    "",
)
heard(he, "bad between", h(J) + h("not JSON at all") + h(JR), [OSLO, ROME])
heard(he, "an array for arguments", h('{"name": "get_weather", "arguments": ["Oslo"]}'), [])
heard(he, "no name", h('{"arguments": {"city": "Oslo"}}'), [])
heard(he, "name empty", h('{"name": "", "arguments": {}}'), [])
heard(he, "name a number", h('{"name": 3, "arguments": {}}'), [])
heard(
    he, "a comment", h('{"name": "get_weather", "arguments": {"city": "Oslo"}} // the call'), [OSLO]
)
heard(
    he,
    "reasoning closed, then text, call, text",
    "<think>\nHm.\n</think>\n\nOne.\n" + h(J) + "\nTwo.",
    [OSLO],
    "One.\nTwo.",
    "Hm.",
)
heard(he, "empty reasoning", "<think>\n\n</think>\n\n" + h(J), [OSLO], "", "")
heard(
    he,
    "unopened reasoning that names the mark",
    "I should use <tool_call> here.\n</think>\n\n" + h(J),
    [OSLO],
    "",
)
heard(
    he, "unopened reasoning with a draft", f"Maybe {h(JR)} or so.\n</think>\n\n" + h(J), [OSLO], ""
)
heard(he, "a draft in reasoning, then the call", f"<think>Maybe {h(JR)}?</think>{h(J)}", [OSLO], "")
heard(he, "QwQ: reasoning ends in the call", "<think>\nHm.\n" + h(J), [OSLO], "", "Hm.")
heard(he, "end of turn twice", h(J) + "<|im_end|>\n<|endoftext|>", [OSLO], "")
heard(
    he,
    "spaces in the JSON",
    h('{ "name" : "get_weather" , "arguments" : { "city" : "Oslo" } }', " "),
    [OSLO],
    "",
)
heard(
    he,
    "indented",
    h('{\n    "name": "get_weather",\n    "arguments": {\n        "city": "Oslo"\n    }\n}'),
    [OSLO],
    "",
)
heard(
    he,
    "one bracket too few",
    h('{"name": "get_weather", "arguments": {"city": "Oslo"}'),
    [OSLO],
    "",
)
heard(
    he,
    "one bracket too few at the end of the text",
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}',
    [OSLO],
    "",
)
heard(
    he,
    "Python's words",
    h("{'name': 'set_all', 'arguments': {'flag': True, 'level': None}}"),
    [("set_all", {"flag": True, "level": None})],
    "",
)
heard(
    he,
    "an apostrophe in Python's string",
    h("""{"name": "search", 'arguments': {"query": "it's"}}"""),
    [("search", {"query": "it's"})],
    "",
)
heard(he, "double braces", h('{{"name": "get_weather", "arguments": {"city": "Oslo"}}}'), [OSLO])
heard(
    he,
    "a name with a prefix",
    h('{"name": "functions.get_weather", "arguments": {"city": "Oslo"}}'),
    [OSLO],
    "",
)
heard(he, "not offered", h('{"name": "fly_to", "arguments": {"x": 1}}'), [("fly_to", {"x": 1})], "")
heard(
    he,
    "a list of results in the arguments",
    h('{"name": "search", "arguments": {"query": "x", "tags": [], "filters": {}}}'),
    [("search", {"query": "x", "tags": [], "filters": {}})],
    "",
)
heard(he, "cut in the name", '<tool_call>\n{"name": "get_wea', [], "")
heard(he, "cut after the name", '<tool_call>\n{"name": "get_weather", ', [], "")
heard(he, "cut in the mark", "Sure.\n<tool_ca", [])
heard(he, "cut in the end mark", f"<tool_call>\n{J}\n</tool_c", [OSLO])
