"""A process that has imported `toolcrib` and forks for each run, which then starts at once.

Each run is still a process of its own, with its environment, folder and files; what a fresh
interpreter does is left to the tests that start one.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

MAX_REQUEST_BYTES = 1 << 20
ROOT = Path(__file__).parents[3]


class ForkServer:
    """Runs `toolcrib` by forking a process that has imported it; one run at a time."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__, str(theirs.fileno())],
                env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"},
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def run(
        self,
        words: Sequence[str],
        folder: Path,
        env: Mapping[str, str],
        files: tuple[BinaryIO, BinaryIO, BinaryIO],
        seconds: float,
    ) -> int:
        """The exit status of a run; `files` are its stdin, stdout and stderr.

        Raises:
            TimeoutError: it took longer; it is ended, and so is this server.
        """
        request = json.dumps([list(words), str(folder), dict(env)]).encode()
        assert len(request) < MAX_REQUEST_BYTES
        self._socket.settimeout(seconds)
        try:
            socket.send_fds(self._socket, [request], [file.fileno() for file in files])
            return int(self._socket.recv(100))
        except TimeoutError:
            self.close()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether it can run another."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it and what it runs."""
        self._socket.close()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def serve(connection: socket.socket) -> int:
    """Fork for each request; in the process of a run, its exit status."""
    from toolcrib.surfaces.cli.main import main

    preload()
    while True:
        request, descriptors, *_ = socket.recv_fds(connection, MAX_REQUEST_BYTES, 3)
        if not request:
            return 0
        pid = os.fork()
        if pid == 0:
            connection.close()
            words, folder, env = json.loads(request)
            for number, descriptor in enumerate(descriptors):
                os.dup2(descriptor, number)
                os.close(descriptor)
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(env)
            sys.path[:] = [*env.get("PYTHONPATH", "").split(os.pathsep), *sys.path[1:]]
            return main(words)
        for descriptor in descriptors:
            os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        connection.send(str(status).encode())


def preload() -> None:
    """Import what most commands need; nothing of it is called, so that nothing is decided here."""
    import toolcrib.execution.jobs
    import toolcrib.extensions.own_tools
    import toolcrib.files.changes.changes
    import toolcrib.middleware
    import toolcrib.surfaces.cli.person
    import toolcrib.toolbox
    import toolcrib.tools.files.file_reader  # noqa: F401


if __name__ == "__main__":
    sys.exit(serve(socket.socket(fileno=int(sys.argv[1]))))
