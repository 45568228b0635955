"""Named places of a workspace: where to work, what to remember, what to leave alone."""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import dataclass
from typing import Self

from toolcrib.core.context import Services
from toolcrib.core.errors import BadInput, NotFound
from toolcrib.files.paths import Workspace
from toolcrib.state.store import Area, Schema, Store

SCHEMA = Schema(
    "profiles",
    (
        """
        CREATE TABLE profile (
            workspace TEXT NOT NULL, name TEXT NOT NULL, directory TEXT NOT NULL,
            notes TEXT NOT NULL, protect TEXT NOT NULL, saved REAL NOT NULL,
            PRIMARY KEY (workspace, name)
        ) WITHOUT ROWID;
        """,
    ),
)
MAX_PROFILES = 100


@dataclass(frozen=True, slots=True)
class Profile:
    """One of them. `directory` is absolute, `protect` are names that are not touched in it."""

    name: str
    directory: str
    notes: str = ""
    protect: tuple[str, ...] = ()


class Profiles:
    """A service: the profiles of this workspace, kept in the user's store.

    A profile can protect names beside those of the configuration; none can lift one.
    """

    def __init__(self, rows: Area, workspace: str) -> None:
        self._rows = rows
        self._workspace = workspace

    @classmethod
    def open(cls, services: Services) -> Self:
        """Those of the roots of this toolbox."""
        roots = services.use(Workspace).roots
        return cls(services.use(Store).area(SCHEMA), "\n".join(root.real for root in roots))

    async def save(self, profile: Profile) -> None:
        """Keep one, in place of one of the same name.

        Raises:
            BadInput: there are too many.
        """
        row = (
            self._workspace,
            profile.name,
            profile.directory,
            profile.notes,
            json.dumps(profile.protect),
            time.time(),
        )

        def write(connection: sqlite3.Connection) -> bool:
            others = connection.execute(
                "SELECT count(*) FROM profile WHERE workspace = ? AND name != ?", row[:2]
            ).fetchone()[0]
            if others >= MAX_PROFILES:
                return False
            connection.execute("INSERT OR REPLACE INTO profile VALUES (?, ?, ?, ?, ?, ?)", row)
            return True

        if not await self._rows.write(write):
            raise BadInput(f"There are {MAX_PROFILES} profiles already.", hint="Delete one first.")

    async def all(self) -> list[Profile]:
        """All of them, the last saved first."""
        rows = await self._rows.read(
            lambda c: c.execute(
                "SELECT name, directory, notes, protect FROM profile WHERE workspace = ? "
                "ORDER BY saved DESC",
                (self._workspace,),
            ).fetchall()
        )
        return [Profile(n, d, notes, tuple(json.loads(p))) for n, d, notes, p in rows]

    async def get(self, name: str) -> Profile:
        """One by its name.

        Raises:
            NotFound: there is none; the hint names those that there are.
        """
        known = await self.all()
        for profile in known:
            if profile.name == name:
                return profile
        names = ", ".join(profile.name for profile in known[:10])
        hint = f"There are: {names}." if names else "None is saved yet; action=save saves one."
        raise NotFound(f"There is no profile '{name}'.", hint=hint)

    async def delete(self, name: str) -> None:
        """Forget one.

        Raises:
            NotFound: there is none.
        """
        await self.get(name)
        await self._rows.write(
            lambda c: c.execute(
                "DELETE FROM profile WHERE workspace = ? AND name = ?", (self._workspace, name)
            )
        )
