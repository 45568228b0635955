"""What a program of ours sees of the machine while programs of runs go on.

It does as it is told, and a run may exchange a folder for a link, or a file for another one,
between two of its steps. So it can write nothing but what it is for, and nothing that is protected.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from toolcrib.execution.sandbox.layout import system
from toolcrib.execution.sandbox.masks import Mask

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

ISOLATED = ("--unshare-net", "--unshare-ipc", "--unshare-pid", "--proc", "/proc", "--dev", "/dev")
OF_ETC = ("/etc/passwd", "/etc/group")
"""What it reads there to know the user's name."""


def confined_program(
    bubblewrap: str,
    masks: Iterable[Mask],
    *,
    writable: Sequence[str],
    readable: Sequence[str] = (),
    sees_all: bool = False,
) -> list[str]:
    """What stands in front of the program and its arguments.

    Args:
        bubblewrap: which.
        masks: of what is protected in the folders that it may write.
        writable: these.
        readable: what else it may read, there or not.
        sees_all: it may read everything and use the network, for git with the user's keys.
    """
    words = [bubblewrap, "--die-with-parent"]
    if sees_all:
        words += ["--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev"]
    else:
        words += [*system(), *ISOLATED]
        words += [word for path in (*OF_ETC, *readable) for word in ("--ro-bind-try", path, path)]
    mounts = [(path, "--bind") for path in writable]
    mounts += [(m.path, "--ro-bind") for m in masks if m.kind == "fixed"]
    for path, how in sorted(mounts, key=lambda mount: mount[0].count("/")):
        words += [how, path, path]
    return words
