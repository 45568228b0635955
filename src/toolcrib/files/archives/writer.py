"""Archives made piece by piece: no temporary file, no whole file in memory."""

from __future__ import annotations

import bz2
import lzma
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Literal, Protocol, cast

from toolcrib.core.call import well_formed
from toolcrib.core.errors import BadInput, Conflict, PathDenied
from toolcrib.files.changes.copies import MOST_ENTRIES, walk
from toolcrib.files.content.sizes import printable
from toolcrib.files.paths import SafePath
from toolcrib.files.protection import Use
from toolcrib.files.tree_images import PIECE

Format = Literal["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"]
FORMATS: dict[str, Format] = {
    ".zip": "zip",
    ".tar": "tar",
    ".tar.gz": "tar.gz",
    ".tgz": "tar.gz",
    ".tar.bz2": "tar.bz2",
    ".tbz2": "tar.bz2",
    ".tar.xz": "tar.xz",
    ".txz": "tar.xz",
}
OLDEST_ZIP = 315_532_800
"""1980, before which zip knows no time."""


@dataclass(frozen=True, slots=True)
class Packed:
    """One file or folder for an archive, and its name there."""

    name: str
    path: SafePath
    kind: Literal["file", "folder"]
    mode: int
    mtime: float
    size: int


def format_of(name: str) -> Format:
    """The format that a file name asks for.

    Raises:
        BadInput: none that is known.
    """
    lower = name.lower()
    for ending in sorted(FORMATS, key=len, reverse=True):
        if lower.endswith(ending):
            return FORMATS[ending]
    raise BadInput(f"{name} names no known format.", hint=f"End it with {', '.join(FORMATS)}.")


def gather(
    paths: Sequence[SafePath],
    names: Sequence[str],
    check: Callable[[], None],
    use: Use = "read",
    most: int = MOST_ENTRIES,
) -> tuple[list[Packed], list[str]]:
    """What goes into an archive, and what is left out: protected names, links, devices.

    Args:
        paths: files and folders.
        names: their names in the archive; "" puts what a folder holds at the top.
        check: called between two steps.
        use: "write" also leaves out what could not be put back.
        most: how many entries a folder may have.
    """
    found: list[Packed] = []
    left_out: list[str] = []
    for path, name in zip(paths, names, strict=True):
        status = path.stat()
        if not stat.S_ISDIR(status.st_mode):
            found.append(_packed(name, path))
            continue
        if name:
            found.append(_packed(name, path))
        skipped: set[tuple[str, ...]] = set()
        closed: list[str] = []
        for inner in walk(path, check, most, closed):
            if inner.way[:-1] in skipped:
                skipped.add(inner.way)
                continue
            way = "/".join((name, *inner.way) if name else inner.way)
            kind = inner.entry.kind
            special = inner.entry.protected or kind in ("link", "other")
            if special or inner.path.gate.pattern(inner.path, use) or well_formed(way) != way:
                left_out.append(printable(way))
                skipped.add(inner.way)
                continue
            try:
                found.append(_packed(way, inner.path))
            except PathDenied:  # another name of a protected file, or the system says no
                left_out.append(way)
                skipped.add(inner.way)
        below = (f"{name}/{way}" if name else way for way in closed)
        left_out += [way for way in below if way not in left_out]
    return found, left_out


def pack(
    form: Format, members: Sequence[Packed], check: Callable[[], None], comment: str = ""
) -> Iterator[bytes]:
    """The bytes of an archive; only a zip has a comment."""
    return _zip(members, check, comment) if form == "zip" else _tar(form, members, check)


def _packed(name: str, path: SafePath) -> Packed:
    with path.open() as handle:
        status = handle.status
        folder = handle.kind == "folder"
    mode = stat.S_IMODE(status.st_mode) & 0o777
    size = 0 if folder else status.st_size
    return Packed(name, path, "folder" if folder else "file", mode, status.st_mtime, size)


class _Pipe:
    """Takes what a writer writes and gives it on."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._held.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing waits here."""

    def take(self) -> Iterator[bytes]:
        held, self._held = self._held, []
        yield from held


def _zip(members: Sequence[Packed], check: Callable[[], None], comment: str) -> Iterator[bytes]:
    out = _Pipe()
    with zipfile.ZipFile(cast("IO[bytes]", out), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = comment.encode()
        for member in members:
            check()
            when = time.localtime(max(member.mtime, OLDEST_ZIP + 86_400))[:6]
            info = zipfile.ZipInfo(member.name, when)
            info.create_system = 3
            info.compress_type = zipfile.ZIP_DEFLATED
            if member.kind == "folder":
                info.filename += "/"
                info.external_attr = ((stat.S_IFDIR | member.mode) << 16) | 0x10
                archive.writestr(info, b"")
                continue
            info.external_attr = (stat.S_IFREG | member.mode) << 16
            info.file_size = member.size
            with archive.open(info, "w", force_zip64=member.size > 1 << 31) as target:
                for piece in _content(member, check):
                    target.write(piece)
                    yield from out.take()
            yield from out.take()
    yield from out.take()


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


class _Plain:
    def compress(self, data: bytes) -> bytes:
        return data

    def flush(self) -> bytes:
        return b""


def _compressor(form: Format) -> _Compressor:
    if form == "tar.gz":
        return zlib.compressobj(6, zlib.DEFLATED, 31)
    if form == "tar.bz2":
        return bz2.BZ2Compressor()
    return lzma.LZMACompressor(preset=3) if form == "tar.xz" else _Plain()


def _tar(form: Format, members: Sequence[Packed], check: Callable[[], None]) -> Iterator[bytes]:
    packer = _compressor(form)
    for member in members:
        check()
        info = tarfile.TarInfo(member.name)
        info.mode, info.mtime = member.mode, int(member.mtime)
        info.size = member.size
        if member.kind == "folder":
            info.type = tarfile.DIRTYPE
        yield packer.compress(info.tobuf(tarfile.PAX_FORMAT))
        if member.kind == "file":
            for piece in _content(member, check):
                yield packer.compress(piece)
            yield packer.compress(bytes(-member.size % tarfile.BLOCKSIZE))
    yield packer.compress(bytes(2 * tarfile.BLOCKSIZE))
    yield packer.flush()


def _content(member: Packed, check: Callable[[], None]) -> Iterator[bytes]:
    """A file's bytes, as many as were announced."""
    seen = 0
    with member.path.open_read() as handle:
        while piece := handle.file.read(PIECE):
            check()
            seen += len(piece)
            if seen > member.size:
                break
            yield piece
    if seen != member.size:
        raise Conflict(
            f"{member.path.display} is being changed by another program.",
            hint="Send the call again when that has ended.",
        )
