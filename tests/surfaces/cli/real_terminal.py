"""A program on a real pseudo-terminal, and the screen that a person would see."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyte

PATIENCE = 60.0
PASTE = "\x1b[200~{}\x1b[201~"


class _Screen(pyte.HistoryScreen):
    """Answers what a program asks its terminal, as the position of the cursor."""

    answer: Callable[[str], None]

    def write_process_input(self, data: str) -> None:
        self.answer(data)


class Terminal:
    """A running program and its screen.

    Attributes:
        raw: all that it wrote.
        screen: what stands there now.
    """

    def __init__(self, process: subprocess.Popen[bytes], leader: int, columns: int) -> None:
        self.process = process
        self.raw = b""
        self.screen = _Screen(columns, 24, history=5000)
        self._answers: list[str] = []
        self.screen.answer = self._answers.append
        self._stream = pyte.ByteStream(self.screen)
        self._leader = leader
        self._from = 0

    @property
    def lines(self) -> list[str]:
        """What stands on the screen and above it."""
        above = [
            "".join(row[n].data for n in range(self.screen.columns)).rstrip()
            for row in self.screen.history.top
        ]
        return [*above, *(line.rstrip() for line in self.screen.display)]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def type(self, text: str) -> None:
        """Press these keys; what the program does not read yet waits for it."""
        data = text.encode()
        while data:
            _, can_write, _ = select.select([], [self._leader], [], 0.05)
            if can_write:
                data = data[os.write(self._leader, data[:512]) :]
            self._take(0)

    def paste(self, text: str) -> None:
        """Paste as terminals do that were asked to mark it."""
        self.type(PASTE.format(text.replace("\n", "\r")))

    def until(self, text: str) -> str:
        """Read until this was written since the last time; all lines then."""
        return self.until_true(
            lambda: text in self.raw[self._from :].decode(errors="replace"), text
        )

    def until_true(self, holds: Callable[[], bool], what: str = "") -> str:
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, f"never: {what}; on the screen:\n{self.text}"
            if not self._take(0.2) and self.process.poll() is not None:
                assert holds(), f"ended without: {what}; on the screen:\n{self.text}"
        self._from = self.raw.rfind(what.encode()) + len(what.encode()) if what else len(self.raw)
        return self.text

    def ended(self) -> int:
        """Read to its end; the exit status."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None or self._take(0):
            self._take(0.2)
            assert time.monotonic() < end, f"still there:\n{self.text}"
        return self.process.wait()

    def resize(self, columns: int, rows: int = 24) -> None:
        """Make the window of another size."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.killpg(os.getpgid(self.process.pid), signal.SIGWINCH)

    @property
    def has_line_mode(self) -> bool:
        """Whether the terminal is as a shell expects it: lines and echo."""
        mode = termios.tcgetattr(self._leader)[3]
        return bool(mode & termios.ICANON and mode & termios.ECHO)

    def _take(self, seconds: float) -> bool:
        if not select.select([self._leader], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._leader, 65_536)
        except OSError as error:  # how Linux says that the other end is closed
            assert error.errno == errno.EIO
            return False
        self.raw += data
        self._stream.feed(data)
        answers, self._answers[:] = "".join(self._answers), []
        if answers:
            os.write(self._leader, answers.encode())
        return bool(data)


@contextmanager
def on_terminal(
    command: list[str], folder: Path, env: Mapping[str, str], columns: int = 80
) -> Iterator[Terminal]:
    """Run a program on a terminal of its own."""
    leader, follower = pty.openpty()
    fcntl.ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        ["setsid", "--ctty", *command],
        cwd=folder,
        env={"TERM": "xterm-256color", **env},
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    terminal = Terminal(process, leader, columns)
    try:
        yield terminal
    finally:
        process.kill()
        process.wait()
        os.close(follower)
        os.close(leader)
