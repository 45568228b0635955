"""What a run may have left on the machine."""

from __future__ import annotations

import asyncio
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

ENOUGH = 20.0


def named(tag: str) -> list[str]:
    """The processes that carry a mark in their words."""
    found = []
    for words in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [words.parent.name] if tag.encode() in words.read_bytes() else []
        except OSError:
            continue
    return found


def mounts() -> list[str]:
    """What is mounted here by a sandbox."""
    text = Path("/proc/self/mounts").read_text()
    return [line for line in text.splitlines() if "toolcrib" in line or "overlay" in line]


@dataclass
class Machine:
    """How it looked before.

    Attributes:
        state: the folder of data, in which runs have folders of their own.
    """

    state: Path
    mounts: list[str] = field(default_factory=mounts)
    scratch: set[str] = field(default_factory=lambda: set(os.listdir(tempfile.gettempdir())))
    files: int = field(default_factory=lambda: len(os.listdir("/proc/self/fd")))

    async def is_as_before(self, tag: str) -> None:
        """Fail unless nothing of a run is left; what has just been killed may still go."""
        async with asyncio.timeout(ENOUGH):
            while named(tag) or len(os.listdir("/proc/self/fd")) > self.files:
                await asyncio.sleep(0.05)
        assert mounts() == self.mounts
        fresh = set(os.listdir(tempfile.gettempdir())) - self.scratch
        assert [name for name in fresh if name.startswith("toolcrib")] == []
        runs = [p for p in (self.state / "runs").glob("*/*") if p.is_dir()]
        assert [path.name for path in runs if path.name != "contents"] == []

    @classmethod
    def now(cls, state: Path) -> Self:
        """As it is."""
        return cls(state)
