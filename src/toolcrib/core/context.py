"""What a tool may touch during one call."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from toolcrib.core.config import Config
from toolcrib.core.errors import TimedOut
from toolcrib.core.services import Service, Services
from toolcrib.core.session import Session

if TYPE_CHECKING:
    from toolcrib.core.call import Result
    from toolcrib.core.registry import Registry
    from toolcrib.core.tool import Tool

S = TypeVar("S", bound=Service)

ADDED = 120
"""Tokens that are added to a text at most: the fence, notes, the call that goes on."""


def room_in(budget: int) -> int:
    """Tokens of a budget that a text may fill itself."""
    return max(budget - ADDED, budget // 2)


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a running call. `done` and `total` are counts in any one unit."""

    message: str
    done: float | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked before a call goes on."""

    id: str
    tool: str
    reason: str
    summary: str


class Judge(Protocol):
    """Says whether a call may go on to a URL; `own`: it is what the call itself is about."""

    def __call__(self, url: str, *, own: bool = False) -> None:
        """Let the call go on. Raises Denied where it may not."""


Ask = Callable[[Question], Awaitable[bool | None]]
Notify = Callable[[Progress], Awaitable[None]]
Invoke = Callable[[str, Mapping[str, Any]], Awaitable["Result"]]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends the call, and what this surface can do for it.

    `ask` returns True, False, or None where nobody can be asked. `answer_within`
    is the time in seconds, asking included, after which a running call is handed over
    to a job; None waits for the end. `asks_midway` says that an answer comes while the call
    waits; else the call ends, and is sent again with the answer. `unattended` callers have
    nobody to ask, and no approval is opened for them: what would ask is denied.
    `typed_by_user` says that a person wrote the arguments, so a URL in them is the user's
    own; `single` that the conversation is this one call.
    """

    surface: str
    name: str = ""
    ask: Ask | None = None
    notify: Notify | None = None
    answer_within: float | None = None
    typed_by_user: bool = False
    single: bool = False
    asks_midway: bool = True
    unattended: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """What the calls made for another call may use, at most.

    `registry` holds the tools that there are for them, `deadline` is when the last of them
    must end, as `time.monotonic()`; `budget` gives the tokens that the answer of a tool may
    have. Calls that such a call makes in turn have the same scope.
    """

    registry: Registry
    session: Session
    caller: Caller
    deadline: float | None = None
    budget: Callable[[Tool], int] | None = None


@dataclass(frozen=True, slots=True)
class Ctx:
    """One call's view of the toolbox.

    `invoke` sends another call through the whole pipeline, as the same caller in
    the same session; `within` gives the like for a narrower scope, and `offered` are the tools
    that this caller may call itself. `deadline`, when the work must end, and `answer_by`, when the
    caller must have an answer, are `time.monotonic()` values or None. Cancellation
    arrives as `asyncio.CancelledError`: a tool cleans up in `finally` and lets it pass.
    `judge` raises `Denied` for a URL that the policy does not let this call go on to.
    """

    call_id: str
    caller: Caller
    session: Session
    services: Services
    registry: Registry
    invoke: Invoke
    deadline: float | None = None
    answer_by: float | None = None
    judge: Judge | None = None
    within: Callable[[Scope], Invoke] | None = None
    offered: tuple[Tool, ...] = ()
    most_tokens: int = 0
    warnings: list[str] = field(default_factory=list)

    @property
    def config(self) -> Config:
        """The typed configuration tree."""
        return self.services.config

    def use(self, kind: type[S]) -> S:
        """The shared service of this kind, opened on first use."""
        return self.services.use(kind)

    def budget(self, tool: str, wanted: int = 0, usual: int = 0) -> int:
        """Tokens that the answer of a tool may have, all in all.

        Args:
            tool: its name.
            wanted: what the caller asked for; 0 is nothing.
            usual: the tool's own default, below `results.per_tool`; 0 is that of all tools.
        """
        limits = self.config.results
        budget = wanted or limits.per_tool.get(tool) or usual or limits.max_tokens
        return min(budget, limits.ceiling, self.most_tokens or budget)

    async def progress(
        self, message: str, done: float | None = None, total: float | None = None
    ) -> None:
        """Tell the caller what is going on."""
        if self.caller.notify is not None:
            await self.caller.notify(Progress(message, done, total))

    def warn(self, message: str) -> None:
        """Add one line to the end of the result."""
        if message not in self.warnings:
            self.warnings.append(message)

    def remaining(self, at_most: float) -> float:
        """Seconds left for a step that may take `at_most`.

        Raises:
            TimedOut: nothing is left.
        """
        if self.deadline is None:
            return at_most
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimedOut("The time for this call is used up.")
        return min(at_most, left)
