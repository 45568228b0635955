"""What a run made that it should not have made: found after its end."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolcrib.files.protection import Protection

Problem = Literal["link out", "fifo", "socket", "device", "setuid", "protected"]
MAX_NAMES = 500_000


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was left: its path from the folder, and what is wrong with it."""

    path: str
    problem: Problem
    detail: str = ""


def judge(protection: Protection, top: str, parts: Sequence[str]) -> str:
    """The pattern that forbids to write a path; "" where none does.

    Args:
        protection: the names.
        top: the real path of the root.
        parts: the way from there.
    """
    above = [part for part in top.split("/") if part]
    return protection.match([*above, *parts], len(parts), "write")


def leftovers(
    folder: Path,
    *,
    stands_for: Path | None = None,
    since: float = 0.0,
    protection: Protection | None = None,
    most: int = MAX_NAMES,
) -> list[Finding]:
    """Links that lead out, FIFOs, sockets, devices and setuid files in a folder.

    Blocking: run it in a thread. Nothing is followed and nothing is changed.

    Args:
        folder: where to look: a root, or the upper folder of an overlay.
        stands_for: the root that an upper folder lies over. A device 0:0 there is the
            kernel's mark of a deleted file and no finding.
        since: only what was made or changed at this time (`time.time()`) or later.
        protection: names that nobody may make are found too.
        most: so many names are looked at.
    """
    root = os.path.realpath(stands_for or folder)
    upper = stands_for is not None
    found: list[Finding] = []
    waiting: list[tuple[str, ...]] = [()]
    while waiting and most > 0:
        parts = waiting.pop()
        try:
            with os.scandir(os.path.join(folder, *parts)) as scan:  # noqa: PTH118
                entries = list(scan)
        except OSError:
            continue
        most -= len(entries)
        for entry in entries:
            way = (*parts, entry.name)
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                waiting.append(way)
            if status.st_ctime < since:
                continue
            problem = _problem(entry, status, root, way, upper=upper)
            if problem is None and protection is not None and not _deleted(status):
                pattern = judge(protection, root, way)
                problem = (
                    ("protected", pattern) if pattern and pattern != way[-1] == ".git" else None
                )
                if pattern and way[-1] != ".git":
                    problem = ("protected", pattern)
            if problem is not None:
                found.append(Finding("/".join(way), *problem))
    return found


def _deleted(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def _problem(
    entry: os.DirEntry[str],
    status: os.stat_result,
    root: str,
    way: tuple[str, ...],
    *,
    upper: bool,
) -> tuple[Problem, str] | None:
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        target = os.readlink(entry.path)  # noqa: PTH115 - as written
        return ("link out", target) if _leads_out(target, root, way) else None
    if stat.S_ISFIFO(mode):
        return "fifo", ""
    if stat.S_ISSOCK(mode):
        return "socket", ""
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not (upper and status.st_rdev == 0)):
        return "device", ""
    if stat.S_ISREG(mode) and mode & 0o6000:
        return "setuid", oct(mode & 0o7777)
    return None


def _leads_out(target: str, root: str, way: tuple[str, ...]) -> bool:
    """Whether a link leaves the root, by its text and by the links on its way."""
    start = os.path.join(root, *way[:-1])  # noqa: PTH118
    plain = os.path.normpath(os.path.join(start, target))  # noqa: PTH118
    real = os.path.realpath(os.path.join(start, target))  # noqa: PTH118
    return not all(p == root or p.startswith(f"{root.rstrip('/')}/") for p in (plain, real))
