"""The second half of what models say: Gemma, Mistral, Llama, gpt-oss. See heard.py."""

# ruff: noqa: E501 - texts as models write them

from __future__ import annotations

from tests.toolcalls.unusual_calls import (
    CODE,
    CODE_JSON,
    JR,
    OSLO,
    ROME,
    TIME,
    Calls,
    Heard,
    J,
    O,
    R,
)

MORE: list[Heard] = []


def heard(family: str, name: str, text: str, calls: Calls, content: str | None = None, reasoning: str | None = None) -> None:  # fmt: skip
    MORE.append(Heard(family, name, text, calls, content, reasoning))


# --- Gemma 4 ----------------------------------------------------------------------------
ge, Q = "gemma", '<|"|>'


def g4(name: str, inner: str, end: str = "<tool_call|>") -> str:
    return f"<|tool_call>call:{name}{{{inner}}}{end}"


GO, GR = f"city:{Q}Oslo{Q}", f"city:{Q}Rome{Q}"
heard(ge, "two", g4("get_weather", GO) + g4("get_weather", GR), [OSLO, ROME], "")
heard(
    ge,
    "two with a line",
    g4("get_weather", GO) + "\n" + g4("get_weather", GR) + "\n",
    [OSLO, ROME],
    "",
)
heard(
    ge,
    "two calls in one block",
    f"<|tool_call>call:get_weather{{{GO}}}call:get_weather{{{GR}}}<tool_call|>",
    [OSLO, ROME],
    "",
)
heard(
    ge,
    "two calls with a comma",
    f"<|tool_call>call:get_weather{{{GO}}},call:get_time{{}}<tool_call|>",
    [OSLO, TIME],
    "",
)
heard(ge, "no end", g4("get_weather", GO, ""), [OSLO], "")
heard(
    ge,
    "no end before the next",
    g4("get_weather", GO, "") + g4("get_weather", GR),
    [OSLO, ROME],
    "",
)
heard(
    ge, "name with a dash", g4("get-stock", f"symbol:{Q}A{Q}"), [("get-stock", {"symbol": "A"})], ""
)
heard(ge, "name with a namespace", g4("weather:get_weather", GO), [OSLO], "")
heard(ge, "name with a dotted namespace", g4("default_api.get_weather", GO), [OSLO], "")
heard(
    ge,
    "types",
    g4(
        "set_all",
        f"flag:true,ratio:1.5,level:null,zip:{Q}007{Q},opt:{{a:[1,{Q}b{Q},{{c:false}}]}},ids:[1,2]",
    ),
    [
        (
            "set_all",
            {
                "flag": True,
                "ratio": 1.5,
                "level": None,
                "zip": "007",
                "opt": {"a": [1, "b", {"c": False}]},
                "ids": [1, 2],
            },
        )
    ],
    "",
)
heard(
    ge,
    "None for null",
    g4("set_all", "level:None,flag:False"),
    [("set_all", {"level": None, "flag": False})],
    "",
)
heard(
    ge,
    "negative and exponent",
    g4("set_all", "ratio:-1.5e3,level:-2"),
    [("set_all", {"ratio": -1500.0, "level": -2})],
    "",
)
heard(
    ge,
    "spaces",
    f"<|tool_call> call:get_weather{{ city: {Q}Oslo{Q}, days: 2 }} <tool_call|>",
    [("get_weather", {"city": "Oslo", "days": 2})],
    "",
)
heard(
    ge,
    "lines",
    f"<|tool_call>\ncall:get_weather{{\n  city:{Q}Oslo{Q},\n  days:2\n}}\n<tool_call|>",
    [("get_weather", {"city": "Oslo", "days": 2})],
    "",
)
heard(
    ge,
    "braces and commas in a string",
    g4("search", f'query:{Q}a}}, b:{{1}}, [c], "d" e:f{Q}'),
    [("search", {"query": 'a}, b:{1}, [c], "d" e:f'})],
    "",
)
heard(
    ge,
    "its own end mark in a string",
    g4("search", f"query:{Q}x <tool_call|> y{Q}"),
    [("search", {"query": "x <tool_call|> y"})],
    "",
)
heard(
    ge,
    "its opening mark in a string",
    g4("search", f"query:{Q}x <|tool_call>call:f{{}} y{Q}"),
    [("search", {"query": "x <|tool_call>call:f{} y"})],
    "",
)
heard(ge, "code", g4("run_python", f"code:{Q}{CODE}{Q}"), [("run_python", {"code": CODE})], "")
heard(
    ge,
    "empty string",
    g4("write_file", f"path:{Q}a{Q},content:{Q}{Q}"),
    [("write_file", {"path": "a", "content": ""})],
    "",
)
heard(
    ge,
    "strings in ASCII quotes",
    g4("write_file", 'path:"a",content:"b, c"'),
    [("write_file", {"path": "a", "content": "b, c"})],
    "",
)
heard(
    ge,
    "JSON for arguments",
    '<|tool_call>call:get_weather{"city": "Oslo", "days": 2}<tool_call|>',
    [("get_weather", {"city": "Oslo", "days": 2})],
    "",
)
heard(ge, "keys in its quotes", g4("get_weather", f"{Q}city{Q}:{Q}Oslo{Q}"), [OSLO], "")
heard(ge, "a bare word for a string", g4("get_weather", "city:Oslo"), [OSLO], "")
heard(
    ge,
    "a bare number for a string",
    g4("set_all", "zip:01234"),
    [("set_all", {"zip": "01234"})],
    "",
)
heard(
    ge,
    "strings in an array",
    g4("search", f"query:{Q}x{Q},tags:[{Q}a{Q},{Q}b, c{Q}]"),
    [("search", {"query": "x", "tags": ["a", "b, c"]})],
    "",
)
heard(
    ge,
    "empty array and object",
    g4("search", f"query:{Q}x{Q},tags:[],filters:{{}}"),
    [("search", {"query": "x", "tags": [], "filters": {}})],
    "",
)
heard(
    ge,
    "unicode",
    g4("get_weather", f"city:{Q}東京 🎉{Q}"),
    [("get_weather", {"city": "東京 🎉"})],
    "",
)
heard(
    ge,
    "backslashes stay",
    g4("write_file", f'path:{Q}C:\\new{Q},content:{Q}\\n"{Q}'),
    [("write_file", {"path": "C:\\new", "content": '\\n"'})],
    "",
)
heard(
    ge,
    "thought before",
    f"<|channel>thought\nHm.\n<channel|>{g4('get_weather', GO)}<turn|>",
    [OSLO],
    "",
    "Hm.",
)
heard(ge, "empty thought", f"<|channel>thought\n<channel|>{g4('get_weather', GO)}", [OSLO], "")
heard(ge, "thought not closed", f"<|channel>thought\nHm.\n{g4('get_weather', GO)}", [OSLO], "")
heard(ge, "thought never opened", f"thought\nHm.\n<channel|>{g4('get_weather', GO)}", [OSLO], "")
heard(
    ge,
    "text before, response mark after",
    f"I look.{g4('get_weather', GO)}<|tool_response>",
    [OSLO],
    "I look.",
)
heard(ge, "cut in a string", f"<|tool_call>call:get_weather{{city:{Q}Os", [], "")
heard(ge, "cut before the brace", f"{g4('get_time', '')}<|tool_call>call:get_wea", [TIME], "")
heard(ge, "no value", g4("get_weather", "city:") + g4("get_weather", GR), [ROME], "")
heard(ge, "no mark at all", f"call:get_weather{{{GO}}}", [OSLO])
heard(ge, "begins without its mark, ends with it", f"call:get_weather{{{GO}}}<tool_call|>", [OSLO])
heard(ge, "in a fence of tool_code", "```tool_code\nget_weather(city='Oslo')\n```", [OSLO], "")
heard(ge, "print in tool_code", "```tool_code\nprint(get_weather(city='Oslo'))\n```", [OSLO])
heard(
    ge,
    "default_api in tool_code",
    "```tool_code\nprint(default_api.get_weather(city='Oslo'))\n```",
    [OSLO],
)

# --- Mistral ----------------------------------------------------------------------------
mi, T = "mistral", "[TOOL_CALLS]"
heard(mi, "v3 with spaces", f"{T} [{J}, {JR}]", [OSLO, ROME], "")
heard(
    mi,
    "v3 with ids",
    f'{T}[{{"name": "get_weather", "arguments": {O}, "id": "a1b2c3d4e"}}]</s>',
    [OSLO],
    "",
)
heard(mi, "v3 text before and a line", f"I look.\n\n{T} [{J}]", [OSLO], "I look.")
heard(
    mi,
    "v3 arguments a string",
    f'{T}[{{"name": "get_weather", "arguments": "{{\\"city\\": \\"Oslo\\"}}"}}]',
    [OSLO],
    "",
)
heard(mi, "v3 the bracket not closed", f"{T}[{J}", [OSLO])
heard(mi, "v3 second cut", f'{T}[{J}, {{"name": "get_we', [OSLO])
heard(mi, "v3 over lines", f"{T}[\n  {J},\n  {JR}\n]\n", [OSLO, ROME], "")
heard(
    mi,
    "v3 bad sibling",
    f'{T}[{{"name": "get_weather", "arguments": {{"city": }}}}, {JR}]',
    [ROME],
    "",
)
heard(
    mi,
    "v3 brackets and quotes in a string",
    f'{T}[{{"name": "search", "arguments": {{"query": "a [b] \\"c\\" ]}}"}}}}]',
    [("search", {"query": 'a [b] "c" ]}'})],
    "",
)
heard(mi, "v3 end mark", f"{T}[{J}][/TOOL_CALLS]", [OSLO], "")
heard(mi, "v3 objects one after another", f"{T}{J}{T}{JR}", [OSLO, ROME], "")
heard(mi, "v3 no mark", f"[{J}]", [OSLO], "")
heard(mi, "v3 text after", f"{T}[{J}]\n\nI asked.", [OSLO], "I asked.")
heard(mi, "v11 two", f"{T}get_weather[ARGS]{O}{T}get_weather[ARGS]{R}</s>", [OSLO, ROME], "")
heard(mi, "v11 no ARGS", f"{T}get_weather{O}", [OSLO], "")
heard(mi, "v11 no arguments", f"{T}get_time[ARGS]{{}}", [TIME], "")
heard(mi, "v11 arguments missing", f"{T}get_time[ARGS]", [])
heard(mi, "v11 lines", f'{T}get_weather[ARGS]{{\n  "city": "Oslo"\n}}\n', [OSLO], "")
heard(
    mi,
    "v11 name with a dash",
    f'{T}get-stock[ARGS]{{"symbol": "A"}}',
    [("get-stock", {"symbol": "A"})],
    "",
)
heard(
    mi,
    "v11 marks in a string",
    f'{T}search[ARGS]{{"query": "[TOOL_CALLS]x[ARGS]{{}}"}}',
    [("search", {"query": "[TOOL_CALLS]x[ARGS]{}"})],
    "",
)
heard(mi, "v11 second cut", f'{T}get_weather[ARGS]{O}{T}get_weather[ARGS]{{"ci', [OSLO], "")
heard(
    mi, "v11 one mark, two calls", f"{T}get_weather[ARGS]{O}get_weather[ARGS]{R}", [OSLO, ROME], ""
)
heard(mi, "v11 bad sibling", f"{T}get_weather[ARGS]{{city}}{T}get_weather[ARGS]{R}", [ROME], "")
heard(
    mi,
    "v11 code",
    f'{T}run_python[ARGS]{{"code": {CODE_JSON}}}',
    [("run_python", {"code": CODE})],
    "",
)
heard(mi, "v11 not offered", f'{T}fly[ARGS]{{"x": 1}}', [("fly", {"x": 1})], "")
heard(mi, "v11 text before and after", f"Look: {T}get_weather[ARGS]{O}", [OSLO], "Look:")
heard(mi, "v13 call id", f"{T}get_weather[CALL_ID]a1b2c3d4e[ARGS]{O}", [OSLO], "")
heard(
    mi,
    "v13 two",
    f"{T}get_weather[CALL_ID]a1b2c3d4e[ARGS]{O}{T}get_weather[CALL_ID]a1b2c3d4f[ARGS]{R}",
    [OSLO, ROME],
    "",
)
heard(mi, "thinking", f"[THINK]Hm.[/THINK]{T}get_weather[ARGS]{O}", [OSLO], "", "Hm.")
heard(
    mi,
    "thinking and text",
    f"[THINK]Hm.[/THINK]I look.{T}get_weather[ARGS]{O}",
    [OSLO],
    "I look.",
    "Hm.",
)
heard(mi, "thinking never opened", f"Hm.[/THINK]{T}get_weather[ARGS]{O}", [OSLO], "", "Hm.")
heard(mi, "thinking never closed", f"[THINK]Hm.{T}get_weather[ARGS]{O}", [OSLO], "", "Hm.")
heard(mi, "Magistral's older thinking", f"<think>\nHm.\n</think>\n{T}[{J}]", [OSLO], "", "Hm.")
heard(mi, "no mark, name and ARGS", f"get_weather[ARGS]{O}", [OSLO], "")
heard(
    mi,
    "single quotes",
    f"{T}[{{'name': 'get_weather', 'arguments': {{'city': 'Oslo'}}}}]",
    [OSLO],
    "",
)
heard(mi, "not an array", f"{T} oops", [])
heard(mi, "cut after the mark", f"I look.{T}", [], "I look.")
heard(
    mi,
    "unicode",
    f'{T}[{{"name": "get_weather", "arguments": {{"city": "Z\\u00fcrich 東"}}}}]',
    [("get_weather", {"city": "Zürich 東"})],
    "",
)
heard(
    mi,
    "an object of many types",
    f'{T}set_all[ARGS]{{"flag": false, "level": null, "opt": {{"a": [1, 2.5, "x"]}}, "zip": "1"}}',
    [("set_all", {"flag": False, "level": None, "opt": {"a": [1, 2.5, "x"]}, "zip": "1"})],
    "",
)

# --- Llama ------------------------------------------------------------------------------
ll = "llama"
P, PR = (
    '{"name": "get_weather", "parameters": {"city": "Oslo"}}',
    '{"name": "get_weather", "parameters": {"city": "Rome"}}',
)
heard(ll, "semicolon", f"{P}; {PR}", [OSLO, ROME], "")
heard(ll, "semicolon without a space", f"{P};{PR}", [OSLO, ROME], "")
heard(ll, "comma", f"{P}, {PR}", [OSLO, ROME], "")
heard(ll, "tag and semicolon", f"<|python_tag|>{P}; {PR}", [OSLO, ROME], "")
heard(ll, "tag twice", f"<|python_tag|>{P}<|python_tag|>{PR}", [OSLO, ROME], "")
heard(ll, "tag after text", f"I look. <|python_tag|>{P}<|eom_id|>", [OSLO], "I look.")
heard(ll, "end of turn", f"{P}<|eot_id|>", [OSLO], "")
heard(ll, "line first", f"\n\n{P}", [OSLO], "")
heard(
    ll,
    "over lines",
    '{\n  "name": "get_weather",\n  "parameters": {\n    "city": "Oslo"\n  }\n}',
    [OSLO],
    "",
)
heard(
    ll,
    "type function",
    '{"type": "function", "name": "get_weather", "parameters": {"city": "Oslo"}}',
    [OSLO],
    "",
)
heard(
    ll,
    "type and inner function",
    '{"type": "function", "function": {"name": "get_weather", "parameters": {"city": "Oslo"}}}',
    [OSLO],
    "",
)
heard(
    ll,
    "function for the name",
    '{"type": "function", "function": "get_weather", "parameters": {"city": "Oslo"}}',
    [OSLO],
    "",
)
heard(ll, "parameters null", '{"name": "get_time", "parameters": null}', [TIME], "")
heard(ll, "parameters empty", '{"name": "get_time", "parameters": {}}', [TIME], "")
heard(
    ll,
    "values as strings stay",
    '{"name": "get_weather", "parameters": {"city": "Oslo", "days": "3"}}',
    [("get_weather", {"city": "Oslo", "days": "3"})],
    "",
)
heard(ll, "not offered", '{"name": "fly", "parameters": {"x": 1}}', [])
heard(ll, "cut", '{"name": "get_weather", "parameters": {"city": "Os', [])
heard(ll, "first whole, second cut", f'{P}; {{"name": "get_weather", "parameters": {{"ci', [OSLO])
heard(
    ll,
    "code",
    '{"name": "run_python", "parameters": {"code": ' + CODE_JSON + "}}",
    [("run_python", {"code": CODE})],
    "",
)
heard(ll, "function tag", '<function=get_weather>{"city": "Oslo"}</function>', [OSLO], "")
heard(
    ll,
    "two function tags",
    '<function=get_weather>{"city": "Oslo"}</function>\n<function=get_time>{}</function>',
    [OSLO, TIME],
    "",
)
heard(
    ll,
    "function tag, end of turn",
    '<function=get_weather>{"city": "Oslo"}</function><|eom_id|>',
    [OSLO],
    "",
)
heard(
    ll,
    "function tag with text",
    'I look.\n<function=get_weather>{"city": "Oslo"}</function>',
    [OSLO],
    "I look.",
)
heard(
    ll, "pythonic two", "[get_weather(city='Oslo'), get_weather(city=\"Rome\")]", [OSLO, ROME], ""
)
heard(
    ll,
    "pythonic types",
    "[set_all(flag=True, ratio=0.5, level=None, zip='007', opt={'a': [1, 'b']}, ids=[1, 2])]",
    [
        (
            "set_all",
            {
                "flag": True,
                "ratio": 0.5,
                "level": None,
                "zip": "007",
                "opt": {"a": [1, "b"]},
                "ids": [1, 2],
            },
        )
    ],
    "",
)
heard(
    ll,
    "pythonic JSON words",
    "[set_all(flag=true, level=null)]",
    [("set_all", {"flag": True, "level": None})],
    "",
)
heard(ll, "pythonic no arguments", "[get_time()]", [TIME], "")
heard(
    ll,
    "pythonic negative",
    "[set_all(ratio=-0.5, level=-3)]",
    [("set_all", {"ratio": -0.5, "level": -3})],
    "",
)
heard(
    ll,
    "pythonic with marks",
    "<|python_start|>[get_weather(city='Oslo')]<|python_end|>",
    [OSLO],
    "",
)
heard(
    ll,
    "pythonic with marks and turn",
    "<|python_start|>[get_weather(city='Oslo'), get_time()]<|python_end|><|eot|>",
    [OSLO, TIME],
    "",
)
heard(ll, "pythonic after a tag", "<|python_tag|>[get_weather(city='Oslo')]", [OSLO], "")
heard(ll, "pythonic end of turn", "[get_weather(city='Oslo')]<|eot|>", [OSLO], "")
heard(
    ll,
    "pythonic quotes and brackets in strings",
    "[search(query='a \\'b\\' ] ) [c(d=1)]')]",
    [("search", {"query": "a 'b' ] ) [c(d=1)]"})],
    "",
)
heard(
    ll,
    "pythonic triple quotes",
    '[run_python(code="""x = 1\nprint("y")\n""")]',
    [("run_python", {"code": 'x = 1\nprint("y")\n'})],
    "",
)
heard(
    ll,
    "pythonic escapes",
    "[write_file(path='a', content='x\\ny\\t\\u00e9')]",
    [("write_file", {"path": "a", "content": "x\ny\té"})],
    "",
)
heard(
    ll,
    "pythonic over lines",
    "[\n  get_weather(city='Oslo'),\n  get_weather(\n    city='Rome'\n  ),\n]",
    [OSLO, ROME],
    "",
)
heard(ll, "pythonic not offered", "[fly(to='Moon')]", [])
heard(ll, "pythonic cut", "[get_weather(city='Oslo'), get_weather(ci", [OSLO])
heard(ll, "pythonic cut in the first", "[get_weather(city='Os", [])
heard(ll, "pythonic the bracket not closed", "[get_weather(city='Oslo')", [OSLO])
heard(ll, "pythonic text before", "I look.\n[get_weather(city='Oslo')]", [OSLO], "I look.")
heard(
    ll,
    "pythonic a name with a dash",
    "[get-stock(symbol='A')]",
    [("get-stock", {"symbol": "A"})],
    "",
)
heard(ll, "header before", f"<|start_header_id|>assistant<|end_header_id|>\n\n{P}", [OSLO])

# --- gpt-oss ----------------------------------------------------------------------------
go = "gpt-oss"
A = "<|start|>assistant"


def oss(
    to: str,
    body: str,
    *,
    end: str = "<|call|>",
    start: str = "",
    kind: str = " <|constrain|>json",
    channel: str = "commentary",
) -> str:
    return f"{start}<|channel|>{channel} to={to}{kind}<|message|>{body}{end}"


THINK = "<|channel|>analysis<|message|>Hm.<|end|>"
heard(go, "reasoning and call", THINK + oss("functions.get_weather", O, start=A), [OSLO], "", "Hm.")
heard(
    go, "no constrain", THINK + oss("functions.get_weather", O, start=A, kind=""), [OSLO], "", "Hm."
)
heard(go, "json without the mark", oss("functions.get_weather", O, kind=" json"), [OSLO], "")
heard(go, "code", oss("functions.get_weather", O, kind=" code"), [OSLO], "")
heard(
    go,
    "constrain without a space",
    oss("functions.get_weather", O, kind="<|constrain|>json"),
    [OSLO],
    "",
)
heard(
    go,
    "constrain and spaces",
    oss("functions.get_weather", O, kind=" <|constrain|> json "),
    [OSLO],
    "",
)
heard(
    go,
    "recipient in the role",
    f"{THINK}{A} to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{O}<|call|>",
    [OSLO],
    "",
    "Hm.",
)
heard(
    go,
    "recipient in the role, json after the channel",
    f"{THINK}{A} to=functions.get_weather<|channel|>commentary json<|message|>{O}<|call|>",
    [OSLO],
    "",
    "Hm.",
)
heard(
    go,
    "recipient in the analysis channel",
    oss("functions.get_weather", O, channel="analysis"),
    [OSLO],
    "",
)
heard(
    go,
    "no call mark at the end",
    THINK + oss("functions.get_weather", O, start=A, end=""),
    [OSLO],
    "",
    "Hm.",
)
heard(go, "end instead of call", oss("functions.get_weather", O, end="<|end|>"), [OSLO], "")
heard(go, "return instead of call", oss("functions.get_weather", O, end="<|return|>"), [OSLO], "")
heard(
    go,
    "two",
    oss("functions.get_weather", O) + oss("functions.get_weather", R, start=A),
    [OSLO, ROME],
    "",
)
heard(
    go,
    "two, the second channel at once",
    oss("functions.get_weather", O) + oss("functions.get_weather", R),
    [OSLO, ROME],
    "",
)
heard(
    go,
    "reasoning between",
    THINK
    + oss("functions.get_weather", O, start=A)
    + A
    + "<|channel|>analysis<|message|>And Rome.<|end|>"
    + oss("functions.get_weather", R, start=A),
    [OSLO, ROME],
    "",
)
heard(
    go,
    "preamble",
    f"{THINK}{A}<|channel|>commentary<|message|>I will look.<|end|>"
    + oss("functions.get_weather", O, start=A),
    [OSLO],
    "I will look.",
    "Hm.",
)
heard(
    go,
    "preamble alone",
    f"{THINK}{A}<|channel|>commentary<|message|>I will look.<|end|>{A}<|channel|>final<|message|>Fine.<|return|>",
    [],
)
heard(go, "final", f"{THINK}{A}<|channel|>final<|message|>Fine.", [], "Fine.", "Hm.")
heard(
    go,
    "final after the call",
    oss("functions.get_weather", O) + f"{A}<|channel|>final<|message|>Fine.<|return|>",
    [OSLO],
    "Fine.",
)
heard(
    go,
    "final names a recipient",
    f"{A}<|channel|>final<|message|>I wrote to=functions.get_weather in it.<|return|>",
    [],
    "I wrote to=functions.get_weather in it.",
)
heard(go, "no arguments", oss("functions.get_time", "{}"), [TIME], "")
heard(go, "empty body", oss("functions.get_time", ""), [TIME], "")
heard(go, "over lines", oss("functions.get_weather", '\n{\n  "city": "Oslo"\n}\n'), [OSLO], "")
heard(
    go,
    "marks in a string",
    oss("functions.search", '{"query": "a <|end|> <|channel|>final<|message|> b"}'),
    [("search", {"query": "a <|end|> <|channel|>final<|message|> b"})],
    "",
)
heard(
    go,
    "code in a string",
    oss("functions.run_python", '{"code": ' + CODE_JSON + "}"),
    [("run_python", {"code": CODE})],
    "",
)
heard(
    go,
    "bad JSON, then a whole call",
    oss("functions.get_weather", '{"city": }') + oss("functions.get_weather", R, start=A),
    [ROME],
    "",
)
heard(
    go,
    "cut in the arguments",
    THINK
    + f'{A}<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{{"city": "Os',
    [],
    "",
    "Hm.",
)
heard(
    go, "cut in the header", f"{THINK}{A}<|channel|>commentary to=functions.get_wea", [], "", "Hm."
)
heard(go, "recipient without functions", oss("get_weather", O), [OSLO], "")
heard(
    go,
    "name with a dash",
    oss("functions.get-stock", '{"symbol": "A"}'),
    [("get-stock", {"symbol": "A"})],
    "",
)
heard(
    go,
    "name of a server",
    oss("functions.mcp__db__query", '{"sql": "SELECT 1"}'),
    [("mcp__db__query", {"sql": "SELECT 1"})],
    "",
)
heard(
    go,
    "browser's search, not offered",
    oss("browser.search", '{"query": "x"}', kind=" code", channel="analysis"),
    [("search", {"query": "x"})],
    "",
)
heard(
    go,
    "browser's open",
    oss("browser.open", '{"id": 3}', kind=" code"),
    [("browser.open", {"id": 3})],
    "",
)
heard(
    go,
    "the prompt had the beginning",
    f"<|channel|>analysis<|message|>Hm.<|end|>{A} to=functions.get_weather<|channel|>commentary<|message|>{O}",
    [OSLO],
    "",
    "Hm.",
)
heard(
    go,
    "recipient last, space first",
    f" to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{O}<|call|>",
    [OSLO],
    "",
)
heard(go, "marks stripped, call alone", f"commentary to=functions.get_weather json{O}", [OSLO])
heard(
    go,
    "channel with a line",
    f"<|channel|>commentary\n to=functions.get_weather\n<|constrain|>json\n<|message|>{O}<|call|>",
    [OSLO],
    "",
)
heard(
    go,
    "reasoning without an end",
    f"<|channel|>analysis<|message|>Hm.{A}<|channel|>commentary to=functions.get_weather<|message|>{O}<|call|>",
    [OSLO],
    "",
    "Hm.",
)
heard(
    go,
    "a draft in the analysis",
    '<|channel|>analysis<|message|>I send {"name": "get_weather", "arguments": {"city": "Rome"}}.<|end|>'
    + oss("functions.get_weather", O, start=A),
    [OSLO],
    "",
)
heard(
    go,
    "types",
    oss(
        "functions.set_all",
        '{"flag": true, "ratio": 2.50, "level": null, "ids": [1, 2], "opt": {"a": {}}}',
    ),
    [("set_all", {"flag": True, "ratio": 2.5, "level": None, "ids": [1, 2], "opt": {"a": {}}})],
    "",
)
heard(go, "a comma too many", oss("functions.get_weather", '{"city": "Oslo",}'), [OSLO], "")
