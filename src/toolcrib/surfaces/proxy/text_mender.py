"""The text of one answer, read for tool calls while its frames go through."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.surfaces.proxy.pending_text import PendingText, Remake
from toolcrib.system.threads import random_id
from toolcrib.toolcalls import ContentDelta, ReasoningDelta, ToolCall, ToolCallStream, parse_message
from toolcrib.toolcalls.argument_stream import mended_arguments
from toolcrib.toolcalls.output import Event, stable_id
from toolcrib.toolcalls.tool_schemas import ToolSchemas

MAX_REASONING_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class FoundCall:
    """A call that stood in the text, as it goes to the client; `arguments` is JSON text."""

    id: str
    name: str
    arguments: str
    index: int = 0


Piece = bytes | ReasoningDelta | FoundCall
"""What comes out: a frame, reasoning that stood in the text, or a call."""


class TextMender:
    """Takes the text of an answer with its frames; gives out frames, reasoning and calls.

    Frames go through as they came where nothing in them is mended. As soon as the server sends
    a call of its own, nothing more is looked for in the text.

    Args:
        tools: the tools that the request schemas.
        schemas: the same, to look names up.
    """

    def __init__(self, tools: Sequence[Any], schemas: ToolSchemas) -> None:
        self._tools = tools
        self._schemas = schemas
        self._stream: ToolCallStream | None = ToolCallStream(tools)
        self._pending = PendingText()
        self._remake: Remake | None = None
        self._reasoning: list[str] = []
        self._reasoning_chars = 0
        self._has_content = False
        self.calls = 0
        """How many stood in the text."""

    def text(self, raw: bytes, text: str, remake: Remake) -> list[Piece]:
        """A frame with a piece of the text."""
        if self._stream is None:
            return [raw]
        self._remake = remake
        events = self._stream.feed(text)
        if not self._pending and len(events) == 1:
            (event,) = events
            if type(event) is ContentDelta and event.text == text:
                self._has_content = True
                return [raw]
        self._pending.push(raw, text, remake)
        return self._pieces(events)

    def reasoning(self, text: str) -> None:
        """Reasoning that came apart from the text."""
        if self._reasoning_chars < MAX_REASONING_CHARS:
            self._reasoning.append(text)
            self._reasoning_chars += len(text)

    def is_waiting(self, *, briefly: bool) -> bool:
        """Whether frames wait. `briefly`: only for white space."""
        return bool(self._pending) and not (briefly and self._pending.unconfirmed.strip())

    def frame(self, raw: bytes) -> list[Piece]:
        """A frame without any text, which keeps its place."""
        if not self._pending:
            return [raw]
        self._pending.push(raw, "", lambda _: raw)
        return []

    def has_native_calls(self) -> list[Piece]:
        """The server sends calls itself: what was held back of the text comes now."""
        if self._stream is None:
            return []
        stream, self._stream = self._stream, None
        events = [event for event in stream.last() if not isinstance(event, ToolCall)]
        rest = "".join(event.text for event in events if isinstance(event, ContentDelta))
        if self._pending.unconfirmed.strip() == rest.strip():
            return list(self._pending.release())
        return self._pieces(events) + list(self._pending.drop())

    def close(self) -> list[Piece]:
        """Nothing follows."""
        if self._stream is None:
            return []
        stream, self._stream = self._stream, None
        pieces = self._pieces(stream.last())
        result = stream.close()
        if not self.calls and not self._has_content and result.diagnostics:
            # What cannot be read is better than an answer without a word.
            text = "\n".join(found.text for found in result.diagnostics)
            if self._remake is not None:
                pieces += [*self._pending.drop(), self._remake(text)]
        elif not self.calls and not self._has_content and self._reasoning:
            message = {"content": "", "reasoning_content": "".join(self._reasoning)}
            pieces += [self._call(call) for call in parse_message(message, self._tools).calls]
        return pieces + list(self._pending.drop())

    def _pieces(self, events: Sequence[Event]) -> list[Piece]:
        pieces: list[Piece] = []
        for event in events:
            if isinstance(event, ContentDelta):
                self._has_content = True
                pieces += self._pending.confirm(event.text, self._remake)
                continue
            pieces += self._pending.drop()
            pieces.append(self._call(event) if isinstance(event, ToolCall) else event)
        return pieces

    def _call(self, call: ToolCall) -> FoundCall:
        self.calls += 1
        return found_call(call, self._schemas, self.calls - 1)


def found_call(call: ToolCall, schemas: ToolSchemas, index: int = 0) -> FoundCall:
    """A call of the parser with its arguments as JSON, of the types that the schema wants.

    An id that the parser made is replaced: the same call of another turn needs another one.
    """
    is_made = call.id == stable_id(index, call.name, call.arguments)
    call_id = f"call_{random_id(12)}" if is_made else call.id
    arguments = mended_arguments(json.dumps(call.arguments, ensure_ascii=False), schemas, call.name)
    return FoundCall(call_id, call.name, arguments, index)
