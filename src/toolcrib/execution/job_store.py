"""Jobs in the store: their rows and output, and what a reader sees of one."""

from __future__ import annotations

import json
import sqlite3
from base64 import b64decode
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from typing import Any, Literal

from toolcrib.core.result import ErrorInfo, Image, Next, Result
from toolcrib.state.store import Owner, Schema
from toolcrib.system.collector import HEAD_BYTES, TAIL_BYTES, Segment, join

State = Literal["running", "done", "failed", "stopped", "lost"]

MAX_RESULT_CHARS = 4_000_000
"""Characters of a final result that are kept as JSON."""
EXTRA_FIELDS = ("source", "fenced", "private", "max_tokens")
"""What a result has beside what `to_json` shows."""


@dataclass(frozen=True, slots=True)
class Record:
    """A job as a row. Times are UTC in seconds since 1970.

    `beat` is when the owner last gave a sign of life, `written` when the last output
    came, `total` the bytes of output in all, `source` where untrusted output came from,
    `rights` those of the tool by name, `workspace` the folders that it works on, a line each,
    `result` the final result as JSON.
    """

    id: str
    kind: str
    title: str
    tool: str
    session: str
    owner: str
    started: float
    ended: float | None
    beat: float
    written: float
    state: State
    exit_code: int | None
    total: int
    source: str
    rights: str
    workspace: str
    result: str

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self.state != "running"

    @property
    def untrusted(self) -> str:
        """Where its text comes from, if that is outside."""
        return self.source or (self.tool if "net" in self.rights.split() else "")

    @property
    def private(self) -> bool:
        """Whether something of the user's own may be in its text."""
        return "read" in self.rights.split()


@dataclass(frozen=True, slots=True)
class OutputSpan:
    """Output that stands together: its byte offset and its text."""

    start: int
    text: str

    @classmethod
    def of(cls, segment: Segment) -> OutputSpan:
        """Decode; a character cut in two at an edge is left out."""
        data, start = segment.data, segment.start
        while data and start and data[0] & 0xC0 == 0x80:
            data, start = data[1:], start + 1
        return cls(start, data.decode("utf-8", "ignore"))

    @property
    def end(self) -> int:
        """The byte offset behind it."""
        return self.start + len(self.text.encode())


@dataclass(frozen=True, slots=True)
class JobView:
    """A job and its output from an offset on.

    `offset` is where the reading began, `record.total` where the next one goes on.
    """

    record: Record
    result: Result | None
    offset: int
    pieces: tuple[OutputSpan, ...]

    @classmethod
    def of(cls, record: Record, offset: int, segments: list[Segment]) -> JobView:
        """A view of a row and of the output that was asked for."""
        pieces = tuple(OutputSpan.of(segment) for segment in segments)
        return cls(record, unpack(record.result), offset, pieces)

    @property
    def dropped(self) -> int:
        """Bytes after `offset` that were not kept."""
        return max(self.record.total - self.offset - self.size, 0)

    @property
    def size(self) -> int:
        """Bytes of output that are here."""
        return sum(piece.end - piece.start for piece in self.pieces)

    @property
    def text(self) -> str:
        """The output, with a line in the place of what was dropped."""
        return "".join(f"{gap}{piece.text}" for gap, piece in self._parts())

    def offset_at(self, chars: int) -> int:
        """The byte offset of the output that follows so many characters of `text`."""
        for gap, piece in self._parts():
            chars -= len(gap)
            if chars <= len(piece.text):
                return piece.start + len(piece.text[: max(chars, 0)].encode())
            chars -= len(piece.text)
        return self.record.total

    def _parts(self) -> Iterator[tuple[str, OutputSpan]]:
        end = self.offset
        for piece in self.pieces:
            missing = piece.start - end
            # Less than a character is the edge of one that was cut in two.
            yield (f"\n[{missing:,} bytes were not kept]\n" if missing > 3 else "", piece)
            end = piece.end


def pack(result: Result | None) -> str:
    """A result as JSON, without what is too large to keep."""
    if result is None:
        return ""
    stored = result.to_json() | {name: getattr(result, name) for name in EXTRA_FIELDS}
    for spare in ("", "images", "data"):
        if spare:
            stored[spare] = [] if spare == "images" else None
        packed = json.dumps(stored, ensure_ascii=False, default=str)
        if len(packed) <= MAX_RESULT_CHARS:
            return packed
    stored["text"] = f"{result.text[: MAX_RESULT_CHARS // 2]}\n[the rest was not kept]"
    return json.dumps(stored, ensure_ascii=False, default=str)


def unpack(packed: str) -> Result | None:
    """The inverse of `pack`."""
    if not packed:
        return None
    stored: dict[str, Any] = json.loads(packed)
    return Result(
        text=stored["text"],
        data=stored["data"],
        images=tuple(Image(b64decode(i["data"]), i["mime_type"]) for i in stored["images"]),
        truncated=stored["truncated"],
        next=Next(**stored["next"]) if stored["next"] else None,
        error=ErrorInfo(**stored["error"]) if stored["error"] else None,
        **{name: stored[name] for name in EXTRA_FIELDS if name in stored},
    )


SCHEMA = Schema(
    "jobs",
    (
        """
        CREATE TABLE job (
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT NOT NULL, tool TEXT NOT NULL,
            session TEXT NOT NULL, owner TEXT NOT NULL, started REAL NOT NULL, ended REAL,
            beat REAL NOT NULL, written REAL NOT NULL, state TEXT NOT NULL,
            exit_code INTEGER, total INTEGER NOT NULL, source TEXT NOT NULL,
            result TEXT NOT NULL, stop INTEGER NOT NULL DEFAULT 0
        );
        CREATE INDEX job_started ON job (started);
        CREATE INDEX job_running ON job (owner) WHERE state = 'running';
        CREATE TABLE job_output (
            job TEXT NOT NULL REFERENCES job (id) ON DELETE CASCADE,
            start INTEGER NOT NULL, data BLOB NOT NULL,
            UNIQUE (job, start)
        );
        """,
        "ALTER TABLE job ADD COLUMN rights TEXT NOT NULL DEFAULT '';",
        "ALTER TABLE job ADD COLUMN workspace TEXT NOT NULL DEFAULT '';",
    ),
)
COLUMNS = tuple(field.name for field in fields(Record))
NAMES = ", ".join(COLUMNS)
UPSERT = (
    f"INSERT INTO job ({NAMES}) VALUES ({', '.join('?' * len(COLUMNS))}) "  # noqa: S608
    "ON CONFLICT (id) DO UPDATE SET ended = excluded.ended, beat = excluded.beat, "
    "written = excluded.written, state = excluded.state, exit_code = excluded.exit_code, "
    "total = excluded.total, source = excluded.source, result = excluded.result"
)
CHUNK_BYTES = 8192
KEEP_SECONDS = 7 * 86_400.0
KEEP_ENDED = 200
SILENT_SECONDS = 60.0
"""After so long without a sign an owner that cannot be looked up counts as gone."""


@dataclass(frozen=True, slots=True)
class Update:
    """What a flush writes of one job. `tail_start` is where its kept end begins."""

    record: Record
    segments: list[Segment]
    tail_start: int

    @property
    def end(self) -> int:
        """Up to where the output is written with this."""
        return self.segments[-1].end if self.segments else 0


def save(connection: sqlite3.Connection, updates: Iterable[Update]) -> None:
    """Write rows and new output, and drop output that fell out of the ring."""
    for update in updates:
        connection.execute(UPSERT, astuple(update.record))
        job = update.record.id
        for segment in update.segments:
            for part in _split(segment):
                _append(connection, job, part)
        connection.execute(
            "DELETE FROM job_output WHERE job = ? AND start >= ? AND start + length(data) <= ?",
            (job, HEAD_BYTES, update.tail_start),
        )


def find(connection: sqlite3.Connection, job: str) -> Record | None:
    """One job."""
    row = connection.execute(f"SELECT {NAMES} FROM job WHERE id = ?", (job,)).fetchone()  # noqa: S608
    return Record(*row) if row else None


def output(connection: sqlite3.Connection, job: str, offset: int, total: int) -> list[Segment]:
    """The kept output from an offset on."""
    rows = connection.execute(
        "SELECT start, data FROM job_output WHERE job = ? AND start + length(data) > ? "
        "ORDER BY start",
        (job, offset),
    ).fetchall()
    head = [Segment(start, data) for start, data in rows if start < HEAD_BYTES]
    tail = [Segment(start, data) for start, data in rows if start >= HEAD_BYTES]
    edge = max(total - TAIL_BYTES, HEAD_BYTES)
    return join([*head, *join(tail, edge)], offset)


def recent(connection: sqlite3.Connection, session: str | None, limit: int) -> list[Record]:
    """Running jobs first, then the newest; without their results."""
    statement = (
        f"SELECT {', '.join(COLUMNS[:-1])}, '' FROM job WHERE ?1 IS NULL OR session = ?1 "  # noqa: S608
        "ORDER BY state <> 'running', started DESC, id LIMIT ?2"
    )
    return [Record(*row) for row in connection.execute(statement, (session, limit))]


def flagged(connection: sqlite3.Connection, owner: str) -> list[str]:
    """The running jobs of an owner that somebody wants stopped."""
    rows = connection.execute(
        "SELECT id FROM job WHERE owner = ? AND state = 'running' AND stop", (owner,)
    )
    return [row[0] for row in rows]


def beat(connection: sqlite3.Connection, owner: str, now: float) -> None:
    """Give a sign of life for all running jobs of an owner."""
    connection.execute(
        "UPDATE job SET beat = ? WHERE owner = ? AND state = 'running'", (now, owner)
    )


def ask_to_stop(connection: sqlite3.Connection, job: str) -> None:
    """Leave word for the owner."""
    connection.execute("UPDATE job SET stop = 1 WHERE id = ? AND state = 'running'", (job,))


def is_lost(record: Record, now: float) -> bool:
    """Whether the owner is gone and the job with it."""
    if record.state != "running":
        return False
    alive = Owner.parse(record.owner).is_alive()
    return now - record.beat > SILENT_SECONDS if alive is None else not alive


def mark_lost(connection: sqlite3.Connection, records: Iterable[Record]) -> None:
    """Note that the owners of these jobs are gone."""
    connection.executemany(
        "UPDATE job SET state = 'lost', ended = beat WHERE id = ? AND owner = ? "
        "AND state = 'running'",
        [(record.id, record.owner) for record in records],
    )


def sweep(connection: sqlite3.Connection, now: float) -> None:
    """Mark what is lost, and drop jobs that ended long ago or are too many."""
    running = connection.execute(f"SELECT {NAMES} FROM job WHERE state = 'running'").fetchall()  # noqa: S608
    mark_lost(connection, [r for r in (Record(*row) for row in running) if is_lost(r, now)])
    connection.execute("DELETE FROM job WHERE ended < ?", (now - KEEP_SECONDS,))
    connection.execute(
        "DELETE FROM job WHERE id IN (SELECT id FROM job WHERE state <> 'running' "
        "ORDER BY started DESC LIMIT -1 OFFSET ?)",
        (KEEP_ENDED,),
    )


def _split(segment: Segment) -> list[Segment]:
    """No chunk lies across the end of the head, so that the rest can be dropped apart."""
    room = HEAD_BYTES - segment.start
    if not 0 < room < len(segment.data):
        return [segment]
    return [Segment(segment.start, segment.data[:room]), Segment(HEAD_BYTES, segment.data[room:])]


def _append(connection: sqlite3.Connection, job: str, segment: Segment) -> None:
    """Add to the last chunk while it is small; trickling output would make a row a line."""
    last = connection.execute(
        "SELECT start, length(data) FROM job_output WHERE job = ? ORDER BY start DESC LIMIT 1",
        (job,),
    ).fetchone()
    touches = last and sum(last) == segment.start and segment.start != HEAD_BYTES
    if touches and last[1] < CHUNK_BYTES:
        connection.execute(
            "UPDATE job_output SET data = CAST(data || ? AS BLOB) WHERE job = ? AND start = ?",
            (segment.data, job, last[0]),
        )
    else:
        connection.execute(
            "REPLACE INTO job_output (job, start, data) VALUES (?,?,?)",
            (job, segment.start, segment.data),
        )
