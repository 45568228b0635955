"""Which process wrote a row, and whether it still lives."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from toolcrib.system.sweep import HAS_PROC, look


@dataclass(frozen=True, slots=True)
class Owner:
    """A process: where it runs, its number, and when it started.

    A number alone is not enough, since numbers are used again. `place` tells
    machines, boots and containers apart: a process of another place cannot be
    looked up from here.
    """

    place: str
    pid: int
    started: str

    @classmethod
    def current(cls) -> Self:
        """This process."""
        seen = look(os.getpid())
        return cls(_place(), os.getpid(), str(seen.started) if seen else "")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `str`."""
        place, pid, started = text.rsplit(":", 2)
        return cls(place, int(pid), started)

    def __str__(self) -> str:
        return f"{self.place}:{self.pid}:{self.started}"

    def is_alive(self) -> bool | None:
        """Whether the process still runs; None when that cannot be seen from here."""
        if self.place != _place() or not HAS_PROC:
            return None
        seen = look(self.pid)
        return seen is not None and seen.alive and str(seen.started) == self.started


@cache
def _place() -> str:
    """Boot and process namespace on Linux, the host name elsewhere."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115 - not a path
    except OSError:
        return os.uname().nodename
