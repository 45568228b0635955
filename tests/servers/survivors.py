"""Sleepers that can be recognised, to see whether any is left."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from tests.conditions import block_until


@dataclass(frozen=True)
class Tag:
    """A time to sleep that nobody else sleeps."""

    seconds: str

    @classmethod
    def new(cls) -> Tag:
        return cls(f"600.{secrets.randbelow(10**12):012}")


def survivors(tag: Tag) -> list[str]:
    """The command lines of living processes that carry the tag, pytest's own left out."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
        except OSError:
            continue
        if tag.seconds in line and "import asyncio" not in line:
            found.append(line)
    return found


def gone(tag: Tag) -> None:
    """Wait until none is left; the test's own time limit bounds it."""
    block_until(lambda: not survivors(tag))
