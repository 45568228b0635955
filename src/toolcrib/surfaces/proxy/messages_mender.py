"""Answers of Anthropic's messages API, mended: blocks of a stream, or a whole body."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.surfaces.proxy.frames import FrameMender, data_of, event_frame, value_of
from toolcrib.surfaces.proxy.pending_text import PendingText
from toolcrib.surfaces.proxy.text_mender import FoundCall, Piece, TextMender, found_call
from toolcrib.system.threads import random_id
from toolcrib.toolcalls import ReasoningDelta, parse_tool_calls
from toolcrib.toolcalls.argument_stream import ArgumentStream, mended_arguments
from toolcrib.toolcalls.tool_schemas import ToolSchemas

ENDS_OF_TURN = ("end_turn", "stop_sequence", None)
# What frames of the mender are, by their first byte: where they go is known when they come out.
_FRAME, _TEXT, _PIECE = b"F", b"T", b"P"


@dataclass(slots=True)
class _NativeCall:
    arguments: ArgumentStream
    pending: PendingText


class MessagesStreamMender(FrameMender):
    """Mends a stream; what is right in it goes through byte for byte.

    Args:
        tools: the tools that the request schemas.
    """

    def __init__(self, tools: Sequence[Any]) -> None:
        super().__init__()
        self._schemas = ToolSchemas(tools)
        self._text = TextMender(tools, self._schemas)
        self._places: dict[int, int] = {}
        """The place of each block of the server in what the client gets."""
        self._next = 0
        self._open = -1
        """The place of the block of text that is open; -1 for none."""
        self._native: dict[int, _NativeCall] = {}
        self._kinds: dict[int, str] = {}

    def _frame(self, raw: bytes) -> list[bytes]:
        value = value_of(data_of(raw))
        kind = value.get("type") if value is not None else None
        if value is None or kind in ("ping", "message_start"):
            return [raw]
        if kind == "content_block_start":
            return self._start(raw, value)
        if kind == "content_block_delta":
            return self._delta(raw, value)
        if kind == "content_block_stop":
            return self._stop(raw, value)
        if kind not in ("message_delta", "message_stop", "error"):
            return [raw]
        frames = self._held()
        delta = value.get("delta") if kind == "message_delta" and self._text.calls else None
        if isinstance(delta, dict) and delta.get("stop_reason") in ENDS_OF_TURN:
            changed = {**delta, "stop_reason": "tool_use", "stop_sequence": None}
            raw = event_frame({**value, "delta": changed}, "message_delta")
        return [*frames, raw]

    def _held(self) -> list[bytes]:
        return [*self._made(self._text.close()), *self._stop_text()]

    def _start(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        index, block = _index(value), value.get("content_block")
        block = block if isinstance(block, dict) else {}
        kind = self._kinds[index] = str(block.get("type"))
        frames: list[bytes] = []
        if kind == "tool_use":
            frames += [*self._made(self._text.has_native_calls()), *self._stop_text()]
            name = str(block.get("name"))
            meant = self._schemas.resolve(name) or name
            self._native[index] = _NativeCall(ArgumentStream(self._schemas, meant), PendingText())
            if meant != name:
                value = {**value, "content_block": {**block, "name": meant}}
                raw = event_frame(value, "content_block_start")
        else:
            frames += self._stop_text() if self._open >= 0 and kind != "text" else []
        if kind == "text" and self._open >= 0:
            self._places[index] = self._open  # goes on in the block that is open
            return frames
        self._places[index] = self._next
        self._next += 1
        if kind == "text":
            self._open = self._places[index]
        return [*frames, self._placed(raw, value)]

    def _delta(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        index, delta = _index(value), value.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        text = delta.get("text") if delta.get("type") == "text_delta" else None
        if isinstance(text, str):
            if not text:
                return [self._placed(raw, value)]
            return self._made(
                self._text.text(_TEXT + raw, text, lambda piece: _PIECE + piece.encode())
            )
        part = delta.get("partial_json")
        native = self._native.get(index)
        if native is not None and isinstance(part, str):
            if not part:
                return [] if native.pending else [self._placed(raw, value)]

            def remake(piece: str) -> bytes:
                return self._of_block(index, {**delta, "partial_json": piece})

            native.pending.push(self._placed(raw, value), part, remake)
            return native.pending.confirm(native.arguments.feed(part))
        if isinstance(delta.get("thinking"), str):
            self._text.reasoning(delta["thinking"])
        return [self._placed(raw, value)]

    def _stop(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        index = _index(value)
        if self._kinds.get(index) == "text":
            return self._made(self._text.frame(_FRAME + raw))
        frames: list[bytes] = []
        native = self._native.get(index)
        if native is not None:
            rest = native.arguments.close() if native.pending else ""
            frames += native.pending.confirm(rest) if rest else []
            frames += native.pending.drop()
        return [*frames, self._placed(raw, value)]

    def _of_block(self, index: int, delta: dict[str, Any]) -> bytes:
        place = self._places.get(index, index)
        value = {"type": "content_block_delta", "index": place, "delta": delta}
        return event_frame(value, "content_block_delta")

    def _placed(self, raw: bytes, value: dict[str, Any]) -> bytes:
        index = _index(value)
        place = self._places.get(index, index)
        return raw if place == index else event_frame({**value, "index": place}, value["type"])

    def _made(self, pieces: Sequence[Piece]) -> list[bytes]:
        frames: list[bytes] = []
        for piece in pieces:
            if isinstance(piece, FoundCall | ReasoningDelta):
                frames += [*self._stop_text(), *self._block(piece)]
                continue
            mark, body = piece[:1], piece[1:]
            if mark == _FRAME:
                frames += self._stop_text(body)
            elif mark == _TEXT:
                frames += self._passed(body)
            elif mark == _PIECE:
                frames += self._piece(body.decode("utf-8", "surrogatepass"))
            else:
                frames.append(piece)
        return frames

    def _passed(self, raw: bytes) -> list[bytes]:
        value = value_of(data_of(raw)) or {}
        if self._open == _index(value):
            return [raw]
        return self._piece(value["delta"]["text"])

    def _piece(self, text: str) -> list[bytes]:
        if not text:
            return []
        frames = []
        if self._open < 0:
            self._open, self._next = self._next, self._next + 1
            frames.append(_start_frame(self._open, {"type": "text", "text": ""}))
        delta = {"type": "text_delta", "text": text}
        value = {"type": "content_block_delta", "index": self._open, "delta": delta}
        return [*frames, event_frame(value, "content_block_delta")]

    def _stop_text(self, raw: bytes = b"") -> list[bytes]:
        if self._open < 0:
            return []
        place, self._open = self._open, -1
        if raw and _index(value_of(data_of(raw)) or {}) == place:
            return [raw]
        return [_stop_frame(place)]

    def _block(self, piece: FoundCall | ReasoningDelta) -> list[bytes]:
        place, self._next = self._next, self._next + 1
        if isinstance(piece, FoundCall):
            block = {"type": "tool_use", "id": piece.id, "name": piece.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": piece.arguments}
        else:
            block = {"type": "thinking", "thinking": "", "signature": ""}
            delta = {"type": "thinking_delta", "thinking": piece.text}
        value = {"type": "content_block_delta", "index": place, "delta": delta}
        return [
            _start_frame(place, block),
            event_frame(value, "content_block_delta"),
            _stop_frame(place),
        ]


def _index(value: dict[str, Any]) -> int:
    index = value.get("index")
    return index if isinstance(index, int) else 0


def _start_frame(place: int, block: dict[str, Any]) -> bytes:
    value = {"type": "content_block_start", "index": place, "content_block": block}
    return event_frame(value, "content_block_start")


def _stop_frame(place: int) -> bytes:
    return event_frame({"type": "content_block_stop", "index": place}, "content_block_stop")


def mended_messages(body: dict[str, Any], tools: Sequence[Any]) -> dict[str, Any]:
    """A whole answer, mended; the same object where there is nothing to mend."""
    content = body.get("content")
    if not isinstance(content, list):
        return body
    schemas = ToolSchemas(tools)
    has_native = any(isinstance(b, dict) and b.get("type") == "tool_use" for b in content)
    blocks: list[Any] = []
    calls = 0
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "tool_use":
            use = _mended_use(block, schemas)
            blocks.append(use if use.get("id") else {**use, "id": f"toolu_{random_id(12)}"})
        elif kind == "text" and isinstance(block.get("text"), str):
            made, found = _text_blocks(block, tools, schemas, has_native=has_native, first=calls)
            blocks += made
            calls += found
        else:
            blocks.append(block)
    if blocks == content:
        return body
    changed = {**body, "content": blocks}
    if calls and body.get("stop_reason") in ENDS_OF_TURN:
        changed["stop_reason"] = "tool_use"
    return changed


def _text_blocks(
    block: dict[str, Any],
    tools: Sequence[Any],
    schemas: ToolSchemas,
    *,
    has_native: bool,
    first: int,
) -> tuple[list[Any], int]:
    parsed = parse_tool_calls(block["text"], tools)
    calls = [] if has_native else parsed.calls
    if not calls and parsed.diagnostics and not parsed.content.strip():
        return [block], 0
    if not calls and parsed.content == block["text"] and not parsed.reasoning:
        return [block], 0
    blocks: list[Any] = []
    if parsed.reasoning:
        blocks.append({"type": "thinking", "thinking": parsed.reasoning, "signature": ""})
    if parsed.content:
        blocks.append({**block, "text": parsed.content})
    for number, call in enumerate(calls):
        found = found_call(call, schemas, first + number)
        given = json.loads(found.arguments)
        blocks.append({"type": "tool_use", "id": found.id, "name": found.name, "input": given})
    return blocks, len(calls)


def _mended_use(block: dict[str, Any], schemas: ToolSchemas) -> dict[str, Any]:
    name, given = block.get("name"), block.get("input")
    if not isinstance(name, str):
        return block
    meant = schemas.resolve(name) or name
    text = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
    try:
        fitting = json.loads(mended_arguments(text, schemas, meant))
    except ValueError:
        return block
    return (
        block if (meant, fitting) == (name, given) else {**block, "name": meant, "input": fitting}
    )
