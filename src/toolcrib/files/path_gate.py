"""The one place where paths are opened, and where a refusal gets its words."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import (
    BadInput,
    NotFound,
    PathDenied,
    StorageFailure,
    ToolError,
)
from toolcrib.files.beneath import READABLE, Found, Openat2, Opener
from toolcrib.files.handles import Entry, Handle, Leads, Place, kind_of, special_name
from toolcrib.files.hard_links import Twins
from toolcrib.files.missing_paths import Missing
from toolcrib.files.protection import Protection, Use
from toolcrib.files.roots import ROOTS_HINT, open_root
from toolcrib.files.suggestions import Listed, guesses

if TYPE_CHECKING:
    from toolcrib.files.paths import SafePath

LISTS_HINT = (
    "The user can change this with workspace.unprotect, protect_read and protect_write "
    "in the configuration of toolcrib."
)
NAMES_SEARCHED = 5000
_NOWHERE: Leads = ""
Order = Callable[[Entry], Any]


def by_name(entry: os.DirEntry[str]) -> tuple[bool, str, str]:
    """The order of a listing: folders first, then without regard to case."""
    return not entry.is_dir(follow_symlinks=False), entry.name.casefold(), entry.name


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in path.split("/") if name)


class Gate:
    """Opens what lies beneath a root and is not protected, and nothing else."""

    def __init__(self, opener: Opener, protection: Protection) -> None:
        self._opener = opener
        self._protection = protection
        self._twins = Twins(protection)
        self.grants = False

    def granting(self, path: SafePath) -> Gate:
        """The same, by which one path may be written though its name is protected from that.

        Only for what was judged by its content: what git itself puts into a new repository.
        See `Protection.granting`.
        """
        starts = {path.root.real_parts, _names(path.root.name)}
        places = [(*start, *path.parts) for start in starts]
        found = Gate(self._opener, self._protection.granting(places))
        found.grants = True
        return found

    @property
    def protection(self) -> Protection:
        """The names that are refused."""
        return self._protection

    def check(self, path: SafePath, use: Use) -> None:
        """Refuse a protected name as it is spelt; links are looked at when it is opened.

        Raises:
            PathDenied: naming the pattern.
        """
        self._refuse_protected(path, path.parts, use)

    def open(self, path: SafePath) -> Handle:
        """Open a plain file or a folder for reading.

        Raises:
            PathDenied: it leads outside, is protected, or is neither file nor folder.
            NotFound: it does not exist; the message names the nearest names.
            NotConfigured: the root itself is missing.
        """
        with self._find(path) as found:
            self._refuse_protected(path, found.parts, "read")
            if kind_of(found.status.st_mode) == "other":
                raise self._special(path, found.status)
            self._refuse_second_name(path, found.status)
            try:
                fd = found.readable()
            except OSError as error:
                raise self._explain(error, path) from None
            real = path.root.real_path(found.parts)
            return Handle(fd, os.fstat(fd), real, path.display)

    def open_in(self, folder: Handle, way: str, path: SafePath) -> Handle | None:
        """Open a plain file beneath an open folder: quicker for many files than `open`.

        What needs more words or a closer look is left to `open`: links on the way, second
        names, protected and missing files, systems without openat2.

        Args:
            folder: the folder, which was opened here.
            way: the names from there to the file, joined by `/`.
            path: the same file as a path.

        Returns:
            The file; None where `open` has to be asked.
        """
        if not isinstance(self._opener, Openat2) or self._protecting(path, path.parts, "read"):
            return None
        try:
            fd = self._opener.unlinked(folder.fd, way, READABLE)
        except OSError:
            return None
        try:
            status = os.fstat(fd)
            if kind_of(status.st_mode) == "file" and status.st_nlink == 1:
                kept, fd = fd, -1
                return Handle(kept, status, f"{folder.absolute.rstrip('/')}/{way}", path.display)
            return None
        finally:
            if fd >= 0:
                os.close(fd)

    def status(self, path: SafePath) -> os.stat_result:
        """What the system says about what a path leads to, without opening it.

        Raises:
            PathDenied, NotFound, NotConfigured: as `open`.
        """
        with self._find(path) as found:
            self._refuse_protected(path, found.parts, "read")
            return found.status

    def entries(self, path: SafePath, order: Order | None = None, most: int = 0) -> list[Entry]:
        """What a folder holds, in no order.

        Args:
            path: the folder.
            order: what is sorted by where only the first are wanted; None is by name,
                folders before files.
            most: how many; 0 is all. Memory is taken for so many alone.

        Raises:
            BadInput: it is not a folder.
            PathDenied, NotFound, NotConfigured: as `open`.
        """
        with self.open(path) as handle:
            if handle.kind != "folder":
                raise BadInput(f"{path.display} is a file, not a folder.")
            real = [part for part in handle.absolute.split("/") if part]
            barring = self._protection.of_folder(real, "read")
            try:
                with os.scandir(handle.fd) as scan:
                    items = nsmallest(most, scan, by_name) if most and order is None else scan
                    found = (self._entry(path, handle, item, barring) for item in items)
                    there = (entry for entry in found if entry is not None)
                    return nsmallest(most, there, order) if most and order else list(there)
            except OSError as error:
                raise self._explain(error, path) from None

    def link(self, path: SafePath) -> str:
        """Where a path leads that is itself a link, as written there; "" for any other."""
        if not path.parts:
            return ""
        with self._find(path.parent) as folder:
            try:
                return os.readlink(path.name, dir_fd=folder.fd)
            except OSError:
                return ""

    def count(self, path: SafePath) -> int:
        """How many names a folder holds, up to `NAMES_SEARCHED`; 0 where it cannot be read."""
        return len(self._look_into(path) or ())

    @contextmanager
    def place(self, path: SafePath, *, whole: bool = False) -> Iterator[Place]:
        """The folder that holds a path, open, and what is there now: for writing.

        Args:
            path: where.
            whole: what stands there is moved or removed as a whole and not written to, so
                it may be a link, special, or have a second name.

        Raises:
            PathDenied: it is protected, a link, special, or has a second name (a hard
                link: the other name may be anywhere).
            NotFound: the folder does not exist.
        """
        if not path.parts:
            raise PathDenied(
                f"Access denied: {path.display} is the workspace itself.",
                hint="Name a file or a folder inside it.",
            )
        with self._find(path.parent) as folder:
            name = path.parts[-1]
            parts = (*folder.parts, name)
            self._refuse_protected(path, path.parts, "write")
            self._refuse_protected(path, parts, "write")
            try:
                status = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
            except FileNotFoundError:
                status = None
            except OSError as error:
                raise self._explain(error, path) from None
            if status is not None and not whole:
                self._refuse_write_through(path, status)
            yield Place(folder.fd, name, path.root.real_path(parts), status)

    def pattern(self, path: SafePath, use: Use) -> str:
        """The pattern that protects a path as it is spelt; "" where none does."""
        return self._protection.match((*path.root.real_parts, *path.parts), len(path.parts), use)

    def _refuse_write_through(self, path: SafePath, status: os.stat_result) -> None:
        kind = kind_of(status.st_mode)
        if kind in ("link", "other"):
            raise self._special(path, status)
        if kind == "file" and status.st_nlink > 1:
            raise PathDenied(
                f"Access denied: {path.display} has {status.st_nlink} names (hard links).",
                hint="Writing would change the file under its other names too. Copy it first.",
                rule="hard_link",
            )

    def _entry(
        self,
        path: SafePath,
        handle: Handle,
        item: os.DirEntry[str],
        barring: Callable[[str], str],
    ) -> Entry | None:
        try:
            status = item.stat(follow_symlinks=False)
        except OSError:
            return None  # gone since the folder was read
        kind = kind_of(status.st_mode)
        target, leads = "", _NOWHERE
        if kind == "link":
            target, leads = self._target(path.child(item.name), handle.fd)
        return Entry(
            name=item.name,
            kind=kind,
            size=status.st_size,
            modified=status.st_mtime,
            target=target,
            leads=leads,
            protected=barring(item.name),
        )

    def _target(self, path: SafePath, folder: int) -> tuple[str, Leads]:
        try:
            target = os.readlink(path.name, dir_fd=folder)
        except OSError:
            return "", "missing"
        try:
            with open_root(self._opener, path.root) as root:
                found = self._opener.find(root, path.root.real, path.parts)
        except OSError as error:
            broken: dict[int | None, Leads] = {errno.EXDEV: "outside", errno.ELOOP: "loop"}
            return target, broken.get(error.errno, "missing")
        found.close()
        kind = kind_of(found.status.st_mode)
        return target, kind if kind != "link" else "other"

    @contextmanager
    def _find(self, path: SafePath) -> Iterator[Found]:
        try:
            with open_root(self._opener, path.root) as root:
                found = self._opener.find(root, path.root.real, path.parts)
        except OSError as error:
            raise self._explain(error, path) from None
        try:
            yield found
        finally:
            found.close()

    def _refuse_protected(self, path: SafePath, parts: Sequence[str], use: Use) -> None:
        pattern = self._protecting(path, parts, use)
        if pattern:
            verb = "reading and writing" if use == "read" else "writing"
            raise PathDenied(
                f"Access denied: {path.display} is protected from {verb} ({pattern}).",
                hint=LISTS_HINT,
                rule=pattern,
            )

    def _protecting(self, path: SafePath, parts: Sequence[str], use: Use) -> str:
        """The pattern that forbids names beneath the root of a path, however that is spelt."""
        for start in {path.root.real_parts, _names(path.root.name)}:
            pattern = self._protection.match((*start, *parts), len(parts), use)
            if pattern:
                return pattern
        return ""

    def second_name(self, path: SafePath, status: os.stat_result) -> str:
        """The pattern that protects another name of a file from reading; "" where none does."""
        return self._twins.pattern(path.root.real, status)

    def _refuse_second_name(self, path: SafePath, status: os.stat_result) -> None:
        pattern = self.second_name(path, status)
        if pattern:
            raise PathDenied(
                f"Access denied: {path.display} is another name of a file that is protected "
                f"from reading ({pattern}).",
                hint=LISTS_HINT,
                rule=pattern,
            )

    def _special(self, path: SafePath, status: os.stat_result) -> PathDenied:
        kind = special_name(status.st_mode)
        return PathDenied(
            f"Access denied: {path.display} is {kind}, not a plain file or folder.",
            hint="Use another file.",
            rule="kind",
        )

    def _explain(self, error: OSError, path: SafePath) -> ToolError:
        code, shown = error.errno, path.display
        if code in (errno.ENOENT, errno.ENOTDIR):
            return self._missing(path)
        if code == errno.EXDEV:
            return PathDenied(
                f"Access denied: {shown} leads outside the workspace through a symbolic link.",
                hint=ROOTS_HINT,
                rule="outside",
            )
        if code == errno.ELOOP:
            return PathDenied(
                f"Access denied: {shown} is a loop of symbolic links, or a link of the kernel's.",
                hint="Name the file itself instead of the link.",
                rule="loop",
            )
        if code in (errno.EACCES, errno.EPERM):
            return PathDenied(
                f"Access denied: the operating system does not let toolcrib read {shown}.",
                hint="Use another file, or ask the user for the permission.",
                rule="permissions",
            )
        if code == errno.ENAMETOOLONG:
            return BadInput(f"{shown[:200]} has a name that is too long.")
        return StorageFailure(f"{shown} cannot be read: {error.strerror or error}.")

    def _missing(self, path: SafePath) -> NotFound:
        """Not found, with the nearest names that exist."""

        def look() -> tuple[str, list[str]]:
            near = [guess.display for guess in guesses(path, self._look_into)]
            if near:
                return f"Did you mean {' or '.join(near)}?", near
            above = (path.ancestor(depth) for depth in range(len(path.parts)))
            exists = any(self._look_into(folder) is not None for folder in above)
            return "list_directory shows what there is." if exists else ROOTS_HINT, near

        return Missing(f"{path.display} does not exist.", look)

    def _look_into(self, folder: SafePath) -> list[Listed] | None:
        """What a folder holds, for guesses; None where it does not exist."""
        try:
            with open_root(self._opener, folder.root) as root:
                found = self._opener.find(root, folder.root.real, folder.parts)
        except FileNotFoundError:
            return None
        except OSError:
            return []
        try:
            self._refuse_protected(folder, found.parts, "read")
            fd = found.readable()
        except (OSError, PathDenied):
            return []
        finally:
            found.close()
        try:
            with os.scandir(fd) as scan:
                return [
                    Listed(entry.name, entry.is_dir(follow_symlinks=False))
                    for entry in islice(scan, NAMES_SEARCHED)
                ]
        except OSError:
            return []
        finally:
            os.close(fd)
