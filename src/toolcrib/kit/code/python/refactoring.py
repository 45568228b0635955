"""Changes of Python files that keep what a program does: the entrances, one an operation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Done:
    """What was planned: the beginning of the answer, values, and lines behind it."""

    head: str
    data: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
