"""Checked paths and the gate that opens them: the one place where files are opened by path."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from itertools import islice
from typing import Any

from toolcrib.core.errors import (
    BadInput,
    NotFound,
    PathDenied,
    StorageFailure,
    TooLarge,
    ToolError,
)
from toolcrib.files.handles import (
    READABLE,
    ROOTS_HINT,
    Entry,
    Handle,
    KernelOpener,
    Kind,
    Leads,
    OpenEntry,
    Opener,
    Root,
    WritePlace,
    kind_of,
    open_root,
    special_kind_name,
)
from toolcrib.files.path_rules import Protection, Use, parts_beneath
from toolcrib.files.real_paths import real_path
from toolcrib.files.repositories.credentials import (
    MAX_SETTINGS_BYTES,
    are_settings,
    holds_credentials,
    may_be_settings,
)
from toolcrib.files.suggestions import FolderName, MissingPath, guesses
from toolcrib.system import openat

LISTS_HINT = (
    "The user can change this with workspace.unprotect, protect_read and protect_write "
    "in the configuration of toolcrib."
)
NAMES_SEARCHED = 5000
_NOWHERE: Leads = ""
Order = Callable[[Entry], Any]
NameFilter = Callable[[str], bool]


def by_name(entry: openat.FolderEntry) -> tuple[bool, str, str]:
    """The order of a listing: folders first, then without regard to case."""
    return not entry.is_dir(follow_symlinks=False), entry.name.casefold(), entry.name


def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in path.split("/") if name)


@dataclass(frozen=True, slots=True)
class SafePath:
    """A place inside the workspace, existing or not.

    The methods block: a tool runs them in a thread. None of them opens by name what
    was checked before; each resolves the path anew beneath the root.

    Attributes:
        root: the folder that it lies beneath.
        parts: the names that lead there, without `..`; links in them are still links.
        base: how many parts the current directory of the conversation has, where it
            lies above; -1 otherwise.
    """

    root: Root
    parts: tuple[str, ...]
    gate: PathGate = field(repr=False, compare=False)
    base: int = 0

    @property
    def absolute(self) -> str:
        """The whole path, in the spelling of the configuration."""
        return self.root.absolute(self.parts)

    @property
    def real_absolute(self) -> str:
        """The whole path, where no link leads to the root. Its own parts are not followed."""
        return self.root.real_path(self.parts)

    @property
    def display(self) -> str:
        """The shortest path that names this place when it is sent back."""
        if self.base < 0:
            return self.absolute
        return "/".join(self.parts[self.base :]) or "."

    @property
    def name(self) -> str:
        """The last name; that of the root for the root."""
        return self.parts[-1] if self.parts else self.root.name.rpartition("/")[2]

    def __str__(self) -> str:
        return self.absolute

    def granted(self) -> SafePath:
        """The same place, which may be written though its name is protected from that.

        See `PathGate.granting`: only for what was checked by its content.
        """
        return replace(self, gate=self.gate.granting(self))

    def but_for(self, pattern: str) -> SafePath:
        """The same place, for which one built-in pattern does not count.

        Only for a tool that asks, and that neither shows nor changes more than is asked for.
        """
        return replace(self, gate=self.gate.without(pattern))

    def spellings(self) -> list[str]:
        """The path as it was written, and where its links lead, both as the root is written.

        Raises:
            Conflict: a link on the way is replaced at this moment.
            StorageFailure: the system cannot tell.
        """
        try:
            real = real_path(self.absolute)
        except OSError as error:
            raise StorageFailure(f"{self.display} cannot be read: {error.strerror}.") from None
        if real == self.root.real or real.startswith(f"{self.root.real}/"):
            real = self.root.name.rstrip("/") + real[len(self.root.real.rstrip("/")) :]
        return list(dict.fromkeys((self.absolute, real)))

    @property
    def parent(self) -> SafePath:
        """The folder that holds it; the root is its own."""
        return self.ancestor(max(len(self.parts) - 1, 0))

    def ancestor(self, depth: int) -> SafePath:
        """The folder above whose path has so many parts."""
        return self.at(self.parts[:depth])

    def upwards(self) -> Iterator[SafePath]:
        """The place itself and the folders above it, up to the root of the workspace."""
        return (self.ancestor(depth) for depth in range(len(self.parts), -1, -1))

    def at(self, parts: tuple[str, ...]) -> SafePath:
        """Another place beneath the same root."""
        named = self.base >= 0 and parts[: self.base] == self.parts[: self.base]
        return SafePath(self.root, parts, self.gate, self.base if named else -1)

    def real_at(self, parts: Sequence[str]) -> SafePath:
        """Another place beneath the same root, named by its whole path."""
        return SafePath(self.root, tuple(parts), self.gate, -1)

    def place_of(self, handle: Handle) -> SafePath:
        """Where something is that was opened by a path beneath the same root, links followed."""
        return self.real_at(parts_beneath(handle.absolute, self.root.real) or ())

    def named_from(self, folder: SafePath) -> SafePath:
        """The same place, to be named as from that folder where it lies beneath it."""
        depth = len(folder.parts)
        beneath = self.root == folder.root and self.parts[:depth] == folder.parts
        return replace(self, base=depth if beneath else -1)

    def child(self, name: str) -> SafePath:
        """What a folder's listing names `name`."""
        if "/" in name or "\0" in name or name in ("", ".", ".."):
            raise BadInput(f"{name!r} is not a name.")
        return self.at((*self.parts, name))

    def open(self) -> Handle:
        """Open a file or a folder; see `PathGate.open` for what is raised."""
        return self.gate.open(self)

    def open_read(self, within: Handle | None = None) -> Handle:
        """Open a plain file.

        Args:
            within: a folder that holds it somewhere, open, where many are read.

        Raises:
            BadInput: it is a folder.
            PathDenied, NotFound: see `PathGate.open`.
        """
        handle = (within and self._in(within)) or self.open()
        if handle.kind != "file":
            handle.close()
            raise BadInput(
                f"{self.display} is a folder, not a file.",
                hint="Name a file in it: list_directory shows them.",
            )
        return handle

    def read_bytes(self, max_bytes: int) -> bytes:
        """The whole file.

        Args:
            max_bytes: at most so many.

        Raises:
            TooLarge: it has more than `max_bytes`.
            BadInput, PathDenied, NotFound: as `open_read`.
        """
        return self.read_with_change(max_bytes)[0]

    def read_with_change(self, max_bytes: int) -> tuple[bytes, float]:
        """The whole file, and when this very file was last changed, seen after it was read.

        Args and errors are those of `read_bytes`.
        """
        with self.open_read() as handle:
            data = handle.file.read(max_bytes + 1)
            if len(data) > max_bytes:
                size = max(handle.size, len(data))
                raise TooLarge(f"{self.display} has {size:,} bytes, more than {max_bytes:,}.")
            return data, handle.last_change()

    def _in(self, folder: Handle) -> Handle | None:
        names = parts_beneath(self.real_absolute, folder.absolute)
        return self.gate.open_in(folder, "/".join(names), self) if names else None

    def need_inside(self) -> None:
        """Refuse the root.

        Raises:
            PathDenied: it is that.
        """
        if not self.parts:
            raise PathDenied(
                f"Access denied: {self.display} is the workspace itself.",
                hint="Name a file or a folder inside it.",
            )

    def kind(self) -> Kind:
        """Whether it is a "file" or a "folder", links followed; raises as `open`."""
        with self.open() as handle:
            return handle.kind

    def stat(self) -> os.stat_result:
        """What the system says about it, links followed; see `PathGate.status`."""
        return self.gate.status(self)

    def link(self) -> str:
        """The target of a link, as written; "" for what is none. See `PathGate.link`."""
        return self.gate.link(self)

    def count(self) -> int:
        """How many names the folder holds; see `PathGate.count`."""
        return self.gate.count(self)

    def list(
        self, order: Order | None = None, limit: int = 0, fits: NameFilter | None = None
    ) -> list[Entry]:
        """What the folder holds, in no order; see `PathGate.entries`."""
        return self.gate.entries(self, order, limit, fits)

    def totals(self, fits: NameFilter | None = None) -> tuple[int, int]:
        """How many folders and other things the folder holds; see `PathGate.totals`."""
        return self.gate.totals(self, fits)

    def place(self, *, whole: bool = False) -> AbstractContextManager[WritePlace]:
        """Where to write it, see `PathGate.place`."""
        return self.gate.place(self, whole=whole)

    def settled(self) -> SafePath:
        """The same place with each link above it followed, itself not.

        What does not exist yet is taken as it is spelt.

        Raises:
            PathDenied: the path leads outside, or through something that is no folder.
        """
        for depth in range(len(self.parts) - 1, -1, -1):
            with suppress(NotFound), self.ancestor(depth).open() as handle:
                if handle.kind != "folder":
                    raise PathDenied(
                        f"Access denied: {handle.display} is not a folder.",
                        hint="Use another folder.",
                    )
                return self.real_at((*self.place_of(handle).parts, *self.parts[depth:]))
        return self


def _refuse_credentials(handle: Handle) -> None:
    """Close a file with settings of git that hold a credential.

    Raises:
        PathDenied: they do. Git reads them all the same, and so do the tools for git.
    """
    folder, _, name = handle.absolute.rpartition("/")
    if handle.kind != "file" or not may_be_settings(name):
        return
    bare = all(os.path.lexists(f"{folder}/{entry}") for entry in ("HEAD", "objects"))
    if not bare and not are_settings(handle.absolute.split("/")):
        return
    data = handle.file.read(MAX_SETTINGS_BYTES + 1)
    handle.file.seek(0)
    if len(data) > MAX_SETTINGS_BYTES or holds_credentials(data):
        handle.close()
        raise PathDenied(
            f"Access denied: {handle.display} holds a password or token for git"
            f"{'' if len(data) <= MAX_SETTINGS_BYTES else ', or is too long to tell'}.",
            hint="git_status, git_log and git_fetch work; the user can keep it in a credential "
            "helper instead.",
            rule="credentials",
        )


class PathGate:
    """Opens what lies beneath a root and is not protected, and nothing else."""

    def __init__(self, opener: Opener, protection: Protection) -> None:
        self._opener = opener
        self._protection = protection
        self._hard_links = HardLinks(protection)
        self._whole: PathGate | None = None
        self.grants = False
        self.lifted: tuple[str, ...] = ()

    def granting(self, path: SafePath) -> PathGate:
        """The same, by which one path may be written though its name is protected from that.

        Only for what was checked by its content: what git itself puts into a new repository.
        See `Protection.granting`.
        """
        starts = {path.root.real_parts, _names(path.root.name)}
        places = [(*start, *path.parts) for start in starts]
        found = PathGate(self._opener, self._protection.granting(places))
        found.grants = True
        found._whole = self._whole
        return found

    def without(self, pattern: str) -> PathGate:
        """The same, but for one built-in pattern. See `Protection.without`."""
        found = PathGate(self._opener, self._protection.without(pattern))
        found._whole = self.whole
        found.lifted = (*self.lifted, pattern)
        return found

    @property
    def whole(self) -> PathGate:
        """The one from which `without` took a pattern: it still protects from programs of runs."""
        return self._whole or self

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
            handle = Handle(fd, openat.fstat(fd), path.root.real_path(found.parts), path.display)
            _refuse_credentials(handle)
            return handle

    def open_in(self, folder: Handle, names: str, path: SafePath) -> Handle | None:
        """Open a plain file beneath an open folder: quicker for many files than `open`.

        What needs more words or a closer check is left to `open`: links in the path, second
        names, protected and missing files, systems without openat2.

        Args:
            folder: the folder, which was opened here.
            names: the names from there to the file, joined by `/`.
            path: the same file as a path.

        Returns:
            The file; None where `open` has to be asked.
        """
        if not isinstance(self._opener, KernelOpener) or self._protecting(path, path.parts, "read"):
            return None
        if path.parts and may_be_settings(path.parts[-1]):
            return None
        try:
            fd = self._opener.unlinked(folder.fd, names, READABLE)
        except OSError:
            return None
        place = f"{folder.absolute.rstrip('/')}/{names}"
        handle = Handle(fd, openat.fstat(fd), place, path.display)
        if handle.kind == "file" and handle.status.st_nlink == 1:
            return handle
        handle.close()
        return None

    def status(self, path: SafePath) -> os.stat_result:
        """What the system says about what a path leads to, without opening it.

        Raises:
            PathDenied, NotFound, NotConfigured: as `open`.
        """
        with self._find(path) as found:
            self._refuse_protected(path, found.parts, "read")
            return found.status

    def entries(
        self,
        path: SafePath,
        order: Order | None = None,
        limit: int = 0,
        fits: NameFilter | None = None,
    ) -> list[Entry]:
        """What a folder holds, in no order.

        Args:
            path: the folder.
            order: what is sorted by where only the first are wanted; None is by name,
                folders before files.
            limit: how many; 0 is all. Memory is taken for so many alone.
            fits: says of each name whether it is wanted; None for all.

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
                with openat.open_entries(handle.fd) as scan:
                    wanted = scan if fits is None else (item for item in scan if fits(item.name))
                    items = nsmallest(limit, wanted, by_name) if limit and order is None else wanted
                    found = (self._entry(path, handle, item, barring) for item in items)
                    there = (entry for entry in found if entry is not None)
                    return nsmallest(limit, there, order) if limit and order else list(there)
            except OSError as error:
                raise self._explain(error, path) from None

    def totals(self, path: SafePath, fits: NameFilter | None = None) -> tuple[int, int]:
        """How many folders, and how many other things, a folder of any size holds.

        Raises:
            PathDenied, NotFound, NotConfigured: as `open`.
        """
        with self.open(path) as handle:
            try:
                with openat.open_entries(handle.fd) as scan:
                    wanted = scan if fits is None else (item for item in scan if fits(item.name))
                    kinds = Counter(item.is_dir(follow_symlinks=False) for item in wanted)
            except OSError as error:
                raise self._explain(error, path) from None
        return kinds[True], kinds[False]

    def link(self, path: SafePath) -> str:
        """Where a path leads that is itself a link, as written there; "" for any other."""
        if not path.parts:
            return ""
        with self._find(path.parent) as folder:
            try:
                return openat.readlink(path.name, dir_fd=folder.fd)
            except OSError:
                return ""

    def count(self, path: SafePath) -> int:
        """How many names a folder holds, up to `NAMES_SEARCHED`; 0 where it cannot be read."""
        return len(self._list_names(path) or ())

    @contextmanager
    def place(self, path: SafePath, *, whole: bool = False) -> Iterator[WritePlace]:
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
        path.need_inside()
        with self._find(path.parent) as folder:
            name = path.parts[-1]
            parts = (*folder.parts, name)
            self._refuse_protected(path, path.parts, "write")
            if parts != path.parts:  # by a link, or `..`
                self._refuse_protected(path, parts, "write")
            try:
                status = openat.stat(name, dir_fd=folder.fd, follow_symlinks=False)
            except FileNotFoundError:
                status = None
            except OSError as error:
                raise self._explain(error, path) from None
            if status is not None and not whole:
                self._refuse_write_through(path, status)
            yield WritePlace(folder.fd, name, path.root.real_path(parts), status)

    def pattern(self, path: SafePath, use: Use) -> str:
        """The pattern that protects a path as it is spelt; "" where none does."""
        return self._protection.match((*path.root.real_parts, *path.parts), len(path.parts), use)

    def barring(self, folder: SafePath, use: Use) -> Callable[[str], str]:
        """Tells of each name in a folder the pattern that forbids it: quicker for many of them.

        Args:
            folder: a folder, as it is spelt.
            use: what is about to happen.
        """
        starts = {folder.root.real_parts, _names(folder.root.name)}
        above = self._protecting(folder, folder.parts, use)
        tests = [self._protection.of_folder((*start, *folder.parts), use) for start in starts]

        def pattern(name: str) -> str:
            return above or next(filter(None, (test(name) for test in tests)), "")

        return pattern

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
        item: openat.FolderEntry,
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
            identity=f"{status.st_ino} {status.st_size} {status.st_ctime_ns}",
        )

    def _target(self, path: SafePath, folder: int) -> tuple[str, Leads]:
        try:
            target = openat.readlink(path.name, dir_fd=folder)
        except OSError:
            return "", "missing"
        try:
            found = self._entry_of(path)
        except OSError as error:
            broken: dict[int | None, Leads] = {errno.EXDEV: "outside", errno.ELOOP: "loop"}
            return target, broken.get(error.errno, "missing")
        found.close()
        kind = kind_of(found.status.st_mode)
        return target, kind if kind != "link" else "other"

    def _entry_of(self, path: SafePath) -> OpenEntry:
        """What a path leads to. Raises what the system says."""
        with open_root(self._opener, path.root) as root:
            return self._opener.find(root, path.root.real, path.parts)

    @contextmanager
    def _find(self, path: SafePath) -> Iterator[OpenEntry]:
        try:
            found = self._entry_of(path)
        except OSError as error:
            raise self._explain(error, path) from None
        with closing(found):
            yield found

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
        return self._hard_links.pattern(path.root.real, status)

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
        kind = special_kind_name(status.st_mode)
        return PathDenied(
            f"Access denied: {path.display} is {kind}, not a plain file or folder.",
            hint="Use another file.",
            rule="kind",
        )

    def _explain(self, error: OSError, path: SafePath) -> ToolError:
        code, display = error.errno, path.display
        if code in (errno.ENOENT, errno.ENOTDIR):
            return self._missing(path)
        if code == errno.EXDEV:
            return PathDenied(
                f"Access denied: {display} leads outside the workspace through a symbolic link.",
                hint=ROOTS_HINT,
                rule="outside",
            )
        if code == errno.ELOOP:
            return PathDenied(
                f"Access denied: {display} is a loop of symbolic links, or a link of the kernel's.",
                hint="Name the file itself instead of the link.",
                rule="loop",
            )
        if code in (errno.EACCES, errno.EPERM):
            named = "the folder of the workspace" if display == "." else display
            return PathDenied(
                f"Access denied: the operating system does not let toolcrib use {named}.",
                hint="Use another file, or ask the user for the permission.",
                rule="permissions",
            )
        if code == errno.ENAMETOOLONG:
            return BadInput(f"{display[:200]} has a name that is too long.")
        return StorageFailure(f"{display} cannot be read: {error.strerror or error}.")

    def _missing(self, path: SafePath) -> NotFound:
        """Not found, with the nearest names that exist."""

        def find() -> tuple[str, list[str]]:
            if not {"*", "?"}.isdisjoint(path.display):
                return "A path is no glob: find_files lists the paths that fit one.", []
            found = guesses(path.parts, lambda parts: self._list_names(path.at(parts)))
            # What is not there may be there by now.
            near = [path.at(parts).display for parts in found if tuple(parts) != path.parts]
            if near:
                return f"Did you mean {' or '.join(near)}?", near
            above = (path.ancestor(depth) for depth in reversed(range(len(path.parts))))
            there = next((folder for folder in above if self._list_names(folder)), None)
            if there is None and self._list_names(path.ancestor(0)) is None:
                return ROOTS_HINT, near
            place = (there or path.ancestor(0)).display
            return f'list_directory with path="{place}" shows what there is.', near

        return MissingPath(f"{path.display} does not exist.", find)

    def _list_names(self, folder: SafePath) -> list[FolderName] | None:
        """What a folder holds, for guesses; None where it does not exist."""
        try:
            found = self._entry_of(folder)
        except FileNotFoundError:
            return None
        except OSError:
            return []
        with suppress(OSError, PathDenied), closing(found):
            self._refuse_protected(folder, found.parts, "read")
            fd = found.readable()
            with openat.closing(fd), openat.open_entries(fd) as scan:
                return [
                    FolderName(entry.name, entry.is_dir(follow_symlinks=False))
                    for entry in islice(scan, NAMES_SEARCHED)
                ]
        return []


MAX_LINK_ENTRIES = 20_000
"""Names looked at, those nearest to the root first."""
LINK_SEARCH_CPU_SECONDS = 0.5
"""CPU time that the search may take: a busy machine does not cut it short."""
LINK_SEARCH_SECONDS = 5.0
"""How long it may take, on a file system that is slow."""
LINK_CACHE_SECONDS = 2.0
"""Seconds for which what was found is used again."""


class HardLinks:
    """Tells whether a file is a protected one under another name (a hard link).

    Nothing in a file says what other names it has. So when a file with more than one name
    is opened, the names beneath the root are searched for a protected one of the same file.
    That is bounded and cached for a moment: a protected name beyond the bounds, outside
    the root, or made within that moment is not noticed.
    """

    def __init__(self, protection: Protection) -> None:
        self._protection = protection
        self._known: dict[str, tuple[float, dict[tuple[int, int], str]]] = {}

    def pattern(self, root: str, status: os.stat_result) -> str:
        """The pattern that protects another name of a file beneath a root; "" for none.

        Args:
            root: absolute, without links.
            status: that of the open file.
        """
        if status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
            return ""
        until, found = self._known.get(root, (0.0, {}))
        if time.monotonic() > until:
            found = dict(self._protected(root))
            self._known[root] = (time.monotonic() + LINK_CACHE_SECONDS, found)
        return found.get((status.st_dev, status.st_ino), "")

    def _protected(self, root: str) -> Iterator[tuple[tuple[int, int], str]]:
        """Device and inode of each protected file that has several names."""
        top = tuple(part for part in root.split("/") if part)
        folders: deque[tuple[tuple[str, ...], bool]] = deque([((), False)])
        stop, stop_cpu = (
            time.monotonic() + LINK_SEARCH_SECONDS,
            time.thread_time() + LINK_SEARCH_CPU_SECONDS,
        )
        seen = 0
        while folders and seen < MAX_LINK_ENTRIES:
            if time.monotonic() > stop or time.thread_time() > stop_cpu:
                return
            parts, inherited = folders.popleft()
            try:
                # By name: what a race can add here is one more file that is not read.
                with os.scandir("/".join((root.rstrip("/"), *parts)) or "/") as scan:
                    entries = list(scan)
            except OSError:
                continue
            seen += len(entries)
            for entry in entries:
                names = (*parts, entry.name)
                depth = len(names) if inherited else 1
                pattern = self._protection.match((*top, *names), depth, "read")
                if entry.is_dir(follow_symlinks=False):
                    folders.append((names, inherited or bool(pattern)))
                elif pattern:
                    yield from _linked(entry, pattern)


def _linked(entry: os.DirEntry[str], pattern: str) -> Iterator[tuple[tuple[int, int], str]]:
    try:
        status = os.lstat(entry.path)  # the entry's own has no number of names on Windows
    except OSError:
        return
    if status.st_nlink > 1:
        yield (status.st_dev, status.st_ino), pattern
