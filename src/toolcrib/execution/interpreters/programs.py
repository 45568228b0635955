"""Finding programs of this machine: on PATH or where they were named, never in the workspace."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from toolcrib.core.config import environment
from toolcrib.core.context import Ctx
from toolcrib.files.workspace import Workspace

DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"
Folders: TypeAlias = tuple[Path, ...]
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/sbin")
"""Folders that every run may read anyway."""


def search_path() -> list[str]:
    """The folders of PATH, absolute ones only."""
    path = environment(["PATH"]).get("PATH") or DEFAULT_PATH
    return [folder for folder in path.split(os.pathsep) if folder.startswith("/")]


def home() -> Path:
    """The home folder; the root where there is none."""
    try:
        return Path.home()
    except RuntimeError:  # a user without an entry in the password file
        return Path("/")


def is_program(file: Path | str) -> bool:
    """Whether it is a file that may be run."""
    return Path(file).is_file() and os.access(file, os.X_OK)


def find_program(ctx: Ctx, name: str, more: Iterable[Path] = ()) -> str:
    """The absolute path of a program; empty where there is none.

    What lies in the workspace does not count: it may be anybody's.

    Args:
        ctx: the call.
        name: its name, or an absolute path.
        more: further folders, looked into last.
    """
    named = os.path.expanduser(name)  # noqa: PTH111 - `~` alone, the rest as it is written
    if named.startswith("/"):
        return named if is_program(named) else ""
    workspace = ctx.use(Workspace)
    for folder in [*search_path(), *map(str, more)]:
        place = f"{folder.rstrip('/')}/{name}"
        if is_program(place) and not workspace.holds(place):
            return place
    return ""


def shell_program(ctx: Ctx) -> str:
    """bash, else the plain shell that every system has."""
    return find_program(ctx, "bash") or "/bin/sh"


def prefix_of(program: str) -> list[Path]:
    """The folders that a program needs to be read with: those of its installation.

    Args:
        program: an absolute path; links are followed.

    Returns:
        Nothing for what lies among the system's; never the home folder or one above it.
    """
    found: list[Path] = []
    for place in dict.fromkeys((Path(program), Path(program).resolve())):
        folder = place.parent
        prefix = folder.parent if folder.name in ("bin", "Scripts", "shims") else folder
        if is_among(prefix, SYSTEM):
            continue
        private = is_above(prefix, home())
        found += [folder, prefix / "lib"] if private else [prefix]
    return [path for path in dict.fromkeys(found) if path.is_dir()]


def is_among(path: Path, folders: Iterable[str]) -> bool:
    """Whether a path is one of the folders or beneath one."""
    return any(path == Path(f) or Path(f) in path.parents for f in folders)


def is_above(path: Path, other: Path) -> bool:
    """Whether a path is the other, or holds it."""
    return path == other or path in other.parents
