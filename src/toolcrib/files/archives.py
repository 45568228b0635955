"""Archives: read with every trick refused before anything is written, and written in chunks.

Writing takes no temporary file and never holds a whole file in memory.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, BinaryIO, Literal, Protocol, cast

from toolcrib.core.errors import (
    BadInput,
    PathDenied,
    TooLarge,
    ToolError,
    UnsupportedContent,
)
from toolcrib.core.result import well_formed
from toolcrib.files.changes.copies import MAX_TREE_ENTRIES, being_changed, walk
from toolcrib.files.path_rules import WINDOWS, Use, escaped, fold, is_absolute, refusal
from toolcrib.files.paths import SafePath
from toolcrib.files.targets import folders_above
from toolcrib.files.trees import CHUNK_BYTES
from toolcrib.text.display import printable

_READ_BYTES = 1_048_576
MAX_NAME = 255
ENTRY_BYTES = 2000
"""What one entry of a zip may take in its list, on average."""
DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    ValueError,
    RuntimeError,
    LookupError,
)
ENCRYPTED = "encrypted"
SYMBOLIC_LINK, NAMED_PIPE, DEVICE = "a symbolic link", "a named pipe", "a device"
HARD_LINK, SPARSE = "a hard link", "a sparse file"
NOT_UNPACKED = (ENCRYPTED, SYMBOLIC_LINK, HARD_LINK, NAMED_PIPE, DEVICE, SPARSE)
REFUSED = "The archive is refused: "
UNSAFE_HINT = "Nothing was unpacked. Such an archive is not unpacked by this tool."


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """How much an archive may hold.

    Attributes:
        entries: files and folders.
        total: bytes of all files, unpacked.
        ratio: bytes unpacked for each byte of the archive, counted from `free` bytes on.
    """

    entries: int = 10_000
    total: int = 2_000_000_000
    ratio: int = 200
    free: int = 10_000_000

    def max_bytes(self, size: int) -> int:
        """How many bytes an archive of this size may unpack to."""
        return min(self.total, max(self.free, size * self.ratio))


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """One file or folder of an archive; `name` has no `.`, `..` or doubled `/`.

    Of an archive that is listed alone, `unsafe` says why it is not unpacked, and `name` may be any.
    """

    name: str
    kind: Literal["file", "folder"]
    size: int
    mode: int | None
    mtime: float
    index: int
    unsafe: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names that lead to it."""
        return tuple(self.name.split("/"))


class _Inner(Protocol):
    def listed(self) -> Iterator[tuple[str, str, int, int | None, float]]: ...

    def stream(self, index: int) -> IO[bytes]: ...


class Archive:
    """An archive whose list of members was checked.

    Args:
        inner: the format.
        size: bytes of the archive itself.
        limits: what is allowed.
        check: called between two steps.
        listing: keep members that are not unpacked, with the reason.
    """

    def __init__(
        self,
        inner: _Inner,
        size: int,
        limits: ArchiveLimits,
        check: Callable[[], None],
        *,
        listing: bool = False,
    ) -> None:
        self._inner = inner
        self._limits = limits
        self._check = check
        self._max_bytes = limits.max_bytes(size)
        self._read = 0
        with _readable():
            self.members = tuple(self._members(listing))

    def content(self, member: ArchiveMember) -> Iterator[bytes]:
        """What a file holds, counted while it is unpacked. Whoever takes it can stop.

        Raises:
            TooLarge: more than the archive may hold.
            BadInput: it is damaged.
        """
        with _readable(), self._inner.stream(member.index) as stream:
            seen = 0
            while chunk := stream.read(_READ_BYTES):
                seen += len(chunk)
                self._read += len(chunk)
                if self._read > self._max_bytes:
                    raise self._too_much()
                yield chunk
            if seen != member.size:
                raise _unsafe(f"{member.name} has another size than the archive says")

    def _members(self, listing: bool) -> Iterator[ArchiveMember]:
        known: dict[str, str] = {}
        total = 0
        for index, (name, kind, size, mode, mtime) in enumerate(self._inner.listed()):
            self._check()
            if index >= self._limits.entries:
                raise TooLarge(
                    f"The archive has more than {self._limits.entries:,} entries.",
                    hint="Nothing was unpacked. Ask for a smaller archive.",
                )
            total += size
            if total > self._max_bytes:
                raise self._too_much()
            unsafe = ""
            try:
                plain = _checked_name(name, kind, known)
            except (BadInput, UnsupportedContent):
                if not listing:
                    raise
                plain, unsafe = escaped(name), kind if kind in NOT_UNPACKED else "unsafe name"
            if plain:  # else the folder itself, as tar writes it
                own: Literal["file", "folder"] = "folder" if kind == "folder" else "file"
                yield ArchiveMember(plain, own, size, mode, mtime, index, unsafe)

    def _too_much(self) -> TooLarge:
        return TooLarge(
            f"The archive unpacks to more than {self._max_bytes:,} bytes, "
            "far more than its own size.",
            hint="Nothing was unpacked.",
        )


@dataclass(frozen=True, slots=True)
class MemberContent:
    """What a file of an archive holds, to be written elsewhere."""

    archive: Archive
    member: ArchiveMember

    def chunks(self) -> Iterator[bytes]:
        """The bytes, as `Archive.content` gives them."""
        return self.archive.content(self.member)


def _checked_name(name: str, kind: str, known: dict[str, str]) -> str:
    """The name of a member, or a refusal; "" for the folder itself."""
    if kind == ENCRYPTED:
        raise UnsupportedContent(
            f"{escaped(name)} is encrypted.", hint="Encrypted archives are not unpacked."
        )
    if kind not in ("file", "folder"):
        raise _unsafe(f"{escaped(name)} is {kind}")
    plain = _plain_name(name)
    if plain:
        _refuse_duplicate(known, plain, kind)
    return plain


def _refuse_duplicate(known: dict[str, str], name: str, kind: str) -> None:
    """Two members of one name, also where only case differs, or a file that is a folder too."""
    folded = "/".join(map(fold, name.split("/")))
    if folded in known and not (kind == known[folded] == "folder"):
        raise _unsafe(f"{name} is in it twice, or differs from another only in case")
    for above in folders_above(folded):
        if known.get(above) == "file":
            raise _unsafe(f"{name} lies in what is a file")
        known.setdefault(above, "folder")
    known[folded] = kind


def _plain_name(name: str) -> str:
    """The name of a member, or a refusal."""
    plain = name.rstrip("/")
    while plain.startswith("./"):
        plain = plain[2:].lstrip("/")
    if plain in ("", "."):
        return ""
    reason = refusal(plain, windows=WINDOWS)
    if plain.startswith("~") or is_absolute(plain, windows=True):
        reason = "it is absolute"
    elif "\\" in plain:
        reason = "it has a backslash"
    elif any(part in ("", ".", "..") for part in plain.split("/")):
        reason = "it climbs, or has empty parts"
    elif any(len(part.encode("utf-8", "replace")) > MAX_NAME for part in plain.split("/")):
        reason = "it is too long"
    if reason:
        raise _unsafe(f"the name {escaped(name)}: {reason}")
    return plain


class _Zip:
    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file)
        self._infos = self._zip.infolist()

    def listed(self) -> Iterator[tuple[str, str, int, int | None, float]]:
        for info in self._infos:
            # What zipfile has cut at a NUL or turned round is checked as it stands there.
            name = info.orig_filename
            bits = info.external_attr >> 16
            kind = _kind_of_mode(bits) if info.create_system == 3 and stat.S_IFMT(bits) else ""
            if not kind:
                kind = "folder" if name.endswith("/") else "file"
            if info.flag_bits & 0x1:
                kind = ENCRYPTED
            mode = stat.S_IMODE(bits) & 0o777 if info.create_system == 3 and bits else None
            yield name, kind, info.file_size, mode, _time_of(info)

    def stream(self, index: int) -> IO[bytes]:
        return self._zip.open(self._infos[index])


def _time_of(info: zipfile.ZipInfo) -> float:
    """When a file was changed, in local time as zip has it; 0 where that is not said."""
    if info.date_time <= (1980, 1, 1, 0, 0, 0):
        return 0.0
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0


class _Tar:
    def __init__(self, file: BinaryIO) -> None:
        self._tar = tarfile.TarFile(fileobj=cast("IO[bytes]", file), mode="r")
        self._infos: list[tarfile.TarInfo] = []

    def listed(self) -> Iterator[tuple[str, str, int, int | None, float]]:
        while (info := self._tar.next()) is not None:
            self._infos.append(info)
            kind = "file" if info.isreg() and not info.issparse() else ""
            if info.isdir():
                kind = "folder"
            elif not kind:
                kind = _kind_of_tar(info)
            yield info.name, kind, info.size if kind == "file" else 0, info.mode & 0o777, info.mtime

    def stream(self, index: int) -> IO[bytes]:
        found = self._tar.extractfile(self._infos[index])
        if found is None:
            raise tarfile.TarError("no content")
        return found


class _Compressed:
    """One file alone, compressed.

    Args:
        file: what it is compressed to.
        name: what it is unpacked as.
        max_bytes: how far it is looked at.
    """

    def __init__(self, file: BinaryIO, name: str, max_bytes: int) -> None:
        self._file, self._name, self._max_bytes = file, name, max_bytes

    def listed(self) -> Iterator[tuple[str, str, int, int | None, float]]:
        size, stream = 0, self.stream(0)
        while size <= self._max_bytes and (chunk := stream.read(_READ_BYTES)):
            size += len(chunk)
        yield self._name, "file", size, None, 0.0

    def stream(self, index: int) -> IO[bytes]:
        self._file.seek(index)
        head = self._file.read(512)
        self._file.seek(index)
        return cast("IO[bytes]", _tar_bytes(self._file, head))


class _Guarded(io.RawIOBase):
    """The bytes of an archive: no header can ask for more than `max_read` at once."""

    def __init__(self, file: IO[bytes], max_read: int = 4 * _READ_BYTES) -> None:
        self._file = file
        self._max_bytes = max(max_read, 4 * _READ_BYTES)

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= self._max_bytes:
            raise tarfile.TarError("a header is too long")
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


class _GuardedZip(_Guarded):
    """Those of a zip, whose end is read whole, wherever it is said to begin."""

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            at = self.tell()
            size = self.seek(0, 2) - at
            self.seek(at)
        return super().read(size)


def _tar_bytes(file: BinaryIO, head: bytes) -> IO[bytes] | None:
    """The tar in a file that starts like this, unpacked while it is read; None for none."""
    if head.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=file, mode="rb"))
    if head.startswith(b"BZh"):
        return bz2.BZ2File(file)
    if head.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMAFile(file)
    return file if head[257:262] == b"ustar" else None


def _kind_of_mode(mode: int) -> str:
    kinds = {
        stat.S_IFREG: "file",
        stat.S_IFDIR: "folder",
        stat.S_IFLNK: SYMBOLIC_LINK,
        stat.S_IFIFO: NAMED_PIPE,
    }
    return kinds.get(stat.S_IFMT(mode), DEVICE)


def _kind_of_tar(info: tarfile.TarInfo) -> str:
    if info.issym():
        return SYMBOLIC_LINK
    if info.islnk():
        return HARD_LINK
    if info.isfifo():
        return NAMED_PIPE
    return SPARSE if info.isreg() else DEVICE


def open_archive(
    file: BinaryIO,
    size: int,
    limits: ArchiveLimits,
    check: Callable[[], None],
    *,
    listing: bool = False,
    name: str = "",
) -> Archive:
    """Read the list of an archive and refuse it where any member is not a plain file or folder.

    Args:
        file: the archive, which can be sought in; it stays open while it is unpacked.
        size: its bytes.
        limits: how much it may hold.
        check: called between two steps.
        listing: whether nothing is unpacked, so that links and the like are shown.
        name: of the archive; `x.txt.gz` may be one file alone.

    Raises:
        UnsupportedContent: neither zip nor tar (plain, gzip, bzip2, xz), or encrypted.
        BadInput: damaged, or with a member that would land elsewhere or twice.
        TooLarge: too many members, or too much when unpacked.
    """
    with _readable():
        file.seek(0)
        head = file.read(512)
        file.seek(0)
        plain = _tar_bytes(file, head)
        if plain is not None:
            inner: _Inner
            try:
                inner = _Tar(cast("BinaryIO", _Guarded(plain)))
            except tarfile.ReadError:
                alone = _name_alone(name)
                if not alone or plain is file:
                    raise
                inner = _Compressed(file, alone, limits.max_bytes(size))
            return Archive(inner, size, limits, check, listing=listing)
        if head[:2] == b"PK" and zipfile.is_zipfile(file):
            _refuse_many(file, limits)
            file.seek(0)
            guarded = cast("BinaryIO", _GuardedZip(file, limits.entries * ENTRY_BYTES))
            return Archive(_Zip(guarded), size, limits, check, listing=listing)
    raise UnsupportedContent(
        "The file is not a zip or tar archive.", hint="Formats: zip, tar, tar.gz, tar.bz2, tar.xz."
    )


def _name_alone(name: str) -> str:
    """The name of what a file holds that is compressed alone; "" where it should be a tar."""
    stem, dot, ending = name.rpartition(".")
    is_tar = name.lower().endswith(tuple(FORMATS))
    return stem if dot and ending.lower() in ("gz", "bz2", "xz") and not is_tar else ""


def _refuse_many(file: BinaryIO, limits: ArchiveLimits) -> None:
    """Look at the count in the last record of a zip: its list alone could fill the memory."""
    file.seek(0, 2)
    end = file.tell()
    file.seek(max(end - 65_557, 0))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    count = int.from_bytes(tail[at + 10 : at + 12], "little") if at >= 0 else 0
    length = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    if count > limits.entries or length > limits.entries * ENTRY_BYTES:
        raise TooLarge(
            f"The archive has more than {limits.entries:,} entries.",
            hint="Nothing was unpacked. Ask for a smaller archive.",
        )


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except ToolError:
        raise
    except DAMAGED as error:
        raise _damaged(error) from None


def _damaged(error: Exception) -> BadInput:
    return BadInput(
        f"The archive is damaged: {str(error)[:200]}.", hint="Nothing was unpacked. Get it again."
    )


def _unsafe(what: str) -> BadInput:
    return BadInput(f"{REFUSED}{what}.", hint=UNSAFE_HINT)


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
class PackedEntry:
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


def collect_entries(
    paths: Sequence[SafePath],
    names: Sequence[str],
    check: Callable[[], None],
    use: Use = "read",
    max_entries: int = MAX_TREE_ENTRIES,
) -> tuple[list[PackedEntry], list[str]]:
    """What goes into an archive, and what is left out: protected names, links, devices.

    Args:
        paths: files and folders.
        names: their names in the archive; "" puts what a folder holds at the top.
        check: called between two steps.
        use: "write" also leaves out what could not be put back.
        max_entries: how many entries a folder may have.
    """
    found: list[PackedEntry] = []
    left_out: list[str] = []
    for path, name in zip(paths, names, strict=True):
        status = path.stat()
        if not stat.S_ISDIR(status.st_mode):
            found.append(_packed(name, path))
            continue
        if name:
            found.append(_packed(name, path))
        skipped: set[tuple[str, ...]] = set()
        unreadable: list[str] = []
        for inner in walk(path, check, max_entries, unreadable):
            if inner.names[:-1] in skipped:
                skipped.add(inner.names)
                continue
            path_in_archive = "/".join(filter(None, (name, *inner.names)))
            kind = inner.entry.kind
            special = inner.entry.protected or kind in ("link", "other")
            if (
                special
                or inner.path.gate.pattern(inner.path, use)
                or well_formed(path_in_archive) != path_in_archive
            ):
                left_out.append(printable(path_in_archive))
                skipped.add(inner.names)
                continue
            try:
                found.append(_packed(path_in_archive, inner.path))
            except PathDenied:  # another name of a protected file, or the system says no
                left_out.append(path_in_archive)
                skipped.add(inner.names)
        closed = ("/".join(filter(None, (name, folder))) for folder in unreadable)
        left_out += [folder for folder in closed if folder not in left_out]
    return found, left_out


def without_refused(members: Sequence[PackedEntry]) -> tuple[list[PackedEntry], list[str]]:
    """What of an archive would be unpacked again, and what would have it refused, with why.

    A refused folder takes along what is in it.
    """
    found: list[PackedEntry] = []
    refused: list[str] = []
    known: dict[str, str] = {}
    closed: set[str] = set()
    for member in members:
        above = member.name.rpartition("/")[0]
        if above in closed:
            closed.add(member.name)
            continue
        try:
            _refuse_duplicate(known, _plain_name(member.name), member.kind)
        except BadInput as error:
            reason = error.message.removeprefix(REFUSED).rpartition(": ")[2].rstrip(".")
            refused.append(f"{escaped(member.name)} ({reason})")
            closed.add(member.name)
            continue
        found.append(member)
    return found, refused


def pack(
    form: Format, members: Sequence[PackedEntry], check: Callable[[], None], comment: str = ""
) -> Iterator[bytes]:
    """The bytes of an archive; only a zip has a comment."""
    return _zip(members, check, comment) if form == "zip" else _tar(form, members, check)


def _packed(name: str, path: SafePath) -> PackedEntry:
    with path.open() as handle:
        status = handle.status
        folder = handle.kind == "folder"
    mode = stat.S_IMODE(status.st_mode) & 0o777
    size = 0 if folder else status.st_size
    return PackedEntry(name, path, "folder" if folder else "file", mode, status.st_mtime, size)


class _Pipe:
    """Takes what a writer writes and gives it on."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._chunks.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing waits here."""

    def take(self) -> Iterator[bytes]:
        written, self._chunks = self._chunks, []
        yield from written


def _zip(
    members: Sequence[PackedEntry], check: Callable[[], None], comment: str
) -> Iterator[bytes]:
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
                for chunk in _content(member, check):
                    target.write(chunk)
                    yield from out.take()
            yield from out.take()
    yield from out.take()


def _compressor(form: Format) -> tuple[Callable[[bytes], bytes], Callable[[], bytes]]:
    """What compresses a chunk, and what gives the rest at the end."""
    if form == "tar":
        return bytes, bytes
    if form == "tar.gz":
        gzip_packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        return gzip_packer.compress, gzip_packer.flush
    packer = bz2.BZ2Compressor() if form == "tar.bz2" else lzma.LZMACompressor(preset=3)
    return packer.compress, packer.flush


def _tar(
    form: Format, members: Sequence[PackedEntry], check: Callable[[], None]
) -> Iterator[bytes]:
    compress, flush = _compressor(form)
    for member in members:
        check()
        info = tarfile.TarInfo(member.name)
        info.mode, info.mtime = member.mode, int(member.mtime)
        info.size = member.size
        if member.kind == "folder":
            info.type = tarfile.DIRTYPE
        yield compress(info.tobuf(tarfile.PAX_FORMAT))
        if member.kind == "file":
            for chunk in _content(member, check):
                yield compress(chunk)
            yield compress(bytes(-member.size % tarfile.BLOCKSIZE))
    yield compress(bytes(2 * tarfile.BLOCKSIZE))
    yield flush()


def _content(member: PackedEntry, check: Callable[[], None]) -> Iterator[bytes]:
    """A file's bytes, as many as were announced."""
    seen = 0
    with member.path.open_read() as handle:
        while chunk := handle.file.read(CHUNK_BYTES):
            check()
            seen += len(chunk)
            if seen > member.size:
                break
            yield chunk
    if seen != member.size:
        raise being_changed(member.path.display)
