"""What a process wrote, bounded: the head and the tail are kept, the middle counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from toolcrib.system.ring_buffer import Ring


@dataclass(frozen=True, slots=True)
class Output:
    """One stream of a finished process. `dropped` bytes between head and tail are gone."""

    head: bytes = b""
    tail: bytes = b""
    dropped: int = 0

    @classmethod
    def of(cls, ring: Ring) -> Self:
        """What a ring has kept so far."""
        head, tail = ring.head_and_tail()
        return cls(head, tail, ring.total - len(head) - len(tail))

    @property
    def size(self) -> int:
        """How many bytes were written."""
        return len(self.head) + self.dropped + len(self.tail)

    def last(self, chars: int) -> str:
        """The last characters of the text."""
        end = bytes(self)[-4 * chars :]
        return end.decode("utf-8", "replace")[-chars:]

    def __bytes__(self) -> bytes:
        """What was kept, with one line in place of what was not."""
        if not self.dropped:
            return self.head + self.tail
        return self.head + f"\n[{self.dropped:,} bytes left out here]\n".encode() + self.tail

    def __str__(self) -> str:
        """The same as text; bytes that are not UTF-8 become U+FFFD."""
        return bytes(self).decode("utf-8", "replace")
