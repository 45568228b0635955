"""The frames of a streamed answer as bytes: events, or objects on lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

MAX_FRAME_BYTES = 16_000_000
"""What is longer without an end goes through unread."""
_END = re.compile(rb"\r\n\r\n|\n\n|\r\r|\n\r\n|\r\n\n")
_NEXT = re.compile(rb"\r?\n(?=data:)")
_LINE = re.compile(r"\r\n|\n|\r")


class FrameSplitter:
    """Cuts a stream into frames, each with the bytes that end it; joined they are the stream.

    Args:
        lines: whether each line is an object, as Ollama writes, and not server-sent events.
    """

    def __init__(self, *, lines: bool = False) -> None:
        self._lines = lines
        self._rest = b""
        self._searched = 0
        self._is_raw = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The frames that are whole with this chunk."""
        if self._is_raw:
            yield chunk
            return
        self._rest = self._rest + chunk if self._rest else chunk
        while self._rest:
            end = self._end()
            if end < 0:
                break
            frame, self._rest, self._searched = self._rest[:end], self._rest[end:], 0
            yield frame
        if len(self._rest) > MAX_FRAME_BYTES:
            self._is_raw = True
            rest, self._rest = self._rest, b""
            yield rest

    def close(self, *, broken: bool = False) -> Iterator[bytes]:
        """What is left at the end of the stream; half a frame of one that broke off is not."""
        rest, self._rest = self._rest, b""
        if rest and not (broken and not is_whole(rest)):
            yield rest

    def _end(self) -> int:
        if self._lines:
            at = self._rest.find(b"\n", self._searched)
            self._searched = len(self._rest)
            return at + 1 if at >= 0 else -1
        found = _END.search(self._rest, max(self._searched - 3, 0))
        end = found.end() if found else -1
        if found is not None and found[0] == b"\n\n" and self._rest[found.start() - 1 : end] == b"":
            return end
        # Some servers leave out the empty lines between their events.
        nearer = _NEXT.search(self._rest, 0, end if end > 0 else len(self._rest))
        if nearer is not None and nearer.start() > 0:
            part = self._rest[: nearer.end()]
            if is_whole(part):
                return nearer.end()
        self._searched = len(self._rest)
        return end


def is_whole(frame: bytes) -> bool:
    """Whether the data of a frame is a JSON object, or the mark of the end."""
    data = data_of(frame)
    return data == "[DONE]" or value_of(data) is not None


def data_of(frame: bytes) -> str:
    """The data of an event, or the line itself where it is an object."""
    if frame[:6] == b"data: " and frame.find(b"\n", 0, -2) < 0:
        return frame[6:].decode("utf-8", "replace").strip("\r\n")
    parts = []
    for line in _LINE.split(frame.decode("utf-8", "replace").removeprefix("\ufeff")):
        if line.startswith("data:"):
            parts.append(line[5:].removeprefix(" "))
        elif line.startswith("{"):
            parts.append(line)
    return "\n".join(parts)


def value_of(data: str) -> dict[str, Any] | None:
    """The object that the data of a frame is; None where it is none."""
    if not data.startswith("{"):
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text_of_json(value: Any) -> str:
    """A value as compact JSON; halves of characters are escaped, since UTF-8 has none."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def event_frame(value: Any, name: str = "") -> bytes:
    """A value as a server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {text_of_json(value)}\n\n".encode()


def line_frame(value: Any) -> bytes:
    """A value as a line."""
    return f"{text_of_json(value)}\n".encode()
