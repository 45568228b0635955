"""Answers of the responses API, mended: items of a stream, or a whole body."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcrib.surfaces.proxy.frames import FrameMender, data_of, event_frame, value_of
from toolcrib.surfaces.proxy.pending_text import PendingText
from toolcrib.surfaces.proxy.text_mender import FoundCall, Piece, TextMender, found_call
from toolcrib.system.threads import random_id
from toolcrib.toolcalls import parse_tool_calls
from toolcrib.toolcalls.argument_stream import ArgumentStream, mended_arguments
from toolcrib.toolcalls.tool_schemas import ToolSchemas

PartKey = tuple[str, int]
NUMBER = re.compile(rb'"sequence_number": ?(\d+)')


@dataclass(slots=True)
class _TextPart:
    """One part of a message as it streams. `text` is what it comes to."""

    mender: TextMender
    sent: list[str] = field(default_factory=list)
    calls: list[FoundCall] = field(default_factory=list)
    is_closed: bool = False

    @property
    def text(self) -> str:
        return "".join(self.sent)


@dataclass(slots=True)
class _NativeCall:
    arguments: ArgumentStream
    pending: PendingText = field(default_factory=PendingText)
    came: list[str] = field(default_factory=list)


class ResponsesStreamMender(FrameMender):
    """Mends a stream; what is right in it goes through byte for byte.

    Reasoning that stood in the text is taken out of it.

    Args:
        tools: the tools that the request schemas.
    """

    def __init__(self, tools: Sequence[Any]) -> None:
        super().__init__()
        self._tools = tools
        self._schemas = ToolSchemas(tools)
        self._parts: dict[PartKey, _TextPart] = {}
        self._native: dict[str, _NativeCall] = {}
        self._added: dict[str, list[dict[str, Any]]] = {}
        """Items that were added behind one of the server, by its id."""
        self._shift = 0
        self._places: dict[int, int] = {}
        self._last = -1
        """The number of the last event."""

    def _frame(self, raw: bytes) -> list[bytes]:
        return list(map(self._numbered, self._event(raw)))

    def _numbered(self, frame: bytes) -> bytes:
        """The frame with a number above that of the one before, as the server gave it if it is."""
        found = NUMBER.search(frame)
        if found is None:
            return frame
        number = int(found[1])
        self._last = max(number, self._last + 1)
        if number == self._last:
            return frame
        return frame[: found.start(1)] + str(self._last).encode() + frame[found.end(1) :]

    def _event(self, raw: bytes) -> list[bytes]:
        value = value_of(data_of(raw))
        kind = str(value.get("type")) if value is not None else ""
        if value is None:
            return [raw]
        handlers: dict[str, Callable[[bytes, dict[str, Any]], list[bytes]]] = {
            "response.output_item.added": self._item_added,
            "response.output_text.delta": self._text_delta,
            "response.output_text.done": self._text_done,
            "response.content_part.done": self._part_done,
            "response.function_call_arguments.delta": self._arguments_delta,
            "response.function_call_arguments.done": self._arguments_done,
            "response.output_item.done": self._item_done,
            "response.completed": self._completed,
            "response.incomplete": self._completed,
        }
        handler = handlers.get(kind)
        return handler(raw, value) if handler is not None else [self._passed(raw, value)]

    def _passed(
        self, raw: bytes, value: dict[str, Any], old: dict[str, Any] | None = None
    ) -> bytes:
        changed = dict(value)
        index = value.get("output_index")
        if isinstance(index, int):
            changed["output_index"] = self._places.get(index, index + self._shift)
        came = value if old is None else old
        return raw if changed == came else event_frame(changed, str(value.get("type")))

    def _item_added(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        index = value.get("output_index")
        if isinstance(index, int):
            self._places[index] = index + self._shift
        item = value.get("item")
        if isinstance(item, dict) and item.get("type") == "function_call":
            name = str(item.get("name"))
            meant = self._schemas.resolve(name) or name
            self._native[str(item.get("id"))] = _NativeCall(ArgumentStream(self._schemas, meant))
            return [self._passed(raw, {**value, "item": {**item, "name": meant}}, value)]
        return [self._passed(raw, value)]

    def _text_delta(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        key, delta = _key(value), value.get("delta")
        if not isinstance(delta, str) or not delta:
            return [self._passed(raw, value)]
        part = self._parts.get(key)
        if part is None:
            part = self._parts[key] = _TextPart(TextMender(self._tools, self._schemas))
        # Frames carry their text behind a mark, since their numbers come last.
        frame = b"T" + raw
        return self._made(
            part, part.mender.text(frame, delta, lambda text: b"P" + text.encode()), value
        )

    def _made(self, part: _TextPart, pieces: Sequence[Piece], like: dict[str, Any]) -> list[bytes]:
        frames: list[bytes] = []
        for piece in pieces:
            if isinstance(piece, FoundCall):
                part.calls.append(piece)
            elif isinstance(piece, bytes) and piece[:1] == b"T":
                value = value_of(data_of(piece[1:])) or {}
                part.sent.append(value["delta"])
                frames.append(self._passed(piece[1:], value))
            elif isinstance(piece, bytes) and piece[1:]:
                text = piece[1:].decode("utf-8", "surrogatepass")
                part.sent.append(text)
                frames.append(self._passed(b"", {**like, "delta": text}, {}))
        return frames

    def _text_done(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        part = self._parts.get(_key(value))
        if part is None or part.is_closed:
            return [self._passed(raw, value)]
        part.is_closed = True
        like = {**value, "type": "response.output_text.delta"}
        like.pop("text", None)
        pieces = part.mender.close()
        frames = self._made(part, pieces, like)
        return [*frames, self._passed(raw, {**value, "text": part.text}, value)]

    def _part_done(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        part, content = self._parts.get(_key(value)), value.get("part")
        if part is None or not isinstance(content, dict):
            return [self._passed(raw, value)]
        changed = {**value, "part": {**content, "text": part.text}}
        return [self._passed(raw, changed, value)]

    def _arguments_delta(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        call, delta = self._native.get(str(value.get("item_id"))), value.get("delta")
        if call is None or not isinstance(delta, str) or not delta:
            return [self._passed(raw, value)]

        def remake(text: str) -> bytes:
            return self._passed(b"", {**value, "delta": text}, {})

        call.pending.push(self._passed(raw, value), delta, remake)
        return _noted(call, call.arguments.feed(delta))

    def _arguments_done(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        call = self._native.get(str(value.get("item_id")))
        if call is None:
            return [self._passed(raw, value)]
        frames = _noted(call, call.arguments.close()) if call.came or call.pending else []
        frames += call.pending.drop()
        text = "".join(call.came) or self._whole(call, str(value.get("arguments") or ""))
        return [*frames, self._passed(raw, {**value, "arguments": text}, value)]

    def _whole(self, call: _NativeCall, text: str) -> str:
        return mended_arguments(text, self._schemas, call.arguments.name)

    def _item_done(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        item = value.get("item")
        if not isinstance(item, dict):
            return [self._passed(raw, value)]
        mended, calls = self._item(item)
        frames = [self._passed(raw, {**value, "item": mended}, value)]
        if not calls:
            return frames
        numbered = {k: v for k, v in value.items() if k == "sequence_number"}
        index = value.get("output_index")
        place = self._places.get(index, 0) if isinstance(index, int) else 0
        added = self._added.setdefault(str(item.get("id")), [])
        for call in calls:
            place += 1
            self._shift += 1
            made = call_item(call)
            added.append(made)
            events = ({**event, **numbered} for event in _call_events(made, place))
            frames += [event_frame(event, event["type"]) for event in events]
        return frames

    def _item(self, item: dict[str, Any]) -> tuple[dict[str, Any], list[FoundCall]]:
        """An item as it was streamed, and the calls that stood in it."""
        item_id = str(item.get("id"))
        if item.get("type") == "function_call":
            call = self._native.get(item_id)
            if call is None:
                return item, []
            text = "".join(call.came) or self._whole(call, str(item.get("arguments") or ""))
            return {**item, "name": call.arguments.name, "arguments": text}, []
        content = item.get("content")
        if not isinstance(content, list):
            return item, []
        parts: list[Any] = []
        calls: list[FoundCall] = []
        for number, part in enumerate(content):
            streamed = self._parts.get((item_id, number))
            if streamed is not None and isinstance(part, dict):
                part = {**part, "text": streamed.text}  # noqa: PLW2901
                calls += streamed.calls
            parts.append(part)
        return {**item, "content": parts}, calls

    def _completed(self, raw: bytes, value: dict[str, Any]) -> list[bytes]:
        response = value.get("response")
        output = response.get("output") if isinstance(response, dict) else None
        if not isinstance(output, list) or not isinstance(response, dict):
            return [self._passed(raw, value)]
        items: list[Any] = []
        for item in output:
            if not isinstance(item, dict):
                items.append(item)
                continue
            items.append(self._item(item)[0])
            items += self._added.get(str(item.get("id")), ())
        changed = {**value, "response": {**response, "output": items}}
        return [self._passed(raw, changed, value)]


def _noted(call: _NativeCall, text: str) -> list[bytes]:
    call.came.append(text)
    return call.pending.confirm(text)


def _key(value: dict[str, Any]) -> PartKey:
    index = value.get("content_index")
    return str(value.get("item_id")), index if isinstance(index, int) else 0


def call_item(call: FoundCall) -> dict[str, Any]:
    """A call as an item of an answer."""
    return {
        "type": "function_call",
        "id": f"fc_{random_id(16)}",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "status": "completed",
    }


def _call_events(item: dict[str, Any], place: int) -> list[dict[str, Any]]:
    head = {"output_index": place}
    begun = {**item, "arguments": "", "status": "in_progress"}
    kind, of_item = "response.function_call_arguments", {**head, "item_id": item["id"]}
    return [
        {"type": "response.output_item.added", **head, "item": begun},
        {"type": f"{kind}.delta", **of_item, "delta": item["arguments"]},
        {"type": f"{kind}.done", **of_item, "name": item["name"], "arguments": item["arguments"]},
        {"type": "response.output_item.done", **head, "item": item},
    ]


def mended_response(body: dict[str, Any], tools: Sequence[Any]) -> dict[str, Any]:
    """A whole answer, mended; the same object where there is nothing to mend."""
    output = body.get("output")
    if not isinstance(output, list):
        return body
    schemas = ToolSchemas(tools)
    has_native = any(isinstance(i, dict) and i.get("type") == "function_call" for i in output)
    items: list[Any] = []
    for item in output:
        kind = item.get("type") if isinstance(item, dict) else None
        if kind == "function_call" and isinstance(item.get("name"), str):
            name = schemas.resolve(item["name"]) or item["name"]
            text = mended_arguments(str(item.get("arguments") or ""), schemas, name)
            call_id = item.get("call_id") or f"call_{random_id(12)}"
            items.append({**item, "name": name, "arguments": text, "call_id": call_id})
        elif kind == "message" and isinstance(item.get("content"), list):
            items += _message_items(item, tools, schemas, has_native=has_native)
        else:
            items.append(item)
    return body if items == output else {**body, "output": items}


def _message_items(
    item: dict[str, Any], tools: Sequence[Any], schemas: ToolSchemas, *, has_native: bool
) -> list[Any]:
    parts: list[Any] = []
    calls: list[Any] = []
    for part in item["content"]:
        text = part.get("text") if isinstance(part, dict) else None
        if not isinstance(text, str):
            parts.append(part)
            continue
        parsed = parse_tool_calls(text, tools)
        found = [] if has_native else parsed.calls
        if not found and parsed.diagnostics and not parsed.content.strip():
            parts.append(part)
            continue
        parts.append({**part, "text": parsed.content})
        calls += [call_item(found_call(call, schemas, at)) for at, call in enumerate(found)]
    return [{**item, "content": parts}, *calls]
