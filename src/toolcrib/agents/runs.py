"""The runs of agents in the store: trace, outcome, and the messages sent to each."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
import zlib
from dataclasses import dataclass
from typing import Any, Self

from toolcrib.agents.outcome import Outcome, Reason, Status
from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, NotFound, StorageFailure
from toolcrib.core.result import well_formed
from toolcrib.state.redaction import redact_text
from toolcrib.state.store import Area, Owner, Schema, Store
from toolcrib.system.threads import plain_id, random_id

SCHEMA = Schema(
    "agents",
    (
        """
        CREATE TABLE agent_run (
            id TEXT PRIMARY KEY, session TEXT NOT NULL, job TEXT NOT NULL, role TEXT NOT NULL,
            task TEXT NOT NULL, owner TEXT NOT NULL, started REAL NOT NULL, ended REAL,
            untrusted INTEGER NOT NULL, private INTEGER NOT NULL, outcome TEXT NOT NULL
        );
        CREATE INDEX agent_run_session ON agent_run (session, started);
        CREATE TABLE agent_event (
            run TEXT NOT NULL REFERENCES agent_run (id) ON DELETE CASCADE,
            seq INTEGER NOT NULL, time REAL NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL,
            PRIMARY KEY (run, seq)
        ) WITHOUT ROWID;
        CREATE TABLE agent_mail (
            seq INTEGER PRIMARY KEY, run TEXT NOT NULL, text TEXT NOT NULL,
            cancel INTEGER NOT NULL, untrusted INTEGER NOT NULL, private INTEGER NOT NULL
        );
        CREATE INDEX agent_mail_run ON agent_mail (run);
        """,
    ),
)
MAX_EVENTS = 400
"""Events of a run that are kept; its end always is."""
MAX_EVENT_CHARS = 24_000
"""Characters of one event, its beginning and its end."""
MAX_TASK_CHARS = 4_000
MAX_MESSAGE_CHARS = 20_000
COLUMNS = "id, session, job, role, task, owner, started, ended, untrusted, private, outcome"


@dataclass(frozen=True, slots=True)
class AgentRun:
    """A run as a row. Times are UTC in seconds since 1970; `outcome` is how far it got."""

    id: str
    session: str
    job: str
    role: str
    task: str
    owner: str
    started: float
    ended: float | None
    untrusted: bool
    private: bool
    outcome: Outcome

    @classmethod
    def of_row(cls, row: tuple[Any, ...]) -> Self:
        """From a row with all `COLUMNS`; a run whose process is gone counts as ended."""
        known: dict[str, Any] = dict(zip(COLUMNS.split(", "), row, strict=True))
        known["untrusted"], known["private"] = bool(known["untrusted"]), bool(known["private"])
        outcome = Outcome.of_json(json.loads(known["outcome"]))
        if not outcome.is_over and Owner.parse(known["owner"]).is_alive() is False:
            lost = {"status": Status.FAILED, "reason": Reason.LOST, "note": "Its process is gone."}
            outcome = Outcome.of_json(outcome.to_json() | lost)
        return cls(**known | {"outcome": outcome})


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One step of a trace: `kind` is request, answer, calls, result, failure, mail or end."""

    time: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class RunMessage:
    """A message for a run, and whether its sender had read untrusted or private text."""

    text: str
    cancel: bool
    untrusted: bool
    private: bool


class AgentRuns:
    """A service: the runs of all processes on the store.

    Writing fails silently where the store is out of order: a run must still come back.

    Args:
        rows: where they are kept.
        keep: how many runs.
    """

    def __init__(self, rows: Area, keep: int) -> None:
        self._rows = rows
        self._keep = keep
        self._owner = str(Owner.current())

    @classmethod
    def open(cls, services: Services) -> Self:
        """The runs in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.config.agent.keep)

    def new_id(self) -> str:
        """An id for a run."""
        return f"a{random_id(7)}"

    async def begin(self, run_id: str, session: str, role: str, task: str, job: str = "") -> None:
        """Enter a run that starts, and drop the oldest."""
        outcome = Outcome(Status.RUNNING, Reason.NONE, trace_id=run_id, role=role)
        row = (
            run_id,
            session,
            job,
            role,
            redact_text(well_formed(task[:MAX_TASK_CHARS])),
            self._owner,
            time.time(),
            None,
            0,
            0,
            json.dumps(outcome.to_json()),
        )

        def write(connection: sqlite3.Connection) -> None:
            marks = ", ".join("?" * len(row))
            connection.execute(
                f"INSERT OR REPLACE INTO agent_run ({COLUMNS}) VALUES ({marks})",  # noqa: S608
                row,
            )
            connection.execute(
                "DELETE FROM agent_run WHERE ended IS NOT NULL AND id NOT IN "
                "(SELECT id FROM agent_run ORDER BY started DESC LIMIT ?)",
                (self._keep,),
            )
            connection.execute("DELETE FROM agent_mail WHERE run NOT IN (SELECT id FROM agent_run)")

        await self._write(write)

    async def update(
        self, run_id: str, outcome: Outcome, *, untrusted: bool, private: bool, job: str = ""
    ) -> None:
        """Note how far a run is, or how it ended."""
        packed = json.dumps(outcome.to_json(), ensure_ascii=False)
        ended = time.time() if outcome.is_over else None

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "UPDATE agent_run SET outcome = ?1, ended = ?2, untrusted = ?3, private = ?4, "
                "job = CASE WHEN ?5 = '' THEN job ELSE ?5 END WHERE id = ?6",
                (packed, ended, untrusted, private, job, run_id),
            )
            if ended:
                connection.execute("DELETE FROM agent_mail WHERE run = ?", (run_id,))

        await self._write(write)

    async def assign(self, run_id: str, job: str) -> None:
        """Note the job as which a run goes on."""
        await self._write(
            lambda c: c.execute("UPDATE agent_run SET job = ? WHERE id = ?", (job, run_id))
        )

    async def note(self, run_id: str, seq: int, kind: str, text: str) -> None:
        """Add an event to the trace."""
        if seq > MAX_EVENTS and kind != "end":
            return
        body = zlib.compress(redact_text(_cut(well_formed(text))).encode(), 1)
        row = (run_id, seq, time.time(), kind, body)
        await self._write(
            lambda c: c.execute("INSERT OR REPLACE INTO agent_event VALUES (?,?,?,?,?)", row)
        )

    async def find(self, wanted: str, session: str = "") -> AgentRun:
        """A run by its id or by that of its job; the last of a session where none is given.

        Raises:
            NotFound: there is none.
            StorageFailure: the store cannot be read.
        """
        key = plain_id(wanted)

        chosen = "id = ?1 OR job = ?1" if key else "session = ?1"
        row = await self._rows.first(
            f"SELECT {COLUMNS} FROM agent_run WHERE {chosen} "  # noqa: S608 - constants
            "ORDER BY started DESC, rowid DESC LIMIT 1",
            (key or session,),
        )
        if row is None:
            if key:
                hint = "Take the id from the result of delegate_task."
                raise NotFound(f"There is no agent {wanted[:40]}.", hint=hint)
            raise NotFound(
                "No agent has run in this conversation yet.",
                hint="Name one of another by its id; the user's `toolcrib agent` lists them all.",
            )
        return AgentRun.of_row(row)

    async def recent(self, limit: int = 20) -> list[AgentRun]:
        """The last runs, the newest first."""
        statement = f"SELECT {COLUMNS} FROM agent_run ORDER BY started DESC, rowid DESC LIMIT ?"  # noqa: S608
        rows = await self._rows.fetch(statement, (limit,))
        return [AgentRun.of_row(row) for row in rows]

    async def events(self, run_id: str) -> list[RunEvent]:
        """The trace of a run, from its start."""
        statement = "SELECT time, kind, body FROM agent_event WHERE run = ? ORDER BY seq"
        rows = await self._rows.fetch(statement, (run_id,))
        return [RunEvent(when, kind, zlib.decompress(body).decode()) for when, kind, body in rows]

    async def send(self, run_id: str, message: RunMessage) -> None:
        """Send a message to a run; it takes it before its next step, and a cancel at once."""
        row = (
            run_id,
            well_formed(message.text[:MAX_MESSAGE_CHARS]),
            message.cancel,
            message.untrusted,
            message.private,
        )
        await self._rows.execute(
            "INSERT INTO agent_mail (run, text, cancel, untrusted, private) VALUES (?,?,?,?,?)", row
        )

    async def take_messages(self, run_id: str) -> list[RunMessage]:
        """Take the messages that wait for a run."""
        with contextlib.suppress(StorageFailure, ConfigError):
            sql = "SELECT 1 FROM agent_mail WHERE run = ? LIMIT 1"
            waiting = await self._rows.first(sql, (run_id,), quick=True)
            if waiting is None:
                return []
            statement = (
                "DELETE FROM agent_mail WHERE run = ? RETURNING seq, text, cancel, untrusted, "
                "private"
            )
            rows = await self._rows.write(lambda c: c.execute(statement, (run_id,)).fetchall())
            return [RunMessage(t, bool(c), bool(u), bool(p)) for _, t, c, u, p in sorted(rows)]
        return []

    async def _write(self, work: Any) -> None:
        with contextlib.suppress(StorageFailure, ConfigError):
            await self._rows.write(work)


def _cut(text: str) -> str:
    if len(text) <= MAX_EVENT_CHARS:
        return text
    half = MAX_EVENT_CHARS // 2
    return f"{text[:half]}\n[{len(text) - 2 * half:,} characters left out]\n{text[-half:]}"
