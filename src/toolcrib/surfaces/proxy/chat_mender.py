"""Answers of `/v1/chat/completions`, mended: a stream frame by frame, or a whole body."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from toolcrib.surfaces.proxy.call_mender import CallMender, Part, mended_call
from toolcrib.surfaces.proxy.frames import (
    FrameMender,
    data_of,
    event_frame,
    value_of,
)
from toolcrib.surfaces.proxy.text_mender import FoundCall, Piece, TextMender, found_call
from toolcrib.system.threads import random_id
from toolcrib.text.json_values import objects_in
from toolcrib.toolcalls import ReasoningDelta, parse_message
from toolcrib.toolcalls.tool_schemas import ToolSchemas

DONE = "[DONE]"
SURE_TEXT = re.compile(r"[A-Za-z0-9 ]+")
"""Text that every server writes in one way."""
REASONING_FIELDS = ("reasoning_content", "reasoning")
FINAL_FINISHES = ("length", "content_filter")
"""Reasons that stay though there are calls: something may be missing."""


@dataclass(slots=True)
class _Choice:
    """One of the answers that a request may ask for."""

    text: TextMender
    native: CallMender
    template: dict[str, Any] = field(default_factory=dict)
    finished: bool = False

    @property
    def has_calls(self) -> bool:
        return bool(self.text.calls or len(self.native))


class ChatStreamMender(FrameMender):
    """Mends a stream; what is right in it goes through byte for byte.

    Args:
        tools: the tools that the request schemas, in any of their forms.
    """

    def __init__(self, tools: Sequence[Any]) -> None:
        super().__init__()
        self._tools = tools
        self._schemas = ToolSchemas(tools)
        self._choices: dict[int, _Choice] = {}
        self._alike: tuple[bytes, bytes, _Choice] | None = None
        """What stands before and after the text in the frames of a choice, since it repeats."""

    def _frame(self, frame: bytes) -> list[bytes]:
        quick = self._quick(frame)
        if quick is not None:
            return quick
        data = data_of(frame)
        if data.strip() == DONE:
            return [*self._held(), frame]
        value = value_of(data)
        choices = value.get("choices") if value is not None else None
        if value is None or not isinstance(choices, list) or not choices:
            if value is not None and value.get("error"):
                return [*self._held(), frame]
            return self._in_place(frame, is_comment=not data)
        content = _only_text(choices)
        if content:
            # Nearly all of a stream: a piece of text and nothing else.
            choice = self._choice(choices[0].get("index"), value)
            self._alike = _around(frame, content, choice)
            remake = partial(_with_content, value, choices[0])
            return self._made(choice, choice.text.text(frame, content, remake))
        return self._parts(frame, value, choices)

    def _quick(self, frame: bytes) -> list[bytes] | None:
        """A frame that differs from the one before in its text alone; None for another."""
        if self._alike is None:
            return None
        before, after, choice = self._alike
        if not (frame.startswith(before) and frame.endswith(after)):
            return None
        text = _plain_text(frame[len(before) : -len(after)])
        if not text:
            return None
        return self._made(choice, choice.text.text(frame, text, partial(_with_text, frame)))

    def _parts(self, frame: bytes, value: dict[str, Any], choices: list[Any]) -> list[bytes]:
        """A frame with anything in it."""
        parts = [part for choice in choices for part in _split(choice)]
        if not parts:
            return self._in_place(frame)
        if len(parts) == 1:
            return self._part(parts[0], frame, value)
        passed, frames = True, []
        for number, part in enumerate(parts):
            shared = dict(value) if number == len(parts) - 1 else {**value, "usage": None}
            if "usage" not in value:
                shared.pop("usage", None)
            own = event_frame({**shared, "choices": [part]})
            found = self._part(part, own, shared)
            passed = passed and found == [own]
            frames += found
        return [frame] if passed else frames

    def _in_place(self, frame: bytes, *, is_comment: bool = False) -> list[bytes]:
        """A frame that belongs to no answer; comments keep a connection open, and go at once."""
        for choice in self._choices.values():
            if choice.text.is_waiting(briefly=is_comment):
                return self._made(choice, choice.text.frame(frame))
        return [frame]

    def _part(self, part: dict[str, Any], raw: bytes, value: dict[str, Any]) -> list[bytes]:
        """One choice with one thing in it."""
        choice = self._choice(part.get("index"), value)
        delta = part["delta"]
        content = delta.get("content")
        if isinstance(content, str) and content:
            return self._made(
                choice, choice.text.text(raw, content, partial(_with_content, value, part))
            )
        calls = objects_in(delta.get("tool_calls"))
        if calls:
            frames = self._made(choice, choice.text.has_native_calls())
            if not len(choice.native):
                choice.native = CallMender(self._schemas, choice.text.calls)
            return frames + choice.native.part(raw, calls[0], _calls(value, part))
        for name in REASONING_FIELDS:
            if isinstance(delta.get(name), str):
                choice.text.reasoning(delta[name])
                break
        if not part.get("finish_reason"):
            return self._made(choice, choice.text.frame(raw))
        frames = self._end(choice)
        finish = part["finish_reason"]
        if choice.has_calls and finish not in (*FINAL_FINISHES, "tool_calls", "function_call"):
            raw = event_frame({**value, "choices": [{**part, "finish_reason": "tool_calls"}]})
        choice.finished = True
        return [*frames, raw]

    def _choice(self, index: Any, value: dict[str, Any]) -> _Choice:
        number = index if isinstance(index, int) else 0
        if number not in self._choices:
            text = TextMender(self._tools, self._schemas)
            self._choices[number] = _Choice(text, CallMender(self._schemas))
        choice = self._choices[number]
        if not choice.template:
            plain = {key: item for key, item in value.items() if key not in ("usage", "choices")}
            choice.template = {**plain, "choices": [{"index": number}]}
        return choice

    def _made(self, choice: _Choice, pieces: Sequence[Piece]) -> list[bytes]:
        return [piece if isinstance(piece, bytes) else self._new(choice, piece) for piece in pieces]

    def _new(self, choice: _Choice, piece: ReasoningDelta | FoundCall) -> bytes:
        if isinstance(piece, ReasoningDelta):
            return _of(choice.template, {"reasoning_content": piece.text})
        call = {"index": piece.index, **chat_call(piece)}
        return _of(choice.template, {"tool_calls": [call]})

    def _end(self, choice: _Choice) -> list[bytes]:
        return self._made(choice, choice.text.close()) + choice.native.close()

    def _held(self) -> list[bytes]:
        """The end of answers whose end did not come by itself."""
        frames: list[bytes] = []
        for choice in self._choices.values():
            if choice.finished:
                continue
            choice.finished = True
            frames += self._end(choice)
            if choice.text.calls:
                frames.append(_of(choice.template, {}, "tool_calls"))
        return frames


def _only_text(choices: list[Any]) -> str:
    """The text of an event that holds nothing else; "" of any other."""
    choice = choices[0]
    if len(choices) != 1 or type(choice) is not dict or choice.get("finish_reason"):
        return ""
    delta = choice.get("delta")
    if type(delta) is not dict or delta.get("tool_calls"):
        return ""
    content = delta.get("content")
    return content if type(content) is str else ""


def _split(choice: Any) -> list[dict[str, Any]]:
    """The choices of an event, each with one thing: text, a part of one call, the end, or else."""
    if not isinstance(choice, dict):
        return []
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return [{**choice, "delta": {}}]
    calls = objects_in(delta.get("tool_calls"))
    has_text = isinstance(delta.get("content"), str) and bool(delta["content"])
    has_end = bool(choice.get("finish_reason"))
    if has_text + len(calls) + has_end <= 1:
        return [choice]
    rest = {key: item for key, item in delta.items() if key not in ("content", "tool_calls")}
    open_choice = {**choice, "finish_reason": None}
    parts: list[dict[str, Any]] = []
    if has_text:
        parts.append({**open_choice, "delta": {**rest, "content": delta["content"]}})
        rest = {}
    for call in calls:
        parts.append({**open_choice, "delta": {**rest, "tool_calls": [call]}})
        rest = {}
    if has_end:
        parts.append({**choice, "delta": rest})
    return parts


def _around(frame: bytes, text: str, choice: _Choice) -> tuple[bytes, bytes, _Choice] | None:
    """What stands around the text of a frame, where it is certain where that stands."""
    if not SURE_TEXT.fullmatch(text):
        return None
    quoted = f'"{text}"'.encode()
    if frame.count(quoted) != 1:
        return None
    before, after = frame.split(quoted)
    return before + b'"', b'"' + after, choice


def _plain_text(data: bytes) -> str:
    """The text of a JSON string without any escapes; "" where there may be some."""
    if b'"' in data or b"\\" in data:
        return ""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return ""


def _with_text(frame: bytes, text: str) -> bytes:
    """A frame of one piece of text with another."""
    value = value_of(data_of(frame)) or {}
    return _with_content(value, value["choices"][0], text)


def _with_content(value: dict[str, Any], part: dict[str, Any], text: str) -> bytes:
    delta = {**part["delta"], "content": text}
    return event_frame({**value, "choices": [{**part, "delta": delta}]})


def _calls(value: dict[str, Any], part: dict[str, Any]) -> Callable[[Part], bytes]:
    def remake(call: Part) -> bytes:
        delta = {**part["delta"], "tool_calls": [call]}
        return event_frame({**value, "choices": [{**part, "delta": delta}]})

    return remake


def _of(template: dict[str, Any], delta: dict[str, Any], finish: str | None = None) -> bytes:
    (choice,) = template["choices"]
    return event_frame(
        {**template, "choices": [{**choice, "delta": delta, "finish_reason": finish}]}
    )


def chat_call(call: FoundCall) -> dict[str, Any]:
    """A call in the form of the chat API."""
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def mended_chat(body: dict[str, Any], tools: Sequence[Any]) -> dict[str, Any]:
    """A whole answer, mended; the same object where there is nothing to mend."""
    choices = body.get("choices")
    if not isinstance(choices, list):
        return body
    schemas = ToolSchemas(tools)
    mended = [_mended_choice(choice, tools, schemas) for choice in choices]
    is_same = all(new is old for new, old in zip(mended, choices, strict=True))
    return body if is_same else {**body, "choices": mended}


def _mended_choice(choice: Any, tools: Sequence[Any], schemas: ToolSchemas) -> Any:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return choice
    changed = _with_ids(mended_message(message, tools, schemas))
    finish = choice.get("finish_reason")
    has_calls = bool(changed.get("tool_calls"))
    if has_calls and finish not in (*FINAL_FINISHES, "tool_calls", "function_call"):
        return {**choice, "message": changed, "finish_reason": "tool_calls"}
    return choice if changed is message else {**choice, "message": changed}


def _with_ids(message: dict[str, Any]) -> dict[str, Any]:
    """A message each of whose calls has an id, by which its result is told from others."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or all(c.get("id") for c in calls if isinstance(c, dict)):
        return message
    named = [
        {**call, "id": f"call_{random_id(12)}"}
        if isinstance(call, dict) and not call.get("id")
        else call
        for call in calls
    ]
    return {**message, "tool_calls": named}


def mended_message(
    message: dict[str, Any], tools: Sequence[Any], schemas: ToolSchemas
) -> dict[str, Any]:
    """An assistant's message, mended; the same object where there is nothing to mend."""
    native = message.get("tool_calls")
    if isinstance(native, list) and native:
        calls = [mended_call(call, schemas) if isinstance(call, dict) else call for call in native]
        message = message if calls == native else {**message, "tool_calls": calls}
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        return message
    parsed = parse_message({**message, "tool_calls": None}, tools)
    if isinstance(native, list) and native:
        is_same = parsed.content.strip() == (content or "").strip()
        return message if is_same else {**message, "content": parsed.content}
    if not parsed.calls and not parsed.content.strip() and parsed.diagnostics:
        return message
    own = next((name for name in REASONING_FIELDS if message.get(name)), REASONING_FIELDS[0])
    thought = message.get(own) or ""
    if not parsed.calls and parsed.content == (content or "") and parsed.reasoning == thought:
        return message
    changed: dict[str, Any] = {**message, "content": parsed.content}
    if parsed.reasoning and parsed.reasoning != thought:
        changed[own] = parsed.reasoning
    if parsed.calls:
        found = [found_call(call, schemas, at) for at, call in enumerate(parsed.calls)]
        changed["tool_calls"] = [chat_call(call) for call in found]
        changed["content"] = parsed.content or None
    return changed
