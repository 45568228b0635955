"""The look at the mounts of a run from outside, before its program begins.

Bubblewrap finds what it mounts by path. Another run may put a link in the place of a folder
meanwhile, and what is mounted then is something else, or stands elsewhere.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.execution.sandbox.layout import HOME, SandboxRoot
from toolcrib.execution.sandbox.masks import Mask
from toolcrib.execution.sandbox.namespaces import BoundaryFailed
from toolcrib.execution.toolchains import is_among

if TYPE_CHECKING and sys.platform != "linux":  # nothing here is called elsewhere
    raise ImportError

WAIT_SECONDS, PAUSE_SECONDS = 10.0, 0.0005
"""How long the mounts may take, and between two looks; it takes some milliseconds."""
MAX_REFUSED = 20
_OCTAL = re.compile(r"\\([0-7]{3})")


class MountsMoved(BoundaryFailed):
    """What was mounted is not what was meant; it may be well at the next try."""


def check_mounts(pid: int, layout: SandboxRoot) -> bool:
    """Wait until a run's mounts are made, and compare them with what was meant; blocking.

    Args:
        pid: its first process, which waits to be let go on.
        layout: what was meant.

    Returns:
        Whether they could be looked at.

    Raises:
        MountsMoved: something was moved meanwhile.
    """
    if not _are_made(pid):
        return False
    masks = layout.mounts()
    wanted = {mask.path for mask in masks if is_among(mask.path, layout.roots)}
    points = _mount_points(pid) - _mount_points(os.getpid())
    known = {*layout.roots, *layout.above_roots(), *layout.readable, *layout.writable}
    found = {point for point in points if is_among(point, layout.roots)} - known
    if moved := found ^ wanted:
        raise _moved(moved)
    with ExitStack() as stack:
        inside = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_CLOEXEC)
        stack.callback(os.close, inside)
        outside = os.open("/", os.O_PATH | os.O_CLOEXEC)
        stack.callback(os.close, outside)
        empty = os.stat(layout.empty) if layout.empty else None  # noqa: PTH116
        for mask in masks:
            seen, real = _status(inside, mask.path), _status(outside, mask.path)
            if seen is None or real is None or not _is_meant(mask, seen, real, empty):
                raise _moved([mask.path])
    return True


def _are_made(pid: int) -> bool:
    """Wait for the last step, by which the root cannot be written any more; False if unseen."""
    root, refused = f"/proc/{pid}/root", 0
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        try:
            if os.path.isdir(root + HOME) and os.statvfs(root).f_flag & os.ST_RDONLY:  # noqa: PTH112
                return True
            os.stat(f"{root}/proc")  # noqa: PTH116 - whether it may be looked at
        except PermissionError:
            refused += 1
            if refused > MAX_REFUSED:  # a bubblewrap that is setuid lets nobody look
                return False
        except FileNotFoundError:
            if not Path(f"/proc/{pid}").exists():
                raise BoundaryFailed from None  # its last words say why
        time.sleep(PAUSE_SECONDS)
    raise BoundaryFailed("it is not ready in time")


def _mount_points(pid: int) -> set[str]:
    """Where something is mounted for a process, as it names the places."""
    text = Path(f"/proc/{pid}/mountinfo").read_text("utf-8", "surrogateescape")
    # Spaces and the like stand there as octal numbers.
    return {
        _OCTAL.sub(lambda found: chr(int(found[1], 8)), line.split(" ", 5)[4])
        for line in text.splitlines()
    }


def _status(root: int, path: str) -> os.stat_result | None:
    """What is at a place beneath a root; None where it is not there, or a link is on the way."""
    fd = os.dup(root)
    try:
        for name in path.strip("/").split("/"):
            inner = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
            os.close(fd)
            fd = inner
            if stat.S_ISLNK(os.fstat(fd).st_mode):
                return None
        return os.fstat(fd)
    except OSError:
        return None
    finally:
        os.close(fd)


def _is_meant(
    mask: Mask, seen: os.stat_result, real: os.stat_result, empty: os.stat_result | None
) -> bool:
    """Whether a run sees at a place what the mask is to show there."""
    if mask.kind == "hidden file":
        return empty is not None and os.path.samestat(seen, empty)
    if mask.kind == "hidden folder":
        return stat.S_ISDIR(seen.st_mode) and not stat.S_IMODE(seen.st_mode) & 0o777
    if mask.kind == "copy":
        return seen.st_size == len(mask.data) and not os.path.samestat(seen, real)
    return os.path.samestat(seen, real)


def _moved(paths: Iterable[str]) -> MountsMoved:
    return MountsMoved(f"{min(paths)} was moved while the run was being set up")
