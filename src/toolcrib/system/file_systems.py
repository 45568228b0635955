"""On what kind of file system a folder is."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from toolcrib.system.sweep import read

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there
    raise ImportError

LOCAL = frozenset(
    (
        *("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "bcachefs", "jfs"),
        *("nilfs2", "overlay", "squashfs", "erofs"),
    )
)
"""Those whose times of change are those of this machine's clock."""
_OCTAL = re.compile(rb"\\([0-3][0-7]{2})")


def mounts_of(process: int | str) -> Iterator[list[str]]:
    """The fields of each mount that a process sees; none when it is over.

    The kernel writes spaces, tabs, line feeds and backslashes in names as octal numbers, and no
    other byte: what Unicode takes for the end of a line, or for a space, is part of a name.
    """
    for line in filter(None, read(f"/proc/{process}/mountinfo").split(b"\n")):
        yield [
            os.fsdecode(_OCTAL.sub(lambda found: bytes([int(found[1], 8)]), field))
            for field in line.split(b" ")
        ]


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
    for fields in mounts_of("self"):
        if len(fields) < 7 or "-" not in fields:
            continue
        if fields[2] == wanted:
            return fields[fields.index("-") + 1]
        point = fields[4].rstrip("/")
        if (folder == point or folder.startswith(f"{point}/")) and len(point) >= best:
            best, kind = len(point), fields[fields.index("-") + 1]
    return kind


def has_own_clock(folder: str) -> bool:
    """Whether the times of changes there can be compared with this machine's clock."""
    return kind_of_system(folder) in LOCAL
