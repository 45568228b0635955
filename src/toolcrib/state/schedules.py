"""Reminders and calls for a later time: kept in the store, run by one server at most once.

A server that sees that the time of one has come claims it in the store before anything else, so
that no other does, and nobody runs it again, whatever happens then. What came while no server ran
is told as missed and not run late.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from toolcrib.core.config import Config
from toolcrib.core.context import Caller, Invoke, Question, Scope, Services, Session
from toolcrib.core.errors import BadInput, Denied, NotFound, StorageFailure, ToolError
from toolcrib.core.registry import Registry
from toolcrib.core.result import Result
from toolcrib.state.sessions import Sessions
from toolcrib.state.store import Area, Owner, Schema, Store
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import moment

SCHEMA = Schema(
    "schedule",
    (
        """
        CREATE TABLE scheduled (
            id INTEGER PRIMARY KEY AUTOINCREMENT, due REAL NOT NULL, created REAL NOT NULL,
            session TEXT NOT NULL, text TEXT NOT NULL, tool TEXT NOT NULL,
            arguments TEXT NOT NULL, directory TEXT NOT NULL, state TEXT NOT NULL,
            owner TEXT NOT NULL, outcome TEXT NOT NULL
        );
        CREATE INDEX scheduled_due ON scheduled (state, due);
        """,
        "ALTER TABLE scheduled ADD COLUMN workspace TEXT NOT NULL DEFAULT '';",
        "ALTER TABLE scheduled ADD COLUMN reason TEXT NOT NULL DEFAULT '';",
        """
        ALTER TABLE scheduled ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE scheduled ADD COLUMN private INTEGER NOT NULL DEFAULT 1;
        """,
        "ALTER TABLE scheduled ADD COLUMN summary TEXT NOT NULL DEFAULT '';",
    ),
)
MAX_WAITING, MAX_WAITING_OF_ONE = 200, 50
"""Calls and reminders that wait, in a workspace and of a conversation."""
MAX_NEWS_CHARS = 6_000
"""What the next results tell one by one; the rest is in the list."""
MAX_ENDED = 200
"""That have ended and are listed still; the oldest go."""
LATE_SECONDS = 300.0
"""After which a call is missed, and not run any more."""
POLL_SECONDS = 15.0
"""How often a server looks what others have scheduled."""
CALL_SECONDS = 3600.0
OUTCOME_CHARS = 2000
SEE_LIST = "schedule with action=list shows"
MORE_NEWS = f"More of what was scheduled came due; {SEE_LIST} it."

State = Literal["waiting", "running", "done", "failed", "missed", "lost", "cancelled"]
COLUMNS = (
    "id, due, session, text, tool, arguments, directory, state, owner, outcome, reason, "
    "summary, untrusted, private"
)
Within = Callable[[Scope], Invoke]
HoldsFolder = Callable[[str], bool]
"""Whether a folder lies in the workspace."""


@dataclass(frozen=True, slots=True)
class ScheduledCall:
    """A reminder (no tool), or a call. `due` is in seconds since 1970.

    `directory` is the folder in which it was approved, and in which it runs; "" is the first of
    the workspace. `reason` is why a person was asked about the call itself when it was scheduled;
    "" where only its rights were. `summary` is what they saw of it. `untrusted` and `private` are
    what the conversation had read that scheduled it; with an outcome both are set, for it may
    hold anything.
    """

    id: int
    due: float
    session: str
    text: str
    tool: str
    arguments: Mapping[str, Any]
    directory: str
    state: State
    owner: str
    outcome: str
    reason: str = ""
    summary: str = ""
    untrusted: bool = True
    private: bool = True

    @property
    def title(self) -> str:
        """What it is, in one line."""
        if not self.tool:
            return one_line(self.text)
        call = f"{self.tool} {json.dumps(dict(self.arguments), ensure_ascii=False)}"
        return one_line(f"{self.text}: {call}" if self.text else call, 200)


def _row(values: tuple[Any, ...]) -> ScheduledCall:
    number, due, session, text, tool, arguments, *rest = values
    *rest, untrusted, private = rest
    call = ScheduledCall(number, due, session, text, tool, json.loads(arguments), *rest)
    return replace(call, untrusted=bool(untrusted), private=bool(private))


def _workspace_of(config: Config) -> str:
    """The folders that a server works on: what was scheduled in others is none of its business."""
    roots = [os.path.expanduser(path) for path in config.workspace.roots] or [os.curdir]  # noqa: PTH111
    return "\n".join(sorted(map(os.path.realpath, roots)))


class Schedules:
    """A service: what is scheduled in one workspace, and the task that runs it in a server.

    Attributes:
        warnings: what happened, for the next results.
    """

    def __init__(self, rows: Area, sessions: Sessions, workspace: str) -> None:
        self._rows = rows
        self._workspace = workspace
        self._sessions = sessions
        self._owner = str(Owner.current())
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._registry: Registry | None = None
        self._within: Within | None = None
        self._holds: HoldsFolder | None = None
        self.warnings: list[str] = []

    @classmethod
    def open(cls, services: Services) -> Self:
        """What stands in the toolbox's store; nothing runs before `start`."""
        workspace = _workspace_of(services.config)
        return cls(services.use(Store).area(SCHEMA), services.use(Sessions), workspace)

    def start(self, registry: Registry, within: Within, holds: HoldsFolder) -> None:
        """Run what is due from now on. A second time changes nothing."""
        if self._task is None:
            self._registry, self._within, self._holds = registry, within, holds
            self._task = asyncio.get_running_loop().create_task(self._keep_running())

    @property
    def is_running(self) -> bool:
        """Whether this process runs what is due."""
        return self._task is not None and not self._task.done()

    async def close(self) -> None:
        """Stop; what runs is cancelled, and noted as lost by whoever looks next."""
        tasks = [task for task in (self._task, *self._running) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def add(
        self,
        due: float,
        text: str,
        tool: str,
        arguments: Mapping[str, Any],
        session: Session,
        directory: str,
        *,
        reason: str = "",
        summary: str = "",
    ) -> int:
        """Write one down; its id. For the arguments see `ScheduledCall`.

        Raises:
            BadInput: too many wait already.
        """
        marks = session.untrusted, session.private

        def write(connection: sqlite3.Connection) -> int:
            every, own = connection.execute(
                "SELECT count(*), coalesce(sum(session = ?), 0) FROM scheduled "
                "WHERE state = 'waiting' AND workspace = ?",
                (session.id, self._workspace),
            ).fetchone()
            if own >= MAX_WAITING_OF_ONE or every >= MAX_WAITING:
                limit = MAX_WAITING_OF_ONE if own >= MAX_WAITING_OF_ONE else MAX_WAITING
                raise BadInput(
                    f"{limit} wait already.", hint="Cancel some: action list shows them."
                )
            added = connection.execute(
                "INSERT INTO scheduled (due, created, session, text, tool, arguments, directory, "
                "state, owner, outcome, workspace, reason, summary, untrusted, private) "
                "VALUES (?,?,?,?,?,?,?,'waiting','','',?,?,?,?,?)",
                (
                    *(due, time.time(), session.id, text, tool, json.dumps(dict(arguments))),
                    *(directory, self._workspace, reason, summary, *marks),
                ),
            ).lastrowid
            connection.execute(
                "DELETE FROM scheduled WHERE state NOT IN ('waiting', 'running') AND id NOT IN "
                "(SELECT id FROM scheduled WHERE state NOT IN ('waiting', 'running') "
                "ORDER BY id DESC LIMIT ?)",
                (MAX_ENDED,),
            )
            return int(added or 0)

        number = await self._rows.write(write)
        self._changed.set()
        return number

    async def listed(self, limit: int = 50) -> list[ScheduledCall]:
        """Those that wait, the next first; then those that ended, the last first."""
        statement = (  # constants alone are put into it
            f"SELECT {COLUMNS} FROM scheduled WHERE workspace = ? "  # noqa: S608
            "ORDER BY state NOT IN ('waiting', 'running'), "
            "CASE WHEN state IN ('waiting', 'running') THEN due ELSE -due END LIMIT ?"
        )
        parameters = (self._workspace, limit)
        return [_row(values) for values in await self._rows.fetch(statement, parameters)]

    async def waiting(self, number: int) -> ScheduledCall:
        """One that waits.

        Raises:
            NotFound: none of this id waits.
        """
        statement = (
            f"SELECT {COLUMNS} FROM scheduled "  # noqa: S608 - constants
            "WHERE id = ? AND workspace = ? AND state = 'waiting'"
        )
        parameters = (number, self._workspace)
        values = await self._rows.first(statement, parameters)
        if values is None:
            raise _not_waiting(number)
        return _row(values)

    async def cancel(self, number: int) -> ScheduledCall:
        """Take back one that waits.

        Raises:
            NotFound: none of this id waits.
        """
        found = await self._move(number, "waiting", "cancelled")
        if found is None:
            raise _not_waiting(number)
        return found

    async def _move(
        self, number: int, before: State, after: State, outcome: str = ""
    ) -> ScheduledCall | None:
        """Move one on, unless somebody else has; in one statement, so that only one does."""

        def write(connection: sqlite3.Connection) -> ScheduledCall | None:
            values = connection.execute(
                "UPDATE scheduled SET state = ?1, owner = ?2, outcome = ?3, "  # noqa: S608 - constants
                "untrusted = untrusted OR ?3 != '', private = private OR ?3 != '' "
                f"WHERE id = ?4 AND state = ?5 AND workspace = ?6 RETURNING {COLUMNS}",
                (after, self._owner, outcome[:OUTCOME_CHARS], number, before, self._workspace),
            ).fetchone()
            return None if values is None else _row(values)

        return await self._rows.write(write)

    async def _keep_running(self) -> None:
        while True:
            self._changed.clear()
            wait = POLL_SECONDS
            with suppress(StorageFailure):  # it may be there again the next time
                wait = await self._look()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._changed.wait()

    async def _look(self) -> float:
        """Claim what is due; the seconds until there is something to look at."""
        statement = (
            f"SELECT {COLUMNS} FROM scheduled WHERE workspace = ? AND (state = 'running' "  # noqa: S608
            "OR (state = 'waiting' AND due <= ?)) ORDER BY due"
        )
        parameters = (self._workspace, time.time())
        for one in map(_row, await self._rows.fetch(statement, parameters)):
            if one.state == "running":
                await self._note_lost(one)
            elif one.due < time.time() - LATE_SECONDS and one.tool:
                if await self._move(one.id, "waiting", "missed") is not None:
                    self._warn(one, "was missed: no server of toolcrib ran at its time")
            elif (claimed := await self._move(one.id, "waiting", "running")) is not None:
                self._begin(claimed)
        following = await self._rows.first(
            "SELECT min(due) FROM scheduled WHERE state = 'waiting' AND workspace = ?",
            (self._workspace,),
        )
        left = POLL_SECONDS if following[0] is None else following[0] - time.time()
        return min(max(left, 0.05), POLL_SECONDS)

    async def _note_lost(self, one: ScheduledCall) -> None:
        if one.owner == self._owner or Owner.parse(one.owner).is_alive() is not False:
            return
        if await self._move(one.id, "running", "lost") is not None:
            self._warn(one, "was begun by a server that ended before it; it is not run again")

    def _begin(self, one: ScheduledCall) -> None:
        task = asyncio.get_running_loop().create_task(self._run(one))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, one: ScheduledCall) -> None:
        with suppress(StorageFailure):  # then it is noted as lost
            await self._run_noted(one)

    async def _run_noted(self, one: ScheduledCall) -> None:
        if not one.tool:
            self._remind(one)
            await self._move(one.id, "running", "done")
            return
        try:
            result = await self._called(one)
            state: State = "failed" if result.error else "done"
            outcome = result.render()
        except ToolError as error:
            state, outcome = "failed", error.message
        await self._move(one.id, "running", state, outcome)
        self._warn(one, f"{state}; {SEE_LIST} its outcome")

    async def _called(self, one: ScheduledCall) -> Result:
        assert self._registry is not None
        assert self._within is not None
        assert self._holds is not None
        if one.directory and not self._holds(one.directory):
            # Relative paths would start in another folder than the one that was approved.
            raise Denied(
                f"{one.directory} is no folder of the workspace any more.",
                hint="Schedule it again where it is to run.",
            )
        live = await self._sessions.load(one.session)
        # The conversation may have gone elsewhere, and stays there: only the folder is its own.
        session = replace(live, directory=one.directory, changed=False)

        async def approved(question: Question) -> bool | None:
            # A person let this very call go on when it was scheduled, with the effect that they
            # saw; what its text may carry out by now was theirs to see in its arguments.
            is_same = (
                question.tool == one.tool
                and session.directory == one.directory
                and question.summary == one.summary
                and (question.reason == one.reason or question.is_taint)
            )
            return True if is_same else None  # nobody is there to say no

        caller = Caller("schedule", ask=approved, unattended=True)
        scope = Scope(self._registry, session, caller, time.monotonic() + CALL_SECONDS)
        try:
            return await self._within(scope)(one.tool, one.arguments)
        finally:
            live.taint(untrusted=session.untrusted, private=session.private)
            live.changed |= session.changed
            if live.changed:
                await asyncio.shield(self._sessions.save(live))

    def _remind(self, one: ScheduledCall) -> None:
        # Whoever calls next reads it as words of toolcrib, for which outside text must not pass,
        # and without a mark, so that nothing private may stand in it.
        is_plain = not (one.untrusted or one.private)
        what = f": {one.title}" if is_plain else f" is due; {SEE_LIST} it."
        self._add_news(f"Reminder for {moment(one.due)}{what}")

    def _warn(self, one: ScheduledCall, what: str) -> None:
        """Say what became of one, without a word of it: another conversation may read this."""
        self._add_news(f"Scheduled {one.id} for {moment(one.due)} ({one.tool}) {what}.")

    def _add_news(self, text: str) -> None:
        if sum(map(len, self.warnings)) + len(text) <= MAX_NEWS_CHARS:
            self.warnings.append(text)
        elif MORE_NEWS not in self.warnings:
            self.warnings.append(MORE_NEWS)


def _not_waiting(number: int) -> NotFound:
    return NotFound(f"Nothing that waits has the id {number}.", hint="action list shows it.")
