"""Backups: files of toolcrib's own, by name, private to the user."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from toolcrib.core.errors import BadInput, Conflict, NotFound, StorageFailure
from toolcrib.state.store import make_private
from toolcrib.system.file_locks import NOT_INHERITED, take_lock

ENDING = ".zip"
UNFINISHED = ".part"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Stored:
    """A backup: its name, bytes, and when it was made, in seconds since 1970."""

    name: str
    size: int
    made: float


class Vault:
    """A folder of backups.

    Args:
        folder: where; made on first use.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, name: str, chunks: Iterable[bytes]) -> Stored:
        """Keep a backup: whole, or not at all.

        Raises:
            Conflict: the name is taken.
            StorageFailure: the disk is full, or the system refuses.
        """
        path = self._path(name)
        part = self.folder / f".{secrets.token_hex(8)}{UNFINISHED}"
        try:
            make_private(self.folder)
            self._sweep()
            fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOT_INHERITED, 0o600)
            try:
                with os.fdopen(fd, "wb") as file:
                    take_lock(file.fileno())
                    for chunk in chunks:
                        file.write(chunk)
                    file.flush()
                    os.fsync(file.fileno())
                os.link(part, path)
            finally:
                with contextlib.suppress(OSError):
                    part.unlink()
        except FileExistsError:
            raise Conflict(f"There is a backup {name} already.", hint="Use another name.") from None
        except OSError as error:
            raise StorageFailure(
                f"The backup cannot be written to {self.folder}: {error.strerror or error}.",
                hint="Free some space, or set backup.folder to another place.",
            ) from None
        return self.find(name)

    def stored(self) -> list[Stored]:
        """All backups, the newest first."""
        found = []
        for path in self.folder.glob(f"*{ENDING}") if self.folder.is_dir() else ():
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append(
                    Stored(path.name.removesuffix(ENDING), status.st_size, status.st_mtime)
                )
        return sorted(found, key=lambda stored: (-stored.made, stored.name))

    def find(self, name: str) -> Stored:
        """One backup.

        Raises:
            NotFound: there is none of that name.
        """
        plain = self._path(name).name.removesuffix(ENDING)
        for stored in self.stored():
            if stored.name == plain:
                return stored
        raise NotFound(f"There is no backup {name}.", hint="list_backups shows them.")

    def read(self, name: str) -> BinaryIO:
        """Open a backup; the caller closes it."""
        self.find(name)
        return self._path(name).open("rb")

    def remove(self, name: str) -> None:
        """Remove a backup for good."""
        self.find(name)
        self._path(name).unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove what processes left that died while they made a backup."""
        for path in self.folder.glob(f".*{UNFINISHED}"):
            with contextlib.suppress(OSError):
                with path.open("rb") as file:
                    left_behind = take_lock(file.fileno())
                if left_behind:  # an open file cannot be removed everywhere
                    path.unlink()

    def _path(self, name: str) -> Path:
        plain = name.removesuffix(ENDING)
        if not NAME.fullmatch(plain) or ".." in plain:
            raise BadInput(
                "A backup has letters, digits, '.', '-' and '_' in its name, at most 100.",
                hint='Write a name like "before-upgrade".',
            )
        return self.folder / f"{plain}{ENDING}"
