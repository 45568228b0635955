"""What Windows has and the library of Python does not show: pipes that ended, jobs of processes.

Nothing here is imported on another system.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

STILL_ACTIVE = 259
QUERY_LIMITED = 0x1000
NO_SUCH_PROCESS = 87
"""ERROR_INVALID_PARAMETER: what opening a process by a number that nobody has answers."""
EXTENDED_LIMITS, ACCOUNTING = 9, 1
KILL_ON_CLOSE = 0x2000
LIMITS_BYTES = 144
"""Size of JOBOBJECT_EXTENDED_LIMIT_INFORMATION for 64 bits; the flags stand at byte 16."""
ACCOUNTING_BYTES = 48
"""Size of JOBOBJECT_BASIC_ACCOUNTING_INFORMATION; processes that live stand at byte 40."""


def is_hung_up(fd: int) -> bool | None:
    """Whether the other end of a pipe is closed; None for what is no pipe."""
    if sys.platform == "win32":
        import _winapi
        import msvcrt

        try:
            _winapi.PeekNamedPipe(msvcrt.get_osfhandle(fd), 0)
        except BrokenPipeError:
            return True
        except OSError:
            return None
        return False
    return None


def runs(pid: int) -> bool | None:
    """Whether a process of that number runs; None where that cannot be seen."""
    if sys.platform == "win32":
        import _winapi

        try:
            handle = _winapi.OpenProcess(QUERY_LIMITED, False, pid)
        except OSError as error:
            return False if error.winerror == NO_SUCH_PROCESS else None
        try:
            return _winapi.GetExitCodeProcess(handle) == STILL_ACTIVE
        finally:
            _winapi.CloseHandle(handle)
    return None


class ProcessJob:
    """A child and all that it starts: killed together, also when this process ends in any way.

    Where no job can be made it is the child alone.
    """

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        self._popen = popen
        self._lock = threading.Lock()
        self._job = _make_job(popen)

    def kill(self) -> None:
        """End all of it at once; from any thread, more than once does no harm."""
        with self._lock:
            if self._job is not None:
                _kernel().TerminateJobObject(self._job, 1)
        if self._popen.poll() is None:
            self._popen.kill()

    def has_more(self) -> bool:
        """Whether some of it runs, also after the child itself has ended."""
        with self._lock:
            return self._popen.poll() is None or _running(self._job) > 0

    def close(self) -> None:
        """Let go of it, which ends what is left."""
        with self._lock:
            job, self._job = self._job, None
            if job is not None:
                _kernel().CloseHandle(job)


def _kernel() -> Any:
    import ctypes

    kernel: Any = getattr(ctypes, "WinDLL")("kernel32", use_last_error=True)  # noqa: B009
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    for name in ("SetInformationJobObject", "QueryInformationJobObject"):
        getattr(kernel, name).argtypes = [
            *(ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32),
            *([ctypes.c_void_p] if name.startswith("Query") else []),
        ]
    kernel.AssignProcessToJobObject.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    kernel.TerminateJobObject.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
    kernel.CloseHandle.argtypes = [ctypes.c_void_p]
    return kernel


def _make_job(popen: subprocess.Popen[bytes]) -> int | None:
    import ctypes

    if not hasattr(ctypes, "WinDLL"):
        return None
    kernel = _kernel()
    job: int | None = kernel.CreateJobObjectW(None, None)
    if not job:
        return None
    limits = bytearray(LIMITS_BYTES)
    limits[16:20] = KILL_ON_CLOSE.to_bytes(4, "little")
    buffer = (ctypes.c_char * LIMITS_BYTES).from_buffer(limits)
    handle = int(getattr(popen, "_handle", 0))
    if kernel.SetInformationJobObject(
        job, EXTENDED_LIMITS, buffer, LIMITS_BYTES
    ) and kernel.AssignProcessToJobObject(job, handle):
        return job
    kernel.CloseHandle(job)
    return None


def _running(job: int | None) -> int:
    if job is None:
        return 0
    import ctypes

    counts = bytearray(ACCOUNTING_BYTES)
    buffer = (ctypes.c_char * ACCOUNTING_BYTES).from_buffer(counts)
    if not _kernel().QueryInformationJobObject(job, ACCOUNTING, buffer, ACCOUNTING_BYTES, None):
        return 0
    return int.from_bytes(counts[40:44], "little")
