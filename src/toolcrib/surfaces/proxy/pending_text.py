"""Frames that wait until it is certain that their text stays as it came."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

Remake = Callable[[str], bytes]


@dataclass(slots=True)
class PendingFrame:
    """A frame with a piece of a text. `remake` gives the same frame with another piece."""

    raw: bytes
    text: str
    remake: Remake


class PendingText:
    """One text in frames: those whose piece was confirmed go on as they came.

    What is given out is always just the text that was confirmed, whatever frames carry it.
    """

    def __init__(self) -> None:
        self._frames: deque[PendingFrame] = deque()
        self._confirmed = 0
        """Characters of the first frame that are confirmed, and not yet given out."""
        self._last: Remake | None = None

    def __bool__(self) -> bool:
        return bool(self._frames)

    def push(self, raw: bytes, text: str, remake: Remake) -> None:
        """Add the next frame."""
        self._frames.append(PendingFrame(raw, text, remake))
        self._last = remake

    def confirm(self, text: str, last: Remake | None = None) -> list[bytes]:
        """Frames for the next piece of the text as it is to be.

        `last` makes one where none waits; else the frame that came last does.
        """
        joined = "".join(frame.text for frame in self._frames)[self._confirmed :]
        if joined.startswith(text):
            self._confirmed += len(text)
            return self._passed()
        if self._frames:
            first = self._frames[0]
            text = first.text[: self._confirmed] + text
            return [first.remake(text), *self._without_text()]
        last = last or self._last
        return [last(text)] if text and last is not None else []

    def drop(self) -> list[bytes]:
        """Give up what is not confirmed; a frame for what is."""
        frames = []
        if self._confirmed and self._frames:
            first = self._frames[0]
            frames.append(first.remake(first.text[: self._confirmed]))
        return frames + self._without_text()

    def release(self) -> list[bytes]:
        """All frames that wait, as they came."""
        frames = [frame.raw for frame in self._frames]
        self._frames.clear()
        self._confirmed = 0
        return frames

    @property
    def unconfirmed(self) -> str:
        """The text that waits."""
        return "".join(frame.text for frame in self._frames)[self._confirmed :]

    def _without_text(self) -> list[bytes]:
        """The frames that carry nothing of the text; the others are gone."""
        frames = [frame.raw for frame in self._frames if not frame.text]
        self._frames.clear()
        self._confirmed = 0
        return frames

    def _passed(self) -> list[bytes]:
        passed = []
        while self._frames and len(self._frames[0].text) <= self._confirmed:
            frame = self._frames.popleft()
            self._confirmed -= len(frame.text)
            passed.append(frame.raw)
        return passed
