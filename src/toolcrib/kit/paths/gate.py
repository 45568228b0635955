"""The one place where paths are opened, and where a refusal gets its words."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from toolcrib.core.errors import (
    BadInput,
    NotConfigured,
    NotFound,
    PathDenied,
    StorageFailure,
    ToolError,
)
from toolcrib.kit.paths.beneath import O_PATH, Found, Opener
from toolcrib.kit.paths.handle import Entry, Handle, Leads, Place, kind_of, special_name
from toolcrib.kit.paths.protection import Protection, Use
from toolcrib.kit.paths.suggestions import nearest

if TYPE_CHECKING:
    from toolcrib.kit.paths.safe import SafePath

ROOTS_HINT = "The user chooses the folders with workspace.roots or --workspace."
LISTS_HINT = (
    "The user can change this with workspace.unprotect, protect_read and protect_write "
    "in the configuration of toolcrib."
)
NAMES_SEARCHED = 5000
_NOWHERE: Leads = ""


@dataclass(frozen=True, slots=True)
class Root:
    """A folder that tools may use: its absolute name, and the same without links."""

    name: str
    real: str

    @property
    def real_parts(self) -> tuple[str, ...]:
        """The names that lead to it from the top."""
        return tuple(part for part in self.real.split("/") if part)

    def absolute(self, parts: Sequence[str]) -> str:
        """A path beneath it, in the user's spelling."""
        return "/".join((self.name.rstrip("/"), *parts)) or "/"

    def real_path(self, parts: Sequence[str]) -> str:
        """A path beneath it, for names without links."""
        return "/".join((self.real.rstrip("/"), *parts)) or "/"


class Gate:
    """Opens what lies beneath a root and is not protected, and nothing else."""

    def __init__(self, opener: Opener, protection: Protection) -> None:
        self._opener = opener
        self._protection = protection

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
            try:
                fd = found.readable()
            except OSError as error:
                raise self._explain(error, path) from None
            real = path.root.real_path(found.parts)
            return Handle(fd, os.fstat(fd), real, path.display)

    def status(self, path: SafePath) -> os.stat_result:
        """What the system says about what a path leads to, without opening it.

        Raises:
            PathDenied, NotFound, NotConfigured: as `open`.
        """
        with self._find(path) as found:
            self._refuse_protected(path, found.parts, "read")
            return found.status

    def entries(self, path: SafePath) -> list[Entry]:
        """What a folder holds, in no order.

        Raises:
            BadInput: it is not a folder.
            PathDenied, NotFound, NotConfigured: as `open`.
        """
        with self.open(path) as handle:
            if handle.kind != "folder":
                raise BadInput(f"{path.display} is a file, not a folder.")
            try:
                with os.scandir(handle.fd) as scan:
                    found = list(scan)
                return [e for item in found if (e := self._entry(path, handle, item))]
            except OSError as error:
                raise self._explain(error, path) from None

    @contextmanager
    def place(self, path: SafePath) -> Iterator[Place]:
        """The folder that holds a path, open, and what is there now: for writing.

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
            if status is not None:
                self._refuse_write_through(path, status)
            yield Place(folder.fd, name, path.root.real_path(parts), status)

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

    def _entry(self, path: SafePath, handle: Handle, item: os.DirEntry[str]) -> Entry | None:
        try:
            status = item.stat(follow_symlinks=False)
        except OSError:
            return None  # gone since the folder was read
        kind = kind_of(status.st_mode)
        target, leads = "", _NOWHERE
        if kind == "link":
            target, leads = self._target(path.child(item.name), handle.fd)
        inside = len(path.parts) + 1
        real = [part for part in handle.absolute.split("/") if part]
        return Entry(
            name=item.name,
            kind=kind,
            size=status.st_size,
            modified=status.st_mtime,
            target=target,
            leads=leads,
            protected=self._protection.match([*real, item.name], inside, "read"),
        )

    def _target(self, path: SafePath, folder: int) -> tuple[str, Leads]:
        try:
            target = os.readlink(path.name, dir_fd=folder)
        except OSError:
            return "", "missing"
        try:
            with self._open_root(path.root) as root:
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
            with self._open_root(path.root) as root:
                found = self._opener.find(root, path.root.real, path.parts)
        except OSError as error:
            raise self._explain(error, path) from None
        try:
            yield found
        finally:
            found.close()

    @contextmanager
    def _open_root(self, root: Root) -> Iterator[int]:
        """The root by its real path, opened anew, so that it may be replaced meanwhile.

        It was free of links when the workspace was opened. One that turns up since
        may have been put there by a tool with a wider root, and is not followed.
        """
        top = os.open("/", (O_PATH or os.O_RDONLY) | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            found = self._opener.find(top, "/", root.real_parts)
        except OSError as error:
            raise _unusable(root, error.strerror or str(error)) from None
        finally:
            os.close(top)
        try:
            if found.parts != root.real_parts:
                raise _unusable(root, "it has become a symbolic link")
            if kind_of(found.status.st_mode) != "folder":
                raise _unusable(root, "it is not a folder")
            yield found.fd
        finally:
            found.close()

    def _refuse_protected(self, path: SafePath, parts: Sequence[str], use: Use) -> None:
        for start in {path.root.real_parts, tuple(p for p in path.root.name.split("/") if p)}:
            pattern = self._protection.match((*start, *parts), len(parts), use)
            if pattern:
                verb = "reading" if use == "read" else "writing"
                raise PathDenied(
                    f"Access denied: {path.display} is protected from {verb} ({pattern}).",
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
        """Not found, with the nearest names of the deepest folder that exists."""
        for depth in range(len(path.parts) - 1, -1, -1):
            folder = path.ancestor(depth)
            names = self._names(folder)
            if names is not None:
                near = [folder.child(n).display for n in nearest(path.parts[depth], names)]
                guess = f"Did you mean {' or '.join(near)}?" if near else ""
                hint = guess or "list_directory shows what there is."
                return NotFound(f"{path.display} does not exist.", hint=hint, near=near)
        return NotFound(f"{path.display} does not exist.", hint=ROOTS_HINT)

    def _names(self, folder: SafePath) -> list[str] | None:
        """What a folder holds, for suggestions; None where it does not exist."""
        try:
            with self._open_root(folder.root) as root:
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
                return [entry.name for entry in islice(scan, NAMES_SEARCHED)]
        except OSError:
            return []
        finally:
            os.close(fd)


def _unusable(root: Root, reason: str) -> NotConfigured:
    return NotConfigured(
        f"The workspace folder {root.name} cannot be used: {reason}.", hint=ROOTS_HINT
    )
