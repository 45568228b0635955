"""A server whose client is gone ends soon, whatever it is doing, and leaves nothing."""

from __future__ import annotations

import os
import pty
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from tests.cases import each_case
from tests.conditions import block_until
from tests.servers.survivors import Tag, gone, survivors

SERVER = Path(__file__).parents[1] / "servers" / "lifeline_server.py"
BUSY = ["idle", "computing", "blocking", "in a thread", "in a stubborn thread"]
SOON = 50.0
"""Seconds; less than pytest allows. `bench/` measures the two seconds that are promised."""


@contextmanager
def server(
    mode: str, *options: str, stdin: int | IO[bytes] = subprocess.PIPE, tag: Tag | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    tag = tag or Tag.new()
    argv = [sys.executable, str(SERVER), mode, tag.seconds, *options]
    with subprocess.Popen(argv, stdin=stdin, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.kill()
            gone(tag)


def sleepers(tag: Tag) -> list[str]:
    return [line for line in survivors(tag) if line.startswith("sleep")]


def close_stdin(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.close()


@each_case(
    ("mode", "options"),
    [*((mode, []) for mode in BUSY), ("idle", ["children"]), ("computing", ["children"])],
)
def test_ends_when_stdin_closes(mode: str, options: list[str]) -> None:
    tag = Tag.new()
    with server(mode, *options, tag=tag) as process:
        block_until(lambda: len(sleepers(tag)) == (4 if options else 0))
        close_stdin(process)
        assert process.wait(SOON) == 0
        assert survivors(tag) == []


def test_a_clean_end_is_left_alone() -> None:
    with server("polite", "children") as process:
        close_stdin(process)
        assert process.wait(SOON) == 7
        assert process.stdout is not None
        assert process.stdout.read() == b"bye\n"


def test_input_is_left_to_the_server() -> None:
    with server("polite") as process:
        out, _ = process.communicate(b"unread\n" * 1000, timeout=SOON)
        assert out == b"bye\n"


def test_unread_input_does_not_hide_the_end() -> None:
    with server("computing") as process:
        assert process.stdin is not None
        process.stdin.write(b"unread\n" * 1000)
        close_stdin(process)
        assert process.wait(SOON) == 0


@pytest.mark.parametrize("how", ["close", "half"])
def test_ends_when_a_socket_closes(how: str) -> None:
    ours, theirs = socket.socketpair()
    with ours, server("computing", stdin=theirs) as process:  # type: ignore[arg-type]
        theirs.close()
        if how == "close":
            ours.close()
        else:
            ours.shutdown(socket.SHUT_WR)
        assert process.wait(SOON) == 0


def test_ends_when_a_terminal_hangs_up() -> None:
    ours, theirs = pty.openpty()
    with server("computing", stdin=theirs) as process:
        os.close(theirs)
        os.close(ours)
        assert process.wait(SOON) == 0


@pytest.mark.parametrize("kind", ["pipe", "nothing", "file"])
def test_lives_as_long_as_stdin(kind: str, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("one line\n")
    with (tmp_path / "input").open("rb") as file:
        stdin = {"pipe": subprocess.PIPE, "nothing": subprocess.DEVNULL, "file": file}[kind]
        with server("idle", stdin=stdin) as process, pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)


def test_stopped_it_does_nothing() -> None:
    with server("idle", "stopped") as process:
        close_stdin(process)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)


PARENT = """
import subprocess, sys
process = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=subprocess.PIPE)
process.stdout.readline()
print(process.pid, flush=True)
"""


@pytest.mark.parametrize("counts", [True, False])
def test_the_death_of_the_parent(counts: bool) -> None:
    """The pipe stays open, in our hands, and the parent is gone."""
    tag = Tag.new()
    options = ["children"] if counts else ["children", "without-parent"]
    read, write = os.pipe()
    argv = [sys.executable, "-c", PARENT, str(SERVER), "computing", tag.seconds, *options]
    try:
        with subprocess.Popen(argv, stdin=read, stdout=subprocess.PIPE) as parent:
            out, _ = parent.communicate(timeout=SOON)
        pid = int(out)
        if counts:
            block_until(lambda: not alive(pid))
        else:
            time.sleep(2)  # time is the subject: it would have ended by now
            assert alive(pid)
    finally:
        os.close(read)
        os.close(write)
    gone(tag)


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
