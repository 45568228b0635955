"""The real program, run as a person or a host runs it."""

from __future__ import annotations

import errno
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from tests.surfaces.cli.forked_program import ForkServer

PROGRAM = (sys.executable, "-P", "-m", "toolcrib")
SAMPLES = Path(__file__).parent / "samples"
PATIENCE = 100.0
"""Seconds; what hangs is ended before pytest ends the test."""


@dataclass(frozen=True)
class Ended:
    """How a run ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def events(self) -> list[Any]:
        """The objects of its lines."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Program:
    """Runs `toolcrib` in a folder, with the environment of the test."""

    folder: Path
    env: Mapping[str, str]

    def __call__(
        self, *words: str, stdin: str | None = None, env: Mapping[str, str] | None = None
    ) -> Ended:
        with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
            given.write((stdin or "").encode())
            given.seek(0)
            own = {**self.env, **(env or {})}
            code = fork_server().run(words, self.folder, own, (given, out, err), PATIENCE)
            done = Ended(code, *(_text_of(file) for file in (out, err)))
        assert "Traceback" not in done.err, done.err
        return done

    def in_new_interpreter(self, *words: str, env: Mapping[str, str]) -> Ended:
        """Run it where the environment says something to Python itself."""
        done = subprocess.run(
            [*PROGRAM, *words],
            cwd=self.folder,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str, **more: Any) -> subprocess.Popen[str]:
        """Start it with pipes, for tests that talk to it or stop it."""
        return subprocess.Popen(
            [*PROGRAM, *words],
            cwd=self.folder,
            env=dict(self.env),
            stdin=more.pop("stdin", subprocess.DEVNULL),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def on_terminal(self, *words: str, type_after: Mapping[str, str] | None = None) -> Ended:
        """Run it on a terminal, and type each text once its prompt has appeared."""
        waiting = dict(type_after or {})
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            # As in a real terminal, Ctrl-C is a signal.
            ["setsid", "--ctty", *PROGRAM, *words],
            cwd=self.folder,
            env={**self.env, "COLUMNS": "80", "TERM": "xterm"},
            stdin=follower,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        try:
            out = _typed(leader, process, waiting)
            return Ended(process.wait(PATIENCE), out, "")
        finally:
            process.kill()
            process.wait()
            os.close(leader)


_fork_servers: list[ForkServer] = []


def fork_server() -> ForkServer:
    """The one of this process, until `end_fork_server`."""
    if _fork_servers and not _fork_servers[0].is_alive:
        end_fork_server()
    if not _fork_servers:
        _fork_servers.append(ForkServer())
    return _fork_servers[0]


def end_fork_server() -> None:
    """Leave no child behind: others look for theirs."""
    while _fork_servers:
        _fork_servers.pop().close()


def _text_of(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode()


def _typed(leader: int, process: subprocess.Popen[bytes], waiting: dict[str, str]) -> str:
    seen, end = "", time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not select.select([leader], [], [], 0.2)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            data = os.read(leader, 65_536)
        except OSError as error:  # how Linux says that the other end is closed
            assert error.errno == errno.EIO
            break
        seen += data.decode(errors="replace")
        for prompt in [p for p in waiting if p in seen]:
            os.write(leader, waiting.pop(prompt).encode())
    assert not waiting, f"never asked: {waiting}; seen: {seen}"
    return seen.replace("\r\n", "\n")


def listed(command: list[str], env: Mapping[str, str]) -> list[str]:
    """The names that a stdio server answers to tools/list, asked as an older host asks."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
    ]
    with subprocess.Popen(
        command,
        cwd="/",
        env=dict(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            for message in messages:
                process.stdin.write(json.dumps(message) + "\n")
                process.stdin.flush()
            for line in process.stdout:
                answer = json.loads(line)
                if answer.get("id") == 2:
                    return [tool["name"] for tool in answer["result"]["tools"]]
            raise AssertionError("no answer to tools/list")
        finally:
            process.stdin.close()
            process.wait(PATIENCE)


def gone(pid: int) -> bool:
    """Whether no process of this id runs (a zombie has ended)."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] == "Z"
