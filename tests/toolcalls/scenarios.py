"""What a model is made to say, in every format: our own messages, with their calls."""

# ruff: noqa: RUF001 - characters of many scripts are what is tested

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


def tool(name: str, required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    kinds = {k: v if isinstance(v, dict) else {"type": v} for k, v in properties.items()}
    parameters = {
        "type": "object",
        "properties": kinds,
        "required": list(required),
        "additionalProperties": False,
    }
    function = {"name": name, "description": f"{name}.", "parameters": parameters}
    return {"type": "function", "function": function}


TOOLS = [
    tool(
        "write_file",
        ("path",),
        path="string",
        content="string",
        limit="integer",
        ratio="number",
        overwrite="boolean",
        opt="object",
        tags={"type": "array", "items": {"type": "string"}},
    ),
    tool("get_weather", ("city",), city="string", days="integer"),
    tool("list_files"),
    tool("mcp__db__run-query", ("sql",), sql="string", values="array"),
]


@dataclass(frozen=True)
class Made:
    """A call that a scenario makes."""

    name: str
    arguments: dict[str, Any]
    id: str = "abcdefgh1"


@dataclass(frozen=True)
class Scenario:
    """One message of the assistant."""

    name: str
    calls: tuple[Made, ...]
    content: str = ""
    reasoning: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    def message(self, *, as_text: bool, content: str | None) -> dict[str, Any]:
        made = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(call.arguments) if as_text else call.arguments,
                },
            }
            for call in self.calls
        ]
        message = {"role": "assistant", "content": content, "tool_calls": made}
        if self.reasoning:
            message["reasoning_content"] = message["reasoning"] = self.reasoning
            message["thinking"] = self.reasoning
        return message


WEATHER = Made("get_weather", {"city": "Oslo"})
CODE = (
    "import os\n\n\ndef main(args: list[str]) -> None:\n"
    '    """Say "hello"."""\n    for a in args:\n        print(f"{a!r}: {a[0]}", end="\\n")\n'
    "    if len(args) < 2 and os.name > 'a':\n        return {'k': [1, 2]}\n"
)
SCENARIOS = (
    Scenario("single", (WEATHER,)),
    Scenario(
        "parallel",
        (
            Made("write_file", {"path": "a.txt", "content": "one", "limit": 3}),
            Made("get_weather", {"city": "Rome"}, "abcdefgh2"),
            Made("get_weather", {"city": "Oslo", "days": 2}, "abcdefgh3"),
        ),
    ),
    Scenario("text before", (WEATHER,), content="I will look that up."),
    Scenario("reasoning", (WEATHER,), reasoning="The user wants the weather.\nI need a call."),
    Scenario(
        "reasoning and text",
        (WEATHER,),
        content="One moment.",
        reasoning="They said please: [get_weather] it is.",
    ),
    Scenario(
        "quotes",
        (Made("write_file", {"path": 'a "b".txt', "content": 'x "y" {z} <c> & [d], e: f\\g/h'}),),
    ),
    Scenario("lines", (Made("write_file", {"path": "m.py", "content": CODE}),)),
    Scenario(
        "marks",
        (
            Made(
                "write_file",
                {
                    "path": "doc.md",
                    "content": "Use <tool_call>, </tool_call>, [TOOL_CALLS] or </think>, and"
                    " <function_calls> as <b>bold</b>.",
                },
            ),
            WEATHER,
        ),
    ),
    Scenario(
        "nested",
        (
            Made(
                "write_file",
                {
                    "path": "n.json",
                    "opt": {"a": {"b": [1, 2.5, {"c": True}], "d": "x y"}, "e": False},
                    "tags": ["one", "two words", "3"],
                },
            ),
        ),
    ),
    Scenario(
        "unicode",
        (Made("write_file", {"path": "Zürich/東京.txt", "content": "naïve – “quoted” 🎉 Ω ▁｜"}),),
    ),
    Scenario("empty", (Made("list_files", {}),)),
    Scenario(
        "types",
        (
            Made(
                "write_file",
                {"path": "42", "content": "true", "limit": 7, "ratio": 0.5, "overwrite": False},
            ),
            Made("get_weather", {"city": "00120", "days": 10}),
        ),
    ),
    Scenario(
        "odd name",
        (Made("mcp__db__run-query", {"sql": "SELECT 1 < 2", "values": [1, "a", True]}),),
    ),
)
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
