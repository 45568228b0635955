"""Finding what a run left behind, and killing it; by itself, a janitor for a dead server.

A process belongs to a run when it carries the run's mark in its environment, is in its
process group or session, or descends from one that does. The mark survives a double
fork and setsid, which the rest does not; the rest survives a cleared environment.
A program that drops all of them is the sandbox's business, not this module's.

Run as a program with a mark as its argument, it waits for the end of its stdin and then
kills all that carries the mark, and removes the folders that were named to it there, each
ended by NUL: the kernel closes that pipe however the server dies.
This instead of PR_SET_PDEATHSIG, which needs code between fork and exec, reaches only
the direct child, and fires when the thread that started it ends. Imports are few and
built in, so that the janitor starts quickly and stays small.
"""

from __future__ import annotations

import os
import signal
import sys
import time

HAS_PROC = sys.platform == "linux" and os.path.isdir("/proc/self")  # noqa: PTH112 - pathlib takes long to import
JANITOR = __file__
KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)
WAKE: int = getattr(signal, "SIGCONT", 0)
RUNNING_ON = 0
"""In place of the tick at which a group's leader ended: it has not."""


class Seen:
    """A process at one moment. `started` is in ticks since the machine came up."""

    __slots__ = ("group", "parent", "pid", "session", "started", "state")

    def __init__(self, pid: int, fields: list[bytes]) -> None:
        self.pid = pid
        self.state = fields[0].decode("ascii", "replace")
        self.parent, self.group, self.session = (int(f) for f in fields[1:4])
        self.started = int(fields[19])

    @property
    def alive(self) -> bool:
        """Whether it still runs; a zombie only waits to be collected."""
        return self.state not in "ZXx"


def look(pid: int) -> Seen | None:
    """One process, or None."""
    fields = _fields(pid)
    return Seen(pid, fields) if fields else None


def look_around(since: int = 0) -> dict[int, Seen]:
    """Every process that began at a tick or later; empty where there is no /proc."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - pathlib takes long to import
    except OSError:
        return {}
    found = {}
    for name in names:
        if name.isdigit() and (fields := _fields(int(name))) and int(fields[19]) >= since:
            found[int(name)] = Seen(int(name), fields)
    return found


def find(mark: str, groups: dict[int, int], since: int) -> list[Seen]:
    """The living processes that belong to a run.

    Args:
        mark: the start of the variable that its processes carry, `NAME=` or `NAME=value`
            with a NUL at the end.
        groups: its process groups, each with the tick at which the leader was gone
            (see `ticks`), since then the number may have gone to another group; or
            RUNNING_ON.
        since: a tick before the run began. What is older is not looked into.
    """
    around = look_around(since)
    wanted = b"\0" + mark.encode()
    chosen = {
        seen.pid
        for seen in around.values()
        if _in_groups(seen, groups) or wanted in b"\0" + read(f"/proc/{seen.pid}/environ")
    }
    grown = True
    while grown:
        more = {s.pid for s in around.values() if s.parent in chosen and s.pid not in chosen}
        chosen |= more
        grown = bool(more)
    chosen.discard(os.getpid())
    return [around[pid] for pid in chosen if around[pid].alive]


def own_memory(pid: int) -> int:
    """Bytes of memory that a process holds and shares with no file and no other process."""
    if sys.platform == "win32":
        return 0
    fields = read(f"/proc/{pid}/statm").split()
    return (int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE") if fields else 0


def _in_groups(seen: Seen, groups: dict[int, int]) -> bool:
    for group in (seen.group, seen.session):
        if group in groups and (not groups[group] or seen.started <= groups[group]):
            return True
    return False


def ticks() -> int:
    """Now, in the unit of `Seen.started`."""
    if sys.platform != "linux":
        return int(time.monotonic() * 100)
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def hold(pid: int) -> int:
    """A descriptor that becomes readable when a process ends; -1 where there are none."""
    if sys.platform != "linux":
        return -1
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # a kernel before 5.3, or a filter in the way
        return -1


def runs(pid: int) -> bool | None:
    """Whether some process has a number; None where that cannot be seen."""
    if sys.platform == "win32":
        from toolcrib.system import windows

        return windows.runs(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return None
    return True


def collect_zombie(pid: int) -> None:
    """Take note of the end of a child."""
    if sys.platform != "win32":
        os.waitpid(pid, os.WNOHANG)


def send_to_group(group: int, number: int) -> bool:
    """Send a signal to a process group; whether there is one. For systems without /proc."""
    if sys.platform == "win32":
        return False
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def send(seen: Seen, number: int) -> None:
    """Send a signal to exactly this process, not to a later one with its number."""
    held = hold(seen.pid)
    try:
        now = look(seen.pid)
        if now is None or now.started != seen.started:
            return
        if sys.platform == "linux" and held >= 0:
            signal.pidfd_send_signal(held, number)
        else:
            os.kill(seen.pid, number)
    except OSError:
        pass
    finally:
        if held >= 0:
            os.close(held)


def kill_now(mark: str, groups: dict[int, int], since: int, within: float) -> bool:
    """Kill a run without waiting for anything else; True when nothing of it is left."""
    if not HAS_PROC:
        for group, ended in groups.items():
            if ended == RUNNING_ON:
                send_to_group(group, KILL)
        return True
    end = time.monotonic() + within
    while True:
        left = find(mark, groups, since)
        for seen in left:
            send(seen, KILL)
        if not left or time.monotonic() > end:
            return not left
        time.sleep(0.01)


def _fields(pid: int) -> list[bytes]:
    """What /proc says of a process from its state on; nothing of one that is gone."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return []
    try:
        data = os.read(fd, 4096)  # all of it: the kernel gives it at once
    except OSError:
        return []
    finally:
        os.close(fd)
    return data[data.rfind(b")") + 2 :].split(None, 20)


def read(path: str) -> bytes:
    """A file of the kernel; empty where it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return b""
    data = b""
    try:
        while part := os.read(fd, 1 << 16):
            data += part
    except OSError:
        data = b""
    finally:
        os.close(fd)
    return data


def main() -> None:
    """Be the janitor."""
    myself = look(os.getpid())
    named = b""
    while part := os.read(0, 1024):
        named += part
    kill_now(sys.argv[1], {}, myself.started if myself else 0, within=5.0)
    if folders := [os.fsdecode(name) for name in named.split(b"\0")[:-1]]:
        from shutil import rmtree  # takes long to import

        for folder in folders:
            rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
