"""The trash of the desktop, where there is one (freedesktop.org's specification 1.0)."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Self
from urllib.parse import quote

import platformdirs

from toolcrib.files.staged_entries import status_of, write_file

TRIES = 1000


class Trash:
    """Takes things by renaming, so it serves only its own file system.

    Undo does not need it: what is deleted is kept for that as well. It is where a
    person looks.

    Args:
        folder: that with `files` and `info` in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of_desktop(cls) -> Self | None:
        """The user's; None where no desktop has made one."""
        folder = Path(platformdirs.user_data_dir()) / "Trash"
        # Not `is_dir` of a Path, which raises where the folder above is closed to us.
        has = all(os.path.isdir(folder / name) for name in ("files", "info"))  # noqa: PTH112
        return cls(folder) if os.name == "posix" and has else None

    def take(self, source: int, name: str, shown: str, path: str) -> bool:
        """Move something there.

        Args:
            source: a descriptor of the folder it is in.
            name: its name there.
            shown: the name it had.
            path: where it was, absolute.

        Returns:
            Whether it went; False leaves it where it was.
        """
        try:
            files, info = (_folder(self.folder / part) for part in ("files", "info"))
        except OSError:
            return False
        try:
            return self._take(source, name, shown, path, files, info)
        except OSError:
            return False
        finally:
            os.close(files)
            os.close(info)

    def _take(self, source: int, name: str, shown: str, path: str, files: int, info: int) -> bool:
        now = datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S")
        record = f"[Trash Info]\nPath={quote(os.fsencode(path))}\nDeletionDate={now}\n".encode()
        for number in range(1, TRIES):
            free = shown if number == 1 else f"{shown}.{number}"
            try:
                write_file(info, f"{free}.trashinfo", [record], lambda: None, mode=0o600)
            except FileExistsError:
                continue
            if status_of(files, free) is not None:
                os.unlink(f"{free}.trashinfo", dir_fd=info)
                continue
            try:
                os.rename(name, free, src_dir_fd=source, dst_dir_fd=files)
            except OSError:
                with suppress(OSError):
                    os.unlink(f"{free}.trashinfo", dir_fd=info)
                return False
            return True
        return False


def _folder(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
