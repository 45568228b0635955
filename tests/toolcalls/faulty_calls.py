"""What local models write with the faults they have: marks forgotten, fences, prose, siblings.

Each text is written by hand after what its family's template asks for, and so is what it means.
"""

# ruff: noqa: E501, RUF001, N802 - texts as models write them

from __future__ import annotations

from tests.toolcalls.scenarios import tool
from tests.toolcalls.unusual_calls import Heard

OFFERED = [
    tool("get_weather", ("city",), city="string", days="integer", unit={"enum": ["c", "f"]}),
    tool(
        "search_web",
        ("query",),
        query="string",
        limit="integer",
        tags={"type": "array", "items": {"type": "string"}},
    ),
    tool("write_file", ("path", "content"), path="string", content="string"),
    tool("run_python", ("code",), code="string"),
    tool("get_time"),
    tool(
        "set_config",
        (),
        enabled="boolean",
        ratio="number",
        options="object",
        ids={"type": "array", "items": {"type": "integer"}},
        zip="string",
    ),
    tool("mcp__fs__read-file", ("path",), path="string"),
]


def W(city, **more):
    return ("get_weather", {"city": city, **more})


TIME = ("get_time", {})
SPOKEN = []


def c(name, text, calls, content=None, reasoning=None):
    SPOKEN.append(Heard(name.split()[0], name, text, calls, content, reasoning))


j = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
c("qwen25 no close", "I'll check.\n<tool_call>\n" + j, [W("Oslo")], "I'll check.")
c("qwen25 fence inside", "<tool_call>\n```json\n" + j + "\n```\n</tool_call>", [W("Oslo")], "")
c("qwen25 fence around", "```\n<tool_call>\n" + j + "\n</tool_call>\n```", [W("Oslo")], "")
c(
    "qwen25 xml fence around with lead",
    "Let me look that up:\n\n```xml\n<tool_call>\n" + j + "\n</tool_call>\n```",
    [W("Oslo")],
)
c(
    "qwen3 think then 2",
    "<think>\nBoth cities.\n</think>\n\n<tool_call>\n"
    + j
    + "\n</tool_call>\n<tool_call>\n"
    + j.replace("Oslo", "Rome")
    + "\n</tool_call><|im_end|>",
    [W("Oslo"), W("Rome")],
    "",
    "Both cities.",
)
c(
    "qwen3 orphan think",
    "Okay, I should call.\n</think>\n\n<tool_call>\n" + j + "\n</tool_call>",
    [W("Oslo")],
    "",
    "Okay, I should call.",
)
c(
    "qwen3 coder lost open tool_call",
    'I will write it.\n\n<function=write_file>\n<parameter=path>\na.py\n</parameter>\n<parameter=content>\nprint("<b>")\n</parameter>\n</function>\n</tool_call>',
    [("write_file", {"path": "a.py", "content": 'print("<b>")'})],
    "I will write it.",
)
c(
    "qwen3 coder types",
    '<tool_call>\n<function=set_config>\n<parameter=enabled>\nTrue\n</parameter>\n<parameter=ratio>\n0.25\n</parameter>\n<parameter=ids>\n[1, 2, 3]\n</parameter>\n<parameter=zip>\n00123\n</parameter>\n<parameter=options>\n{"a": {"b": [1, null]}}\n</parameter>\n</function>\n</tool_call>',
    [
        (
            "set_config",
            {
                "enabled": True,
                "ratio": 0.25,
                "ids": [1, 2, 3],
                "zip": "00123",
                "options": {"a": {"b": [1, None]}},
            },
        )
    ],
    "",
)
c(
    "qwen3.6 missing </parameter> last",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</function>\n</tool_call>",
    [W("Oslo")],
    "",
)
c(
    "qwen3.6 missing </function>",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</tool_call>",
    [W("Oslo")],
    "",
)
c(
    "qwen coder end of text without </tool_call>",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>",
    [W("Oslo")],
    "",
)
c(
    "qwen coder name attr quotes",
    '<tool_call>\n<function="get_weather">\n<parameter="city">\nOslo\n</parameter>\n</function>\n</tool_call>',
    [W("Oslo")],
    "",
)
c(
    "qwen xml two in one tool_call",
    "<tool_call>\n<function=get_time>\n</function>\n<function=get_weather>\n<parameter=city>\nSão Paulo\n</parameter>\n</function>\n</tool_call>",
    [TIME, W("São Paulo")],
    "",
)
c(
    "qwen xml value has tool_call example",
    "<tool_call>\n<function=write_file>\n<parameter=path>\nr.md\n</parameter>\n<parameter=content>\n# Use\n```\n<tool_call>\n<function=x>\n</function>\n</tool_call>\n```\n</parameter>\n</function>\n</tool_call>",
    [
        (
            "write_file",
            {
                "path": "r.md",
                "content": "# Use\n```\n<tool_call>\n<function=x>\n</function>\n</tool_call>\n```",
            },
        )
    ],
    "",
)
c(
    "glm46",
    '\n<think>hm</think>\nSure.\n<tool_call>search_web\n<arg_key>query</arg_key>\n<arg_value>天气 "奥斯陆"</arg_value>\n<arg_key>limit</arg_key>\n<arg_value>5</arg_value>\n<arg_key>tags</arg_key>\n<arg_value>["a", "b"]</arg_value>\n</tool_call>',
    [("search_web", {"query": '天气 "奥斯陆"', "limit": 5, "tags": ["a", "b"]})],
    "Sure.",
    "hm",
)
c(
    "glm47 no newlines",
    "<tool_call>get_weather<arg_key>city</arg_key><arg_value>42</arg_value><arg_key>days</arg_key><arg_value>3</arg_value></tool_call>",
    [W("42", days=3)],
    "",
)
c("glm noargs", "<tool_call>get_time\n</tool_call>", [TIME], "")
c(
    "glm no close end of text",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n",
    [],
    None,
)
c(
    "glm observation",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call><|observation|>",
    [W("Oslo")],
    "",
)
c(
    "glm parallel",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>\n<tool_call>get_time</tool_call>",
    [W("Oslo"), TIME],
    "",
)
c(
    "ds v3",
    'I check.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
    [W("Oslo")],
    "I check.",
)
c(
    "ds r1 no end",
    '<think>\nx\n</think>\n\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Oslo", "days": 2}\n```',
    [W("Oslo", days=2)],
    "",
    "x",
)
c(
    "ds v31 two",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [TIME, W("Oslo")],
    "",
)
c(
    "ds v32",
    'Ok.\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="search_web">\n<｜DSML｜parameter name="query" string="true"> padded </｜DSML｜parameter>\n<｜DSML｜parameter name="limit" string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    [("search_web", {"query": " padded ", "limit": 3})],
    "Ok.",
)
c("llama bare", '{"name": "get_weather", "parameters": {"city": "Oslo"}}', [W("Oslo")], "")
c(
    "llama python_tag",
    '<|python_tag|>{"type": "function", "name": "get_weather", "parameters": {"city": "Oslo"}}<|eom_id|>',
    [W("Oslo")],
    "",
)
c(
    "llama ; two",
    '<|python_tag|>{"name": "get_time", "parameters": {}}; {"name": "get_weather", "parameters": {"city": "Oslo"}}<|eot_id|>',
    [TIME, W("Oslo")],
    "",
)
c("llama function= json", '<function=get_weather>{"city": "Oslo"}</function>', [W("Oslo")], "")
c(
    "llama4 pythonic",
    "<|python_start|>[get_weather(city='O\\'Hare', days=2), get_time()]<|python_end|><|eot|>",
    [W("O'Hare", days=2), TIME],
    "",
)
c(
    "llama pythonic bare",
    '[search_web(query="a, b (c)", tags=["x", "y"]), get_time()]',
    [("search_web", {"query": "a, b (c)", "tags": ["x", "y"]}), TIME],
    "",
)
c("llama python_tag pythonic", '<|python_tag|>get_weather(city="Oslo")', [W("Oslo")], "")
c(
    "llama answer JSON not call",
    '{"city": "Oslo", "temperature": 3}',
    [],
    '{"city": "Oslo", "temperature": 3}',
)
c("llama python_tag name.call", '<|python_tag|>get_weather.call(city="Oslo")', [W("Oslo")], "")
c(
    "mistral old",
    '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "get_time", "arguments": {}}]</s>',
    [W("Oslo"), TIME],
    "",
)
c(
    "mistral old space",
    '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}, "id": "VvvODy9mT"}]',
    [W("Oslo")],
    "",
)
c(
    "mistral new",
    'Let me see.[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}[TOOL_CALLS]get_time[ARGS]{}</s>',
    [W("Oslo"), TIME],
    "Let me see.",
)
c(
    "mistral new with call id",
    '[TOOL_CALLS]get_weather[CALL_ID]abc123def[ARGS]{"city": "Oslo"}',
    [W("Oslo")],
    "",
)
c(
    "magistral",
    '[THINK]hm [TOOL_CALLS] maybe[/THINK][TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}',
    [W("Oslo")],
    "",
)
c("mistral name{json}", '[TOOL_CALLS]get_weather{"city": "Oslo"}', [W("Oslo")], "")
c(
    "hermes single quotes",
    "<tool_call>\n{'arguments': {'city': 'Oslo'}, 'name': 'get_weather'}\n</tool_call>",
    [W("Oslo")],
    "",
)
c(
    "hermes array",
    "<tool_call>\n[" + j + ', {"name": "get_time", "arguments": {}}]\n</tool_call>',
    [W("Oslo"), TIME],
    "",
)
c(
    "hermes two unclosed",
    "<tool_call>\n" + j + "\n<tool_call>\n" + j.replace("Oslo", "Rome") + "\n",
    [W("Oslo"), W("Rome")],
    "",
)
c("hermes cut", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Os', [], "")
c(
    "hermes scratch_pad",
    "<scratch_pad>\nplan\n</scratch_pad>\n<tool_call>\n" + j + "\n</tool_call>",
    [W("Oslo")],
    "<scratch_pad>\nplan\n</scratch_pad>",
)
c("gemma tool_code", '```tool_code\nget_weather(city="Oslo")\n```', [W("Oslo")], "")
c(
    "gemma tool_code print",
    "Let me check.\n```tool_code\nprint(get_weather(city='Oslo'))\n```",
    [W("Oslo")],
    "Let me check.",
)
c(
    "functiongemma",
    "<start_function_call>call:get_weather{city:<escape>Oslo<escape>,days:3}<end_function_call><start_function_response>",
    [W("Oslo", days=3)],
    None,
)
c(
    "gemma4",
    '<|tool_call>call:set_config{enabled:true,ids:[1,2],options:{k:<|"|>v, w<|"|>,n:null}}<tool_call|>',
    [("set_config", {"enabled": True, "ids": [1, 2], "options": {"k": "v, w", "n": None}})],
    "",
)
c("gemma json fence", "```json\n" + j + "\n```", [W("Oslo")], "")
c(
    "granite 3",
    '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]<|end_of_text|>',
    [W("Oslo")],
    "",
)
c("granite <tool_call>[", '<tool_call>[{"name": "get_time", "arguments": {}}]', [TIME], "")
c(
    "phi4 functools",
    'functools[{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
    [W("Oslo")],
    "",
)
c(
    "phi4-mini <|tool_call|>",
    '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]<|/tool_call|>',
    [W("Oslo")],
    "",
)
c(
    "commandr7",
    '<|START_THINKING|>plan<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Oslo"}}\n]<|END_ACTION|>',
    [W("Oslo")],
    "",
    "plan",
)
c(
    "command-r old",
    'Action: ```json\n[\n    {\n        "tool_name": "get_weather",\n        "parameters": {\n            "city": "Oslo"\n        }\n    }\n]\n```',
    [W("Oslo")],
    None,
)
c(
    "kimi",
    'x<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|><|tool_call_begin|>functions.get_time:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|><|im_end|>',
    [W("Oslo"), TIME],
    "x",
)
c(
    "kimi no ends",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Oslo"}',
    [W("Oslo")],
    "",
)
c(
    "minimax m2",
    '<think>t</think>\n<minimax:tool_call>\n<invoke name="search_web">\n<parameter name="query">a < b & c</parameter>\n<parameter name="tags">["x"]</parameter>\n</invoke>\n<invoke name="get_time">\n</invoke>\n</minimax:tool_call>[e~[',
    [("search_web", {"query": "a < b & c", "tags": ["x"]}), TIME],
    "",
    "t",
)
c(
    "lfm2",
    '<|tool_call_start|>[get_weather(city="Oslo", days=2)]<|tool_call_end|>Checking.<|im_end|>',
    [W("Oslo", days=2)],
    "Checking.",
)
c("lfm2 stripped marks", '[get_weather(city="Oslo")]', [W("Oslo")], "")
c(
    "lfm2 json",
    '<|tool_call_start|>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]<|tool_call_end|>',
    [W("Oslo")],
    "",
)
c(
    "oss full",
    '<|channel|>analysis<|message|>Need weather.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Oslo"}<|call|>',
    [W("Oslo")],
    "",
    "Need weather.",
)
c(
    "oss stripped specials",
    'analysisNeed weather.assistantcommentary to=functions.get_weather json{"city":"Oslo"}',
    [W("Oslo")],
    None,
)
c("oss stripped 2", 'commentary to=functions.get_weather json{"city":"Oslo"}', [W("Oslo")], None)
c(
    "oss no call mark, code",
    '<|start|>assistant<|channel|>commentary to=functions.run_python code<|message|>{"code":"print(1)\\nprint(2)"}',
    [("run_python", {"code": "print(1)\nprint(2)"})],
    "",
)
c(
    "oss preamble",
    "<|channel|>commentary<|message|>I will look.<|end|><|start|>assistant<|channel|>commentary to=functions.get_time<|message|>{}<|call|>",
    [TIME],
    "I will look.",
)
c(
    "oss final",
    "<|channel|>analysis<|message|>easy<|end|><|start|>assistant<|channel|>final<|message|>Hi!<|return|>",
    [],
    "Hi!",
    "easy",
)
c(
    "nemotron TOOLCALL",
    '<think></think><TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]</TOOLCALL>',
    [W("Oslo")],
    "",
)
c(
    "nemotron no close",
    '<TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
    [W("Oslo")],
    "",
)
c(
    "internlm",
    'ok<|action_start|><|plugin|>\n{"name": "get_weather", "parameters": {"city": "Oslo"}}<|action_end|><|im_end|>',
    [W("Oslo")],
    "ok",
)
c(
    "functionary 3.2",
    'all\nLet me see.\n>>>get_weather\n{"city": "Oslo"}>>>get_time\n{}',
    [W("Oslo"), TIME],
    "Let me see.",
)
c(
    "xlam",
    '[{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "search_web", "arguments": {"query": "x", "limit": 2}}]',
    [W("Oslo"), ("search_web", {"query": "x", "limit": 2})],
    "",
)
c(
    "xlam tool_calls",
    '{"tool_calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]}',
    [W("Oslo")],
    "",
)
c(
    "jamba",
    '<tool_calls>[\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n]</tool_calls>',
    [W("Oslo")],
    "",
)
c("toolace", "[get_weather(city='Oslo'), get_weather(city='Rome')]", [W("Oslo"), W("Rome")], "")
c(
    "seed",
    "<seed:think>t</seed:think><seed:tool_call>\n<function=set_config>\n<parameter=options>{'k': [1, True, None]}</parameter>\n<parameter=zip>007</parameter>\n</function>\n</seed:tool_call>",
    [("set_config", {"options": {"k": [1, True, None]}, "zip": "007"})],
    "",
    "t",
)
c(
    "step3",
    '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>get_weather\n<steptml:invoke name="get_weather"><steptml:parameter name="city">Oslo</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>',
    [W("Oslo")],
    "",
)
c("ernie", "\nthink\n</think>\n\n<tool_call>\n" + j + "\n</tool_call>\n", [W("Oslo")], "", "think")
c("ernie response", "<think>\nx\n</think>\n\n<response>\nHello.\n</response>\n", [], None, "x")
c(
    "hunyuan",
    '<tool_calls><tool_call>get_weather\n```json\n{"city": "Oslo"}\n```</tool_call></tool_calls>',
    [W("Oslo")],
    "",
)
c(
    "hunyuan a13b",
    '<think>\nx\n</think>\n<answer><tool_calls>\n[{"name": "get_weather", "arguments": {"city": "Oslo"}}]\n</tool_calls></answer>',
    [W("Oslo")],
    None,
    "x",
)
c(
    "mcp name",
    '<tool_call>\n{"name": "read-file", "arguments": {"path": "/a b"}}\n</tool_call>',
    [("mcp__fs__read-file", {"path": "/a b"})],
    "",
)
c(
    "call in closed think",
    "<think>maybe <tool_call>" + j + "</tool_call> no</think>It is fine.",
    [],
    "It is fine.",
)
c(
    "prose after",
    "<tool_call>\n" + j + "\n</tool_call>\n\nI will tell you when it is there.",
    [W("Oslo")],
    "I will tell you when it is there.",
)
c(
    "docs",
    "To call a tool write:\n```json\n" + j + "\n```\nand wait.",
    [],
    "To call a tool write:\n```json\n" + j + "\n```\nand wait.",
)
c(
    "arguments string escaped",
    '<tool_call>\n{"name": "write_file", "arguments": "{\\"path\\": \\"a\\", \\"content\\": \\"l1\\\\nl2\\"}"}\n</tool_call>',
    [("write_file", {"path": "a", "content": "l1\nl2"})],
    "",
)
c(
    "openai shape",
    '{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\\"city\\":\\"Oslo\\"}"}}]}',
    [W("Oslo")],
    "",
)
c(
    "anthropic",
    '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>\n</function_calls>',
    [W("Oslo")],
    "",
)
c("fence json then prose after", "```json\n" + j + "\n```\nThis looks it up.", [], None)
c(
    "lead + bare json",
    "Sure, let me check that for you.\n\n" + j,
    [W("Oslo")],
    "Sure, let me check that for you.",
)
c(
    "raw newline in json string",
    '<tool_call>\n{"name": "run_python", "arguments": {"code": "a = 1\nprint(a)"}}\n</tool_call>',
    [("run_python", {"code": "a = 1\nprint(a)"})],
    "",
)
c(
    "extra brace + sibling",
    '<tool_call>\n{"name": "get_time", "arguments": {}}}\n</tool_call>\n<tool_call>\n'
    + j
    + "\n</tool_call>",
    [TIME, W("Oslo")],
    "",
)
c(
    "missing brace no close",
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}',
    [W("Oslo")],
    "",
)
c(
    "granite4 / tool_call with <|tool_call|> both",
    "<|tool_call|><tool_call>\n" + j + "\n</tool_call>",
    [W("Oslo")],
    "",
)
c(
    "oss stripped final",
    "analysisUser greets. Simple.assistantfinalHello! How can I help?",
    [],
    "Hello! How can I help?",
    "User greets. Simple.",
)
c(
    "oss stripped json glued",
    'analysisNeed.assistantcommentary to=functions.get_weatherjson{"city":"Oslo"}',
    [W("Oslo")],
    "",
    "Need.",
)
c(
    "oss stripped preamble",
    "analysisNeed.assistantcommentaryI look it up.assistantcommentary to=functions.get_time json{}",
    [TIME],
    "I look it up.",
    "Need.",
)
c(
    "oss stripped round",
    "analysisA.assistantcommentary to=functions.get_time json{}assistantanalysisB.assistantfinalDone.",
    [TIME],
    "Done.",
)
c(
    "analysis prose",
    "analysis of assistantfinal shows it is a word",
    [],
    "analysis of assistantfinal shows it is a word",
)
c(
    "assistantfinal prose",
    "The token assistantfinal leaks when marks are stripped.",
    [],
    "The token assistantfinal leaks when marks are stripped.",
)
c(
    "command-r plan",
    'Plan: First I will look up the weather.\nAction: ```json\n[\n    {\n        "tool_name": "get_weather",\n        "parameters": {\n            "city": "Oslo"\n        }\n    }\n]\n```',
    [W("Oslo")],
    "Plan: First I will look up the weather.",
)
c(
    "command-r direct",
    'Action: ```json\n[\n    {\n        "tool_name": "directly_answer",\n        "parameters": {}\n    }\n]\n```',
    [],
    None,
)
c("action code", "Action: ```python\nprint(1)\n```", [], "Action: ```python\nprint(1)\n```")
