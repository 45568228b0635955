"""What a run uses is measured as it is: neither hidden from the watch nor put on the innocent."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from tests.execution.sandbox.conftest import Box, Open
from toolcrib.core.config import data_folder
from toolcrib.core.errors import Unavailable
from toolcrib.execution.sandbox.preparation import SCRATCH_PREFIX, Scratch
from toolcrib.execution.sandbox.resources import ResourceGauge, Usage
from toolcrib.execution.sandbox.terms import MEGABYTE, Limits
from toolcrib.system.removal import remove

SPAWNS = """
import subprocess, time
held = bytearray(b"x") * 130_000_000
until = time.monotonic() + 3
while time.monotonic() < until:
    subprocess.run(["/bin/true"])
print("done")
"""
WAITS_IN_VFORK = """
import ctypes
held = bytearray(b"x") * 130_000_000
libc, stack = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(1 << 20)
top = ctypes.c_void_p((ctypes.addressof(stack) + (1 << 20)) & ~63)
made = libc.clone(ctypes.cast(libc.sleep, ctypes.c_void_p), top, 0x4100 | 17, ctypes.c_void_p(1))
print("made" if made > 0 else ctypes.get_errno())
"""
LEADERLESS = """
import ctypes, os, threading, time
def work():
    time.sleep(0.3)
    held = [b"x" * 10_000_000 for _ in range(40) if not time.sleep(0.01)]
    time.sleep(50)
    os._exit(0)
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
"""
TABLES = """
import ctypes, mmap, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
size = 200 << 30
at = libc.mmap(None, ctypes.c_size_t(size), 1, 0x4022, -1, 0)
libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(size), 15)
for place in range(at, at + size, 2 << 20):
    ctypes.c_char.from_address(place).value
time.sleep(50)
"""
DROPPED = """
import ctypes, mmap, time
libc = ctypes.CDLL(None, use_errno=True)
kept = []
for _ in range(40):
    kept.append(mmap.mmap(-1, 10_000_000))
    kept[-1].write(bytes(10_000_000))
    kept[-1].madvise(mmap.MADV_DONTNEED)  # no map shows it, and the pages are there
    time.sleep(0.01)
time.sleep(50)
"""
CLOSED = """
import mmap, os, time
kept = []
for _ in range(40):
    fd = os.memfd_create("x")
    os.write(fd, bytes(10_000_000))
    kept.append(mmap.mmap(fd, 10_000_000))
    os.close(fd)
    time.sleep(0.01)
time.sleep(50)
"""
IN_TRANSIT = """
import os, socket, time
kept = []
for _ in range(40):
    fd = os.memfd_create("x")
    os.write(fd, bytes(10_000_000))
    kept.append(socket.socketpair())
    socket.send_fds(kept[-1][0], [b"x"], [fd])
    os.close(fd)
    time.sleep(0.01)
time.sleep(50)
"""
UNSEEN = """
import ctypes, os, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
fds = []
for _ in range(40):
    fds.append(os.memfd_create("x"))
    os.write(fds[-1], bytes(10_000_000))
    time.sleep(0.01)
time.sleep(50)
"""
LEFT_TO_A_THREAD = """
import ctypes, os, threading, time
def work():
    time.sleep(0.3)
    fds = []
    for _ in range(40):
        fds.append(os.memfd_create("x"))
        os.write(fds[-1], bytes(10_000_000))
        time.sleep(0.01)
    time.sleep(50)
    os._exit(0)
threading.Thread(target=work).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)
"""
NAMES = """
import os
for number in range(1_000_000):
    os.symlink("x" * 100, f"/tmp/{number}{'y' * 200}")
"""
SENT = """
import os, socket, time
kept = []
for _ in range(3):
    if os.fork() == 0:
        try:
            while True:
                kept.append(socket.socketpair())
                kept[-1][0].setblocking(False)
                while True:
                    try:
                        kept[-1][0].send(bytes(65536))
                    except BlockingIOError:
                        break
        except OSError:
            time.sleep(50)
time.sleep(50)
"""
UNACCEPTED = """
import socket, time
kept = []
for number in range(40):
    kept.append(socket.socket(KIND))
    kept[-1].bind(("127.0.0.1", 0) if KIND == socket.AF_INET else f"\\0{number}")
    kept[-1].listen(4000)
    for _ in range(4000):
        with socket.socket(KIND) as client:
            client.settimeout(0.3)
            try:
                client.connect(kept[-1].getsockname())
                client.setblocking(False)
                while True:
                    client.send(bytes(200_000))
            except BlockingIOError:
                continue
            except OSError:
                break
time.sleep(50)
"""
OPENED = """
import os, time
for _ in range(30):
    if os.fork() == 0:
        fd = os.open("/dev/null", 0)
        try:
            while True:
                os.dup(fd)
        except OSError:
            time.sleep(50)
time.sleep(50)
"""
UNNAMED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
files = []
for number in range(30):
    files.append(open("f", "wb"))
    os.remove("f")
    if not os.fork():
        files[-1].write(bytes(5_000_000)); files[-1].flush(); os.fsync(files[-1].fileno())
        os._exit(0)
    time.sleep(0.04)
time.sleep(50)
"""
UNAWAITED = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for number in range(30):
    if not os.fork():
        with open(f"f{number}", "wb") as file:
            file.write(bytes(5_000_000)); os.fsync(file.fileno())
        os._exit(0)
    time.sleep(0.04)
time.sleep(50)
"""


async def test_a_child_that_is_just_spawned_has_no_memory_of_its_own(box: Box) -> None:
    done = await box.python(SPAWNS, limits=Limits(memory_bytes=200 * MEGABYTE))
    assert (done.out, done.stopped) == ("done\n", "")


async def test_a_child_in_the_memory_of_its_parent_does_not_count_twice(box: Box) -> None:
    done = await box.python(WAITS_IN_VFORK, limits=Limits(memory_bytes=200 * MEGABYTE))
    assert (done.out, done.stopped) == ("made\n", "")


@pytest.mark.parametrize(
    "code",
    [LEADERLESS, TABLES, DROPPED, CLOSED, IN_TRANSIT, UNSEEN, LEFT_TO_A_THREAD, SENT],
    ids=["leaderless", "tables", "dropped", "closed", "on the way", "unseen", "threads", "sent"],
)
async def test_memory_that_is_easily_overlooked(box: Box, code: str) -> None:
    done = await box.python(code, limits=Limits(memory_bytes=100 * MEGABYTE))
    assert done.stopped == "memory", done


@pytest.mark.parametrize("kind", ["AF_UNIX", "AF_INET"])
async def test_connections_that_nobody_accepts_count(strong: Box, kind: str) -> None:
    """No process has a descriptor of what waits in them."""
    code = UNACCEPTED.replace("KIND", f"socket.{kind}")
    done = await strong.python(code, limits=Limits(memory_bytes=100 * MEGABYTE))
    assert done.stopped == "memory", done


async def test_what_others_send_is_not_its_own(strong: Box) -> None:
    """What TCP keeps is known of the whole machine alone."""
    code = UNACCEPTED.replace("KIND", "socket.AF_INET").replace("(4000)", "(500)")
    code = code.replace("(40)", "(2)")
    large, small = Limits(memory_bytes=4000 * MEGABYTE), Limits(memory_bytes=100 * MEGABYTE)
    flood = asyncio.create_task(strong.python(code, limits=large))
    idle = await strong.python("import time; time.sleep(5); print('done')", limits=small)
    flood.cancel()
    assert idle.out == "done\n", idle


SEGMENTS = """
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
made = 0
for size in (1 << 20, 1 << 16):
    for _ in range(3000):
        segment = libc.shmget(0, ctypes.c_size_t(size), 0o600)
        if segment < 0:
            break
        at = libc.shmat(segment, None, 0)
        ctypes.memset(at, 1, size)
        libc.shmdt(ctypes.c_void_p(at))
        made += size
sets = 0
while sets < 40 and libc.semget(0, 10_000, 0o600) >= 0:
    sets += 1
print(made, sets)
"""


async def test_what_outlives_its_maker_is_small(box: Box) -> None:
    done = await box.python(SEGMENTS)
    made, sets = map(int, done.out.split())
    assert made <= 3000 << 16
    assert sets == 0


HIDDEN_FILES = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.chdir(os.environ["PLACE"])
top = os.getcwd()
for number in range(20):
    os.mkdir("x" * 250)
    os.chdir("x" * 250)
os.mkdir("shut")
for number in range(30):
    if not os.fork():
        os.chdir("shut")
        with open(f"f{number}", "wb") as file:
            os.chmod(".", 0)
            file.write(bytes(5_000_000)); os.fsync(file.fileno())
        os._exit(0)
    time.sleep(0.02)
    os.chmod("shut", 0o700)
os.chmod("shut", 0)
time.sleep(50)
"""


async def test_what_lies_too_deep_to_be_looked_at(box: Box) -> None:
    limits = Limits(disk_bytes=20 * MEGABYTE)
    done = await box.python(HIDDEN_FILES, limits=limits, env={"PLACE": str(box.root)})
    assert done.stopped == "disk", done
    remove(box.root)


async def test_a_scratch_folder_goes_however_deep_it_is(box: Box) -> None:
    code = """
import os
os.chdir(os.environ["TMPDIR"])
for depth in range(3000):
    os.mkdir("d"); open("f", "w").close(); os.chdir("d")
os.chmod(".", 0)
print("made")
"""
    assert (await box.python(code)).out == "made\n"
    assert not list((data_folder() / "sandbox").glob(f"{SCRATCH_PREFIX}*"))


@pytest.mark.parametrize("code", [UNAWAITED, UNNAMED], ids=["named", "unnamed"])
async def test_what_children_write_that_nobody_waits_for(box: Box, code: str) -> None:
    done = await box.python(code, limits=Limits(disk_bytes=20 * MEGABYTE))
    assert done.stopped == "disk", done


async def test_files_of_others_are_not_its_own(box: Box, tmp_path: Path) -> None:
    run = asyncio.ensure_future(box.sh("sleep 2", limits=Limits(disk_bytes=20 * MEGABYTE)))
    await asyncio.sleep(0.6)
    (tmp_path / "elsewhere").mkdir()
    for number in range(6000):
        (tmp_path / "elsewhere" / str(number)).touch()
    assert (await run).stopped == ""


async def test_names_in_memory_count(strong: Box) -> None:
    done = await strong.python(NAMES, limits=Limits(memory_bytes=100 * MEGABYTE))
    assert done.stopped == "memory"


async def test_open_files_of_all_processes_count(box: Box) -> None:
    done = await box.python(OPENED)
    assert done.stopped == "open files"


async def test_a_thread_that_is_refused_ends_no_watch(
    open_box: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = open_box("kernel")
    await box.sandbox.report()
    begin = threading.Thread.start

    def refused(thread: threading.Thread) -> None:
        if thread.name == "watchdog":
            raise RuntimeError("can't start new thread")
        begin(thread)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        with pytest.raises(Unavailable, match="another thread"):
            await box.sh("true")
    hold = "import time; held = bytearray(b'x') * 300_000_000; time.sleep(50)"
    done = await box.python(hold, limits=Limits(memory_bytes=100 * MEGABYTE))
    assert done.stopped == "memory"


async def test_what_cannot_be_measured_is_ended(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **more: object) -> Usage:
        raise ValueError("not a number")

    await box.sandbox.report()
    monkeypatch.setattr(ResourceGauge, "measure", fail)
    done = await box.sh("sleep 60")
    assert done.stopped == "measuring"


def test_a_folder_in_use_is_nobody_elses_to_remove(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolcrib.execution.sandbox.preparation.SETTLED_SECONDS", -1.0)
    first = Scratch.make()
    second = Scratch.make()
    assert Path(first.path).is_dir()
    first.remove()
    assert not Path(first.path).exists()
    Path(second.path, "left").touch()
    second.release()
    third = Scratch.make()
    assert not Path(second.path).exists()
    third.remove()
