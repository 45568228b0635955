"""The stored chats of `toolcrib chat`."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from toolcrib.agents.conversation import Message, content_text
from toolcrib.core.context import Services
from toolcrib.core.errors import NotFound
from toolcrib.state.store import Area, Schema, Store
from toolcrib.system.threads import random_id

SCHEMA = Schema(
    "chats",
    (
        """
        CREATE TABLE chat (
            name TEXT PRIMARY KEY, used REAL NOT NULL, title TEXT NOT NULL,
            messages BLOB NOT NULL
        );
        """,
    ),
)
MAX_CHATS = 200
MAX_MESSAGES = 2_000
MAX_TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat by name. `used` is in seconds since 1970, `messages` is all that was said."""

    name: str
    used: float = 0.0
    title: str = ""
    messages: tuple[Message, ...] = ()


class Chats:
    """A service: the chats of all processes on the store."""

    def __init__(self, rows: Area) -> None:
        self._rows = rows

    @classmethod
    def open(cls, services: Services) -> Self:
        """The chats in the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA))

    def new_name(self) -> str:
        """A name for a chat that starts."""
        return f"c{random_id(6)}"

    async def save(self, name: str, messages: Sequence[Message]) -> None:
        """Keep a chat, in place of what it was.

        Raises:
            StorageFailure: it cannot be written.
        """
        stored = list(messages)[-MAX_MESSAGES:]
        first_text = next(
            (content_text(m) for m in stored if m["role"] == "user" and m["content"]), ""
        )
        title = " ".join(str(first_text).split())[:MAX_TITLE_CHARS]
        packed = zlib.compress(json.dumps(stored, ensure_ascii=True).encode(), 1)

        def write(connection: sqlite3.Connection) -> None:
            row = (name, time.time(), title, packed)
            connection.execute("INSERT OR REPLACE INTO chat VALUES (?,?,?,?)", row)
            connection.execute(
                "DELETE FROM chat WHERE name NOT IN "
                "(SELECT name FROM chat ORDER BY used DESC LIMIT ?)",
                (MAX_CHATS,),
            )

        await self._rows.write(write)

    async def find(self, name: str = "") -> Chat | None:
        """A chat by its name, or the last that was used."""

        def read(connection: sqlite3.Connection) -> Chat | None:
            chosen = "name = ?1" if name else "1"
            row = connection.execute(
                f"SELECT name, used, title, messages FROM chat WHERE {chosen} "  # noqa: S608
                "ORDER BY used DESC LIMIT 1",
                (name,) if name else (),
            ).fetchone()
            if row is None:
                return None
            found, used, title, messages = row
            return Chat(found, used, title, tuple(json.loads(zlib.decompress(messages))))

        return await self._rows.read(read)

    async def last(self) -> Chat:
        """The last that was used.

        Raises:
            NotFound: there is none yet.
        """
        found = await self.find()
        if found is None:
            raise NotFound("There is no chat to continue.", hint="Start one: toolcrib chat")
        return found

    async def recent(self, limit: int = 20) -> list[Chat]:
        """The last chats without their messages, the newest first."""
        statement = "SELECT name, used, title FROM chat ORDER BY used DESC LIMIT ?"
        return [Chat(*row) for row in await self._rows.fetch(statement, (limit,))]
