"""Runs inside the sandbox: system calls without ctypes, whose import takes too long."""

from __future__ import annotations

import _ctypes
import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    LaunchPlan = dict[str, Any]
else:
    LaunchPlan = dict

NR_PRCTL = {"x86_64": 157, "aarch64": 167}
NR_PRLIMIT = {"x86_64": 302, "aarch64": 261}
NR_IOCTL = {"x86_64": 16, "aarch64": 29}
NR_CAPSET = {"x86_64": 126, "aarch64": 91}
NR_RULESET, NR_RULE, NR_RESTRICT = 444, 445, 446
NR_SECCOMP = {"x86_64": 317, "aarch64": 277}
NR_UNSHARE = {"x86_64": 272, "aarch64": 97}
NEW_PROCESS_IDS = 0x20000000
NR_PIDFD_OPEN, NR_PIDFD_GETFD = 434, 438
SET_DEATH_SIGNAL, SET_DUMPABLE, DROP_BOUND, SUBREAPER, NO_NEW_PRIVS = 1, 4, 24, 36, 38
WITH_LISTENER = 8 | 32  # once asked, only a kill interrupts
RECEIVE, ANSWER, CONTINUE = 0xC0502100, 0xC0182101, 1
EAGAIN = 11
AMBIENT, AMBIENT_CLEAR = 47, 4
TIOCSCTTY = 0x540E
PATH_ONLY = 0x200000


class CLong(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001
    """A number of the machine's size."""

    _type_ = "l"


class _SyscallFunction(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = CLong


class StepFailed(Exception):
    """A step of the confinement did not work, so nothing is run."""


_call = _SyscallFunction(_ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall"))  # type: ignore[arg-type]
MACHINE = posix.uname().machine


def call(number: int, *arguments: Any) -> int:
    """A system call; minus the error number where it fails."""
    done: int = _call(CLong(number), *(CLong(a) if isinstance(a, int) else a for a in arguments))
    return done if done >= 0 else -int(_ctypes.get_errno())


def require(what: str, done: int) -> int:
    """What a call gave.

    Raises:
        Refused: it failed.
    """
    if done < 0:
        raise StepFailed(f"{what}: {posix.strerror(-done)}")
    return done


class CChar(_ctypes._SimpleCData):  # type: ignore[type-arg]  # noqa: SLF001
    """A byte."""

    _type_ = "c"


def buffer(size: int) -> Any:
    """Memory that the kernel can write to."""

    class Buffer(_ctypes.Array):  # type: ignore[type-arg]
        _type_ = CChar
        _length_ = size

    return Buffer()


def send_status(fd: int, kind: str, text: str = "", error: int = 0) -> None:
    """Report how far this got: R is ready, the others say why not, some with an error number."""
    number = b"\0" + error.to_bytes(4, "little") if error else b""
    try:  # noqa: SIM105
        posix.write(fd, (kind + text).encode("utf-8", "replace") + number)
    except OSError:
        pass


def keep_only(*descriptors: int) -> None:
    """Close all descriptors but these and the first three."""
    low = 3
    for fd in sorted(fd for fd in descriptors if fd >= 0):
        posix.closerange(low, fd)
        low = fd + 1
    posix.closerange(low, 1 << 16)
