"""Server-sent events, as model servers really send them."""

from __future__ import annotations

import codecs
import json
from typing import Any

MOST_EVENT = 4_000_000
"""Characters of one event. What is longer is no answer of a model."""
DONE = "[DONE]"


class EventTooLong(ValueError):
    """An event has no end in sight."""


class EventReader:
    """Takes bytes as they come, cut anywhere, and gives the data of each event.

    Every line end is understood, comments and other fields are passed over. An object on a
    line of its own counts as an event, since servers report failures like that.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._parts: list[str] = []
        self._data: list[str] = []
        self._size = 0
        self._after_return = False

    def feed(self, chunk: bytes) -> list[str]:
        """The data of the events that are complete with this chunk.

        Raises:
            EventTooLong: an event is longer than `MOST_EVENT`.
        """
        return self._lines(self._decoder.decode(chunk))

    def close(self) -> list[str]:
        """What is left at the end of the stream."""
        found = self._lines(self._decoder.decode(b"", final=True))
        if self._parts:
            line, self._parts = "".join(self._parts), []
            found += self._line(line)
        return found + self._line("")

    def _lines(self, text: str) -> list[str]:
        if self._after_return and text:
            text, self._after_return = text.removeprefix("\n"), False
        if not text:
            return []
        self._after_return = text.endswith("\r")
        self._size += len(text)
        if self._size > MOST_EVENT + len(text):
            raise EventTooLong
        found: list[str] = []
        # Only these three end a line here; `splitlines` knows many more.
        *whole, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in whole:
            self._parts.append(line)
            found += self._line("".join(self._parts))
            self._parts = []
        if rest:
            self._parts.append(rest)
        return found

    def _line(self, line: str) -> list[str]:
        if not line:
            data, self._data, self._size = self._data, [], 0
            return _events(data)
        name, colon, value = line.partition(":")
        if line.startswith("{"):
            self._data.append(line)
        elif name == "data" and colon:
            self._data.append(value.removeprefix(" "))
        elif not self._data:
            self._size = 0  # comments may go on for ever
        return []


def _events(data: list[str]) -> list[str]:
    """One event, or one a line where a server leaves out the empty lines between."""
    if len(data) > 1 and all(line == DONE or isinstance(parsed(line), dict) for line in data):
        return data
    return ["\n".join(data)] if data else []


def parsed(text: str) -> Any:
    """The JSON value of a text; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
