"""Formats for which there is no chat template: written from what is known of them."""

# ruff: noqa: RUF001, E501 - the marks of some formats have such characters

from __future__ import annotations

import json
from collections.abc import Callable

from tests.toolcalls.scenarios import Made, Scenario

Render = Callable[[Scenario], str | None]


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def named(call: Made, arguments: str = "arguments") -> str:
    return dumps({"name": call.name, arguments: call.arguments})


def around(
    render: Callable[[tuple[Made, ...]], str | None], think: str = "<think>\n{}\n</think>\n\n"
) -> Render:
    """The calls, after reasoning and text."""

    def whole(scenario: Scenario) -> str | None:
        made = render(scenario.calls)
        if made is None:
            return None
        reasoning = think.format(scenario.reasoning) if scenario.reasoning else ""
        return f"{reasoning}{scenario.content}{made}"

    return whole


def python(call: Made) -> str | None:
    if not call.name.isidentifier():
        return None
    return f"{call.name}({', '.join(f'{k}={v!r}' for k, v in call.arguments.items())})"


def pythons(calls: tuple[Made, ...]) -> list[str] | None:
    made = [python(call) for call in calls]
    return None if None in made else [call for call in made if call]


def listed(
    before: str, after: str, between: str = ", "
) -> Callable[[tuple[Made, ...]], str | None]:
    def render(calls: tuple[Made, ...]) -> str | None:
        made = pythons(calls)
        return None if made is None else before + between.join(made) + after

    return render


def single(render: Callable[[Made], str]) -> Callable[[tuple[Made, ...]], str | None]:
    return lambda calls: render(calls[0]) if len(calls) == 1 else None


def repeated(
    render: Callable[[Made], str], between: str = "\n"
) -> Callable[[tuple[Made, ...]], str]:
    return lambda calls: between.join(map(render, calls))


def only_calls(render: Render) -> Render:
    """For forms that only stand where nothing else is said."""
    return lambda scenario: None if scenario.content else render(scenario)


def as_text(value: object) -> str:
    return value if isinstance(value, str) else dumps(value)


def invoked(call: Made, prefix: str, *, typed: bool = False, gap: str = "") -> str:
    lines = []
    for key, value in call.arguments.items():
        string = f' string="{dumps(isinstance(value, str))}"' if typed else ""
        lines.append(
            f'<{prefix}{gap}parameter name="{key}"{string}>{as_text(value)}</{prefix}{gap}parameter>'
        )
    body = "\n".join(lines)
    return f'<{prefix}{gap}invoke name="{call.name}">\n{body}\n</{prefix}{gap}invoke>'


def wrapped(
    opening: str, inner: Callable[[tuple[Made, ...]], str], closing: str
) -> Callable[[tuple[Made, ...]], str]:
    return lambda calls: f"{opening}{inner(calls)}{closing}"


def paired(call: Made, mark: str) -> str:
    pairs = [
        f"<arg_key>{key}</arg_key>\n<arg_value>{as_text(value)}</arg_value>"
        for key, value in call.arguments.items()
    ]
    return "\n".join([f"<{mark}>{call.name}", *pairs, f"</{mark}>"])


def escaped(value: object) -> str:
    """A value as FunctionGemma writes it."""
    if isinstance(value, str):
        return f"<escape>{value}<escape>"
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{escaped(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(escaped, value)) + "]"
    return dumps(value)


def function_gemma(call: Made) -> str:
    return f"<start_function_call>call:{call.name}{escaped(call.arguments)}<end_function_call>"


def deepseek_v3(calls: tuple[Made, ...]) -> str:
    made = "\n".join(
        f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{call.name}\n```json\n"
        f"{dumps(call.arguments)}\n```<｜tool▁call▁end｜>"
        for call in calls
    )
    return f"<｜tool▁calls▁begin｜>{made}<｜tool▁calls▁end｜>"


def step_3(call: Made) -> str:
    return (
        f"<｜tool_call_begin｜>function<｜tool_sep｜>{invoked(call, 'steptml:')}<｜tool_call_end｜>"
    )


def harmony(scenario: Scenario) -> str | None:
    """gpt-oss with the recipient on the channel, and every call."""
    parts = []
    if scenario.reasoning:
        parts.append(f"<|channel|>analysis<|message|>{scenario.reasoning}<|end|>")
    if scenario.content:
        parts.append(f"<|channel|>commentary<|message|>{scenario.content}<|end|>")
    parts += [
        f"<|channel|>commentary to=functions.{call.name} <|constrain|>json<|message|>"
        f"{dumps(call.arguments)}<|call|>"
        for call in scenario.calls
    ]
    return "<|start|>assistant".join(parts)


RENDERERS: dict[str, Render] = {
    "harmony-channel": harmony,
    "deepseek-v3": around(deepseek_v3),
    "deepseek-v4.1": around(
        wrapped(
            "\n\n<｜DSML｜ calls>\n",
            repeated(lambda call: invoked(call, "｜DSML｜", typed=True, gap=" ")),
            "\n</｜DSML｜ calls>",
        )
    ),
    "dots": around(
        wrapped(
            "<dots_function_call>\n",
            repeated(lambda call: invoked(call, "")),
            "\n</dots_function_call>",
        )
    ),
    "fenced": only_calls(around(repeated(lambda call: f"```json\n{named(call)}\n```"))),
    "function-gemma": around(repeated(function_gemma, "")),
    "gigachat-3.5": around(
        wrapped(
            "<｜GCML｜tool_calls>\n",
            repeated(lambda call: invoked(call, "｜GCML｜", typed=True)),
            "\n</｜GCML｜tool_calls>",
        )
    ),
    "granite-20b": around(repeated(lambda call: f"<function_call> {named(call)}")),
    "granite-3": around(wrapped("<|tool_call|>[", repeated(named, ", "), "]")),
    "internlm": around(
        repeated(
            lambda call: f"<|action_start|> <|plugin|>\n{named(call, 'parameters')}<|action_end|>"
        )
    ),
    "iquest": around(repeated(lambda call: paired(call, "iquest_tool_call"))),
    "llama-3-several": only_calls(around(repeated(lambda call: named(call, "parameters"), "; "))),
    "llama-3-tag": around(
        wrapped("<|python_tag|>", repeated(lambda call: named(call, "parameters"), "; "), "")
    ),
    "llama-4": only_calls(around(listed("[", "]"))),
    "lm-studio": around(repeated(lambda call: f"[TOOL_REQUEST]{named(call)}[END_TOOL_REQUEST]")),
    "lm-studio-args": around(
        repeated(
            lambda call: (
                "[TOOL_CALL]\n"
                + dumps({"tool": call.name, "args": call.arguments})
                + "\n[/TOOL_CALL]"
            )
        )
    ),
    "lm-studio-name": only_calls(
        around(single(lambda call: f"[{call.name}]\n{dumps(call.arguments)}\n[END_TOOL_REQUEST]"))
    ),
    "magistral": around(
        repeated(lambda call: f"[TOOL_CALLS]{call.name}{dumps(call.arguments)}", ""),
        "[THINK]{}[/THINK]",
    ),
    "olmo-3": around(listed("<function_calls>", "</function_calls>", "\n")),
    "phi-4-mini": around(wrapped("functools[", repeated(named, ", "), "]")),
    "qwen-2.5-unwrapped": only_calls(around(single(named))),
    "react": around(
        single(lambda call: f"\nAction: {call.name}\nAction Input: {dumps(call.arguments)}")
    ),
    "step-3": around(wrapped("<｜tool_calls_begin｜>", repeated(step_3), "<｜tool_calls_end｜>")),
    "xlam-array": only_calls(around(wrapped("[", repeated(named, ", "), "]"))),
    "xlam-tag": around(wrapped("<tool_call>[", repeated(named, ", "), "]</tool_call>")),
}
