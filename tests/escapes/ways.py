"""How the program of an attempt is run: bare, in bubblewrap alone, or as a tool runs it."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from tests.escapes.attempt import Attempt
from tests.escapes.world import World
from toolcrib.core.config import Config
from toolcrib.core.context import Caller, Ctx, Services, Session
from toolcrib.core.registry import Registry
from toolcrib.core.result import Result
from toolcrib.execution.runs.runs import Runs
from toolcrib.execution.sandbox.terms import Limits, Pty
from toolcrib.files.paths import Workspace

MAX_OUTPUT = 50_000_000
PASSED_VARIABLES = 200_000
TYPES: dict[str, type] = {"cpu_seconds": float}


@dataclass
class Done:
    """A run that ended.

    Attributes:
        output: the first and the last that it wrote.
        written: bytes that arrived.
        layer: what ended it or took back what it did, where that can be told.
    """

    output: bytes
    written: int
    seconds: float
    level: str
    layer: str = ""


class SandboxKind(Protocol):
    """Runs a program in a world."""

    async def run(self, attempt: Attempt, world: World, argv: list[str], place: str) -> Done: ...

    async def close(self) -> None:
        """Let go of what it keeps from run to run."""


class Bare(SandboxKind):
    """Without a sandbox: the control, which must get out.

    Args:
        front: words before the program.
        everything: whether it has our environment and our open files.
    """

    def __init__(self, *, everything: bool = True) -> None:
        self._everything = everything

    def front(self, world: World) -> list[str]:
        del world
        return []

    async def run(self, attempt: Attempt, world: World, argv: list[str], place: str) -> Done:
        return await asyncio.to_thread(self._run, attempt, world, argv, place)

    def _run(self, attempt: Attempt, world: World, argv: list[str], place: str) -> Done:
        # A parent of its own: programs that kill theirs must not kill us.
        words = ["/bin/sh", "-c", '"$@"; exit $?', "sh", *self.front(world), *argv]
        if attempt.alone and self._everything:
            own = [] if os.getuid() == 0 else ["-Ur"]
            words = ["unshare", *own, "-p", "-f", "--kill-child", *words]
        env = {**os.environ, **world.variables(place)}
        started = time.monotonic()
        if attempt.terminal:
            return self._in_terminal(attempt, world, words, env)
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            cwd=world.workspace, env=env, start_new_session=True, close_fds=False,
        )  # fmt: skip
        assert process.stdout is not None
        output, written = _collect(process.stdout.fileno(), process, max(attempt.seconds + 4, 12))
        process.stdout.close()
        return Done(output, written, time.monotonic() - started, "bare")

    def _in_terminal(
        self, attempt: Attempt, world: World, words: list[str], env: dict[str, str]
    ) -> Done:
        started = time.monotonic()
        master, slave = pty.openpty()
        process = subprocess.Popen(
            ["setsid", "-c", "-w", *words], stdin=slave, stdout=slave, stderr=slave,
            cwd=world.workspace, env=env, close_fds=False,
        )  # fmt: skip
        os.close(slave)
        output, written = _collect(master, process, attempt.seconds)
        os.close(master)
        return Done(output, written, time.monotonic() - started, "bare")


class Bubblewrap(Bare):
    """A peer: bubblewrap alone, with the usual mounts."""

    def __init__(self, program: str) -> None:
        super().__init__(everything=False)
        self._program = program

    def front(self, world: World) -> list[str]:
        ws = str(world.workspace)
        words = [self._program, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
        words += ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
        words += ["--tmpfs", "/tmp"]
        for name in ("bin", "sbin", "lib", "lib64"):
            if os.path.islink(f"/{name}"):
                words += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
            elif os.path.isdir(f"/{name}"):
                words += ["--ro-bind", f"/{name}", f"/{name}"]
        for folder in (*readable(), "/etc/alternatives"):
            words += ["--ro-bind", folder, folder]
        words += ["--bind", ws, ws, "--chdir", ws, "--setenv", "PATH", "/usr/bin:/bin"]
        words += ["--setenv", "HOME", "/tmp"]
        for name, value in world.variables(self._place).items():
            words += ["--setenv", name, value]
        return [*words, "--"]

    def _run(self, attempt: Attempt, world: World, argv: list[str], place: str) -> Done:
        peer = Bubblewrap(self._program)
        peer._place = place
        return Bare._run(peer, attempt, world, argv, place)

    _place = ""


class Tool(SandboxKind):
    """As a tool runs it, at a level."""

    def __init__(self, level: Literal["strong", "kernel"], readable: tuple[str, ...] = ()) -> None:
        self._level = level
        self._readable = list(readable)
        self._services: dict[str, Services] = {}

    async def run(self, attempt: Attempt, world: World, argv: list[str], place: str) -> Done:
        root = str(world.workspace)
        if root not in self._services:
            run = {"level": self._level, "readable": self._readable}
            self._services[root] = Services(
                Config.load({"workspace": {"roots": [root]}, "run": run})
            )
        return await self._through(self._services[root], attempt, world, argv, place)

    async def close(self) -> None:
        for services in self._services.values():
            await services.close()

    async def _through(
        self, services: Services, attempt: Attempt, world: World, argv: list[str], place: str
    ) -> Done:
        async def invoke(*_: object) -> Result:
            return Result()

        ctx = Ctx("1", Caller("test"), Session("one"), services, Registry(()), invoke, None)
        runs, cwd = services.use(Runs), services.use(Workspace).resolve(".")
        usual = Limits(memory_bytes=1_500_000_000, processes=120, disk_bytes=300_000_000)
        given = {name: TYPES.get(name, int)(value) for name, value in attempt.limits.items()}
        env, limits = world.variables(place), replace(usual, **given)
        started = time.monotonic()
        if attempt.terminal or attempt.background:
            pty = Pty() if attempt.terminal else None
            running = await runs.start(
                argv, ctx, tool="start_terminal", cwd=cwd, env=env, limits=limits, pty=pty
            )
            output = b""
            with suppress(TimeoutError):
                async with asyncio.timeout(attempt.seconds):
                    async for chunk in running.confined.read("stdout"):
                        output += chunk
            outcome = await running.finish()
            layer = "judged after" if outcome.notes else ""
            return Done(output, len(output), time.monotonic() - started, running.level, layer)
        ran = await runs.run(
            argv, ctx, tool="run_command", cwd=cwd, env=env, limits=limits, commit="auto",
            seconds=attempt.seconds,
        )  # fmt: skip
        output = bytes(ran.stdout) + bytes(ran.stderr)
        layer = f"limit: {ran.stopped}" if ran.stopped else ""
        if not layer and ran.timed_out:
            layer = "limit: time"
        if not layer and any("protected" in n or "link" in n or "pipe" in n or "setuid" in n
                             for n in ran.outcome.notes if "at this level" not in n):  # fmt: skip
            layer = "judged after"
        seconds = time.monotonic() - started
        return Done(output, ran.stdout.size + ran.stderr.size, seconds, ran.level, layer)


def readable() -> list[str]:
    """Folders of the interpreter that we are run by."""
    import sys

    return list(dict.fromkeys((sys.prefix, sys.base_prefix)))


def _collect(fd: int, process: subprocess.Popen[bytes], seconds: float) -> tuple[bytes, int]:
    """What it writes until it ends; a child of it may hold the pipe for longer."""
    os.set_blocking(fd, False)
    output, written = b"", 0
    end = time.monotonic() + seconds
    code: int | None = None
    while time.monotonic() < end and written < MAX_OUTPUT:
        try:
            data = os.read(fd, 1 << 16)
        except BlockingIOError:
            if code is not None:
                break
            code = process.poll()
            time.sleep(0.005)
            continue
        except OSError:
            break
        if not data:
            break
        written += len(data)
        output = output + data if len(output) < PASSED_VARIABLES else output
    if code is None:
        try:
            process.wait(max(end - time.monotonic(), 0.05))
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
    return output, written
