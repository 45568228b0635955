"""A call: its context with services and session, and the pipeline that it goes through."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Protocol, Self, TypeVar, cast

from toolcrib.core.compat import Naming
from toolcrib.core.config import Config
from toolcrib.core.errors import TimedOut
from toolcrib.core.plain_functions import result_of
from toolcrib.core.registry import Registry
from toolcrib.core.result import Result
from toolcrib.core.tool import Tool

# The mechanics a toolbox has open: each kind is opened on first use and closed once.


class Service(Protocol):
    """A shared mechanic (store, egress, workspace …).

    `open` builds it from the configuration and from other services. A `close`
    method, sync or async, is called when the toolbox closes. One with things to be written
    at the end may have `end_soon`, sync and quick, which is called before, and `ending`.
    """

    @classmethod
    def open(cls, services: Services) -> Self:
        """Build the service; must be quick and must not touch the network."""
        ...


class PlainService:
    """A service that is the same whatever the settings are."""

    __slots__ = ()

    @classmethod
    def open(cls, _services: Services) -> Self:
        """Make it."""
        return cls()


ServiceType = TypeVar("ServiceType", bound=Service)


class Services:
    """Opens each service on first use, and closes all in reverse order."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._open: dict[type[Any], Any] = {}
        self._reported: dict[type[Any], int] = {}
        self.notes: list[str] = []

    def use(self, kind: type[ServiceType]) -> ServiceType:
        """The one instance of this kind in this toolbox."""
        found = self._open.get(kind)
        if found is None:
            found = self._open[kind] = kind.open(self)
        return cast("ServiceType", found)

    def news(self) -> list[str]:
        """Warnings of the open services that nobody was told yet; what lasts is told once.

        First come `notes`, which whoever made these services may add to.
        A service warns by `warnings`, a list that grows, or by `warning`, a text that is
        empty while all is well.
        """
        fresh, self.notes = self.notes, []
        for kind, service in self._open.items():
            reported = self._reported.get(kind, 0)
            listed: list[str] = list(getattr(service, "warnings", ()))
            current: str = getattr(service, "warning", "")
            fresh += listed[reported:] if listed else [current] if current and not reported else []
            self._reported[kind] = len(listed) or int(bool(current))
        return fresh

    def end_soon(self) -> None:
        """Tell what is open that the end has come, while calls may still be in flight."""
        for service in tuple(self._open.values()):
            getattr(service, "end_soon", _nothing)()

    @property
    def ending(self) -> bool:
        """Whether something that was told so has still to be written; from any thread."""
        return any(getattr(service, "ending", False) for service in tuple(self._open.values()))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close what was opened, last opened first; one that fails keeps none open.

        Raises:
            Exception: the first failure, after all were closed.
        """
        failed: Exception | None = None
        while self._open:
            _, service = self._open.popitem()
            close = getattr(service, "close", None)
            try:
                done = close() if close is not None else None
                if inspect.isawaitable(done):
                    await done
            except Exception as error:  # noqa: BLE001 - raised below, after the others
                failed = failed or error
        if failed is not None:
            raise failed


def _nothing() -> None:
    return None


# What belongs to one conversation.

MAX_REMEMBERED = 4000
MAX_QUESTION_CHARS = 4_000
"""What the words that a file is read by are found in."""
CLOCK_MARGIN_SECONDS = 60.0
"""By which the clock of another machine's disk may be behind."""


def _short(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


AGENT_MARK = "/agent:"
"""Stands between the id of a session and what its agents are called."""


def conversation_of(session: str) -> str:
    """The conversation with a person to which a session belongs: its own, or its agents' one."""
    return session.partition(AGENT_MARK)[0]


@dataclass(slots=True)
class Session:
    """The state of one conversation, kept in the store and loaded for each call.

    `untrusted` and `private` are the taint flags: something from outside, or
    something of the user's own, has been read. `reads` maps an absolute path to
    the fingerprint that the file had when it was read. `links` holds short
    hashes of URLs that the conversation has already seen, `hosts` those that a person has
    let its runs reach, `protected` names that no tool may touch from then on, `written` short
    hashes of links that the caller wrote itself after something private was read. `began` is
    when the first call came, in seconds since 1970. `single` says that it is this one call:
    what would have to be named in a later one is of no use. `question` is what the user last
    said, where the surface knows it. Both are not kept.
    """

    id: str
    directory: str = ""
    untrusted: bool = False
    private: bool = False
    reads: dict[str, str] = field(default_factory=dict)
    links: dict[str, None] = field(default_factory=dict)
    hosts: dict[str, None] = field(default_factory=dict)
    protected: dict[str, None] = field(default_factory=dict)
    written: dict[str, None] = field(default_factory=dict)
    began: float = field(default_factory=time.time)
    changed: bool = False
    single: bool = False
    question: str = ""

    def includes(self, session: str) -> bool:
        """Whether it is that session, or has made it for an agent."""
        return session == self.id or session.startswith(f"{self.id}{AGENT_MARK}")

    def begin_turn(self, question: str) -> None:
        """Note what the user said, so that tools can go by it."""
        self.question = question[:MAX_QUESTION_CHARS]

    def taint(self, *, untrusted: bool = False, private: bool = False) -> None:
        """Raise the flags; they never fall within a conversation."""
        if (untrusted and not self.untrusted) or (private and not self.private):
            self.untrusted |= untrusted
            self.private |= private
            self.changed = True

    @property
    def tainted(self) -> bool:
        """Both flags are up: injected text could now leak private things."""
        return self.untrusted and self.private

    def remember_read(self, path: str, fingerprint: str) -> None:
        """Note how a file looked when it was read, for the stale-edit check."""
        if self.reads.get(path) == fingerprint:
            return
        self.reads.pop(path, None)
        self.reads[path] = fingerprint
        _trim(self.reads)
        self.changed = True

    def open_hosts(self, hosts: Iterable[str]) -> None:
        """Note what a person has let runs of this conversation reach."""
        for host in hosts:
            self._add(self.hosts, host)

    def protect(self, names: Iterable[str]) -> None:
        """Note names that are protected as long as the conversation goes on."""
        for name in names:
            self._add(self.protected, name)

    def note_written(self, text: str) -> None:
        """Note a link that the caller wrote: what repeats it does not make it known."""
        self._add(self.written, _short(text))
        _trim(self.written)

    def has_written(self, text: str) -> bool:
        """Whether the caller wrote a link itself; see `note_written`."""
        return _short(text) in self.written

    def remember_link(self, url: str) -> None:
        """Note a URL that the conversation has seen as it stands."""
        self._add(self.links, _short(url))
        _trim(self.links)

    def _add(self, entries: dict[str, None], entry: str) -> None:
        if entry not in entries:
            entries[entry] = None
            self.changed = True

    def has_seen(self, url: str) -> bool:
        """Whether this very URL came up before."""
        return _short(url) in self.links

    def began_after(self, changed: float) -> bool:
        """Whether it began after a time, in seconds since 1970, at which a file was changed."""
        return changed < self.began - CLOCK_MARGIN_SECONDS

    def allow_site(self, origin: str) -> None:
        """Note that a person allows every address of an origin, such as `https://example.org`."""
        self.remember_link(f"site {origin}")

    def allows_site(self, origin: str) -> bool:
        """Whether a person has allowed every address of an origin."""
        return self.has_seen(f"site {origin}")


def _trim(entries: dict[str, str] | dict[str, None]) -> None:
    while len(entries) > MAX_REMEMBERED:
        del entries[next(iter(entries))]


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
    """What a person is asked before a call goes on; `arguments` are the checked ones.

    `site` is the origin that may be allowed for the conversation; empty where none is asked about.
    `is_single`: a yes says nothing of the next question, though its words are the same.
    `is_taint`: it is asked because injected text could carry private things out.
    """

    id: str
    tool: str
    reason: str
    summary: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    site: str = ""
    is_single: bool = False
    is_taint: bool = False


@dataclass(frozen=True, slots=True)
class Rejection:
    """A no with words for the model; it is false."""

    words: str

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class SiteApproval:
    """A yes that holds for every address of the site in question, in this conversation."""


PersonAnswer = bool | Rejection | SiteApproval | None


@dataclass(frozen=True, slots=True)
class Form:
    """What a person is asked to fill in; `schema` is a flat JSON Schema of its fields."""

    message: str
    schema: Mapping[str, Any]


class Judge(Protocol):
    """Says whether a call may go on to a URL; `own`: it is what the call itself is about."""

    def __call__(self, url: str, *, own: bool = False, source: str = "") -> None:
        """Let the call go on, to a URL that stood at `source`. Raises Denied where it may not."""


Ask = Callable[[Question], Awaitable[PersonAnswer]]
Fill = Callable[[Form], Awaitable[Mapping[str, Any] | None]]
Notify = Callable[[Progress], Awaitable[None]]
Invoke = Callable[[str, Mapping[str, Any]], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends the call, and what this surface can do for it.

    `ask` returns True, False, a `Rejection` or a `SiteApproval`, or None where nobody can be
    asked. `answer_within` is the time in seconds, asking included, after which a running call
    is handed over to a job; None waits for the end. `asks_midway` says that an answer comes
    while the call waits; else the call ends, and is sent again with the answer. `unattended`
    callers have nobody to ask, and no approval is opened for them: what would ask is denied.
    `fill` has a person fill in a form, and returns None where they do not, or where the call
    is to end and is sent again with the answer (`asks_midway`).
    `typed_by_user` says that a person wrote the arguments, so a URL in them is the user's
    own; `single` that the conversation is this one call. `refused` is the question about this
    very call to which a person has said no.
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
    fill: Fill | None = None
    refused: str = ""


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
    `check_url` raises `Denied` for a URL that the policy does not let this call go on to.
    `judged` is what the policy let this call act on, where its tool names that (`Decision.judged`).
    `secrets` are values of its arguments that a tool found to be some: history does not get them.
    """

    call_id: str
    caller: Caller
    session: Session
    services: Services
    registry: Registry
    invoke: Invoke
    deadline: float | None = None
    answer_by: float | None = None
    check_url: Judge | None = None
    judged: str = ""
    within: Callable[[Scope], Invoke] | None = None
    offered: tuple[Tool, ...] = ()
    max_tokens: int = 0
    warnings: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)

    @property
    def config(self) -> Config:
        """The typed configuration tree."""
        return self.services.config

    def use(self, kind: type[ServiceType]) -> ServiceType:
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
        return min(budget, limits.ceiling, self.max_tokens or budget)

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

    def remaining(self, max_seconds: float) -> float:
        """Seconds left for a step that may take `max_seconds`.

        Raises:
            TimedOut: nothing is left.
        """
        if self.deadline is None:
            return max_seconds
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimedOut("The time for this call is used up.")
        return min(max_seconds, left)


# The pipeline.


@dataclass(frozen=True, slots=True)
class Call:
    """One call on its way to a tool.

    `arguments` are the caller's own (an object, or JSON text) until the validate
    middleware has replaced them by checked keyword arguments. `naming` is what the name says
    by which the tool was called, where another system calls it so.
    """

    tool: Tool
    arguments: Any
    ctx: Ctx
    naming: Naming | None = None


Proceed = Callable[[Call], Awaitable[Result]]
Middleware = Callable[[Call, Proceed], Awaitable[Result]]


async def run_tool(call: Call) -> Result:
    """The innermost step: the tool's own function."""
    return result_of(await call.tool.function(**call.arguments, ctx=call.ctx))


def fold(middleware: Sequence[Middleware], innermost: Proceed = run_tool) -> Proceed:
    """One callable out of many: the first of the sequence stands outermost."""
    handler = innermost
    for wrap in reversed(middleware):
        handler = _around(wrap, handler)
    return handler


def _around(wrap: Middleware, inner: Proceed) -> Proceed:
    async def handler(call: Call) -> Result:
        return await wrap(call, inner)

    return handler
