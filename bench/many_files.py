"""What many files cost: a program that makes them, bare and as `run_command`; and their undo.

    python -m bench.many_files

The program itself is the peer: it makes the same files in the same folder on the same disk,
with no boundary, no review and no undo. Times are wall time, in seconds.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.run import nothing
from toolcrib import Toolbox
from toolcrib.core.context import Caller, Ctx, Session
from toolcrib.execution.runs.runs import Runs
from toolcrib.files.changes.changes import Changes
from toolcrib.files.paths import Workspace

COUNTS = (1_000, 20_000)
PROGRAM = """
import os
for n in range({count}):
    folder = f"made/{{n // 100:03d}}"
    if n % 100 == 0:
        os.makedirs(folder)
    with open(f"{{folder}}/{{n:05d}}.txt", "w") as file:
        file.write(f"file {{n}}\\n" * 20)
"""


def bare(folder: Path, script: Path) -> float:
    """The program itself."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-I", str(script)], cwd=folder, check=True)
    return time.perf_counter() - began


async def measured(count: int) -> None:
    """One line: bare, as a run, undone."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "project"
        folder.mkdir()
        script = folder / "make.py"
        script.write_text(PROGRAM.format(count=count), "utf-8")
        alone = bare(folder, script)
        shutil.rmtree(folder / "made")
        os.environ["TOOLCRIB_DATA"] = f"{top}/state"
        async with Toolbox(workspace=folder) as box:
            session = Session("bench")
            ctx = Ctx("bench", Caller("python"), session, box._services, box.registry, nothing)  # type: ignore[arg-type]  # noqa: SLF001
            argv, cwd = [sys.executable, "-I", "make.py"], box.use(Workspace).start("")
            began = time.perf_counter()
            result = await box.use(Runs).run(
                argv, ctx, tool="bench", cwd=cwd, commit="auto", seconds=60.0
            )
            ran = time.perf_counter() - began
            made = sum(1 for _ in folder.rglob("*.txt"))
            assert made == count, result
            began = time.perf_counter()
            await box.use(Changes).undo(ctx)
            undone = time.perf_counter() - began
            left = sum(1 for _ in folder.rglob("*.txt"))
    print(
        f"{count:>6,} files: bare {alone:6.2f} s, run {ran:6.2f} s ({ran / alone:.1f}x), "
        f"undo {undone:6.2f} s ({undone / alone:.1f}x); made {made:,}, left {left:,}",
        flush=True,
    )


async def main() -> None:
    """All counts."""
    for count in COUNTS:
        await measured(count)


if __name__ == "__main__":
    asyncio.run(main())
