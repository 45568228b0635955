"""Contents of files kept by what they are: one compressed copy of each."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from toolcrib.core.errors import Busy, StorageFailure
from toolcrib.state.store import held, make_private
from toolcrib.system.file_locks import NOT_INHERITED

PIECE = 1_048_576
LEVEL = 1
"""Of zlib: a change should not wait for its copy."""
YOUNG_SECONDS = 3600.0
"""What was written so recently may belong to a step that is not in the log yet."""
LOCK_SECONDS = 30.0
TEMPORARY = "new-"
SWEPT = "swept"
"""An empty file, written when a sweep began."""


class Blobs:
    """A folder of contents, shared by processes; private to the user.

    Args:
        folder: where; made on first use.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        """Keep a content; its digest, and how many bytes that newly takes.

        Raises:
            StorageFailure: the disk is full, or the system refuses.
        """
        try:
            return self._add(chunks)
        except OSError as error:
            raise StorageFailure(
                f"The content cannot be kept for undo in {self.folder}: {error.strerror or error}.",
                hint="Free some space there, or set TOOLCRIB_DATA to another folder.",
            ) from None

    def read(self, digest: str) -> Iterator[bytes]:
        """A content in pieces.

        Raises:
            StorageFailure: it is gone, or not what it was.
        """
        seen = digest_of()
        try:
            with self._path(digest).open("rb") as file:
                unpack = zlib.decompressobj()
                while piece := file.read(PIECE):
                    while piece:
                        plain = unpack.decompress(piece, PIECE)
                        piece = unpack.unconsumed_tail
                        seen.update(plain)
                        yield plain
                rest = unpack.flush()
                seen.update(rest)
                yield rest
        except (OSError, zlib.error):
            raise _lost(digest) from None
        if seen.hexdigest() != digest:
            raise _lost(digest)

    def renew(self, digest: str) -> bool:
        """Keep it from being swept for another half hour; whether it is there.

        What is younger than that by the time that `sweep` looks at too is left as it is: it stays
        for longer than half an hour by itself, and to write is dearer than to look.
        """
        path = f"{self.folder}/{digest[:2]}/{digest}"  # no Path: for each of very many files
        with contextlib.suppress(OSError):
            if os.stat(path).st_mtime < time.time() - YOUNG_SECONDS / 2:  # noqa: PTH116
                os.utime(path)
            return True
        return False

    def adopt(self, other: Blobs, digest: str) -> int:
        """Keep a content that another folder keeps too; how many bytes that newly takes.

        Raises:
            StorageFailure: it is gone there, or the system refuses.
        """
        path = self._path(digest)
        try:
            if path.exists():
                os.utime(path)
                return 0
            make_private(path.parent)
            with contextlib.suppress(FileExistsError):
                os.link(other._path(digest), path)
            os.utime(path)
            return path.stat().st_size
        except OSError:
            digest, size = self.add(other.read(digest))
            return size

    def begin_sweep(self) -> bool:
        """Whether a sweep is due, by whichever process: then it counts as begun.

        What is young stays in any case, so more often than that it would look in vain at all.
        """
        mark = self.folder / SWEPT
        with contextlib.suppress(OSError):
            # A clock that was set back must not put it off for good.
            if abs(time.time() - mark.stat().st_mtime) < YOUNG_SECONDS:
                return False
        with contextlib.suppress(OSError):
            mark.touch(mode=0o600)
        return True

    def sweep(self, wanted: Callable[[str], bool]) -> int:
        """Remove what nobody wants any more; how many bytes that frees."""
        freed, old = 0, time.time() - YOUNG_SECONDS
        for path in self.folder.glob("*/*"):
            with contextlib.suppress(OSError):
                status = path.stat()
                if status.st_mtime < old and not wanted(path.name):
                    path.unlink()
                    freed += status.st_size
        return freed

    def stored_bytes(self) -> int:
        """What all of them take."""
        total = 0
        for path in self.folder.glob("*/*"):
            with contextlib.suppress(OSError):
                total += path.stat().st_size
        return total

    def destroy(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def locked(self, check: Callable[[], None]) -> Iterator[None]:
        """Keep other processes that use this folder from changing files meanwhile.

        Raises:
            Busy: another one holds it for `LOCK_SECONDS`.
        """
        make_private(self.folder)
        late = Busy("Another toolcrib process has been changing files for too long.")
        with held(self.folder / "lock", LOCK_SECONDS, late, check):
            yield

    def _add(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        make_private(self.folder)
        part = self.folder / "parts" / f"{TEMPORARY}{secrets.token_hex(8)}"
        make_private(part.parent)
        seen, pack = digest_of(), zlib.compressobj(LEVEL)
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOT_INHERITED, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                for chunk in chunks:
                    seen.update(chunk)
                    file.write(pack.compress(chunk))
                file.write(pack.flush())
                size = file.tell()
            path = self._path(seen.hexdigest())
            if path.exists():
                os.utime(path)
                part.unlink()
                return seen.hexdigest(), 0
            make_private(path.parent)
            part.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
        return seen.hexdigest(), size

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest


def digest_of(data: bytes = b"") -> blake2b:
    """The digest by which contents are named."""
    return blake2b(data, digest_size=20)


def _lost(digest: str) -> StorageFailure:
    return StorageFailure(
        f"The kept content {digest[:12]} is gone or damaged.",
        hint="This step cannot be undone. Look at list_changes for another one.",
    )
