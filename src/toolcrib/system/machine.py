"""What is known of this machine: its parts, how busy they are, its processes and listeners."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib.core.config import environment
from toolcrib.core.errors import Unavailable

SAMPLE_SECONDS = 0.3
"""Over which use of processors, disks and network is measured."""
CGROUP = Path("/sys/fs/cgroup")
MANAGERS = (
    *("apt", "dnf", "pacman", "zypper", "apk", "xbps-install", "emerge", "nix"),
    *("brew", "port", "winget", "choco", "scoop"),
)
"""Package managers of systems, the usual one of each first."""


def facts() -> dict[str, Any]:
    """What does not change while it runs. Blocking, for a moment."""
    import psutil

    return {
        "system": _system_name(),
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": psutil.cpu_count(logical=False),
        "threads": psutil.cpu_count(),
        "memory": psutil.virtual_memory().total,
        "memory_limit": _limit("memory.max", "memory/memory.limit_in_bytes"),
        "container": _container(),
        "python": platform.python_version(),
        "shell": _shell(),
        "managers": [name for name in MANAGERS if shutil.which(name)],
        "started": psutil.boot_time(),
    }


def _system_name() -> str:
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    if sys.platform == "win32":
        return f"Windows {platform.release()} ({platform.version()})"
    with suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    return platform.system()


def _processor() -> str:
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
        for line in lines:
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Model", "Hardware"):
                return value.strip()
    return platform.processor()


def _limit(*names: str) -> int | None:
    """What a container may use of the memory, where it is less than all."""
    limit = _number_in(*names)
    return limit if limit is not None and limit < 1 << 60 else None


def _number_in(*names: str) -> int | None:
    """The number in the first file of the control group that has one."""
    for name in names:
        with suppress(OSError, ValueError):
            return int((CGROUP / name).read_text(encoding="ascii"))
    return None


def _container() -> str:
    named = environment(("container", "WSL_DISTRO_NAME"))
    if named.get("WSL_DISTRO_NAME"):
        return "WSL"
    for place, name in (("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")):
        if Path(place).exists():
            return name
    return named.get("container", "")


def _shell() -> str:
    named = environment(("SHELL", "COMSPEC", "PSModulePath"))
    return (
        named.get("SHELL")
        or ("powershell" if "PSModulePath" in named else "")
        or (named.get("COMSPEC", ""))
    )


def processor_use() -> dict[str, Any]:
    """How busy the processors are now, in percent of all of them. Blocking."""
    import psutil

    each = psutil.cpu_percent(interval=SAMPLE_SECONDS, percpu=True)
    load = psutil.getloadavg()
    return {"percent": round(sum(each) / max(len(each), 1), 1), "each": each, "load": list(load)}


def memory_use() -> dict[str, Any]:
    """Bytes of memory and swap, all and free."""
    import psutil

    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    return {
        "total": memory.total,
        "available": memory.available,
        "percent": memory.percent,
        "limit": _limit("memory.max", "memory/memory.limit_in_bytes"),
        "used_of_limit": _number_in("memory.current", "memory/memory.usage_in_bytes"),
        "swap_total": swap.total,
        "swap_used": swap.used,
    }


def disk_use(folders: Sequence[str]) -> list[dict[str, Any]]:
    """Bytes of each disk, and of those that hold these folders, each once."""
    import psutil

    found: dict[tuple[int, int], dict[str, Any]] = {}
    mounted = [part.mountpoint for part in psutil.disk_partitions(all=False)]
    for place in [*folders, *mounted]:
        with suppress(OSError):
            use = psutil.disk_usage(place)
            found.setdefault(
                (use.total, use.free),
                {"place": place, "total": use.total, "free": use.free, "percent": use.percent},
            )
    return list(found.values())


def network_use() -> list[dict[str, Any]]:
    """Interfaces that are up: their addresses, bytes in all and a second. Blocking."""
    import psutil

    before = psutil.net_io_counters(pernic=True)
    time.sleep(SAMPLE_SECONDS)
    after, states = psutil.net_io_counters(pernic=True), psutil.net_if_stats()
    addresses = psutil.net_if_addrs()
    found = []
    for name, count in after.items():
        state = states.get(name)
        if state is None or not state.isup:
            continue
        old = before.get(name, count)
        found.append(
            {
                "name": name,
                "addresses": _numbers(addresses.get(name, ())),
                "received": count.bytes_recv,
                "sent": count.bytes_sent,
                "received_per_second": round((count.bytes_recv - old.bytes_recv) / SAMPLE_SECONDS),
                "sent_per_second": round((count.bytes_sent - old.bytes_sent) / SAMPLE_SECONDS),
            }
        )
    return found


def _numbers(addresses: Sequence[Any]) -> list[str]:
    """Those of the internet protocols; hardware has addresses too."""
    return [one.address for one in addresses if one.family.name in ("AF_INET", "AF_INET6")]


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """A process of this machine; what may not be seen of it is empty.

    `cpu` is in percent of one processor, `memory` in bytes, `started` in seconds since 1970.
    """

    pid: int
    name: str
    command: tuple[str, ...]
    user: str
    status: str
    cpu: float
    memory: int
    started: float


def processes() -> list[ProcessInfo]:
    """All processes that can be seen, with their use of the processors now. Blocking."""
    import psutil

    first: dict[int, tuple[Any, float, float]] = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            times = process.cpu_times()
            first[process.pid] = process, times.user + times.system, time.monotonic()
    time.sleep(SAMPLE_SECONDS)
    found = []
    for pid, (process, spent, at) in first.items():
        with suppress(psutil.Error), process.oneshot():
            times, memory = process.cpu_times(), process.memory_info()
            passed = max(time.monotonic() - at, 0.01)
            found.append(
                ProcessInfo(
                    pid,
                    process.name(),
                    tuple(_seen(process, "cmdline") or ()),
                    str(_seen(process, "username") or ""),
                    str(_seen(process, "status") or ""),
                    round(max(times.user + times.system - spent, 0) / passed * 100, 1),
                    memory.rss,
                    process.create_time(),
                )
            )
    return found


def _seen(process: Any, what: str) -> Any:
    import psutil

    try:
        return getattr(process, what)()
    except (psutil.Error, OSError, KeyError):
        return None


@dataclass(frozen=True, slots=True)
class Listener:
    """Something that waits for connections: at which address, and by which process if seen."""

    address: str
    port: int
    pid: int | None
    name: str

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect to it."""
        return self.address.startswith(("127.", "::1", "::ffff:127."))


def listeners() -> list[Listener]:
    """What listens for TCP connections on this machine, found without connecting. Blocking.

    Raises:
        Unavailable: this system shows the list to its administrator alone.
    """
    return sorted(_listeners(), key=lambda one: (one.port, one.address))


def _listeners() -> Iterator[Listener]:
    import psutil

    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.AccessDenied, PermissionError, OSError):
        raise Unavailable(
            "This system shows its listeners to the administrator alone.",
            hint="The user can run: lsof -nP -iTCP -sTCP:LISTEN",
        ) from None
    for connection in connections:
        if connection.status == psutil.CONN_LISTEN and connection.laddr:
            name = ""
            if connection.pid:
                with suppress(psutil.Error):
                    name = psutil.Process(connection.pid).name()
            yield Listener(connection.laddr.ip, connection.laddr.port, connection.pid, name)


def time_zone_name() -> str:
    """The name of this machine's time zone as the system has it; "" where it only has an offset."""
    named = environment(("TZ",)).get("TZ", "").lstrip(":")
    if named or os.name == "nt":
        return named
    place = Path("/etc/localtime").resolve().as_posix().partition("/zoneinfo/")[2]
    return place.removeprefix("posix/").removeprefix("right/")
