"""On what kind of file system a folder is."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there
    raise ImportError

LOCAL = frozenset(
    (
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "bcachefs", "jfs"),
        *("nilfs2", "overlay", "squashfs", "erofs"),
    )
)
"""Those whose times of change are those of this machine's clock."""


_OCTAL = re.compile(r"\\([0-7]{3})")


def system_of(folder: str) -> int:
    """The number of the file system; 0 where there is no such folder."""
    try:
        return Path(folder).stat().st_dev
    except OSError:
        return 0


def kind_of_system(folder: str) -> str:
    """Its kind as the kernel names it; "" where that cannot be told.

    Some file systems, as btrfs, give their parts numbers of their own: of those the mount
    with the longest path counts.
    """
    number = system_of(folder)
    wanted = f"{os.major(number)}:{os.minor(number)}"
    best, kind = -1, ""
    with suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text("utf-8", "replace").splitlines():
            fields = line.split()
            if len(fields) < 7 or "-" not in fields:
                continue
            if fields[2] == wanted:
                return fields[fields.index("-") + 1]
            # Spaces and the like stand there as octal numbers.
            point = _OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[4]).rstrip("/")
            if (folder == point or folder.startswith(f"{point}/")) and len(point) >= best:
                best, kind = len(point), fields[fields.index("-") + 1]
    return kind


def has_own_clock(folder: str) -> bool:
    """Whether the times of changes there can be compared with this machine's clock."""
    return kind_of_system(folder) in LOCAL
