"""Applies a held run until a moment: `stopper.py ROOT HELD MOMENT HOW`.

A moment is the so many-th change that this process makes to files. HOW is "kill": it ends
itself there without a word, or "full": from there on it can write no file larger than 10 bytes.
"kill at an opening" counts what it opens once it has begun to take new folders over.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.execution.runs.conftest import RunBench
from toolcrib.core.errors import ToolError

CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.chmod", "os.utime"}


async def main(root: str, pending: str, moment: str, how: str) -> None:
    left = [int(moment)]
    armed, renames = [False], [False]

    def see(event: str, values: tuple[object, ...]) -> None:
        flags = values[2] if event == "open" else 0
        changes = event in CHANGES or (isinstance(flags, int) and flags & os.O_CREAT)
        if how == "kill at an opening":
            renames[0] = renames[0] or (event == "ctypes.dlsym" and values[1] == "renameat2")
            changes = renames[0] and event == "open"
        if not armed[0] or not changes:
            return
        left[0] -= 1
        if left[0]:
            return
        if how != "full":
            os.kill(os.getpid(), signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))

    bench = RunBench.on(Path(root))
    assert isinstance(bench, RunBench)
    await bench.steps()
    sys.addaudithook(see)
    armed[0] = True
    try:
        outcome = await bench.apply_pending(pending)
        output = f"{outcome.state} {outcome.notes}"
    except ToolError as error:
        output = f"failed {error.message}"
    armed[0] = False
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    sys.stdout.write(f"{output}\n")
    await bench.services.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
