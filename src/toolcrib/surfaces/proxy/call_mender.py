"""The tool calls that a server streams: parts joined by their place, arguments mended."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.surfaces.proxy.pending_text import PendingText
from toolcrib.system.threads import random_id
from toolcrib.toolcalls.argument_stream import ArgumentStream, mended_arguments
from toolcrib.toolcalls.tool_schemas import ToolSchemas

Part = dict[str, Any]
Frame = Callable[[Part], bytes]
"""Gives the frame that carries one part of a call."""


@dataclass(slots=True)
class _StreamedCall:
    index: int
    id: str
    name: str
    arguments: ArgumentStream
    pending: PendingText = field(default_factory=PendingText)
    has_arguments: bool = False
    frame: Frame | None = None
    is_closed: bool = False


class CallMender:
    """The calls of one answer in the form of the OpenAI chat API.

    Args:
        schemas: the tools that the request schemas.
        first_index: the place of the first call; those from the text stand before it.
    """

    def __init__(self, schemas: ToolSchemas, first_index: int = 0) -> None:
        self._schemas = schemas
        self._first = first_index
        self._calls: list[_StreamedCall] = []
        self._by_index: dict[int, _StreamedCall] = {}
        self._by_id: dict[str, _StreamedCall] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def part(self, raw: bytes, part: Mapping[str, Any], frame: Frame) -> list[bytes]:
        """A part of a call, and the frame that it came in; the frames that can go on."""
        function = part.get("function")
        function = function if isinstance(function, dict) else {}
        name, call_id = _text(function.get("name")), _text(part.get("id"))
        call = self._found(part.get("index"), call_id, name)
        is_first = call is None
        if call is None:
            call = self._begin(part.get("index"), call_id, name)
        elif name and not call.name:
            call.name = self._schemas.resolve(name) or name
            call.arguments.name = call.name
            is_first = True
        call.frame = frame
        mended = self._normal(part, function, call, is_first=is_first)
        text = _text(mended["function"].get("arguments"))
        if mended != part:
            raw = frame(mended)
        if not text:
            return [] if call.pending else [raw]
        call.has_arguments = True

        def remake(piece: str) -> bytes:
            return frame({**mended, "function": {**mended["function"], "arguments": piece}})

        confirmed = call.arguments.feed(text)
        call.pending.push(raw, text, remake)
        return call.pending.confirm(confirmed)

    def close(self) -> list[bytes]:
        """No part follows."""
        frames: list[bytes] = []
        for call in self._calls:
            frames += _closed(call)
        return frames

    def _found(self, index: Any, call_id: str, name: str) -> _StreamedCall | None:
        """The call that a part belongs to: by place, else by id, else the last; None for a new."""
        if isinstance(index, int):
            found = self._by_index.get(index)
            is_other = (
                found is not None
                and bool(name)
                and bool(call_id)
                and found.id not in ("", call_id)
                and found.arguments.is_whole
            )
            return None if is_other else found
        if call_id:
            return self._by_id.get(call_id)
        return self._calls[-1] if self._calls and not name else None

    def _begin(self, index: Any, call_id: str, name: str) -> _StreamedCall:
        name = (self._schemas.resolve(name) or name) if name else name
        call = _StreamedCall(
            self._first + len(self._calls), call_id, name, ArgumentStream(self._schemas, name)
        )
        self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        if call_id:
            self._by_id[call_id] = call
        return call

    @staticmethod
    def _normal(
        part: Mapping[str, Any], function: dict[str, Any], call: _StreamedCall, *, is_first: bool
    ) -> Part:
        """The part as it should have come: with its place, and its id and name just once."""
        normal, inner = dict(part), dict(function)
        if normal.get("index") != call.index:
            normal["index"] = call.index
        if is_first:
            if call.name and inner.get("name") != call.name:
                inner["name"] = call.name
            if call.name and not normal.get("id") and not call.id:
                call.id = normal["id"] = f"call_{random_id(12)}"
        else:
            normal.pop("id", None)
            inner.pop("name", None)
        given = inner.get("arguments")
        if given is not None and not isinstance(given, str):
            inner["arguments"] = json.dumps(given, ensure_ascii=False)
        if inner != function or not isinstance(normal.get("function"), dict):
            normal["function"] = inner
        return normal


def _closed(call: _StreamedCall) -> list[bytes]:
    if call.is_closed:
        return []
    call.is_closed = True
    if not call.has_arguments:
        part = {"index": call.index, "function": {"arguments": "{}"}}
        return [call.frame(part)] if call.frame is not None and call.name else []
    rest = call.arguments.close()
    frames = call.pending.confirm(rest) if rest else []
    return frames + call.pending.drop()


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None or isinstance(value, bool | int | float) else json.dumps(value)


def mended_call(call: Mapping[str, Any], schemas: ToolSchemas) -> dict[str, Any]:
    """A whole call in the form of the chat API, with its name and arguments mended."""
    function = call.get("function")
    if not isinstance(function, dict):
        return dict(call)
    name = function.get("name")
    changed = dict(function)
    if isinstance(name, str) and name:
        name = changed["name"] = schemas.resolve(name) or name
    given = function.get("arguments")
    text = given if isinstance(given, str) else "" if given is None else json.dumps(given)
    changed["arguments"] = mended_arguments(text, schemas, str(name))
    if isinstance(given, str) and changed["arguments"] == given and changed == function:
        return dict(call)
    return {**call, "function": changed}
