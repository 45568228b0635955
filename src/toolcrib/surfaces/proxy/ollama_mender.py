"""Answers of Ollama's `/api/chat`, mended: lines of a stream, or a whole body."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from toolcrib.surfaces.proxy.frames import FrameMender, line_frame, value_of
from toolcrib.surfaces.proxy.text_mender import FoundCall, Piece, TextMender, found_call
from toolcrib.toolcalls import ReasoningDelta, parse_message
from toolcrib.toolcalls.argument_stream import mended_arguments
from toolcrib.toolcalls.tool_schemas import ToolSchemas


class OllamaStreamMender(FrameMender):
    """Mends a stream; what is right in it goes through byte for byte.

    Args:
        tools: the tools that the request schemas.
    """

    def __init__(self, tools: Sequence[Any]) -> None:
        super().__init__(lines=True)
        self._schemas = ToolSchemas(tools)
        self._text = TextMender(tools, self._schemas)
        self._template: dict[str, Any] = {}

    def _frame(self, raw: bytes) -> list[bytes]:
        value = value_of(raw.decode("utf-8", "replace").strip())
        message = value.get("message") if value is not None else None
        if value is None or not isinstance(message, dict):
            return self._made(self._text.frame(raw)) if raw.strip() else [raw]
        if not self._template:
            names = ("model", "created_at")
            self._template = {name: value[name] for name in names if name in value}
        is_last = value.get("done") is True
        frames: list[bytes] = []
        calls = message.get("tool_calls")
        if isinstance(calls, list) and calls:
            frames += self._made(self._text.has_native_calls())
            mended = mended_objects(calls, self._schemas)
            if mended != calls:
                raw = line_frame({**value, "message": {**message, "tool_calls": mended}})
            return [*frames, raw]
        if isinstance(message.get("thinking"), str):
            self._text.reasoning(message["thinking"])
        content = message.get("content")
        if not isinstance(content, str) or not content:
            found = self._text.close() if is_last else self._text.frame(raw)
            return [*self._made(found), raw] if is_last else self._made(found)

        def remake(text: str) -> bytes:
            return line_frame({**value, "message": {**message, "content": text}})

        if not is_last:
            return self._made(self._text.text(raw, content, remake))
        part = {**message, "content": content}
        early = line_frame({**self._template, "message": part, "done": False})
        found = self._text.text(early, content, self._piece)
        found += self._text.close()
        if found == [early]:
            return [raw]
        return [*self._made(found), remake("")]

    def _held(self) -> list[bytes]:
        return self._made(self._text.close())

    def _piece(self, text: str) -> bytes:
        return self._of({"role": "assistant", "content": text})

    def _of(self, message: dict[str, Any]) -> bytes:
        return line_frame({**self._template, "message": message, "done": False})

    def _made(self, pieces: Sequence[Piece]) -> list[bytes]:
        return [piece if isinstance(piece, bytes) else self._new(piece) for piece in pieces]

    def _new(self, piece: ReasoningDelta | FoundCall) -> bytes:
        message: dict[str, Any] = {"role": "assistant", "content": ""}
        if isinstance(piece, ReasoningDelta):
            return self._of({**message, "thinking": piece.text})
        return self._of({**message, "tool_calls": [_object_call(piece)]})


def _object_call(call: FoundCall) -> dict[str, Any]:
    return {"function": {"name": call.name, "arguments": json.loads(call.arguments)}}


def mended_objects(calls: Sequence[Any], schemas: ToolSchemas) -> list[Any]:
    """Calls whose arguments are objects, with names and types mended."""
    mended: list[Any] = []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            mended.append(call)
            continue
        name = schemas.resolve(function["name"]) or function["name"]
        given = function.get("arguments")
        text = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
        fitting = mended_arguments(text, schemas, name)
        try:
            arguments = json.loads(fitting)
        except ValueError:
            arguments = given
        mended.append({**call, "function": {**function, "name": name, "arguments": arguments}})
    return mended


def mended_ollama(body: dict[str, Any], tools: Sequence[Any]) -> dict[str, Any]:
    """A whole answer, mended; the same object where there is nothing to mend."""
    message = body.get("message")
    if not isinstance(message, dict):
        return body
    schemas = ToolSchemas(tools)
    native = message.get("tool_calls")
    if isinstance(native, list) and native:
        mended = mended_objects(native, schemas)
        return body if mended == native else {**body, "message": {**message, "tool_calls": mended}}
    content = message.get("content") or ""
    parsed = parse_message(message, tools)
    if not parsed.calls and (parsed.diagnostics and not parsed.content.strip()):
        return body
    thought = message.get("thinking") or ""
    if not parsed.calls and parsed.content == content and parsed.reasoning == thought:
        return body
    changed = {**message, "content": parsed.content}
    if parsed.reasoning:
        changed["thinking"] = parsed.reasoning
    if parsed.calls:
        found = [found_call(call, schemas, at) for at, call in enumerate(parsed.calls)]
        changed["tool_calls"] = [_object_call(call) for call in found]
    return {**body, "message": changed}
