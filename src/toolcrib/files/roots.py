"""The folders that tools may use, and how one is held while something in it is found."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from toolcrib.core.errors import NotConfigured
from toolcrib.files.beneath import O_PATH, Openat2, Opener
from toolcrib.files.handles import kind_of

ROOTS_HINT = "The user chooses the folders with workspace.roots or --workspace."
NO_ROOTS = (
    "The home folder and / are not taken by themselves: the user gives a folder with "
    "--workspace DIR or workspace.roots."
)
_REASONS = {
    errno.ELOOP: "it has become a symbolic link",
    errno.ENOTDIR: "it is not a folder",
}


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


@contextmanager
def open_root(opener: Opener, root: Root) -> Iterator[int]:
    """The root by its real path, opened anew, so that it may be replaced meanwhile.

    It was free of links when the workspace was opened. One that turns up since
    may have been put there by a tool with a wider root, and is not followed.

    Raises:
        NotConfigured: it is not there, no folder, or a link.
    """
    fd = _by_kernel(opener, root) if isinstance(opener, Openat2) else _by_name(opener, root)
    try:
        yield fd
    finally:
        os.close(fd)


def _by_kernel(opener: Openat2, root: Root) -> int:
    try:
        return opener.folder(root.real)
    except OSError as error:
        reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
        raise _unusable(root, reason) from None


def _by_name(opener: Opener, root: Root) -> int:
    top = os.open("/", (O_PATH or os.O_RDONLY) | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        found = opener.find(top, "/", root.real_parts)
    except OSError as error:
        raise _unusable(root, error.strerror or str(error)) from None
    finally:
        os.close(top)
    reason = ""
    if found.parts != root.real_parts:
        reason = _REASONS[errno.ELOOP]
    elif kind_of(found.status.st_mode) != "folder":
        reason = _REASONS[errno.ENOTDIR]
    if reason:
        found.close()
        raise _unusable(root, reason)
    return found.fd


def _unusable(root: Root, reason: str) -> NotConfigured:
    return NotConfigured(
        f"The workspace folder {root.name} cannot be used: {reason}.", hint=ROOTS_HINT
    )
