"""A look at the process table, again and again: what the programs of each run do meanwhile."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PAUSE = 0.03
MANY = 40
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Seen:
    """What was seen of one run; numbers are the most at any one time."""

    token: bytes
    number: bytes
    alone: bool = False
    closely: bool = True
    folders: tuple[str, ...] = ()
    refused: str = ""
    links: set[tuple[str, bool]] = field(default_factory=set)
    mounts: set[str] = field(default_factory=set)
    roots: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    uids: set[int] = field(default_factory=set)
    personalities: set[str] = field(default_factory=set)
    members: set[tuple[int, str]] = field(default_factory=set)
    processor: dict[tuple[int, str], int] = field(default_factory=dict)
    maximum: dict[str, float] = field(default_factory=dict)
    before: dict[str, float] = field(default_factory=dict)

    def note(self, name: str, value: float) -> None:
        self.maximum[name] = max(self.maximum.get(name, 0), value - self.before.get(name, 0))


class Watcher:
    """A thread that looks. Programs are known by their token, and by their parents."""

    def __init__(self) -> None:
        self._runs: list[Seen] = []
        self._lock = threading.Lock()
        self._old = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        self._whose: dict[tuple[int, str], Seen | None] = {}
        self._tries: dict[tuple[int, str], int] = {}
        self._net, self._uts = _namespace("self", "net"), _namespace("self", "uts")
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True)
        self._thread.start()

    def begin(self, seen: Seen) -> None:
        seen.before = {"shared": shared_memory(), "aio": int(_read("/proc/sys/fs/aio-nr"))}
        seen.before |= _disk(seen) if seen.folders else {}
        with self._lock:
            self._runs.append(seen)

    def finish(self, seen: Seen) -> list[int]:
        """Stop looking; who is still there, after a moment."""
        for _ in range(8):
            self.measure()
            alive = self.alive(seen)
            if not alive:
                break
            time.sleep(0.05)
        with self._lock:
            self._runs.remove(seen)
        return alive

    def alive(self, seen: Seen) -> list[int]:
        with self._lock:
            members = tuple(seen.members)
        return [pid for pid, start in members if _is_there(pid, start)]

    def kill(self, seen: Seen) -> None:
        """End whatever of a run is left."""
        for _ in range(50):
            self.measure()
            alive = self.alive(seen)
            for pid in alive:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                for pid in alive:
                    os.waitpid(pid, os.WNOHANG)
            if not alive:
                return
            time.sleep(0.02)

    def close(self) -> None:
        self._end.set()
        self._thread.join()

    def _go_on(self) -> None:
        while not self._end.wait(PAUSE):
            self.measure()

    def measure(self) -> None:
        with self._lock:
            if self._runs:
                self._look()

    def _look(self) -> None:
        groups: dict[int, list[tuple[int, list[str]]]] = {}
        parents: dict[int, tuple[int, str]] = {}
        present: list[tuple[int, list[str]]] = []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) in self._old:
                continue
            fields = _stat(int(name))
            if fields and fields[0] not in "ZX":
                present.append((int(name), fields))
                parents[int(name)] = (int(name), fields[19])
        for pid, fields in sorted(present):
            seen = self._owner(pid, fields, parents)
            if seen is not None:
                seen.members.add((pid, fields[19]))
                groups.setdefault(id(seen), []).append((pid, fields))
        for seen in self._runs:
            self._measure(seen, groups.get(id(seen), []))

    def _owner(
        self, pid: int, fields: list[str], parents: dict[int, tuple[int, str]]
    ) -> Seen | None:
        key = (pid, fields[19])
        known = self._whose.get(key)
        if known is not None:
            return known
        found = self._whose.get(parents.get(int(fields[1]), (0, "")))
        if found is None and self._tries.get(key, 0) < 60:
            self._tries[key] = self._tries.get(key, 0) + 1
            text = _read(f"/proc/{pid}/cmdline") + _read(f"/proc/{pid}/environ")
            for run in self._runs:
                if run.token in text or run.number in text:
                    found = run
        if found is not None:
            self._whose[key] = found
        return found

    def _measure(self, seen: Seen, members: list[tuple[int, list[str]]]) -> None:
        seen.note("processes", len(members))
        seen.note("threads", sum(int(fields[17]) for _, fields in members))
        for pid, fields in members:
            seen.processor[pid, fields[19]] = int(fields[11]) + int(fields[12])
        seen.note("cpu", sum(seen.processor.values()) / TICKS)
        if seen.refused:
            seen.note("refused", len(refused(seen.refused)))
            seen.note("aio", int(_read("/proc/sys/fs/aio-nr")))
        if seen.alone:
            own = sum(_own_memory(pid) for pid, _ in members)
            seen.note("memory", own + max(shared_memory() - seen.before["shared"], 0))
        if seen.folders:
            for name, value in _disk(seen, [pid for pid, _ in members]).items():
                seen.note(name, value)
        if seen.closely and len(members) <= MANY:
            for pid, _ in members:
                self._closely(seen, pid)

    def _closely(self, seen: Seen, pid: int) -> None:
        folder = f"/proc/{pid}"
        host = _namespace(str(pid), "net") == self._net
        with suppress(OSError):
            names = os.listdir(f"{folder}/fd")
            seen.note("descriptors", len(names))
            for name in names[:64]:
                with suppress(OSError):
                    seen.links.add(_described(f"{folder}/fd/{name}", name, pid, host))
        with suppress(OSError):
            seen.roots.add(os.readlink(f"{folder}/root"))
        uts = _namespace(str(pid), "uts")
        if uts not in ("", self._uts):
            seen.hosts.add(uts)
        status = _read(f"{folder}/status").decode("latin-1")
        found = re.search(r"^Uid:\s+\d+\s+(\d+)", status, re.MULTILINE)
        if found:
            seen.uids.add(int(found[1]))
        seen.personalities.add(_read(f"{folder}/personality").decode().strip())
        for line in _read(f"{folder}/mountinfo").decode("utf-8", "replace").splitlines():
            parts = line.split()
            if seen.token.decode() in line or (parts[4] == "/" and parts[3].endswith("/sub")):
                seen.mounts.add(line if seen.token.decode() in line.split(" - ")[-1] else "pivot")


def _described(path: str, name: str, pid: int, host: bool) -> tuple[str, bool]:
    link = os.readlink(path)
    if link.startswith("socket:"):
        kind = os.getxattr(path, "system.sockprotoname").rstrip(b"\0").decode()
        return f"{'host' if host else 'own'}:{kind}", True
    flags = re.search(rb"flags:\s+(\d+)", _read(f"/proc/{pid}/fdinfo/{name}"))
    return link, bool(flags and int(flags[1], 8) & 3)


def _namespace(pid: str, kind: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return ""


def _stat(pid: int) -> list[str]:
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].decode().split()


def _is_there(pid: int, start: str) -> bool:
    fields = _stat(pid)
    return bool(fields) and fields[19] == start and fields[0] not in "ZX"


def _read(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(fd, 1 << 17)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _own_memory(pid: int) -> int:
    found = re.search(rb"RssAnon:\s+(\d+)", _read(f"/proc/{pid}/status"))
    return int(found[1]) * 1024 if found else 0


def refused(path: str) -> list[str]:
    """What the system refuses to others of the same user: a file, a watch, a queued signal."""
    found = []
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        found.append("a file")
    libc = ctypes.CDLL(None, use_errno=True)
    timer = ctypes.c_void_p()
    if libc.timer_create(0, None, ctypes.byref(timer)):
        found.append("a timer")
    else:
        libc.timer_delete(timer)
    return found


def shared_memory() -> int:
    """Bytes of all shared memory of the machine."""
    found = re.search(rb"Shmem:\s+(\d+)", _read("/proc/meminfo"))
    return int(found[1]) * 1024 if found else 0


def _disk(seen: Seen, pids: list[int] | None = None) -> dict[str, float]:
    """Bytes, names and the largest file in the folders that a run may fill."""
    sizes: dict[tuple[int, int], tuple[int, int]] = {}

    def add(status: os.stat_result) -> None:
        sizes[status.st_dev, status.st_ino] = (status.st_blocks * 512, status.st_size)

    for top in seen.folders:
        for folder, _, names in os.walk(top):
            for name in names:
                with suppress(OSError):
                    add(os.lstat(f"{folder}/{name}"))
    for pid in (pids or [])[:6]:
        with suppress(OSError):
            for path in Path(f"/proc/{pid}/root/tmp").glob(f"{seen.token.decode()}*"):
                add(path.lstat())
    return {
        "disk": sum(blocks for blocks, _ in sizes.values()),
        "files": len(sizes),
        "largest": max((size for _, size in sizes.values()), default=0),
    }
