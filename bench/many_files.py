"""What many files cost: a program that makes or changes them, bare and as a run, and the undo.

    python -m bench.many_files [FOLDER]

The program itself is the peer: it makes or changes the same files on the same disk, with no
boundary, no review and no undo. They lie in folders of a hundred each, as those of packages and
builds do, or all in one folder that was there; what is changed lies in folders, and a line is added
to each. Times are wall time in seconds, the median of three rounds; before each the disk is at rest
and a run has been made, since the first of a process tries what works here. Nothing is removed
before the end: some file systems are slow to make files for minutes after others were removed.
FOLDER chooses the disk.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.run import nothing
from toolcrib import Toolbox
from toolcrib.core.context import Caller, Ctx, Session
from toolcrib.execution.runs.runs import Runs
from toolcrib.files.changes.changes import Changes
from toolcrib.files.paths import Workspace

COUNTS = (1_000, 20_000)
ROUNDS = 3
FOLDERS = """
import os
for n in range({count}):
    folder = f"made/{{n // 100:03d}}"
    if n % 100 == 0:
        os.makedirs(folder)
    with open(f"{{folder}}/{{n:05d}}.txt", "w") as file:
        file.write(f"file {{n}}\\n" * 20)
"""
CHANGE = """
for n in range({count}):
    with open(f"made/{{n // 100:03d}}/{{n:05d}}.txt", "a") as file:
        file.write("one more\\n")
"""
FLAT = """
for n in range({count}):
    with open(f"{{n:05d}}.txt", "w") as file:
        file.write(f"file {{n}}\\n" * 20)
"""


def made_by(program: str, folder: Path) -> float:
    """Let a program work in a folder; the seconds that it takes."""
    os.sync()
    began = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", program], cwd=folder, check=True)
    return time.perf_counter() - began


def bytes_in(folder: Path) -> int:
    """Of all files beneath a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*.txt"))


async def as_run(folder: Path, program: str, count: int) -> tuple[float, float]:
    """The same as a run, and its undo."""
    before = bytes_in(folder)
    async with Toolbox(workspace=folder) as box:
        session = Session("bench")
        ctx = Ctx("bench", Caller("python"), session, box._services, box.registry, nothing)  # type: ignore[arg-type]  # noqa: SLF001
        runs, cwd = box.use(Runs), box.use(Workspace).start("")
        await runs.run(["/bin/true"], ctx, tool="bench", cwd=cwd)
        argv = [sys.executable, "-I", "-c", program]
        os.sync()
        began = time.perf_counter()
        result = await runs.run(argv, ctx, tool="bench", cwd=cwd, commit="auto")
        ran = time.perf_counter() - began
        assert sum(1 for _ in folder.rglob("*.txt")) == count, result
        assert bytes_in(folder) > before, result
        os.sync()
        began = time.perf_counter()
        await box.use(Changes).undo(ctx)
        undone = time.perf_counter() - began
        assert bytes_in(folder) == before
    return ran, undone


async def measured(top: Path, name: str, program: str, count: int, before: str = "") -> None:
    """One line: bare, as a run, undone.

    Args:
        top: where.
        name: of what is measured.
        program: what is.
        count: how many files.
        before: a program that makes what it finds.
    """
    alone, ran, undone = [], [], []
    for number in range(ROUNDS):
        place = top / f"{name}-{count}-{number}"
        os.environ["TOOLCRIB_DATA"] = str(place / "state")
        text = program.format(count=count)
        for folder in ("bare", "project"):
            (place / folder).mkdir(parents=True)
            made_by(before.format(count=count), place / folder)
        alone.append(made_by(text, place / "bare"))
        times = await as_run(place / "project", text, count)
        ran.append(times[0])
        undone.append(times[1])
    least, run, undo = median(alone), median(ran), median(undone)
    print(
        f"{count:>6,} files, {name:>7}: bare {least:5.2f} s, "
        f"run {run:5.2f} s ({run / least:.1f}x), "
        f"undo {undo:5.2f} s ({undo / least:.1f}x)",
        flush=True,
    )


async def main(folder: str | None) -> None:
    """All counts."""
    with tempfile.TemporaryDirectory(dir=folder) as top:
        for count in COUNTS:
            await measured(Path(top), "folders", FOLDERS, count)
            await measured(Path(top), "flat", FLAT, count)
            await measured(Path(top), "change", CHANGE, count, before=FOLDERS)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:2] or [None]))
