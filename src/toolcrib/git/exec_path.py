"""git's own programs, in a folder by which git enters no repository but the opened one.

For a submodule, and for a repository whose objects are borrowed, git starts `git` again, which
obeys the settings found there. In this folder `git` is a script that does so only where the
shared folder is one of ours; elsewhere it says nothing, so that a submodule looks unchanged.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from contextlib import suppress
from pathlib import Path

from toolcrib.core.errors import Unavailable
from toolcrib.system.threads import random_id

SCRIPT = """#!/bin/sh
[ -n "$GIT_COMMON_DIR" ] || exit 0
exec {folder}/"${{0##*/}}" "$@"
"""
PREFIX = "exec-"


def make_exec_path(real: str, place: Path) -> str:
    """A folder with what stands in git's own, but for `git`; made once, and kept. It blocks.

    Args:
        real: git's own, as `git --exec-path` prints it.
        place: a folder of ours, into which nothing else writes.

    Returns:
        Its path, for GIT_EXEC_PATH.

    Raises:
        Unavailable: nothing may be executed there.
    """
    script = SCRIPT.format(folder=shlex.quote(real))
    own = Path(real, "git").stat()
    state = f"{script}{own.st_ino}:{own.st_mtime_ns}:{Path(real).stat().st_mtime_ns}"
    folder = place / f"{PREFIX}{hashlib.sha256(state.encode()).hexdigest()[:16]}"
    if not folder.is_dir():
        fresh = place / random_id(16)
        fresh.mkdir(mode=0o700, parents=True)
        _fill(fresh, real, script, own)
        with suppress(OSError):  # another process was first
            fresh.rename(folder)
        shutil.rmtree(fresh, ignore_errors=True)
    if not is_whole(str(folder)):  # git would take another one
        raise Unavailable(
            f"Programs cannot be executed in {place}, which git needs.",
            hint="The user names another data folder with TOOLCRIB_DATA.",
        )
    return str(folder)


def is_whole(folder: str) -> bool:
    """Whether git would find its own programs there."""
    return os.access(f"{folder}/git", os.X_OK)


def _fill(folder: Path, real: str, script: str, own: os.stat_result) -> None:
    (folder / "git").write_text(script)
    (folder / "git").chmod(0o700)
    with os.scandir(real) as scan:
        for entry in scan:
            with suppress(FileExistsError, FileNotFoundError):
                is_git = os.path.samestat(entry.stat(), own)
                (folder / entry.name).symlink_to("git" if is_git else entry.path)
