"""What a run may still use, and whether it goes round in circles."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolcrib.agents.outcome import Reason
from toolcrib.core.names import plain

NUMBERS = re.compile(r"\d+")
QUOTED = re.compile(r"'[^'\n]{0,200}'|\"[^\"\n]{0,200}\"")


@dataclass(slots=True)
class Budget:
    """Steps, seconds, tool calls and tokens. `deadline` is `time.monotonic()` at the end."""

    steps: int
    deadline: float
    calls: int
    tokens: int
    used_steps: int = 0
    used_calls: int = 0
    used_tokens: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def left(self) -> float:
        """Seconds until the deadline; below 0 when it has passed."""
        return self.deadline - time.monotonic()

    @property
    def is_last_step(self) -> bool:
        """Whether only one more answer may be asked for, so that it must be the answer."""
        return self.steps - self.used_steps <= 1

    def exhausted(self) -> Reason:
        """Which limit is reached, so that the model may not be asked again."""
        if self.left <= 0:
            return Reason.TIME_LIMIT
        if self.used_steps >= self.steps:
            return Reason.STEP_LIMIT
        return Reason.TOKEN_LIMIT if self.used_tokens >= self.tokens else Reason.NONE


class Circles:
    """Sees calls, errors and bad forms that come again and again.

    A call that was made after a file was written counts as new: a test is run after each edit.

    Args:
        most: how many of a kind end a run.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._calls: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._bad_forms = 0
        self._going_on = ""

    def sees_call(self, name: str, arguments: Mapping[str, Any]) -> int:
        """Count a call; how often it was made so far, this time included."""
        key = call_key(name, arguments)
        if key == self._going_on:  # the last result said to send just this
            return 1
        self._calls[key] += 1
        return self._calls[key]

    def sees_result(
        self,
        following: tuple[str, Mapping[str, Any]] | None,
        error: str,
        *,
        wrote: bool,
        key: tuple[str, Mapping[str, Any]],
    ) -> int:
        """Take in what a call gave; how often this error came so far, 0 without one."""
        self._going_on = call_key(*following) if following else ""
        if not error:
            self._errors.clear()
            if wrote:
                own = call_key(*key)
                self._calls = Counter({own: self._calls[own]})
            return 0
        kind = _kind_of(error)
        self._errors[kind] += 1
        return self._errors[kind]

    def sees_form(self, *, good: bool) -> int:
        """Count answers in a row whose calls could not be read."""
        self._bad_forms = 0 if good else self._bad_forms + 1
        return self._bad_forms

    def is_too_often(self, count: int) -> bool:
        """Whether so many are enough to end a run."""
        return count >= self._most

    def is_again(self, count: int) -> bool:
        """Whether one more would end the run, so that a word is due."""
        return count == self._most - 1


def call_key(name: str, arguments: Mapping[str, Any]) -> str:
    """What two equal calls have in common."""
    shown = json.dumps(dict(arguments), sort_keys=True, default=str, ensure_ascii=True)
    return f"{plain(name)} {shown}"


def _kind_of(error: str) -> str:
    """An error without what differs from one to the next."""
    return NUMBERS.sub("#", QUOTED.sub("'*'", error))[:500].lower()
