"""The resources of one run: limits that the kernel keeps for it, and what it uses of them."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sys
import time
from collections.abc import Collection, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from mmap import PAGESIZE
from typing import TYPE_CHECKING

from toolcrib.system.disk_usage import INODE_BYTES, shared_memory_bytes, written_bytes
from toolcrib.system.sweep import look_around, read

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

# The highest pid limits the processes of a namespace where nothing else refuses one to root,
# with no work at all for the server. Since Linux 6.14 each namespace of processes has its own;
# before, the machine has one, which is not ours to change.

OWN_PID_MAX_SINCE = (6, 14)
RESERVED_NUMBERS = 300
"""The kernel gives numbers up to here once only; a first burst may have as many more."""
NUMBERS_PER_PROCESS = 3
"""Numbers that one process may hold: its own, its group's and its session's."""
OUTER_PROCESSES = 2
"""The first process of the namespace, and the one that set this number."""


@cache
def has_own_pid_max() -> bool:
    """Whether a namespace has a highest number of its own."""
    release = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return release is not None and (int(release[1]), int(release[2])) >= OWN_PID_MAX_SINCE


def pid_max(processes: int) -> str:
    """What to write, so that a run may have so many processes and threads.

    It is a ceiling for a burst alone: the watchdog ends a run at the limit.
    """
    return str(RESERVED_NUMBERS + OUTER_PROCESSES + NUMBERS_PER_PROCESS * processes)


HAS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110
MACHINE = platform.machine()
KCMP = {"x86_64": 312, "aarch64": 272}
"""The system call that compares what two processes have; containers may refuse it."""
OF_MEMORY = 1
RECOUNT_RATIO = 1.2
"""Files are counted again when so much more of the disk is gone."""
EXACT_SHARE = 0.5
"""From this share of the limit, shared and own memory are measured apart."""
NAME_BYTES = 1_500
"""What the kernel keeps for a name in a file system in memory: its inode and entry, and the name
or where a link leads, 1,200 to 1,500 bytes measured."""
DESCRIPTOR_BYTES, PROCESS_BYTES = 256 * 1024, 2 * 1024 * 1024
"""What it may keep for a descriptor or socket (what waits in it) and for a process (its mappings).
Nobody counts that by runs; so much of what the machine lost is taken to be that of one."""
TCP_SOCKET_BYTES = 10 * 1024 * 1024
"""The same for a socket of TCP: the usual highest `tcp_rmem` and `tcp_wmem` together."""
NOISE_BYTES = 256 * 1024 * 1024
"""So much of it comes and goes with what other programs do."""
FEW_DESCRIPTORS = 1_024
"""To count them takes long; a process with no more than that is let be."""
MAX_EXAMINED = 20_000
"""Descriptors that are looked at one by one; of more, nothing is known in time."""


@dataclass(slots=True)
class Usage:
    """What a run used at one moment."""

    memory: int = 0
    processes: int = 0
    disk: int = 0
    open_files: int = 0


@dataclass(slots=True)
class ResourceGauge:
    """Measures one run, again and again. Blocking, and quick.

    Attributes:
        pid: the outermost process. It and what it needs for itself are not counted.
        overhead: how many processes that are.
        namespaces: whether its only child is the first process of a namespace.
        counted: whether the system refuses processes above the limit; it does not to root.
        in_memory: file systems in memory, as seen from inside; their content is memory.
        folders: where it writes on disk.
        members: the processes that the last measurement found.
    """

    pid: int
    overhead: int
    namespaces: bool = False
    counted: bool = True
    in_memory: Sequence[str] = ()
    folders: Sequence[str] = ()
    members: frozenset[int] = frozenset()
    _free: dict[str, tuple[int, int]] = field(default_factory=dict)
    _lost: int = 0
    _made: int = 0
    _inner: int = 0
    _shared_before: int = 0
    _kernel_before: int = 0
    _tcp_before: int = 0
    _began: float = 0.0

    def __post_init__(self) -> None:
        self._shared_before, self._kernel_before = _memory_of_nobody()
        self._tcp_before = _sockets_of("self")[1]
        self._began = time.time()

    def innermost(self) -> list[int]:
        """What to kill so that all of it ends: the first process of its namespace, or all."""
        inner = [pid for pid in tree(self.pid, 1) if pid != self.pid]
        return inner if self.namespaces else inner or [self.pid]

    def measure(
        self, memory_limit: int, disk_limit: int, *, among: Container[int] | None = None
    ) -> Usage:
        """What is used now; memory above half of the limit is measured more exactly.

        Args:
            memory_limit: in bytes.
            disk_limit: in bytes.
            among: the processes whose memory counts; None for all.
        """
        found = tree(self.pid)
        self.members = frozenset(found)
        # The first process in there: numbers start anew at some time, so they say nothing.
        self._inner = next((pid for pid in found if pid != self.pid), 0)
        usage = Usage(processes=sum(found.values()) - self.overhead)
        # Those of the boundary itself, which come first, let nobody look at them.
        inside = list(found)[self.overhead :]
        usage.disk = max(sum(map(_written, found)), self._on_disk(disk_limit, inside))
        usage.open_files = sum(map(_descriptors, inside))
        counted = [pid for pid in found if among is None or pid in among]
        files = self._files_in_memory()
        shared, kernel = _memory_of_nobody()
        shared -= self._shared_before
        if shared > memory_limit // 4:
            files += min(nameless_bytes(pid for pid in inside if pid in counted)[0], shared)
            if not self.namespaces:
                files += shared_memory_bytes(self._began)
        sockets, tcp = _sockets_of(self._inner) if self.namespaces else (0, 0)
        possible = (usage.open_files + sockets) * DESCRIPTOR_BYTES + len(inside) * PROCESS_BYTES
        # Of the machine's TCP no more than what its own sockets may keep: others use that too.
        possible += min(max(tcp - self._tcp_before, 0), sockets * TCP_SOCKET_BYTES)
        kernel = max(min(kernel - self._kernel_before - NOISE_BYTES, possible), 0)
        usage.memory = sum(map(_resident, counted)) + files + kernel
        if usage.memory > memory_limit * EXACT_SHARE:
            exact = [_exactly(pid) for pid in counted if not _has_memory_of_parent(pid, counted)]
            own, shared = (sum(column) for column in zip(*exact, strict=True)) if exact else (0, 0)
            usage.memory = own + max(shared, files) + kernel
        return usage

    def _files_in_memory(self) -> int:
        """Bytes of their content, and of what the kernel keeps for their names."""
        used, root = 0, f"/proc/{self._inner}/root"
        with suppress(OSError):
            # While it is being made, what is seen there are the machine's own.
            is_made = self._inner and os.stat(root).st_dev != os.stat("/").st_dev  # noqa: PTH116
            for path in self.in_memory if is_made else ():
                status = os.statvfs(root + path)
                used += (status.f_blocks - status.f_bfree) * status.f_frsize
                used += (status.f_files - status.f_ffree) * NAME_BYTES
        return used

    def _on_disk(self, limit: int, pids: Iterable[int]) -> int:
        """Bytes in files made or changed since the begin, where the disk lost as many.

        Who writes for itself alone is not seen by what processes tell: children that nobody
        waits for, files without content, processes that let nobody look. What others write
        to the disk elsewhere does not count.
        """
        lost = 0
        for folder in self.folders:
            with suppress(OSError):
                status = os.statvfs(folder)
                now = (status.f_bfree * status.f_frsize, status.f_ffree * INODE_BYTES)
                before = self._free.setdefault(folder, now)
                lost += sum(max(was - left, 0) for was, left in zip(before, now, strict=True))
        if lost <= limit:
            return 0
        if lost > self._lost * RECOUNT_RATIO:
            self._lost = lost
            self._made = sum(written_bytes(folder, self._began, limit) for folder in self.folders)
            self._made += min(nameless_bytes(pids)[1], lost)
        return self._made


def _sockets_of(pid: int | str) -> tuple[int, int]:
    """How many sockets the network of a process has, and the bytes in all TCP of the machine."""
    text = read(f"/proc/{pid}/net/sockstat")
    used = re.search(rb"^sockets: used (\d+)", text)
    tcp = re.search(rb"^TCP: .* mem (\d+)", text, re.MULTILINE)
    pages = int(tcp[1]) if tcp else 0
    return int(used[1]) if used else 0, pages * PAGESIZE


def _memory_of_nobody() -> tuple[int, int]:
    """Bytes that the whole machine has in shared memory, and in what the kernel keeps for itself.

    That is quicker to learn than what a run has. The second is what no other line accounts for:
    what waits in sockets and pipes stands in none.
    """
    text = read("/proc/meminfo")
    known = "MemFree: Buffers: Cached: SwapCached: AnonPages: SReclaimable: PageTables:"
    rest = _bytes_in(text, b"MemTotal:") - _bytes_in(text, *known.encode().split())
    return _bytes_in(text, b"Shmem:"), rest


def _bytes_in(text: bytes, *names: bytes) -> int:
    """What the lines of these names add up to, in a file of /proc that counts kilobytes."""
    lines = (line for line in text.splitlines() if line.startswith(names))
    return sum(int(line.split()[1]) for line in lines) * 1024


def tree(top: int, deep: int = 1 << 30) -> dict[int, int]:
    """A process and its descendants, down to some depth, each with its number of threads."""
    found: dict[int, int] = {}
    waiting = [(top, 0)]
    while waiting:
        pid, depth = waiting.pop()
        if pid in found:
            continue
        try:
            threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
        except OSError:
            continue
        found[pid] = len(threads)
        if depth < deep:
            waiting += [(child, depth + 1) for child in _children(pid, threads)]
    return found


def _children(pid: int, threads: Sequence[str]) -> list[int]:
    if not HAS_CHILDREN:
        return [seen.pid for seen in look_around().values() if seen.parent == pid]
    lists = (read(f"/proc/{pid}/task/{thread}/children") for thread in threads)
    return [int(child) for listed in lists for child in listed.split()]


def _resident(pid: int) -> int:
    """Bytes of memory that a process uses, swapped ones and its page tables too."""
    return _bytes_in(of_process(pid, "status"), b"VmRSS:", b"VmSwap:", b"VmPTE:")


def of_process(pid: int, name: str) -> bytes:
    """A file of a process in /proc, of another thread where the first has ended."""
    text = read(f"/proc/{pid}/{name}")
    if text and b"\nState:\tZ" not in text:
        return text
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            other = read(f"/proc/{pid}/task/{thread}/{name}")
            if other and int(thread) != pid:
                return other
    return text


def _descriptors(pid: int) -> int:
    """How many descriptors a process has; before Linux 6.2, only where it has room for many."""
    folder = f"/proc/{pid}/fd"
    with suppress(OSError):
        if count := os.stat(folder).st_size:  # noqa: PTH116
            return count
        room = re.search(rb"^FDSize:\s*(\d+)", read(f"/proc/{pid}/status"), re.MULTILINE)
        if room and int(room[1]) > FEW_DESCRIPTORS:
            return len(os.listdir(folder))  # noqa: PTH208
    return 0


def _written(pid: int) -> int:
    """Bytes it had to be written to disk, with those of children that ended."""
    written = 0
    for line in read(f"/proc/{pid}/io").splitlines():
        if line.startswith(b"write_bytes:"):
            written += int(line.split()[1])
        elif line.startswith(b"cancelled_write_bytes:"):
            written -= int(line.split()[1])
    return max(written, 0)


def _exactly(pid: int) -> tuple[int, int]:
    """Its share of memory that is nobody's but its relatives', and of shared memory."""
    text = of_process(pid, "smaps_rollup")
    if not text:  # it may not be read
        return _resident(pid), 0
    own = _bytes_in(text, b"Pss_Anon:", b"SwapPss:")
    own += _bytes_in(of_process(pid, "status"), b"VmPTE:")
    return own, _bytes_in(text, b"Pss_Shmem:")


def _has_memory_of_parent(pid: int, others: Collection[int]) -> bool:
    """Whether it is still in the memory of its parent, one of the others: it would count twice.

    So it is from `vfork` until it starts its program, which is long on a busy machine.
    """
    parent = re.search(rb"^PPid:\s*(\d+)", read(f"/proc/{pid}/status"), re.MULTILINE)
    if parent is None or int(parent[1]) not in others or MACHINE not in KCMP:
        return False
    numbers = (KCMP[MACHINE], pid, int(parent[1]), OF_MEMORY, 0, 0)
    return bool(_libc().syscall(*map(ctypes.c_long, numbers)) == 0)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


_NAMELESS = re.compile(
    rb"^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+) +(/.*) \(deleted\)$", re.MULTILINE
)
IN_MEMORY = ("/dev/zero", "/memfd:", "/SYSV")
UNKNOWN_BYTES = 1 << 60


def nameless_bytes(pids: Iterable[int]) -> tuple[int, int]:
    """Bytes in files without a name that processes have open or mapped, at most.

    Of what is mapped and not open the size is known, and not how much of it is there. Of what is
    on its way through a socket nothing is known, nor of a process that lets nobody look.

    Returns:
        In memory, and on disk.
    """
    mapped: dict[int, int] = {}
    opened: dict[int, int] = {}
    in_memory: set[int] = set()
    pids = list(pids)
    if sum(map(_descriptors, pids)) > MAX_EXAMINED:
        return UNKNOWN_BYTES, UNKNOWN_BYTES
    for pid in pids:
        thread = _live_thread(pid)
        own = _mapped(thread, in_memory)
        mapped |= {inode: max(size, mapped.get(inode, 0)) for inode, size in own.items()}
        folder = f"{thread}/fd"
        try:
            names = os.listdir(folder)  # noqa: PTH208
        except PermissionError:
            return UNKNOWN_BYTES, UNKNOWN_BYTES
        except OSError:
            continue
        for name in names:
            with suppress(OSError):
                link = os.readlink(f"{folder}/{name}")  # noqa: PTH115
                if link.endswith(" (deleted)"):
                    status = os.stat(f"{folder}/{name}")  # noqa: PTH116
                    opened[status.st_ino] = status.st_blocks * 512
                    if link.startswith(IN_MEMORY):
                        in_memory.add(status.st_ino)
                elif link.startswith("socket:") and _carries(f"{thread}/fdinfo/{name}"):
                    return UNKNOWN_BYTES, UNKNOWN_BYTES
    sizes = mapped | opened
    memory = sum(size for inode, size in sizes.items() if inode in in_memory)
    return memory, sum(sizes.values()) - memory


def _mapped(thread: str, in_memory: set[int]) -> dict[int, int]:
    """Bytes that a process has mapped of each file without a name; notes those in memory."""
    found: dict[int, int] = {}
    for start, end, inode, name in _NAMELESS.findall(read(f"{thread}/maps")):
        found[int(inode)] = found.get(int(inode), 0) + int(end, 16) - int(start, 16)
        if os.fsdecode(name).startswith(IN_MEMORY):
            in_memory.add(int(inode))
    return found


def _live_thread(pid: int) -> str:
    """The folder in /proc of a thread that runs: the first may have ended before the others."""
    with suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            status = read(f"/proc/{pid}/task/{name}/status")
            if status and b"\nState:\tZ" not in status:
                return f"/proc/{pid}/task/{name}"
    return "/nothing"  # it ended, and waits for its parent


def _carries(facts: str) -> bool:
    """Whether descriptors wait in a socket for somebody to take them."""
    found = re.search(rb"^scm_fds:\s*(\d+)", read(facts), re.MULTILINE)
    return found is not None and int(found[1]) > 0


def threads_of(user: int) -> int:
    """How many threads a user has on this machine."""
    found = 0
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:  # noqa: PTH116
                    found += len(os.listdir(f"/proc/{name}/task"))  # noqa: PTH208
    return found
