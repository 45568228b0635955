"""The start of a program in namespaces: what bubblewrap is told, and waits for.

It makes the namespaces, tells the number of the first process in there, and waits. Meanwhile that
process gets its limits from outside, and all that it starts inherits them. Then the program may
begin, behind the filter of system calls, which bubblewrap loads as its last step.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from toolcrib.core.errors import Unavailable
from toolcrib.execution.sandbox.confinement import LaunchPlan, interpreter
from toolcrib.execution.sandbox.layout import HOME, SandboxRoot
from toolcrib.execution.sandbox.masks import Mask
from toolcrib.execution.toolchains import is_among
from toolcrib.system.file_systems import mounts_of

if TYPE_CHECKING or sys.platform != "win32":
    import fcntl
    import resource
    import termios

if TYPE_CHECKING and sys.platform != "linux":  # nothing here is called elsewhere
    raise ImportError

STATUS_SECONDS = 20.0
"""How long the boundary may take to report."""
SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
HEAR_SIGNALS = (
    "import _signal as s,posix,sys\n"
    "for n in s.SIGINT,s.SIGQUIT,s.SIGPIPE,s.SIGXFSZ:s.signal(n,s.SIG_DFL)\n"
    "posix.execv(sys.argv[1],sys.argv[1:])"
)
SET_PID_MAX = 'echo "$0" > /proc/sys/kernel/pid_max'


class BoundaryFailed(Exception):
    """The boundary itself could not be made, though the probe had worked."""

    def unavailable(self) -> Unavailable:
        """As the caller gets it."""
        return Unavailable(
            f"The sandbox could not be started: {self}.", hint="`toolcrib doctor` says more."
        )


async def read_status(fd: int) -> bytes:
    """What is reported before the program begins."""
    status = b""
    with suppress(TimeoutError):
        async with asyncio.timeout(STATUS_SECONDS):
            while True:
                await _until_readable(fd)
                data = os.read(fd, 4096)
                if not data:
                    break
                status += data
    return status


async def _until_readable(fd: int) -> None:
    """Wait until a descriptor can be read from, or tells of its end."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)


WITHIN = 5.0
"""Seconds after which it is given up (a process in there waits for a hung disk)."""


@dataclass(slots=True)
class NamespaceInit:
    """A hold on the first process of a namespace: when it ends, the kernel ends all in there."""

    pidfd: int

    async def end(self) -> bool:
        """Kill it and wait until nothing is left in there; False if that took too long.

        Several may do so at once, and `close` may come meanwhile.
        """
        if self.pidfd < 0:
            return True
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        try:
            mine = os.dup(self.pidfd)  # the event loop knows one reader of a descriptor
        except OSError:
            return False
        try:
            async with asyncio.timeout(WITHIN):
                await _until_readable(mine)
        except TimeoutError:
            return False
        finally:
            os.close(mine)
        self.close()
        return True

    def close(self) -> None:
        """Let go of it."""
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1


def command(
    program: str, words: list[str], plan: LaunchPlan, keep: Callable[[bytes], int]
) -> list[str]:
    """The arguments that start a program in namespaces.

    Args:
        program: bubblewrap.
        words: its arguments for what is seen of the machine.
        plan: how the program starts.
        keep: makes a file in memory that is passed on. Variables are nobody else's to see, and
            stand in no command line.

    Raises:
        BoundaryFailed: a program of the system is missing.
    """
    words = [*words, "--chdir", plan.cwd, "--seccomp", str(keep(plan.filter))]
    for name, value in plan.env.items():
        words += ["--setenv", name, value]
    words += ["--info-fd", str(plan.status), "--block-fd", str(plan.lifeline)]
    argv = plan.argv
    if plan.terminal:
        setsid = shutil.which("setsid", path=SYSTEM_PATH)
        if setsid is None:
            raise BoundaryFailed("a terminal needs the program setsid of the package util-linux")
        argv = [setsid, "--ctty", *argv]
    arguments = keep(b"".join(os.fsencode(word) + b"\0" for word in words))
    front: list[str] = []
    if signal.SIG_IGN in map(signal.getsignal, (signal.SIGINT, signal.SIGQUIT)):
        # So it is under nohup, and a program would inherit that: Ctrl-C would do nothing.
        front = [interpreter(), "-I", "-S", "-c", HEAR_SIGNALS]
    return [*front, program, "--args", str(arguments), "--", *argv]


async def first_process(status: int) -> tuple[int, NamespaceInit]:
    """The first process in the namespaces, which waits to be let go on.

    Raises:
        BoundaryFailed: there is none.
    """
    report = await read_status(status)
    try:
        pid = int(json.loads(report)["child-pid"])
        return pid, NamespaceInit(os.pidfd_open(pid))
    except (ValueError, KeyError, OSError):
        raise BoundaryFailed from None


async def let_go(pid: int, plan: LaunchPlan, gate: int) -> None:
    """Limit the process that waits, and let it become the program.

    Args:
        pid: it.
        plan: how the program starts.
        gate: our end of `plan.lifeline`.

    Raises:
        BoundaryFailed: it ended before.
    """
    try:
        for which, soft, hard in plan.limits:
            resource.prlimit(pid, which, (soft, hard))
        os.setpriority(
            os.PRIO_PROCESS, pid, min(os.getpriority(os.PRIO_PROCESS, 0) + plan.nice, 19)
        )
        if plan.pid_max:
            await asyncio.to_thread(_set_pid_max, pid, plan.pid_max)
        os.write(gate, b"x")
    except (BrokenPipeError, ProcessLookupError):
        raise BoundaryFailed from None  # its last words say why
    except OSError as error:
        raise BoundaryFailed(error.strerror or str(error)) from None
    # It closes its end once it has read the byte; what is left unread tells that it ended.
    try:
        async with asyncio.timeout(STATUS_SECONDS):
            await _until_readable(gate)  # an error is all that comes from this end
    except TimeoutError:
        raise BoundaryFailed("it is not ready in time") from None
    unread = bytearray(4)
    fcntl.ioctl(gate, termios.FIONREAD, unread)
    if any(unread):
        raise BoundaryFailed


def _set_pid_max(pid: int, highest: str) -> None:
    """Set the highest number of a process in there, which only one from in there can."""
    nsenter = shutil.which("nsenter", path=SYSTEM_PATH)
    if nsenter is not None:  # without it, the watchdog alone looks
        argv = [nsenter, f"--pid=/proc/{pid}/ns/pid", "/bin/sh", "-c", SET_PID_MAX, highest]
        with suppress(subprocess.SubprocessError):
            subprocess.run(argv, capture_output=True, check=False, env={}, timeout=STATUS_SECONDS)  # noqa: S603


# The look at the mounts of a run from outside, before its program begins. Bubblewrap finds what it
# mounts by path. Another run may put a link in the place of a folder meanwhile, and what is
# mounted then is something else, or stands elsewhere.

MOUNT_SECONDS, PAUSE_SECONDS = 60.0, 0.0005
"""How long the mounts may take, thousands of masks too, and between two looks."""
MAX_REFUSED = 20


class MountsMoved(BoundaryFailed):
    """What was mounted is not what was meant; it may be well at the next try."""

    @classmethod
    def of(cls, *paths: str) -> Self:
        """That of the first of some places."""
        return cls(f"{min(paths)} was moved while the run was being set up")

    def unavailable(self) -> Unavailable:
        """As the caller gets it."""
        return Unavailable(
            f"Nothing was run: {self}.",
            hint="Another program moves folders there. Try again; if that goes on, list_jobs "
            "shows what runs.",
        )


def check_mounts(pid: int, layout: SandboxRoot) -> bool:
    """Wait until a run's mounts are made, and compare them with what was meant; blocking.

    Args:
        pid: its first process, which waits to be let go on.
        layout: what was meant.

    Returns:
        Whether they could be looked at.

    Raises:
        MountsMoved: something was moved meanwhile.
    """
    if not _are_made(pid):
        return False
    masks, pins, _ = layout.split()
    wanted = {mask.path for mask in masks if is_among(mask.path, layout.roots)}
    points, before = mount_points(pid), mount_points(os.getpid())
    known = {*layout.roots, *layout.readable, *layout.writable, *before}
    found = {point for point in points if is_among(point, layout.roots)} - known
    # Over the user's own mount in the workspace, a mask is one more at the same place.
    missing = {path for path in wanted if points[path] <= before[path]}
    missing |= {path for place, path in pins.items() if place not in points}
    if moved := (found - wanted) | missing:
        raise MountsMoved.of(*moved)
    empty = os.stat(layout.empty) if layout.empty else None  # noqa: PTH116
    for mask in masks:
        seen, real = _status(f"/proc/{pid}/root", mask.path), _status("/", mask.path)
        if seen is None or real is None or not _is_meant(mask, seen, real, empty):
            raise MountsMoved.of(mask.path)
    return True


def _are_made(pid: int) -> bool:
    """Wait for the last step, by which the root cannot be written any more; False if unseen."""
    root, refused = f"/proc/{pid}/root", 0
    until = time.monotonic() + MOUNT_SECONDS
    while time.monotonic() < until:
        try:
            if os.path.isdir(root + HOME) and os.statvfs(root).f_flag & os.ST_RDONLY:  # noqa: PTH112
                return True
            os.stat(f"{root}/proc")  # noqa: PTH116 - whether it may be looked at
        except PermissionError:
            refused += 1
            if refused > MAX_REFUSED:  # a bubblewrap that is setuid lets nobody look
                return False
        except FileNotFoundError:
            if not Path(f"/proc/{pid}").exists():
                raise BoundaryFailed from None  # its last words say why
        time.sleep(PAUSE_SECONDS)
    raise BoundaryFailed("it is not ready in time")


def mount_points(pid: int) -> Counter[str]:
    """How often something is mounted at each place that a process sees; none when it is over."""
    return Counter(fields[4] for fields in mounts_of(pid))


def _status(root: str, path: str) -> os.stat_result | None:
    """What is at a place beneath a root; None where it is not there, or a link is on the way."""
    fd = os.open(root, os.O_PATH | os.O_CLOEXEC)
    try:
        for name in path.strip("/").split("/"):
            inner = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
            os.close(fd)
            fd = inner
            if stat.S_ISLNK(os.fstat(fd).st_mode):
                return None
        return os.fstat(fd)
    except OSError:
        return None
    finally:
        os.close(fd)


def _is_meant(
    mask: Mask, seen: os.stat_result, real: os.stat_result, empty: os.stat_result | None
) -> bool:
    """Whether a run sees at a place what the mask is to show there."""
    if mask.kind == "hidden file":
        return empty is not None and os.path.samestat(seen, empty)
    if mask.kind == "hidden folder":
        return stat.S_ISDIR(seen.st_mode) and not stat.S_IMODE(seen.st_mode) & 0o777
    if mask.kind == "copy":
        return seen.st_size == len(mask.data) and not os.path.samestat(seen, real)
    return os.path.samestat(seen, real)
