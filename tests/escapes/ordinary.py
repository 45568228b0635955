"""Becoming an ordinary user, who can read the interpreter wherever root has put it."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

USER = 61_234
"""Nobody's number: nothing has to be made for it, and nothing is left of it."""


def as_ordinary(argv: list[str], reach: list[str]) -> list[str]:
    """The words that run a program as an ordinary user; only root can say them.

    Folders that only root may walk through are covered, in a namespace of the program's own,
    by empty ones that lead to nothing but what it needs.

    Args:
        argv: the program.
        reach: folders that it must be able to read.
    """
    needed = {os.path.realpath(p) for p in (*reach, sys.prefix, sys.base_prefix)}
    shut: dict[str, list[str]] = {}
    for path in sorted(needed):
        for parent in reversed(Path(path).parents):
            if parent != Path("/") and not parent.stat().st_mode & 0o001:
                shut.setdefault(str(parent), []).append(path)
                break
    script = ["set -e", "mount --make-rprivate /"]
    for top, paths in shut.items():
        stage = "/mnt"
        script += [f"mount -t tmpfs -o mode=755 none {stage}"]
        for number, path in enumerate(paths):
            script += [
                f"mkdir {stage}/{number}",
                f"mount --bind {shlex.quote(path)} {stage}/{number}",
            ]
        script += [f"mount -t tmpfs -o mode=755 none {shlex.quote(top)}"]
        for number, path in enumerate(paths):
            quoted = shlex.quote(path)
            script += [f"mkdir -p {quoted}", f"mount --move {stage}/{number} {quoted}"]
        script += [f"umount {stage}"]
    user = str(USER)
    script += [
        shlex.join(["exec", "setpriv", "--reuid", user, "--regid", user, "--clear-groups", *argv])
    ]
    return ["unshare", "-m", "/bin/sh", "-c", "\n".join(script)]
