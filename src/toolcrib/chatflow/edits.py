"""What was done to the messages of a conversation, known again in every later request.

Each edit stands under the hash of the conversation up to its message, so that the same text is
added again, byte for byte, and an edited or branched conversation has the edits of the part
that it shares.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from toolcrib.chatflow.prompt import Addition
from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, StorageFailure
from toolcrib.state.store import Area, Schema, Store

SCHEMA = Schema(
    "chat_edits",
    (
        """
        CREATE TABLE chat_edit (
            seq INTEGER PRIMARY KEY, owner TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
            body TEXT NOT NULL, used REAL NOT NULL,
            UNIQUE (key, kind)
        );
        CREATE INDEX chat_edit_owner ON chat_edit (owner, seq);
        """,
    ),
)
DAY_SECONDS = 86_400.0
MAX_IN_MEMORY = 2_000


@dataclass(frozen=True, slots=True)
class Clearing:
    """The text that stands in place of a result; `handle` reads what stood there."""

    text: str
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The text that stands in place of all between the head and the message of the edit.

    `pinned` is the key of a message of the user in there that stays, "" for none.
    """

    text: str
    handle: str = ""
    pinned: str = ""
    messages: int = 0
    by_model: bool = False


@dataclass(slots=True)
class Edits:
    """The edits of a conversation, by the keys of its messages.

    Attributes:
        additions: in the order in which they were made.
        clearings: results that were taken out.
        compactions: by the last message that each stands for.
        floors: tokens that a pass left which freed little, by the last message of then.
        oldest_use: when the one that was not used for longest was used; 0 without edits.
    """

    additions: dict[str, tuple[Addition, ...]] = field(default_factory=dict)
    clearings: dict[str, Clearing] = field(default_factory=dict)
    compactions: dict[str, Compaction] = field(default_factory=dict)
    floors: dict[str, int] = field(default_factory=dict)
    oldest_use: float = 0.0

    def rows(self) -> list[tuple[str, str, str]]:
        """Key, kind and body of each, as they are stored."""
        found = [
            (key, "add", json.dumps([[a.stage, a.text, a.system] for a in listed]))
            for key, listed in self.additions.items()
        ]
        found += [
            (key, "clear", json.dumps([c.text, c.handle])) for key, c in self.clearings.items()
        ]
        found += [
            (key, "compact", json.dumps([c.text, c.handle, c.pinned, c.messages, c.by_model]))
            for key, c in self.compactions.items()
        ]
        return found + [(key, "floor", json.dumps(tokens)) for key, tokens in self.floors.items()]

    def take(self, key: str, kind: str, body: str) -> None:
        """Take a stored row."""
        value: Any = json.loads(body)
        if kind == "add":
            self.additions[key] = tuple(Addition(*item) for item in value)
        elif kind == "clear":
            self.clearings[key] = Clearing(*value)
        elif kind == "compact":
            self.compactions[key] = Compaction(*value)
        elif kind == "floor":
            self.floors[key] = value


class EditLog:
    """A service: keeps edits over restarts, so many bytes for each token's owner.

    Args:
        rows: where they are kept.
        keep_days: for how long after their last use.
        keep_bytes: of one owner; the oldest go first.
    """

    def __init__(self, rows: Area, keep_days: float, keep_bytes: int) -> None:
        self._rows = rows
        self._keep_seconds = keep_days * DAY_SECONDS
        self._keep_bytes = keep_bytes
        self._memory: OrderedDict[tuple[str, str], str] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """Those in the toolbox's store."""
        guard = services.config.guard
        return cls(services.use(Store).area(SCHEMA), guard.keep_days, guard.keep_bytes)

    async def load(self, keys: Iterable[str], kinds: Sequence[str]) -> Edits:
        """The edits of some kinds (`add`, `clear`, `compact`, `floor`) under keys.

        A store that cannot be read has none.
        """
        wanted = [key for key in dict.fromkeys(keys) if key]
        edits = Edits()

        try:
            rows = await self._rows.fetch(
                "SELECT key, kind, body, used FROM chat_edit "
                "WHERE key IN (SELECT value FROM json_each(?)) "
                "AND kind IN (SELECT value FROM json_each(?))",
                (json.dumps(wanted), json.dumps(list(kinds))),
                quick=True,
            )
        except (StorageFailure, ConfigError):
            rows = []
        for key, kind, body, _ in rows:
            edits.take(key, kind, body)
        edits.oldest_use = min((used for *_, used in rows), default=0.0)
        for key in wanted if self._memory else ():
            for kind in kinds:
                held = self._memory.get((key, kind))
                if held is not None:
                    edits.take(key, kind, held)
        if rows and time.time() - edits.oldest_use > DAY_SECONDS:
            await self._touch([key for key, *_ in rows])
        return edits

    async def save(self, owner: str, edits: Edits) -> None:
        """Keep edits, in place of those of the same kind under the same keys.

        While the store cannot be written, they are kept in this process.
        """
        rows = edits.rows()
        if not rows:
            return
        now = time.time()

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "REPLACE INTO chat_edit (owner, key, kind, body, used) VALUES (?, ?, ?, ?, ?)",
                [(owner, key, kind, body, now) for key, kind, body in rows],
            )
            connection.execute("DELETE FROM chat_edit WHERE used < ?", (now - self._keep_seconds,))
            connection.execute(
                "DELETE FROM chat_edit WHERE seq IN (SELECT seq FROM (SELECT seq, "
                "sum(length(body) + 200) OVER (ORDER BY seq DESC) AS total FROM chat_edit "
                "WHERE owner = ?) WHERE total > ?)",
                (owner, self._keep_bytes),
            )

        try:
            await self._rows.write(write)
        except (StorageFailure, ConfigError):
            for key, kind, body in rows:
                self._memory[key, kind] = body
            while len(self._memory) > MAX_IN_MEMORY:
                self._memory.popitem(last=False)

    async def _touch(self, keys: Sequence[str]) -> None:
        try:
            await self._rows.execute(
                "UPDATE chat_edit SET used = ? WHERE key IN (SELECT value FROM json_each(?))",
                (time.time(), json.dumps(list(keys))),
            )
        except (StorageFailure, ConfigError):
            return
