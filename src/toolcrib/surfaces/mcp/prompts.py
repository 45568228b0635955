"""Prompts: what people ask for again and again, written out with the tools that there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import mcp_types as types
from mcp.shared.exceptions import MCPError

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
    arguments: tuple[PromptParameter, ...]
    wanted: str
    ways: tuple[tuple[tuple[str, ...], str], ...]
    ending: str


PROMPTS = (
    WrittenPrompt(
        "summarize_page",
        "Summarise a page with sources",
        "Read a web page and sum it up, with the place in it for each statement.",
        (
            PromptParameter("url", "The address of the page.", required=True),
            PromptParameter("focus", "What matters most.", text=" What matters most: {}."),
        ),
        "Summarise the page {url}.{focus}",
        (
            (
                ("fetch_url",),
                (
                    "Read it with {fetch_url}. If the result is cut, make the call that it names "
                    "until you have what matters."
                ),
            ),
        ),
        "Write at most ten points, the most important first. After each, quote the few words "
        "of the page that it rests on. Keep what the page says apart from what you think. End "
        "with the title, the date if there is one, and the address. If the page could not be "
        "read, say so and stop.",
    ),
    WrittenPrompt(
        "research",
        "Research a question",
        "Answer a question from several sources on the web, each statement with its source.",
        (
            PromptParameter("question", "What you want to know.", required=True),
            PromptParameter("depth", "quick or thorough.", text=" Depth: {}."),
        ),
        "Find out: {question}{depth}",
        (
            (
                ("web_research", "fetch_url"),
                (
                    "Start with {web_research}. Then search for what is still open in other words, "
                    "and read the pages that matter with {fetch_url}."
                ),
            ),
            (
                ("web_search", "fetch_url"),
                (
                    "Search with {web_search}, in two or three wordings, and read the pages that "
                    "matter with {fetch_url}. Do not answer from the snippets alone."
                ),
            ),
        ),
        "Use at least two sources that do not depend on each other; prefer original ones and "
        "look at their dates. Answer first in two or three sentences, then the reasons, with "
        "the number of its source after each statement, like [1]. Say where sources "
        "disagree and what you could not find. End with the list of sources and addresses.",
    ),
    WrittenPrompt(
        "review_changes",
        "Review changes",
        "Look through the changes of a repository for mistakes, before they are committed.",
        (
            PromptParameter("path", "A file or folder; without it all.", text=" Only in: {}."),
            PromptParameter(
                "base", "A commit or branch to compare with.", text=" Compared with: {}."
            ),
        ),
        "Review the changes in this repository.{path}{base}",
        (
            (
                ("git_status", "git_diff", "read_file"),
                (
                    "See what changed with {git_status} and {git_diff}, and read with {read_file} "
                    "what you need to judge it."
                ),
            ),
            (
                ("run_command", "read_file"),
                (
                    "See what changed with {run_command} (git status, git diff), and read with "
                    "{read_file} what you need to judge it."
                ),
            ),
        ),
        "Change nothing. Look for mistakes first, then for missing tests, risks and what is "
        "hard to read. List what you found by weight, each with file and line, what goes wrong "
        "and how to mend it. Say only what you have seen in the code. If there is nothing to "
        "find fault with, say just that.",
    ),
    WrittenPrompt(
        "explain_file",
        "Explain a file",
        "What a file of the workspace is for and how it works.",
        (PromptParameter("path", "The file.", required=True),),
        "Explain the file {path}.",
        (
            (
                ("read_file", "search_files"),
                "Read it with {read_file}, and look with {search_files} for where it is used.",
            ),
            (("read_file",), "Read it with {read_file}."),
        ),
        "Say first in two sentences what it is for. Then its parts, in the order in which one "
        "should read them, with line numbers, and what is easy to get wrong.",
    ),
    WrittenPrompt(
        "fix_tests",
        "Make failing tests pass",
        "Run the tests, find why some fail, and mend the code.",
        (PromptParameter("path", "A file or folder of tests; without it all.", text=" Only: {}."),),
        "Make the tests of this project pass.{path}",
        (
            (
                ("run_tests", "read_file", "edit_file"),
                (
                    "Run them with {run_tests}, read the code with {read_file}, change it with "
                    "{edit_file}."
                ),
            ),
            (
                ("run_command", "read_file", "edit_file"),
                (
                    "Run them with {run_command}, read the code with {read_file}, change it with "
                    "{edit_file}."
                ),
            ),
        ),
        "Find the cause of a failure before you change anything. Mend the code; change a test "
        "only if it is wrong itself, and say why. Make the smallest change that does it, run the "
        "tests again, and stop after three tries that do not help. End with what you changed.",
    ),
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
    for tools, method in prompt.ways:
        if all(toolbox.tool(tool, indirectly=True) for tool in tools):
            return method.format(**{tool: toolbox.listed_name(tool) for tool in tools})
    return None


def _wrong(message: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, message)
