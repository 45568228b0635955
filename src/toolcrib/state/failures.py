"""What goes wrong in a store, in words that say what to do."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from toolcrib.core.errors import StorageFailure

DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
FORBIDDEN = {
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
}
FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
FULL_ERRNO = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def primary_code(error: BaseException) -> int:
    """SQLite's primary result code; 0 for errors that do not come from the library."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Whether the file itself is broken, or is no database at all."""
    return primary_code(error) in DAMAGED


def is_storage(error: BaseException) -> bool:
    """Whether the machine is at fault (disk, lock, permission) and not the statement."""
    code = primary_code(error)
    return isinstance(error, OSError) or code in LOCKED | FORBIDDEN | FULL | DAMAGED


def explain(error: BaseException, path: Path | None) -> StorageFailure:
    """The error of the tree for a failure of SQLite or of the file system."""
    where = str(path) if path else "the store in memory"
    code = primary_code(error)
    if code in LOCKED:
        return StorageFailure(
            f"The store {where} is locked by another process.",
            hint="Send the call again; if this stays, another toolcrib hangs.",
        )
    if code in FULL or (isinstance(error, OSError) and error.errno in FULL_ERRNO):
        return StorageFailure(
            f"The store {where} cannot be written: {error}.",
            hint="The disk may be full: free some space, or set store.url to another place. "
            "No restart is needed.",
        )
    return StorageFailure(
        f"The store {where} cannot be used: {error}.",
        hint="The folder must be writable for you; store.url names another place.",
    )
