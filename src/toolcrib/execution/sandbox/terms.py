"""The terms of a confined run: its level, its views of folders, its limits."""

from __future__ import annotations

import errno
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self, TypeAlias

from toolcrib.core.errors import Blocked, Unavailable
from toolcrib.core.settings import RunLimits

Level = Literal["strong", "kernel", "none"]
"""strong: namespaces and seccomp; kernel: Landlock and seccomp; none: bare."""

MEGABYTE = 1_000_000
SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC)
"""What a machine is short of for a moment (ENOSPC: disk, or watches of epoll): no reason to doubt a
boundary."""

USE_WSL = (
    "Programs run where toolcrib runs in the Windows Subsystem for Linux: wsl --install, then "
    "install toolcrib there. Files, the web, documents and code need nothing of that."
)


def need_programs() -> None:
    """Refuse where no program is run at all.

    Raises:
        Unavailable: on Windows; the hint says where they do run.
    """
    if sys.platform == "win32":
        raise Unavailable("Nothing is run: toolcrib runs no programs on Windows.", hint=USE_WSL)


@dataclass(frozen=True, slots=True)
class Report:
    """What the probe found out.

    Attributes:
        level: the boundary that runs get.
        why: why it is not stronger, a line each; empty at "strong".
        gaps: what this boundary does not stop here, a line each.
        program: what makes the namespaces; "" below "strong".
        fix: the one line by which the user gets a stronger one; "" where there is none.
        overlay: whether folders can be seen by `Overlay`.
    """

    level: Level
    why: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    program: str = ""
    fix: str = ""
    overlay: bool = False


@dataclass(frozen=True, slots=True)
class Bind:
    """The folder itself: what a run writes is there at once."""


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """The folder, not to be written."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """The folder as it is, with all changes going to `upper`. At level strong alone.

    Both folders must be empty at first and on one file system; `work` is the kernel's own.
    """

    upper: Path
    work: Path


View: TypeAlias = Bind | ReadOnly | Overlay


@dataclass(frozen=True, slots=True)
class Pty:
    """A terminal in place of the pipes, of this size."""

    rows: int = 24
    columns: int = 80


@dataclass(frozen=True, slots=True)
class NetworkAccess:
    """What a run may reach.

    Attributes:
        hosts: in the forms of `egress.allow_hosts`.
        endpoints: URLs that the user configured; their origins are open also where they are
            not public.
        environment: variables for its programs.
        notes: what the user should know, a line each.
        refused: what the guard refused, known at its end.
    """

    hosts: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    refused: list[Blocked] = field(default_factory=list, compare=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use. Memory, processes, disk and output are those of all its processes."""

    memory_bytes: int = 2_000 * MEGABYTE
    cpu_seconds: float = 3_600.0
    processes: int = 512
    file_bytes: int = 1_000 * MEGABYTE
    disk_bytes: int = 2_000 * MEGABYTE
    output_bytes: int = 100 * MEGABYTE
    open_files: int = 4_096

    @classmethod
    def of(cls, settings: RunLimits) -> Self:
        """As the user configured them."""
        return cls(
            memory_bytes=settings.memory_mb * MEGABYTE,
            cpu_seconds=settings.cpu_seconds,
            processes=settings.processes,
            file_bytes=settings.file_mb * MEGABYTE,
            disk_bytes=settings.disk_mb * MEGABYTE,
            output_bytes=settings.output_mb * MEGABYTE,
            open_files=settings.open_files,
        )
