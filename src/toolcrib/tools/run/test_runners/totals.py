"""What a run of tests came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that failed, and why: the message and, behind it, the last lines of its trace."""

    name: str
    message: str = ""


@dataclass(slots=True)
class Totals:
    """Counts of tests; `errors` are those that could not be run, and count as failed too."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[Failure] = field(default_factory=list)

    @property
    def count(self) -> int:
        """All of them."""
        return self.passed + self.failed + self.skipped

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "passed": self.passed,
            "failed": self.failed,
            "skipped": self.skipped,
            "failures": [{"name": f.name, "message": f.message} for f in self.failures],
        }
