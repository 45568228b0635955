"""The frames of a streamed answer as bytes: events, or objects on lines."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from typing import Any

from toolcrib.text.json_values import json_object

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

    def feed(self, chunk: bytes) -> list[bytes]:
        """The frames that are whole with this chunk."""
        if self._is_raw:
            return [chunk]
        rest = self._rest + chunk if self._rest else chunk
        frames: list[bytes] = []
        at = 0
        while (end := self._end(rest, at)) > 0:
            frame = rest[at:end]
            # Some servers leave out the empty lines between their events.
            if not self._lines and frame.find(b"\ndata:") > 0:
                frames += _parted(frame)
            else:
                frames.append(frame)
            at, self._searched = end, 0
        rest = rest[at:] if at else rest
        if not self._lines and rest.find(b"\ndata:") > 0:
            *whole, rest = _parted(rest)
            frames += whole
            self._searched = 0
        else:
            self._searched = max(len(rest) - 3, 0)
        if len(rest) > MAX_FRAME_BYTES:
            self._is_raw = True
            frames.append(rest)
            rest = b""
        self._rest = rest
        return frames

    def close(self, *, broken: bool = False) -> list[bytes]:
        """What is left at the end of the stream; half a frame of one that broke off is not."""
        rest, self._rest = self._rest, b""
        return [rest] if rest and not (broken and not is_whole(rest)) else []

    def _end(self, rest: bytes, at: int) -> int:
        """Where the frame ends that begins here; 0 where it does not yet."""
        start = at or self._searched
        if self._lines:
            return rest.find(b"\n", start) + 1
        if b"\r" not in rest:
            end = rest.find(b"\n\n", start)
            return end + 2 if end >= 0 else 0
        found = _END.search(rest, start)
        return found.end() if found else 0


class FrameMender(ABC):
    """Mends a stream frame by frame, while it flows.

    Args:
        lines: as for the splitter.
    """

    def __init__(self, *, lines: bool = False) -> None:
        self._splitter = FrameSplitter(lines=lines)

    def feed(self, chunk: bytes) -> bytes:
        """What goes to the client for a piece of the stream."""
        return b"".join(part for frame in self._splitter.feed(chunk) for part in self._frame(frame))

    def close(self, *, broken: bool = False) -> bytes:
        """What is left once the stream has ended, or has broken off."""
        rest = self._splitter.close(broken=broken)
        parts = [part for frame in rest for part in self._frame(frame)]
        return b"".join([*parts, *self._held()])

    @abstractmethod
    def _frame(self, raw: bytes) -> list[bytes]:
        """What goes to the client for a frame."""

    def _held(self) -> list[bytes]:
        """What was held back until the end."""
        return []


def _parted(frame: bytes) -> list[bytes]:
    """A frame cut before each line of data that follows a whole one."""
    parts: list[bytes] = []
    for line in _NEXT.finditer(frame):
        begun = sum(map(len, parts))
        part = frame[begun : line.end()]
        if line.start() > begun and is_whole(part):
            parts.append(part)
    return [*parts, frame[sum(map(len, parts)) :]]


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
    return json_object(data) if data.startswith("{") else None


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
