"""Started as a program: runs the function of a task, with time and memory and nothing else.

    python -I -S -B worker_child.py

It is started by file and not as a module, so that it loads nothing but what the task
needs. stdin brings frames, and the first says what to load; an answer goes back for each
of the others. A frame is two lengths, that many bytes of JSON, and that many bytes.
"""

import importlib
import json
import os
import struct
import sys
from contextlib import suppress
from typing import Any

HEAD = struct.Struct(">QQ")
Frame = tuple[dict[str, Any], bytes]


def main() -> None:
    """Load, confine, and answer until nothing more comes."""
    requests = sys.stdin.buffer
    # What a library prints must not come between the frames.
    answers = os.dup(1)
    os.dup2(2, 1)
    first = _read(requests)
    if first is None:
        return
    task = first[0]
    try:
        function = _loaded(task)
        memory = _memory()
        _confine(task)
    except Exception as error:  # noqa: BLE001 - sent in place of the answer
        _read(requests)
        _send(answers, _failure(error), b"")
        return
    while (frame := _read(requests)) is not None:
        _limit_time(task["seconds"])
        header, data = _answer(function, frame, task["max_bytes"])
        _send(answers, {**header, "peak": _peak(memory)}, data)
    # Threads of a library must not outlive the interpreter that they call.
    os._exit(0)


def _loaded(task: dict[str, Any]) -> Any:
    sys.path[:] = task["path"]
    module_name, _, name = task["function"].partition(":")
    module = importlib.import_module(module_name)
    prepare = getattr(module, "prepare", None)
    if prepare is not None:
        prepare()
    return getattr(module, name)


def _answer(function: Any, frame: Frame, max_bytes: int) -> Frame:
    try:
        answer, data = function(*frame)
    except Exception as error:  # noqa: BLE001 - sent to who waits
        return _failure(error), b""
    header = {"answer": answer}
    if len(data) + len(json.dumps(header)) > max_bytes:
        return {"error": "TooLarge", "message": ""}, b""
    return header, data


def _failure(error: Exception) -> dict[str, Any]:
    from toolcrib.core.errors import ToolError, missing_module

    if isinstance(error, ModuleNotFoundError):
        error = missing_module(error) or error
    if isinstance(error, MemoryError):
        return {"error": "MemoryError", "message": ""}
    if not isinstance(error, ToolError):
        return {"error": "Exception", "message": f"{type(error).__name__}: {error}"[:300]}
    return {
        "error": type(error).__name__,
        "message": error.message,
        "hint": error.hint,
        "code": error.stable_code,
        "details": error.details,
    }


def _read(stream: Any) -> Frame | None:
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    header_size, data_size = HEAD.unpack(head)
    return json.loads(stream.read(header_size)), stream.read(data_size)


def _send(fd: int, header: dict[str, Any], data: bytes) -> None:
    head = json.dumps(header).encode()
    for part in (HEAD.pack(len(head), len(data)) + head, data):
        view = memoryview(part)
        while view:
            view = view[os.write(fd, view) :]


MAX_MEMORY_FILE = 1 << 30
OPEN_FILES = 1024
"""Of a child that may open what it was given."""


def _confine(task: dict[str, Any]) -> None:
    if sys.platform == "win32":  # time alone is bounded there, by who waits
        if task["access"]:
            raise _no_boundary()
        return
    import resource

    megabytes, access = task["megabytes"], task["access"]
    if access:
        _confine_files(access, task["files"], task["folders"])
    # Files in memory count; what may be changed beside them is for the kernel to say.
    unlimited = dict.fromkeys(("change", "write"), resource.RLIM_INFINITY)
    written = {**unlimited, "read": MAX_MEMORY_FILE}.get(access, 0)
    # Descriptors that are open stay so; no other can be.
    for which, limit in (
        (resource.RLIMIT_AS, megabytes << 20),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, written),
        (resource.RLIMIT_NOFILE, OPEN_FILES if access else 0),
    ):
        with suppress(OSError, ValueError):
            resource.setrlimit(which, (limit, limit))


def _confine_files(access: str, files: list[int], folders: list[str]) -> None:
    """Let the kernel refuse every file but these, and every socket.

    Raises:
        Unavailable: this kernel has no Landlock.
    """
    if sys.platform != "linux":
        raise _no_boundary()
    from toolcrib.execution.sandbox import confinement_child, landlock, seccomp

    if not landlock.version() or not seccomp.machine_known(confinement_child.MACHINE):
        raise _no_boundary()
    rights = landlock.READ_FILE
    if access != "read":
        rights |= landlock.WRITE_FILE | landlock.TRUNCATE
    paths = [(f"/proc/self/fd/{fd}", rights) for fd in files]
    if access != "read":
        # SQLite makes a journal beside the database and removes it, and what that names.
        beside = rights | landlock.MAKE_REG
        beside |= landlock.REMOVE_FILE if access == "change" else 0
        paths = [(os.path.dirname(os.readlink(path)), beside) for path, _ in paths]  # noqa: PTH115, PTH120
    paths += [(place, landlock.READ_FILE | landlock.READ_DIR) for place in folders]
    paths.append(("/dev/urandom", landlock.READ_FILE))
    call = confinement_child.call
    number = confinement_child.NR_PRCTL[confinement_child.MACHINE]
    confinement_child.require("prctl", call(number, confinement_child.NO_NEW_PRIVS, 1, 0, 0, 0))
    confinement_child.landlock(*landlock.packed(paths))
    calls = seccomp.program(confinement_child.MACHINE, seccomp.NO_SOCKETS, alone=False)
    confinement_child.seccomp(calls)


def _no_boundary() -> Exception:
    from toolcrib.core.errors import Unavailable

    return Unavailable(
        "This needs a Linux kernel with Landlock (5.13 or newer) to keep it to its files.",
        hint="Use query_table for tables; it works everywhere.",
    )


def _limit_time(seconds: float) -> None:
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + seconds) + 1
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _memory() -> int:
    """Where the system tells how much memory this process had, open; -1 where it does not."""
    if sys.platform == "linux":
        with suppress(OSError):
            return os.open("/proc/self/status", os.O_RDONLY)
    return -1


def _peak(memory: int) -> int:
    """The most memory that it ever had, in MB.

    What getrusage tells on Linux is at least what the parent had when it started this.
    """
    if sys.platform == "win32":
        return 0
    if memory >= 0:
        for line in os.pread(memory, 8192, 0).splitlines():
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) >> 10
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak >> (20 if sys.platform == "darwin" else 10)


if __name__ == "__main__":
    main()
