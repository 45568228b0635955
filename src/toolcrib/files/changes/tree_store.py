"""Trees of our own: what a run made is taken over, and undone, by renaming its top.

Nothing in such a tree is read, written or copied, so that it costs the same whatever it holds.
It works where both places lie on one mount; elsewhere contents are copied.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from toolcrib.core.errors import Conflict, StorageFailure
from toolcrib.files.changes.step import Change, changed_error
from toolcrib.files.trees import EntryState
from toolcrib.files.writer import drop_name, remove_tree, rename_new, status_of
from toolcrib.state.blobs import YOUNG_SECONDS
from toolcrib.state.store import make_private
from toolcrib.system.removal import opened, remove
from toolcrib.system.threads import random_id

TOP = "tree"
NOT_TAKEN = frozenset({errno.EXDEV, errno.EPERM, errno.EACCES, errno.EINVAL})
"""What a system says that renames nothing from one of the places to the other."""


class TakeoverRefused(StorageFailure):
    """Something of our own cannot be put in its place by renaming; copying it may work."""


class TreeStore:
    """The folder of trees that were undone, each in a folder of its own.

    Args:
        folder: where; made on first use.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place_for(self, taken_from: str) -> str:
        """Where a tree is stored that is undone: where it came from if that was here."""
        if taken_from.startswith(f"{self.folder}/"):
            return taken_from
        return str(self.folder / random_id(12) / TOP)

    def is_beside(self, folder: int) -> bool:
        """Whether something in an open folder can be renamed to here."""
        with suppress(OSError):
            make_private(self.folder)
            with opened(self.folder) as fd:
                return on_one_mount(fd, folder)
        return False

    def sweep(self, wanted: Container[str]) -> None:
        """Remove those that no step needs any more, but for young ones."""
        old = time.time() - YOUNG_SECONDS
        for place in self.folder.glob("*"):
            with suppress(OSError):
                if str(place / TOP) not in wanted and place.stat().st_mtime < old:
                    remove(place)


def take(stored: str, folder: int, name: str) -> None:
    """Put a stored tree under a name of an open folder, where nothing stands."""
    place = Path(stored)
    with opened(place.parent) as fd, _refusals(name):
        rename_new(fd, place.name, folder, name)


def put(folder: int, name: str, stored: str) -> None:
    """Store a tree of an open folder, where none is stored yet."""
    place = Path(stored)
    make_private(place.parent)
    with opened(place.parent) as fd:
        rename_new(folder, name, fd, place.name)


def take_again(stored: str, before: EntryState | None, folder: int, name: str) -> None:
    """The same of a tree that was just stored; nothing where it was not, or is another."""
    with suppress(FileNotFoundError):
        if before is not None and before.is_at(os.lstat(stored)):
            take(stored, folder, name)


def give_back(folder: int, name: str, stored: str) -> None:
    """Put a tree back to where it came from; where that is gone, the tree goes too."""
    if status_of(folder, name) is None:
        return
    try:
        place = Path(stored)
        with opened(place.parent) as fd:
            rename_new(folder, name, fd, place.name)
    except OSError:
        remove_tree(folder, name)


def move_names(change: Change, check: Callable[[], None]) -> None:
    """Move the files of a stored folder into another, or those of it into a stored one.

    Raises:
        Conflict: there is another file of that name, or one is not what it was.
        TakeoverRefused: a rename does not lead there.
    """
    if change.kind == "move_out":
        make_private(Path(change.stored))
    with _both_ends(change) as (source, target):
        for state in change.tree:
            check()
            display = f"{change.display}/{state.path}"
            if not state.is_at(status_of(source, state.path)):
                raise changed_error(display)
            try:
                with _refusals(display):
                    rename_new(source, state.path, target, state.path)
            except FileExistsError:
                raise Conflict(
                    f"{display} exists already.", hint="Look at it, then decide again."
                ) from None


def move_names_back(change: Change) -> None:
    """What was moved goes back to where it was.

    Raises:
        Conflict: another file has its name by now; the message says where it is.
    """
    lost: list[str] = []
    if not Path(change.stored).is_dir():
        if change.kind == "move_in":  # the folder of the run is gone, and so is what it made
            with change.path.open() as folder:
                for state in change.tree:
                    if state.is_at(status_of(folder.fd, state.path)):
                        drop_name(folder.fd, state.path)
        return
    with _both_ends(change) as (source, target):
        for state in change.tree:
            if not state.is_at(status_of(target, state.path)):
                continue
            try:
                rename_new(target, state.path, source, state.path)
            except FileExistsError:
                lost.append(f"{state.path}.before")
                with suppress(FileExistsError):
                    rename_new(target, state.path, source, lost[-1])
    if lost:
        raise Conflict(
            f"files were changed by another program; what stood there is now {', '.join(lost)}.",
            hint="Look at both.",
        )


@contextmanager
def _both_ends(change: Change) -> Iterator[tuple[int, int]]:
    """The folder that files come from, and the one that they go to, both open."""
    with change.path.open() as folder, opened(Path(change.stored)) as own:
        if folder.absolute != change.path.real_absolute:
            raise changed_error(change.display)  # a link by now
        yield (own, folder.fd) if change.kind == "move_in" else (folder.fd, own)


@contextmanager
def _refusals(display: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in NOT_TAKEN:
            raise TakeoverRefused(f"{display} cannot be renamed.") from None
        raise


def drop_names(stored: str, prefix: str) -> None:
    """Remove what stood in a tree for a moment when it was stored."""
    with suppress(OSError), opened(Path(stored)) as fd:
        with os.scandir(fd) as scan:
            entries = list(scan)
        for entry in entries:
            if entry.name.startswith(prefix):
                remove_tree(fd, entry.name)
            elif entry.is_dir(follow_symlinks=False):
                drop_names(f"{stored}/{entry.name}", prefix)


def on_one_mount(one: int, other: int) -> bool:
    """Whether things can be renamed from one open folder to another."""
    if os.fstat(one).st_dev != os.fstat(other).st_dev:
        return False
    return _mount_of(one) == _mount_of(other) != ""


def _mount_of(fd: int) -> str:
    with suppress(OSError):
        for line in Path(f"/proc/self/fdinfo/{fd}").read_text("ascii").splitlines():
            if line.startswith("mnt_id:"):
                return line
    return ""
