"""The table of the undo log, and whether anything in it waits to be put right.

Apart from the log itself, so that a call that changes nothing need not load it.
"""

from __future__ import annotations

from toolcrib.core.context import Services
from toolcrib.state.store import Schema, Store

SCHEMA = Schema(
    "undo",
    (
        """
        CREATE TABLE step (
            id INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL UNIQUE,
            time REAL NOT NULL, tool TEXT NOT NULL, session TEXT NOT NULL, owner TEXT NOT NULL,
            state TEXT NOT NULL, undoable INTEGER NOT NULL, note TEXT NOT NULL,
            undoes TEXT NOT NULL, paths TEXT NOT NULL, bytes INTEGER NOT NULL,
            record BLOB NOT NULL
        );
        CREATE INDEX step_unfinished ON step (owner) WHERE state <> 'done';
        """,
    ),
)


async def has_unfinished(services: Services) -> bool:
    """Whether a step was begun, by any process, that is not finished.

    Raises:
        StorageFailure: the store cannot be read.
    """
    store = services.use(Store)
    if store.path is None:
        return False

    sql = "SELECT 1 FROM step WHERE state <> 'done' LIMIT 1"
    return await store.area(SCHEMA).first(sql, quick=True) is not None
