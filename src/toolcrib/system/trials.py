"""One short run of a program to its end, blocking: for what is looked at before all starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

MAX_OUTPUT = 5_000_000


@dataclass(frozen=True, slots=True)
class Trial:
    """How it ended. `exit_code` is None where it did not end in its time and was killed."""

    exit_code: int | None
    output: bytes


def run_trial(argv: Sequence[str], stdin: bytes, seconds: float) -> Trial:
    """Run a program in a session of its own, with this environment; blocking.

    Args:
        argv: the program and its arguments.
        stdin: what it reads.
        seconds: after which it and what it started are killed.

    Raises:
        OSError: it cannot be started.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(  # noqa: S603 - our own program
            list(argv),
            stdin=given,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _kill(process)
        output.seek(0)
        return Trial(code, output.read(MAX_OUTPUT))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End it and what is left of its group."""
    with suppress(OSError):
        if sys.platform == "win32" or not hasattr(os, "killpg"):
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
