"""What a process wrote, bounded: the head and the tail are kept, the middle counted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Output:
    """One stream of a finished process. `dropped` bytes between head and tail are gone."""

    head: bytes = b""
    tail: bytes = b""
    dropped: int = 0

    @property
    def size(self) -> int:
        """How many bytes were written."""
        return len(self.head) + self.dropped + len(self.tail)

    def __bytes__(self) -> bytes:
        """What was kept, with one line in place of what was not."""
        if not self.dropped:
            return self.head + self.tail
        return self.head + f"\n[{self.dropped:,} bytes left out here]\n".encode() + self.tail

    def __str__(self) -> str:
        """The same as text; bytes that are not UTF-8 become U+FFFD."""
        return bytes(self).decode("utf-8", "replace")


class Capture:
    """Takes chunks and keeps at most `limit` bytes of them."""

    def __init__(self, limit: int) -> None:
        self._head_room = limit - limit // 2
        self._tail_room = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes."""
        fits = self._head_room - len(self._head)
        if fits > 0:
            self._head += chunk[:fits]
            chunk = chunk[fits:]
        self._tail += chunk
        # Cut seldom, so that many small chunks are not copied again and again.
        if len(self._tail) > 2 * self._tail_room + 65_536:
            self._cut()

    def _cut(self) -> None:
        over = len(self._tail) - self._tail_room
        if over > 0:
            del self._tail[:over]
            self._dropped += over

    def output(self) -> Output:
        """What there is so far."""
        self._cut()
        return Output(bytes(self._head), bytes(self._tail), self._dropped)
