"""Prompts: what people ask for again and again, written out with the tools that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from toolcrib.core.package_data import package_table
from toolcrib.toolbox import Toolbox

MAX_ARGUMENT_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class PromptParameter:
    """An argument of a prompt; `text` is what it adds to the text where it is given."""

    name: str
    about: str
    required: bool = False
    text: str = "{}"


@dataclass(frozen=True, slots=True)
class WrittenPrompt:
    """A prompt in two parts: what is wanted, then how.

    `ways` are sets of tools, of which one has to be there, each with how to go about it;
    the first that fits is taken. `wanted` and the ways name arguments as `{name}`.
    """

    name: str
    title: str
    about: str
    arguments: Sequence[PromptParameter]
    wanted: str
    ways: Sequence[Mapping[str, Any]]
    ending: str


PROMPTS = tuple(
    WrittenPrompt(**{**entry, "arguments": [PromptParameter(**one) for one in entry["arguments"]]})
    for entry in package_table("surfaces/mcp/prompts.toml")["prompt"]
)


def listing(toolbox: Toolbox) -> types.ListPromptsResult:
    """The prompts for which the tools are there."""
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.about,
                arguments=[
                    types.PromptArgument(name=a.name, description=a.about, required=a.required)
                    for a in prompt.arguments
                ],
            )
            for prompt in PROMPTS
            if _method(prompt, toolbox) is not None
        ]
    )


def filled(toolbox: Toolbox, name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    """A prompt with its arguments.

    Raises:
        MCPError: there is no such prompt here, or its arguments do not fit.
    """
    prompt = next((p for p in PROMPTS if p.name == name), None)
    method = None if prompt is None else _method(prompt, toolbox)
    if prompt is None or method is None:
        known = ", ".join(p.name for p in listing(toolbox).prompts) or "none"
        raise _wrong(f"There is no prompt {name[:80]}. What there is: {known}.")
    text = "\n\n".join((_wanted(prompt, given), method, prompt.ending))
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=prompt.about, messages=[message])


def _wanted(prompt: WrittenPrompt, given: Mapping[str, str]) -> str:
    known = {argument.name for argument in prompt.arguments}
    unknown = sorted(set(given) - known)
    if unknown:
        takes = ", ".join(argument.name for argument in prompt.arguments)
        raise _wrong(f"{prompt.name} has no argument {unknown[0][:80]}; it takes {takes}.")
    texts = {}
    for argument in prompt.arguments:
        value = given.get(argument.name, "").strip()
        if argument.required and not value:
            raise _wrong(f"{prompt.name} needs the argument {argument.name}.")
        if len(value) > MAX_ARGUMENT_CHARS:
            raise _wrong(f"{argument.name} has more than {MAX_ARGUMENT_CHARS:,} characters.")
        texts[argument.name] = argument.text.format(value) if value else ""
    return prompt.wanted.format(**texts)


def _method(prompt: WrittenPrompt, toolbox: Toolbox) -> str | None:
    """How to go about it with the tools that there are, by the names that the host shows."""
    for method in prompt.ways:
        if all(toolbox.tool(tool, indirectly=True) for tool in method["tools"]):
            names = {tool: toolbox.listed_name(tool) for tool in method["tools"]}
            return str(method["text"]).format(**names)
    return None


def _wrong(message: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, message)
