"""The two ways in: a whole text, and a text that is still being written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from toolcrib.toolcalls.loop import run, whole
from toolcrib.toolcalls.offers import OBJECT, Offers
from toolcrib.toolcalls.output import Output
from toolcrib.toolcalls.records import Event, ParsedText
from toolcrib.toolcalls.shapes import calls_of
from toolcrib.toolcalls.state import Machine

THOUGHTS = ("reasoning_content", "reasoning", "thinking")


def parse_tool_calls(
    text: str, tools: Iterable[Any] | None = None, *, reasoning: bool = False
) -> ParsedText:
    """Take a model's text apart into content, reasoning and tool calls.

    Args:
        text: what the model wrote, with whatever marks its format has.
        tools: the tools that it was offered, in OpenAI's form or bare (`name`,
            `parameters`). Their schemas say of what type an argument is where the format
            does not. Without any, only calls with marks are seen.
        reasoning: whether the text begins within reasoning, because the prompt ended with
            its opening mark. Where that is not known, the closing mark tells.

    Returns:
        Content and reasoning without marks, whole calls in order, and a diagnostic for
        each thing that began like a call and is none. Never raises for what a text holds.

    Raises:
        TypeError: `text` is no str, or `tools` no list of tools.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"text must be a str, not {type(text).__name__}; parse_message takes a whole message"
        )
    return whole(text, _offers(tools), inner=False, reasoning=reasoning).result()


class ToolCallStream:
    """Takes a model's text as it comes, and tells what is sure.

    `feed` gives events that are never taken back: pieces of content, pieces of reasoning,
    calls. A call is told when it is whole and no later mark can make it part of the
    reasoning: after reasoning has ended, in formats that say where they are, else at the
    end. The result of `close` is that of `parse_tool_calls` on the whole text, however it
    was split. One thing only the result can tell: reasoning whose opening mark was part of
    the prompt (pass `reasoning=True` where that is known) flows as content until its
    closing mark comes.

    Args:
        tools: as for `parse_tool_calls`.
        reasoning: as for `parse_tool_calls`.

    Raises:
        TypeError: `tools` is no list of tools.
    """

    def __init__(self, tools: Iterable[Any] | None = None, *, reasoning: bool = False) -> None:
        self._machine = Machine(_offers(tools), whole)
        self._steps = run(self._machine, reasoning=reasoning)
        self._result: ParsedText | None = None

    def feed(self, chunk: str) -> list[Event]:
        """Take the next piece; the events that it made sure.

        Raises:
            ValueError: after `close`.
            TypeError: `chunk` is no str.
        """
        if not isinstance(chunk, str):
            raise TypeError(f"chunk must be a str, not {type(chunk).__name__}")
        if self._result is not None:
            raise ValueError("the stream is closed")
        if chunk:
            self._machine.text.add(chunk)
            next(self._steps, None)
        return self._machine.out.take()

    def close(self) -> ParsedText:
        """The end of the text: everything that was read."""
        if self._result is None:
            self._machine.text.ended = True
            for _ in self._steps:
                raise AssertionError("a text that is all there was waited for")
            self._result = self._machine.out.result()
        return self._result

    def last(self) -> list[Event]:
        """Close, and the events that the end made sure."""
        self.close()
        return self._machine.out.take()


def parse_message(message: Mapping[str, Any], tools: Iterable[Any] | None = None) -> ParsedText:
    """Take an assistant's message apart, as a chat endpoint sends it.

    Structured calls (`tool_calls`, or the older `function_call`) come first; only without
    any are the calls looked for in the content, and only without content in reasoning that
    ends with them.

    Args:
        message: `content`, `tool_calls`, `reasoning_content` (or `reasoning`, `thinking`);
            what is missing, null or of a wrong type is passed over.
        tools: as for `parse_tool_calls`.

    Raises:
        TypeError: `message` is no mapping, or `tools` no list of tools.
    """
    if not isinstance(message, OBJECT):
        raise TypeError(
            f"message must be a mapping, not {type(message).__name__}; "
            "parse_tool_calls takes a text"
        )
    offers = _offers(tools)
    out = whole(_text(message.get("content")), offers, inner=False)
    given = [message[key] for key in ("tool_calls", "calls", "function_call") if message.get(key)]
    thought = next((_text(message[key]) for key in THOUGHTS if _text(message.get(key))), "")
    structured = Output(offers)
    for raw in calls_of(given, offers) if given else ():
        if raw is None:
            structured.note("malformed", str(given))
        else:
            structured.add(raw)
    if structured.calls:
        out.forget()
    out.adopt(structured)
    if thought and not out.calls and not out.content.has_begun:
        out.adopt(inner := whole(thought, offers, inner=False, reasoning=True))
        thought = inner.reasoning.text
    found = out.result()
    reasoning = "\n".join(part for part in (thought, found.reasoning) if part)
    return replace(found, reasoning=reasoning)


def _offers(tools: Iterable[Any] | None) -> Offers:
    """The tools, of which one by itself is a likely slip: its parts would be taken for tools."""
    if tools is not None and (
        isinstance(tools, str | bytes | Mapping) or not isinstance(tools, Iterable)
    ):
        raise TypeError(f"tools must be a list of tools, not {type(tools).__name__}")
    return Offers(tools)


def _text(value: Any) -> str:
    if isinstance(value, list):  # parts
        texts = [part.get("text") for part in value if isinstance(part, OBJECT)]
        return "".join(text for text in texts if isinstance(text, str))
    return value if isinstance(value, str) else ""
