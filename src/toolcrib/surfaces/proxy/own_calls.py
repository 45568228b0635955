"""The calls of our own tools in an answer of the chat API: taken out of what the client sees."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeGuard

from toolcrib.surfaces.proxy.frames import FrameSplitter, data_of, event_frame, value_of


def total_usage(earlier: Mapping[str, Any], usage: Mapping[str, Any]) -> dict[str, Any]:
    """The `usage` of several rounds together: its numbers are added, at any depth."""
    total = {**earlier, **usage}
    for name in earlier.keys() & usage.keys():
        before, now = earlier[name], usage[name]
        if isinstance(before, dict) and isinstance(now, dict):
            total[name] = total_usage(before, now)
        elif isinstance(before, int | float) and isinstance(now, int | float):
            total[name] = before + now
    return total


class OwnCallFilter:
    """Lets a stream through but for the calls of our own tools.

    Their parts, and the end of an answer that holds any, are held back: the end for the case
    that the client has calls of its own in the same answer.

    Args:
        names: those of our tools, as the model was offered them.
        holds_end: whether the end of any answer is held back.
        earlier: the `usage` of the rounds before, which is added to that of this one.
    """

    def __init__(
        self,
        names: Collection[str],
        *,
        holds_end: bool = False,
        earlier: Mapping[str, Any] | None = None,
    ) -> None:
        self._earlier = earlier or {}
        self.usage: Mapping[str, Any] = self._earlier
        self._names = names
        self._holds_end = holds_end
        self._is_ending = False
        self._splitter = FrameSplitter()
        self._own: dict[int, dict[str, Any]] = {}
        self._places: dict[int, int] = {}
        self._ending: list[bytes] = []
        self._content: list[str] = []
        self._foreign: dict[int, dict[str, Any]] = {}
        self.template: dict[str, Any] = {"id": "chatcmpl-toolcrib", "model": ""}

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls of our tools, in the form of the chat API."""
        return [self._own[index] for index in sorted(self._own)]

    @property
    def client_calls(self) -> list[dict[str, Any]]:
        """The calls that the client got."""
        return [self._foreign[index] for index in sorted(self._foreign)]

    @property
    def content(self) -> str:
        """The text of the answer."""
        return "".join(self._content)

    def feed(self, chunk: bytes) -> bytes:
        """What goes to the client for a piece of the stream."""
        return b"".join(map(self._frame, self._splitter.feed(chunk)))

    def close(self, *, broken: bool = False) -> bytes:
        """What is left once the stream has ended."""
        return b"".join(map(self._frame, self._splitter.close(broken=broken)))

    def ending(self) -> bytes:
        """The end that was held back."""
        ending, self._ending = b"".join(self._ending), []
        return ending

    def _frame(self, raw: bytes) -> bytes:
        data = data_of(raw)
        value = value_of(data)
        if value is not None and isinstance(value.get("usage"), dict):
            self.usage = total_usage(self._earlier, value["usage"])
            if self._earlier:
                value = {**value, "usage": self.usage}
                raw = event_frame(value)
        choices = value.get("choices") if value is not None else None
        if not isinstance(choices, list) or not choices or value is None:
            is_end = value is not None or data.strip() == "[DONE]"
            return self._held(raw) if is_end and (self._own or self._is_ending) else raw
        self.template = {
            k: v for k, v in value.items() if k in ("id", "model", "created", "object")
        }
        changed = [self._choice(choice) for choice in choices]
        remaining = [choice for choice in changed if choice is not None]
        if not remaining:
            return b""
        frame = raw if remaining == choices else event_frame({**value, "choices": remaining})
        if any(_is_map(choice) and choice.get("finish_reason") for choice in remaining):
            self._is_ending = self._holds_end
            if self._own or self._holds_end:
                return self._held(frame)
        return frame

    def _held(self, frame: bytes) -> bytes:
        self._ending.append(frame)
        return b""

    def _choice(self, choice: Any) -> Any:
        """A choice without the parts of our calls; None where nothing is left."""
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if not isinstance(delta, dict):
            return choice
        if isinstance(delta.get("content"), str):
            self._content.append(delta["content"])
        parts = delta.get("tool_calls")
        if not isinstance(parts, list) or not parts:
            return choice
        foreign = []
        for part in parts:
            if not isinstance(part, dict):
                foreign.append(part)
                continue
            index = part.get("index")
            index = index if isinstance(index, int) else 0
            name, _ = _function_of(part)
            if name in self._names or index in self._own:
                _add(self._own, index, part)
                continue
            place = self._places.setdefault(index, len(self._places))
            _add(self._foreign, place, part)
            foreign.append(part if place == index else {**part, "index": place})
        if foreign == parts:
            return choice
        rest = {key: item for key, item in delta.items() if key != "tool_calls"}
        if foreign:
            rest["tool_calls"] = foreign
        is_empty = not any(rest.get(key) for key in rest if key != "role")
        if is_empty and not choice.get("finish_reason"):
            return None
        return {**choice, "delta": rest}


def _add(calls: dict[int, dict[str, Any]], index: int, part: dict[str, Any]) -> None:
    call = calls.setdefault(
        index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    )
    name, arguments = _function_of(part)
    call["id"] = call["id"] or part.get("id") or ""
    call["function"]["name"] = call["function"]["name"] or name
    call["function"]["arguments"] += arguments


def _function_of(part: dict[str, Any]) -> tuple[str, str]:
    """The name and the arguments in a part of a call, where they are text."""
    function = part.get("function")
    found = [function.get(key) for key in ("name", "arguments")] if _is_map(function) else []
    name, arguments = (one if isinstance(one, str) else "" for one in [*found, "", ""][:2])
    return name, arguments


def _is_map(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def split_message(
    message: dict[str, Any], names: Collection[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The calls of our tools in a whole message, and those of the client."""
    own: list[dict[str, Any]] = []
    foreign: list[dict[str, Any]] = []
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        is_own = isinstance(function, dict) and function.get("name") in names
        (own if is_own else foreign).append(call)
    return own, foreign
