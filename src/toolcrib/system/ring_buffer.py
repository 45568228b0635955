"""Output of any length: its beginning and its end, by byte offsets, the middle dropped."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

HEAD_BYTES = 16 * 1024
TAIL_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes that stand together, and where they begin."""

    start: int
    data: bytes

    @property
    def end(self) -> int:
        """The offset behind the last byte."""
        return self.start + len(self.data)


class Ring:
    """Takes any amount of output and keeps a bounded part. Safe to write from any thread."""

    def __init__(self, head: int = HEAD_BYTES, tail: int = TAIL_BYTES) -> None:
        self._head_room = head
        self._tail_room = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._lock = threading.Lock()
        self.total = 0

    def write(self, data: bytes) -> None:
        """Append."""
        with self._lock:
            self.total += len(data)
            room = self._head_room - len(self._head)
            if room > 0:
                self._head += data[:room]
                data = data[room:]
            self._tail += data[max(len(data) - self._tail_room, 0) :]
            if len(self._tail) > self._tail_room:
                del self._tail[: len(self._tail) - self._tail_room]

    @classmethod
    def halves(cls, limit: int) -> Self:
        """One that keeps `limit` bytes, half of them from the end."""
        return cls(limit - limit // 2, limit // 2)

    def head_and_tail(self) -> tuple[bytes, bytes]:
        """What is kept of the beginning and of the end."""
        with self._lock:
            return bytes(self._head), bytes(self._tail)

    def segments(self, offset: int = 0) -> list[Segment]:
        """What is kept from an offset on: one segment, or two with a gap between them."""
        with self._lock:
            head = Segment(0, bytes(self._head))
            tail = Segment(self.total - len(self._tail), bytes(self._tail))
        return join([head, tail], offset)

    @property
    def tail_start(self) -> int:
        """Where the kept end begins."""
        return self.total - len(self._tail)


def join(segments: Iterable[Segment], offset: int = 0) -> list[Segment]:
    """Ordered segments from an offset on, those that touch made one."""
    joined: list[Segment] = []
    for segment in segments:
        least = joined[-1].end if joined else offset
        start = max(segment.start, least)
        part = segment.data[start - segment.start :]
        if not part:
            continue
        if joined and joined[-1].end == start:
            last = joined.pop()
            start, part = last.start, last.data + part
        joined.append(Segment(start, part))
    return joined
