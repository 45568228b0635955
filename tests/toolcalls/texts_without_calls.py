"""Texts without a call, each with something in it that looks like one of an offered tool."""

# ruff: noqa: RUF001, E501 - texts as models write them

from __future__ import annotations

J = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
SILENT: dict[str, str] = {
    "plain": "The weather in Oslo is fine today.",
    "mention": "I could call get_weather(city='Oslo') for you, or list_files().",
    "sentence": f"The call would be {J} in JSON, if you want to send it yourself.",
    "sentence at the end": f"To ask for it, send {J}",
    "tag mentioned": "Hermes models wrap calls in <tool_call> and </tool_call> tags.",
    "tag in backticks": f"Write `<tool_call>{J}</tool_call>` and nothing else.",
    "think mentioned": "Put `<think>` before it and `</think>` after it.",
    "token in backticks": "Kimi begins with `<|tool_calls_section_begin|>`, Mistral `[TOOL_CALLS]`.",
    "documentation": "# Tool formats\n\nHermes writes:\n\n```\n<tool_call>\n"
    + J
    + "\n</tool_call>\n```\n\nMistral writes:\n\n```\n[TOOL_CALLS]["
    + J
    + "]\n```\n",
    "documentation of the API": "## Calls\n\nA call is an object:\n\n```json\n"
    + J
    + "\n```\n\nThe name is that of a tool.",
    "example at the end": "Here is an example of the format:\n\n```json\n" + J + "\n```",
    "example on its own line": "For example, a call looks like this:\n\n" + J,
    "fence with more code": "```json\n" + J + '\n{"status": "ok"}\n```',
    "fence then prose": "```json\n" + J + "\n```\n\nThat is what a client sends.",
    "python": "```python\nfrom api import get_weather\n\nprint(get_weather(city='Oslo'))\n```",
    "python alone": "get_weather(city='Oslo')\nprint('done')",
    "python list": "[get_weather(city=c) for c in cities]",
    "python in prose": "Use it so:\n\n[get_weather(city='Oslo')] + [1, 2]\n\nand print the result.",
    "assignment": "result = get_weather(city='Oslo')",
    "shell": '```sh\nget_weather \'{"city": "Oslo"}\'\nlist_files\n```',
    "JSON answer": '{"name": "Alice", "arguments": {"for": ["a"], "against": []}}',
    "JSON answer with an offered word": '{"city": "Oslo", "tool": "none", "temperature": 3}',
    "JSON array": '[{"name": "Alice", "age": 3}, {"name": "Bob", "age": 4}]',
    "JSON of a tool": '{"name": "get_weather", "description": "The weather.", "parameters":'
    ' {"type": "object"}, "strict": true}',
    "files in prose": 'Two files: [{"file_name": "a.py", "content": "x = 1"}, {"file_name":'
    ' "b.py", "content": "y = 2"}] make the program.',
    "files": '[{"file_name": "a.py", "content": "x = 1"}]',
    "one file": '{"file_name": "a.py", "content": "delete everything"}',
    "files in a fence": '```json\n[{"path": "a.py", "content": "x = 1"}]\n```',
    "XML": "<note><to>Ann</to><tool>hammer</tool><tools>none</tools></note>",
    "HTML": "```html\n<div class='get_weather'><invoke>x</invoke></div>\n```",
    "HTML without a fence": "<p>The <b>function</b> get_weather is <i>fine</i>.</p>",
    "Ant build": '<target><invoke name="compile"><parameter name="x">1</parameter></invoke></target>',
    "XML function": '<function name="area"><param name="r">2</param></function>',
    "Markdown table": "| tool | call |\n|---|---|\n| get_weather | `get_weather[ARGS]{}` |",
    "list": "- get_weather\n- list_files\n\n{} is an empty object.",
    "name alone": "get_weather",
    "name and prose": "get_weather\nis the tool that you want.",
    "name in brackets": "[get_weather] is the tool; [list_files] lists.",
    "doctest": "```\n>>> get_weather('Oslo')\n'fine'\n```",
    "ReAct explained": "ReAct agents write `Action: get_weather` and `Action Input: {}`.",
    "ReAct of another tool": 'Action: sing\nAction Input: {"song": "a"}',
    "calculation": "[1, 2, 3] + {4} < 5 and `x` > 6",
    "braces": "{ this is { not } JSON }",
    "quoted call": f"> {J}\n\nis what the log says.",
    "closed reasoning": f"<think>I might send <tool_call>{J}</tool_call> now.</think>No need.",
    "closed reasoning, bare": f"<think>\n{J}\n</think>\n\nNo need to call anything.",
    "reasoning without opening": f"Maybe <tool_call>{J}</tool_call>.\n</think>\n\nNo need.",
    "analysis": f"<|channel|>analysis<|message|>to=functions.get_weather {J}<|end|><|start|>"
    "assistant<|channel|>final<|message|>Fine.<|return|>",
    "cut off": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Os',
    "cut off, bare": '{"name": "get_weather", "parameters": {"city": "Os',
    "cut off tags": "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n",
    "no JSON": "<tool_call>\n{name: get_weather, oops}\n</tool_call>",
    "empty": "<tool_call></tool_call>",
    "nothing": "",
    "white space": " \n\t\n",
    "template": '<tool_call>{"name": <function-name>, "arguments": <args-dict>}</tool_call>',
    "code that prints a call": "```python\nprint('<tool_call>" + J + "</tool_call>')\n```",
    "YAML": "```yaml\nname: get_weather\narguments:\n  city: Oslo\n```",
    "function type": '{"type": "object", "function": "get_weather"}',
    "empty array": "[]",
    "Chinese": "例如，你可以这样调用：\n```json\n" + J + "\n```",
}
