"""Whether programs of runs go on at this moment, in this process or in another one.

A run may change the workspace while something of ours works on it: exchange a folder for a link
between two looks, or read what is not masked for it yet. What cannot stand that asks here first.
Two files are locked: one as long as a run goes on, the other as long as there must be none.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from toolcrib.core.config import data_folder
from toolcrib.core.errors import Busy
from toolcrib.state.store import make_private
from toolcrib.system import openat
from toolcrib.system.file_locks import NOT_INHERITED

LIVE, ALONE = "live.lock", "alone.lock"
WAIT_SECONDS = 60.0
PAUSE_SECONDS = 0.002


def begin_run() -> int:
    """Note that a run is about to begin, until the descriptor is closed; blocking.

    Raises:
        Busy: something goes on for long during which no run may begin.
        OSError: the disk is full, or the system refuses.
    """
    if sys.platform == "win32":
        raise NotImplementedError  # nothing is run there
    import fcntl

    live = _opened(LIVE)
    try:
        fcntl.flock(live, fcntl.LOCK_SH)
        with openat.closing(_opened(ALONE)) as gate:
            until = time.monotonic() + WAIT_SECONDS
            while not _took(gate, fcntl.LOCK_EX):
                if time.monotonic() > until:
                    raise Busy(
                        "Git or a search takes long, and no program may begin meanwhile.",
                        hint="Wait for it, or cancel it.",
                    )
                time.sleep(PAUSE_SECONDS)
    except BaseException:
        os.close(live)
        raise
    return live


@contextmanager
def without_runs() -> Iterator[bool]:
    """Whether no run goes on, in which case none begins as long as this is entered; blocking."""
    if sys.platform == "win32":
        yield True
        return
    import fcntl

    live = -1
    with ExitStack() as end:
        with suppress(OSError):  # where nothing can be written, nothing is run either
            gate = end.enter_context(openat.closing(_opened(ALONE)))
            fcntl.flock(gate, fcntl.LOCK_SH)
            live = _opened(LIVE)
        is_alone = True
        if live >= 0:
            with openat.closing(live):
                is_alone = _took(live, fcntl.LOCK_EX)
        if not is_alone:
            end.close()
        yield is_alone


def _opened(name: str) -> int:
    folder = Path(data_folder()) / "runs"
    make_private(folder)
    return os.open(folder / name, os.O_RDWR | os.O_CREAT | NOT_INHERITED, 0o600)


def _took(fd: int, how: int) -> bool:
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
