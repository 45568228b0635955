"""A table of system calls, in the form that the machine code beside this file goes through.

The table begins with the last error number (8 bytes) and the first step; the others stand
behind the data. A step has nine numbers of 8 bytes: the number of the call, six
arguments, and the addresses of the steps to go on with after it worked and after it failed.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

BASE = 0x500200
"""Where the table is in memory; the machine code has this number too."""
STEP = struct.Struct("<Q6q2Q")
FIRST = 8
SPARE = [(0,) * (6 - count) for count in range(7)]


@dataclass(slots=True, eq=False)
class Label:
    """A place among the steps, known once it is placed."""

    index: int = -1


@dataclass(slots=True)
class _Step:
    number: int
    arguments: tuple[int, ...]
    done: Label | None
    failed: Label | None


@dataclass(slots=True)
class Steps:
    """The table while it is written."""

    _data: bytearray = field(default_factory=lambda: bytearray(FIRST + STEP.size))
    _steps: list[_Step] = field(default_factory=list)

    @property
    def error(self) -> int:
        """The address of the last error number."""
        return BASE

    def call(
        self,
        number: int,
        *arguments: int,
        done: Label | None = None,
        failed: Label | None = None,
    ) -> None:
        """Add a step; after it the next one follows where no label says otherwise."""
        self._steps.append(_Step(number, arguments, done, failed))

    def place(self, label: Label) -> None:
        """Let a label mean the next step that is added."""
        label.index = len(self._steps)

    def data(self, content: bytes) -> int:
        """Bytes in memory; their address, a multiple of 8."""
        self._data += bytes(-len(self._data) % 8)
        address = BASE + len(self._data)
        self._data += content
        return address

    def text(self, text: str) -> int:
        """A string that ends with a zero."""
        return self.data(os.fsencode(text) + b"\0")

    def texts(self, texts: Sequence[str]) -> int:
        """An array of strings, as a program gets its arguments."""
        return self.data(struct.pack(f"<{len(texts) + 1}Q", *map(self.text, texts), 0))

    def parts(self, *parts: tuple[int, int]) -> int:
        """Addresses and lengths, for a write of several pieces."""
        return self.data(b"".join(struct.pack("<2Q", *part) for part in parts))

    def packed(self) -> bytes:
        """The whole table."""
        self._data += bytes(-len(self._data) % 8)
        second = BASE + len(self._data)
        places = [BASE + FIRST, *range(second, second + len(self._steps) * STEP.size, STEP.size)]
        lines = []
        for index, step in enumerate(self._steps, 1):
            done = places[step.done.index if step.done else index]
            failed = places[step.failed.index if step.failed else index]
            spare = SPARE[len(step.arguments)]
            lines.append(STEP.pack(step.number, *step.arguments, *spare, done, failed))
        self._data[FIRST : FIRST + STEP.size] = lines[0]
        return b"".join((self._data, *lines[1:]))
