"""The state of the work: where it is, what it used last, how much was done; small and typed."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any, Self

from toolcrib.core.config import environment
from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, ConfigError, StorageFailure
from toolcrib.memory.delayed_write import DelayedWrite
from toolcrib.memory.memory_records import storable
from toolcrib.memory.times import DAY
from toolcrib.state.redaction import names_secret
from toolcrib.state.store import Area, Schema, Store

SCHEMA = Schema(
    "work_state",
    (
        """
        CREATE TABLE work_state (
            scope TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL, changed REAL NOT NULL,
            PRIMARY KEY (scope, field)
        ) WITHOUT ROWID;
        """,
    ),
)
"""Changes of so long are written together."""
SESSION_SECONDS = 30 * DAY
MAX_LISTED = 50
_VARIABLE = re.compile(r"%([A-Za-z_][A-Za-z0-9_]*)%")


@dataclass(frozen=True, slots=True)
class WorkState:
    """What is known of the work in one scope.

    Attributes:
        directory: where it is, absolute.
        messages: messages of the user, where prompts go through us.
        counters: how often something was done, by name.
        address: the page that was read last.
        notes: what was noted, the last first.
        files: absolute paths, the last used first.
        language: of the user's last message, or as set, such as `de`.
    """

    directory: str = ""
    messages: int = 0
    counters: Mapping[str, int] = field(default_factory=dict)
    address: str = ""
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    language: str = ""

    def with_changes(self, changes: Mapping[str, Any]) -> WorkState:
        """This one with changes: numbers are added, lists are put before, texts replace.

        Raises:
            BadInput: there is no such field, or it is of another type.
        """
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, given in changes.items():
            known = values.get(name)
            if name not in values or not _fits(known, given):
                raise BadInput(
                    f"The state has no field '{name[:40]}' of that type.",
                    hint=f"Its fields are: {', '.join(values)}.",
                )
            if isinstance(known, tuple):
                values[name] = tuple(dict.fromkeys((*given, *known)))[:MAX_LISTED]
            elif isinstance(known, dict):
                added = {key: known.get(key, 0) + count for key, count in given.items()}
                values[name] = {**known, **added}
            else:
                values[name] = known + given if isinstance(known, int) else given
        return WorkState(**values)

    def over(self, wider: WorkState) -> WorkState:
        """This one, with what it does not say taken from a wider scope."""
        return WorkState(
            **{f.name: getattr(self, f.name) or getattr(wider, f.name) for f in fields(self)}
        )

    def expanded(self) -> WorkState:
        """Names of variables as `%HOME%` replaced by their values, but for those of secrets."""
        texts = {"directory": self.directory, "address": self.address}
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return WorkState(**values | {name: _expanded(text) for name, text in texts.items()})

    def packed(self) -> dict[str, str]:
        """The fields that say something, as JSON texts."""
        return {
            f.name: storable(json.dumps(value, ensure_ascii=False))
            for f in fields(self)
            if (value := getattr(self, f.name))
        }


def _fits(known: Any, given: Any) -> bool:
    if isinstance(known, tuple):
        return isinstance(given, Sequence) and all(isinstance(item, str) for item in given)
    if isinstance(known, dict):
        return isinstance(given, Mapping) and all(type(n) is int for n in given.values())
    return type(given) is type(known)


def _expanded(text: str) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1]
        return match[0] if names_secret(name) else environment((name,)).get(name, match[0])

    return _VARIABLE.sub(value, text)


class WorkStates:
    """A service: the states of this user, their projects and conversations.

    Several processes may add to one state: each writes what it changed to what is there then.

    Args:
        rows: where they are kept.
        max_bytes: how large one may be.
    """

    def __init__(self, rows: Area, max_bytes: int) -> None:
        self._rows = rows
        self._max_bytes = max_bytes
        self._waiting: dict[str, list[Mapping[str, Any]]] = {}
        self._write = DelayedWrite(self.flush)
        # What is being written is neither waiting nor there yet: nobody looks meanwhile.
        self._moving = asyncio.Lock()
        self.warnings: list[str] = []

    @classmethod
    def open(cls, services: Services) -> Self:
        """The states in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA), services.config.memory.state_bytes)

    async def get(self, *scopes: str) -> WorkState:
        """What the scopes say together; the first says it before the others."""
        found = WorkState()
        for scope in reversed(scopes):
            async with self._moving:
                state = await self._rows.read(lambda c, scope=scope: _load(c, scope))  # type: ignore[misc]
                waiting = tuple(self._waiting.get(scope, ()))
            for changes in waiting:
                state = state.with_changes(changes)
            found = state.over(found)
        return found.expanded()

    async def all(self) -> dict[str, WorkState]:
        """What is written of each scope."""

        def read(connection: sqlite3.Connection) -> dict[str, WorkState]:
            rows = connection.execute("SELECT DISTINCT scope FROM work_state ORDER BY scope")
            return {scope: _load(connection, scope) for (scope,) in rows.fetchall()}

        return await self._rows.read(read)

    async def change(self, scope: str, changes: Mapping[str, Any]) -> None:
        """Change a state at once.

        Raises:
            BadInput: a field is not there or of another type, or the state is too large.
        """
        WorkState().with_changes(changes)
        await self._rows.write(lambda c: self._store(c, scope, [changes]))

    def note(self, scope: str, changes: Mapping[str, Any]) -> None:
        """Change a state within half a second, together with other changes."""
        self._waiting.setdefault(scope, []).append(changes)
        self._write.start()

    async def forget(self, *scopes: str) -> int:
        """Remove the states of some scopes, without any those of all; how many there were."""

        def write(connection: sqlite3.Connection) -> int:
            known = {row[0] for row in connection.execute("SELECT scope FROM work_state")}
            gone = known if not scopes else known & set(scopes)
            connection.executemany("DELETE FROM work_state WHERE scope = ?", [(s,) for s in gone])
            return len(gone)

        async with self._moving:
            self._waiting.clear() if not scopes else [self._waiting.pop(s, None) for s in scopes]
            return await self._rows.write(write)

    async def flush(self) -> None:
        """Write what waits; what cannot be written is told, and gone."""
        async with self._moving:
            waiting, self._waiting = self._waiting, {}
            for scope, changes in waiting.items():
                try:
                    await self._rows.write(lambda c, s=scope, w=changes: self._store(c, s, w))  # type: ignore[misc]
                except (BadInput, ConfigError, StorageFailure) as error:
                    warning = f"The state of the work was not kept: {error.message}"
                    self.warnings += [warning] if warning not in self.warnings else []

    async def close(self) -> None:
        """Write what waits."""
        await self._write.close()

    def _store(
        self, connection: sqlite3.Connection, scope: str, changes: Sequence[Mapping[str, Any]]
    ) -> None:
        state, now = _load(connection, scope), time.time()
        for change in changes:
            state = state.with_changes(change)
        packed = state.packed()
        if sum(len(text.encode("utf-8", "replace")) for text in packed.values()) > self._max_bytes:
            raise BadInput(
                f"State size exceeds maximum ({self._max_bytes} bytes)",
                hint="The user can allow more: memory.state_bytes.",
            )
        connection.execute("DELETE FROM work_state WHERE scope = ?", (scope,))
        connection.executemany(
            "INSERT INTO work_state VALUES (?, ?, ?, ?)",
            [(scope, name, text, now) for name, text in packed.items()],
        )
        connection.execute(
            "DELETE FROM work_state WHERE scope LIKE 'session:%' AND changed < ?",
            (now - SESSION_SECONDS,),
        )


def _load(connection: sqlite3.Connection, scope: str) -> WorkState:
    """What is written; a value that cannot be read is as if it were not there."""
    state = WorkState()
    rows = connection.execute("SELECT field, value FROM work_state WHERE scope = ?", (scope,))
    for name, text in rows.fetchall():
        with suppress(ValueError, BadInput):
            state = state.with_changes({name: json.loads(text)})
    return state
