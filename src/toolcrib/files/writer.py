"""Writing to disk by descriptors of folders: new files, trees, renames, removals, the trash.

What replaces something is made under a name of our own beside it, and then renamed.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import platformdirs

from toolcrib.core.errors import Conflict, NotFound, PathDenied, StorageFailure, ToolError
from toolcrib.files.extended_attributes import Attributes, drop_access_lists, set_attributes
from toolcrib.files.handles import DESCRIPTORS, O_PATH, READABLE, WritePlace, kind_of
from toolcrib.files.paths import SafePath
from toolcrib.files.trees import CHUNK_BYTES, ZERO_CHUNK, EntryState, open_file, parent_of
from toolcrib.system import openat
from toolcrib.system.removal import FOLDER

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | openat.O_CLOEXEC | openat.O_NOFOLLOW
PREFIX = ".toolcrib-"
NO_LINKS = frozenset(
    {errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.EACCES, errno.ENOSYS, errno.EINVAL}
)
"""What a system says that gives a file no second name."""
NOT_EMPTY = frozenset({errno.ENOTEMPTY, errno.EEXIST})
NO_REPLACE, EXCHANGE = 1, 2
NAMELESS: int = getattr(os, "O_TMPFILE", 0)
NO_NAMELESS = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL, errno.EPERM})
"""What a file system says that knows no nameless files, or no second names."""
NO_RENAMEAT2 = frozenset({errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EOPNOTSUPP})


ContentSource = Callable[[str], Iterator[bytes]]
"""Gives the stored content of a digest."""


@contextmanager
def folder_of(path: SafePath) -> Iterator[tuple[int, str]]:
    """The folder that holds a path, open, and its name; no link beneath the root is followed."""
    with path.ancestor(0).open() as top, parent_of(top.fd, "/".join(path.parts)) as found:
        yield found


def staged_prefix(token: str) -> str:
    """How all names start that are used while a step is made."""
    return f"{PREFIX}{token}-"


def staged_names(token: str, number: int) -> tuple[str, str]:
    """The names under which the new and the old of one change stand for a moment."""
    start = f"{staged_prefix(token)}{number}"
    return f"{start}.new", f"{start}.old"


def write_file(
    folder: int,
    name: str,
    chunks: Iterable[bytes],
    check: Callable[[], None],
    *,
    mode: int | None = None,
    mtime: int | None = None,
    owner: tuple[int, int] | None = None,
    like: str = "",
    attributes: Attributes = (),
    inherits: bool = True,
    flush: bool = True,
) -> os.stat_result:
    """Write a whole new file and see it onto the disk; chunks of zeros become holes.

    Args:
        folder: a descriptor of the folder.
        name: its name; nothing stands there.
        chunks: the content.
        check: called between two chunks.
        mode: permission bits; None for the usual ones.
        mtime: nanoseconds; None for now.
        owner: user and group, kept as far as the system lets us.
        like: the name of a file in the folder whose extended attributes it gets.
        attributes: more of those, as far as the system takes them.
        inherits: whether it may have the access list that its folder gives to new files.
        flush: whether to wait for the disk; else the caller does so for many at once.
    """
    new_mode = 0o666 if mode is None else 0o600
    with openat.closing(openat.open(name, NEW, new_mode, dir_fd=folder)) as fd:
        for chunk in chunks:
            if chunk == ZERO_CHUNK:
                os.lseek(fd, len(chunk), os.SEEK_CUR)
            else:
                _write(fd, chunk, check)
        os.ftruncate(fd, os.lseek(fd, 0, os.SEEK_CUR))  # it may end with a hole
        if owner is not None:
            own(fd, owner)
        if like:
            copy_attributes(folder, like, fd)
        if not inherits:
            drop_access_lists(fd)
        set_attributes(fd, attributes)
        if mode is not None:
            openat.fchmod(fd, mode)
        # The clock of the file system ticks only every few milliseconds and inodes are used
        # again at once, so that two versions could have one fingerprint.
        now = time.time_ns() if mtime is None else mtime
        openat.utime(fd, ns=(now, now))
        if flush:
            os.fsync(fd)
        return openat.fstat(fd)


def _write(fd: int, chunk: bytes, check: Callable[[], None]) -> None:
    rest = memoryview(chunk)
    while rest:
        check()
        rest = rest[os.write(fd, rest[:CHUNK_BYTES]) :]


def own(fd: int, owner: tuple[int, int]) -> None:
    """Give a file to its owner, as far as we may."""
    status = openat.fstat(fd)
    if (status.st_uid, status.st_gid) != owner:
        with suppress(OSError):
            openat.fchown(fd, *owner)


def copy_attributes(folder: int, name: str, fd: int) -> None:
    """Extended attributes, and with them access lists, as far as we may."""
    if sys.platform != "linux":
        return
    # Closed files are replaced by an undo alone.
    with (
        suppress(OSError),
        openat.closing(open_file(folder, name, opens_closed=True)) as opened,
    ):
        drop_access_lists(fd)
        for attribute in os.listxattr(opened):
            with suppress(OSError):
                os.setxattr(fd, attribute, os.getxattr(opened, attribute))


def build_tree(
    folder: int,
    name: str,
    tree: Sequence[EntryState],
    fetch: ContentSource,
    check: Callable[[], None],
    *,
    flush: bool = True,
) -> os.stat_result:
    """Make a whole tree again, the first state under `name`; a folder stands before its content."""
    open_folders: list[tuple[EntryState, int]] = []
    try:
        for state in tree:
            check()
            above = state.path.rpartition("/")[0]
            while len(open_folders) > 1 and open_folders[-1][0].path != above:
                _finish_folder(*open_folders.pop())
            inside = open_folders[-1][1] if open_folders else folder
            last = state.path.rpartition("/")[2] or name
            _build(inside, last, state, fetch, check, flush=flush)
            if state.kind == "folder":
                open_folders.append((state, openat.open(last, FOLDER, dir_fd=inside)))
        while open_folders:
            _finish_folder(*open_folders.pop())
    finally:
        for _, fd in open_folders:
            openat.close(fd)
    return openat.stat(name, dir_fd=folder, follow_symlinks=False)


def _build(
    folder: int,
    name: str,
    state: EntryState,
    fetch: ContentSource,
    check: Callable[[], None],
    *,
    flush: bool,
) -> None:
    if state.kind == "folder":
        openat.mkdir(name, 0o700, dir_fd=folder)
    elif state.kind == "link":
        openat.symlink(state.target, name, dir_fd=folder)
        with suppress(OSError, NotImplementedError):
            openat.chown(name, *state.owner, dir_fd=folder, follow_symlinks=False)
        openat.utime(name, ns=(state.mtime, state.mtime), dir_fd=folder, follow_symlinks=False)
    elif state.kind == "pipe":
        openat.mkfifo(name, state.mode, dir_fd=folder)
    else:
        write_file(
            folder,
            name,
            fetch(state.digest),
            check,
            mode=state.mode,
            mtime=state.mtime,
            owner=state.owner,
            attributes=state.attributes,
            inherits=False,
            flush=flush,
        )


def _finish_folder(state: EntryState, fd: int) -> None:
    """After its content was made, which moved its time."""
    with openat.closing(fd):
        own(fd, state.owner)
        drop_access_lists(fd)
        set_attributes(fd, state.attributes)
        openat.fchmod(fd, state.mode)
        openat.utime(fd, ns=(state.mtime, state.mtime))


REMOVAL_ROUNDS = 20
"""So often a folder is emptied in which a program still makes names."""


def remove_tree(folder: int, name: str) -> None:
    """Remove whatever stands there, links not followed; nothing there is no harm."""
    status = status_of(folder, name)
    if status is None:
        return
    if not stat.S_ISDIR(status.st_mode):
        with suppress(FileNotFoundError):
            openat.unlink(name, dir_fd=folder)
        return
    for left in reversed(range(REMOVAL_ROUNDS)):
        with openat.closing(openat.open(name, FOLDER, dir_fd=folder)) as fd:
            with openat.open_entries(fd) as scan:
                names = [entry.name for entry in scan]
            for inner in names:
                remove_tree(fd, inner)
        try:
            openat.rmdir(name, dir_fd=folder)
        except OSError as error:
            if error.errno not in NOT_EMPTY or not left:
                raise
        else:
            return


def rename_new(source: int, name: str, folder: int, target: str) -> None:
    """Give a thing another name where nothing stands.

    Raises:
        FileExistsError: something does.
    """
    if _renameat2(source, name, folder, target, NO_REPLACE):
        return
    status = openat.stat(name, dir_fd=source, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        try:
            openat.link(name, target, src_dir_fd=source, dst_dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
        else:
            openat.unlink(name, dir_fd=source)
            return
    if status_of(folder, target) is not None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
    openat.rename(name, target, src_dir_fd=source, dst_dir_fd=folder)


def replace(folder: int, name: str, target: str, former_name: str) -> None:
    """Put a file in the place of another, which keeps a name: the one's former or `former_name`.

    Where the kernel can exchange two names, no moment has a file with two names or with none.
    """
    if _renameat2(folder, name, folder, target, EXCHANGE):
        return
    try:
        openat.link(
            target, former_name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False
        )
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        openat.rename(target, former_name, src_dir_fd=folder, dst_dir_fd=folder)
    openat.rename(name, target, src_dir_fd=folder, dst_dir_fd=folder)


def _renameat2(source: int, name: str, folder: int, target: str, flags: int) -> bool:
    """The system call of that name; False where this system or file system has it not."""
    call = _library_call()
    if call is None or call(source, os.fsencode(name), folder, os.fsencode(target), flags) == 0:
        return call is not None
    import ctypes

    code = ctypes.get_errno()
    if code in NO_RENAMEAT2:
        return False
    raise OSError(code, os.strerror(code), target)


@lru_cache(maxsize=1)
def _library_call() -> Any:
    if sys.platform != "linux":
        return None
    import ctypes

    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return None
    text, number = ctypes.c_char_p, ctypes.c_int
    call.argtypes = [number, text, number, text, ctypes.c_uint]
    return call


def rename(source: int, name: str, folder: int, target: str) -> None:
    """Give a thing another name; a file that has it already goes."""
    openat.rename(name, target, src_dir_fd=source, dst_dir_fd=folder)


def drop_name(folder: int, name: str) -> None:
    """Take a name away: that of a link, or of a file that has another one."""
    openat.unlink(name, dir_fd=folder)


def make_one(folder: int, name: str, mode: int | None = None) -> os.stat_result:
    """Make one folder."""
    openat.mkdir(name, 0o777, dir_fd=folder)
    if mode is not None:
        openat.chmod(name, mode, dir_fd=folder)
    return openat.stat(name, dir_fd=folder, follow_symlinks=False)


def set_mode(folder: int, name: str, mode: int) -> os.stat_result:
    """Give a file or folder other permission bits; a link is refused.

    Raises:
        OSError: ELOOP for a link.
    """
    flags = (O_PATH or READABLE) | openat.O_NOFOLLOW | openat.O_CLOEXEC
    with openat.closing(openat.open(name, flags, dir_fd=folder)) as opened:
        if stat.S_ISLNK(openat.fstat(opened).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
        openat.chmod(f"{DESCRIPTORS}/{opened}" if O_PATH else opened, mode)
        return openat.fstat(opened)


def remove_empty_folder(folder: int, name: str) -> bool:
    """Remove a folder if it is empty; whether it was."""
    try:
        openat.rmdir(name, dir_fd=folder)
    except OSError:
        return False
    return True


def holds_only(folder: int, name: str, prefix: str) -> bool:
    """Whether all names in a folder start like this; an empty one holds no other."""
    inner = openat.open(name, FOLDER, dir_fd=folder)
    with openat.closing(inner), openat.open_entries(inner) as scan:
        return all(entry.name.startswith(prefix) for entry in scan)


def is_closed(status: os.stat_result) -> bool:
    """Whether it is a folder that its owner may not list or enter."""
    return stat.S_ISDIR(status.st_mode) and status.st_mode & 0o500 != 0o500


def open_up(folder: int, name: str) -> None:
    """Give ourselves, the owner, all rights on a folder.

    Raises:
        OSError: it is not ours.
    """
    status = openat.stat(name, dir_fd=folder, follow_symlinks=False)
    set_mode(folder, name, stat.S_IMODE(status.st_mode) | stat.S_IRWXU)


def status_of(folder: int, name: str) -> os.stat_result | None:
    """What stands there, links not followed; None for nothing."""
    try:
        return openat.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def flush_system(fd: int) -> None:
    """See all that was written to a file system onto the disk."""
    if sys.platform == "linux":
        import ctypes

        with suppress(AttributeError, OSError, TypeError):
            if ctypes.CDLL(None, use_errno=True).syncfs(fd) == 0:
                return
    if sys.platform != "win32":
        os.sync()


def flush_folder(folder: int) -> None:
    """See the names of a folder onto the disk."""
    with suppress(OSError), openat.closing(openat.open(".", FOLDER, dir_fd=folder)) as fd:
        os.fsync(fd)


MAX_TRASH_NAMES = 1000


class Trash:
    """The trash of the desktop, where there is one (freedesktop.org's specification 1.0).

    It takes things by renaming, so it serves only its own file system. Undo does not
    need it: what is deleted is kept for that as well. It is where a person looks.

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

    def take(self, source: int, name: str, display: str, path: str) -> bool:
        """Move something there.

        Args:
            source: a descriptor of the folder it is in.
            name: its name there.
            display: the name it had.
            path: where it was, absolute.

        Returns:
            Whether it went; False leaves it where it was.
        """
        with suppress(OSError), ExitStack() as end:
            files, info = (
                end.enter_context(openat.closing(openat.open(str(self.folder / part), FOLDER)))
                for part in ("files", "info")
            )
            return self._take(source, name, display, path, files, info)
        return False

    def _take(self, source: int, name: str, display: str, path: str, files: int, info: int) -> bool:
        now = datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S")
        record = f"[Trash Info]\nPath={quote(os.fsencode(path))}\nDeletionDate={now}\n".encode()
        for number in range(1, MAX_TRASH_NAMES):
            free = display if number == 1 else f"{display}.{number}"
            try:
                write_file(info, f"{free}.trashinfo", [record], lambda: None, mode=0o600)
            except FileExistsError:
                continue
            if status_of(files, free) is not None:
                openat.unlink(f"{free}.trashinfo", dir_fd=info)
                continue
            try:
                openat.rename(name, free, src_dir_fd=source, dst_dir_fd=files)
            except OSError:
                with suppress(OSError):
                    openat.unlink(f"{free}.trashinfo", dir_fd=info)
                return False
            return True
        return False


def make_folder(folder: SafePath) -> None:
    """A folder and those above it, where they are missing.

    Raises:
        PathDenied: it is protected, or something else has its name.
        StorageFailure: the system refuses.
    """
    for depth in range(1, len(folder.parts) + 1):
        step = folder.ancestor(depth)
        with suppress(NotFound):
            if kind_of(step.stat().st_mode) != "folder":
                raise PathDenied(
                    f"Access denied: {step.display} is not a folder.", hint="Use another folder."
                )
            continue
        with step.place() as place:
            try:
                openat.mkdir(place.name, dir_fd=place.folder)
            except FileExistsError:
                continue  # another process was quicker
            except OSError as error:
                raise explained(error, step.display) from None


def write_new(path: SafePath, data: bytes, check: Callable[[], None] = lambda: None) -> None:
    """Write a file that does not exist yet.

    Where the system has nameless files, the name appears when all is written, so not
    even a kill leaves half a file. Elsewhere what a failure leaves is removed.

    Args:
        path: where; its folder exists.
        data: all of it.
        check: called between two steps; raises when the work should stop.

    Raises:
        Conflict: the name is taken.
        PathDenied: it is protected.
        StorageFailure: the disk is full, or the system refuses.
    """
    with path.place() as place:
        if place.status is not None:
            raise _taken(path)
        try:
            if not _written_nameless(place, data, check):
                _written_in_place(place, data, check)
        except FileExistsError:
            raise _taken(path) from None
        except OSError as error:
            raise explained(error, path.display) from None


def _written_nameless(place: WritePlace, data: bytes, check: Callable[[], None]) -> bool:
    """Write and then name it; False where the file system cannot do so."""
    if not NAMELESS:
        return False
    flags = NAMELESS | os.O_WRONLY | openat.O_CLOEXEC
    try:
        with openat.closing(openat.open(".", flags, 0o666, dir_fd=place.folder)) as fd:
            _write(fd, data, check)
            openat.link(f"{DESCRIPTORS}/{fd}", place.name, dst_dir_fd=place.folder)
    except OSError as error:
        if error.errno not in NO_NAMELESS:
            raise
        return False
    return True


def _written_in_place(place: WritePlace, data: bytes, check: Callable[[], None]) -> None:
    with openat.closing(openat.open(place.name, NEW, 0o666, dir_fd=place.folder)) as fd:
        try:
            _write(fd, data, check)
        except BaseException:
            with suppress(OSError):
                openat.unlink(place.name, dir_fd=place.folder)
            raise


def _taken(path: SafePath) -> Conflict:
    return Conflict(f"{path.display} exists already.", hint="Use another name.")


def explained(error: OSError, display: str) -> ToolError:
    """The failure of a write in words."""
    if error.errno == errno.EROFS:
        return PathDenied(
            f"Access denied: {display} lies on a disk that can only be read.",
            hint="Nothing there can be changed: ask the user to mount it for writing, or to "
            "start toolcrib with a workspace on another disk.",
            rule="permissions",
        )
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return PathDenied(
            f"Access denied: the operating system does not let toolcrib write {display}.",
            hint="Use another folder, or ask the user for the permission.",
            rule="permissions",
        )
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
        return Conflict(
            f"The folder of {display} has changed meanwhile.",
            hint="Look at it again before changing it.",
        )
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    why = "the disk is full" if full else error.strerror or str(error)
    return StorageFailure(
        f"{display} cannot be written: {why}.",
        hint="Free some space, or use another folder." if full else "",
    )
