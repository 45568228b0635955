"""What the boundary costs: a shell and a Python, bare, confined, and as a tool runs them.

    python -m bench.run

Bare, in bubblewrap alone, behind the boundary (`Sandbox.spawn`), and with the changes of
files taken over (`Runs.run`) take turns. Times are from start to end, in milliseconds.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from toolcrib import Toolbox
from toolcrib.core.context import Caller, Ctx, Session
from toolcrib.execution.runs.runs import Runs
from toolcrib.execution.sandbox.sandbox import Sandbox
from toolcrib.execution.sandbox.terms import Bind
from toolcrib.files.paths import Workspace

ROUNDS = 25
PYTHON = str(Path(sys.executable).resolve())
PROGRAMS = {"shell": ["/bin/sh", "-c", "true"], "python": [PYTHON, "-c", "pass"]}

Run = Callable[[list[str]], Awaitable[None]]


async def nothing(*_: object) -> object:
    """A call that is not made here."""
    raise NotImplementedError


async def bare(argv: list[str]) -> None:
    """The program itself, started as everything here starts programs."""
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    await process.communicate()


def ways(box: Toolbox, folder: str, program: str) -> dict[str, Run]:
    """The ways to run a program, by name."""
    session = Session("bench")
    ctx = Ctx("bench", Caller("python"), session, box._services, box.registry, nothing)  # type: ignore[arg-type]  # noqa: SLF001
    cwd = box.use(Workspace).start("")

    async def bubblewrap(argv: list[str]) -> None:
        options = ["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev"]
        await bare([program, *options, "--proc", "/proc", "--bind", folder, folder, *argv])

    async def confined(argv: list[str]) -> None:
        async with await box.use(Sandbox).spawn(argv, cwd=cwd, views=Bind()) as running:
            await running.wait()

    async def through(argv: list[str]) -> None:
        ran = await box.use(Runs).run(argv, ctx, tool="bench", cwd=cwd, commit="auto", seconds=30.0)
        assert ran.exit_code == 0, ran

    return {"bare": bare, "bubblewrap": bubblewrap, "confined": confined, "run": through}


async def measure(level: str) -> None:
    """Print the medians of one level."""
    with tempfile.TemporaryDirectory() as folder:
        config = {"run": {"level": level}, "workspace": {"roots": [folder]}}
        async with Toolbox(config=config) as box:
            report = await box.use(Sandbox).report()
            by_name = ways(box, folder, report.program or "bwrap")
            if not report.program:
                del by_name["bubblewrap"]
            for name, argv in PROGRAMS.items():
                times: dict[str, list[float]] = {method: [] for method in by_name}
                for number in range(ROUNDS + 2):
                    for method, run in by_name.items():
                        started = time.perf_counter()
                        await run(argv)
                        if number >= 2:
                            times[method].append((time.perf_counter() - started) * 1000)
                medians = {method: statistics.median(found) for method, found in times.items()}
                print(f"{level:7} {name:7}", end="")
                for method, median in medians.items():
                    more = f" (+{median - medians['bare']:.0f})" if method != "bare" else ""
                    print(f"  {method} {median:.1f}{more}", end="")
                print()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as state:
        os.environ["TOOLCRIB_DATA"] = state
        for which in ("strong", "kernel"):
            asyncio.run(measure(which))
