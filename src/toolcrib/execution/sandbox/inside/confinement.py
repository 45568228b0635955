"""Confining this process, step by step, and becoming the program."""

from __future__ import annotations

import _ctypes
import _signal  # type: ignore[import-not-found]
import posix

from toolcrib.execution.sandbox.inside.relay import relay
from toolcrib.execution.sandbox.inside.syscalls import (
    AMBIENT,
    AMBIENT_CLEAR,
    DROP_BOUND,
    NO_NEW_PRIVS,
    NR_CAPSET,
    NR_IOCTL,
    NR_PRCTL,
    NR_PRLIMIT,
    NR_RESTRICT,
    NR_RULE,
    NR_RULESET,
    NR_SECCOMP,
    PATH_ONLY,
    TAKE_TERMINAL,
    WITH_LISTENER,
    Plan,
    buffer,
    call,
    keep_only,
    machine,
    must,
    tell,
)


def run(plan: Plan, status: int) -> None:  # noqa: C901, PLR0912
    """Confine this process and become the program."""
    enter(plan["group"])
    end_numbers(plan["settings"], plan["highest"])
    if plan["relay"]:
        relay(plan)
    if plan["terminal"]:
        try:  # noqa: SIM105
            posix.setsid()
        except OSError:
            pass  # it leads its session already
        must("terminal", call(NR_IOCTL[machine], 0, TAKE_TERMINAL, 0))
    posix.umask(0o022)
    try:
        posix.chdir(plan["cwd"])
    except OSError as error:
        tell(status, "D", error=error.errno or 0)
        posix._exit(126)  # noqa: SLF001
    program = found(plan)
    if not program:
        tell(status, "M")
        posix._exit(127)  # noqa: SLF001
    keep_only(status, plan["asking"], plan["told"])
    if plan["nice"]:
        posix.nice(plan["nice"])
    limit(plan["limits"])
    if plan["confined"]:
        must("no new privileges", call(NR_PRCTL[machine], NO_NEW_PRIVS, 1, 0, 0, 0))
    if plan["capabilities"]:
        drop_capabilities()
    if plan["landlock"]:
        landlock(*plan["landlock"])
    for number in (_signal.SIGPIPE, _signal.SIGXFSZ):
        _signal.signal(number, _signal.SIG_DFL)  # Python ignores them, and that is inherited
    posix.set_inheritable(status, False)
    if plan["asking"] >= 0:
        # The stage fetches it by this number, and says when it has it.
        listener = seccomp(plan["asking_filter"], WITH_LISTENER)
        posix.write(plan["asking"], listener.to_bytes(4, "little"))
        posix.read(plan["told"], 1)
        posix.close(listener)
        posix.close(plan["asking"])
        posix.close(plan["told"])
    elif plan["filter"]:
        seccomp(plan["filter"], 0)
    tell(status, "R")
    try:
        posix.execve(program, plan["argv"], plan["env"])
    except OSError as error:
        tell(status, "X", program, error.errno or 0)
        posix._exit(126)  # noqa: SLF001


def enter(group: int) -> None:
    """Go into the control group of the run, if it has one."""
    try:  # noqa: SIM105
        posix.write(group, b"0")
    except OSError:
        pass  # the watchdog looks at all runs


def end_numbers(settings: int, highest: bytes) -> None:
    """Let the processes of the namespace have no higher number, if that is wanted."""
    try:
        fd = posix.open("pid_max", posix.O_WRONLY, dir_fd=settings)
        posix.write(fd, highest)
    except (OSError, ValueError):
        return  # the watchdog looks at all runs
    posix.close(fd)


def found(plan: Plan) -> str:
    """The program on the PATH that it will have, or "" where there is none."""
    name: str = plan["argv"][0]
    if "/" in name:
        return name if posix.access(name, posix.F_OK) else ""
    for folder in plan["env"].get("PATH", "").split(":"):
        whole = (folder or ".") + "/" + name
        try:
            # Folders may be run too, in the eyes of the system.
            if posix.access(whole, posix.X_OK) and posix.stat(whole).st_mode & 0o170000 == 0o100000:
                return whole
        except OSError:
            continue
    return ""


def limit(limits: list[tuple[int, int, int]]) -> None:
    """Set the limits of this process."""
    for which, soft, hard in limits:
        pair = soft.to_bytes(8, "little") + hard.to_bytes(8, "little")
        must("limit", call(NR_PRLIMIT[machine], 0, which, pair, 0))


def drop_capabilities() -> None:
    """Give up what root may more than others."""
    for number in range(64):
        call(NR_PRCTL[machine], DROP_BOUND, number, 0, 0, 0)
    call(NR_PRCTL[machine], AMBIENT, AMBIENT_CLEAR, 0, 0, 0)
    head = (0x20080522).to_bytes(4, "little") + bytes(4)
    must("capabilities", call(NR_CAPSET[machine], head, bytes(24)))


def landlock(attributes: bytes, paths: list[tuple[str, int]], ports: list[tuple[int, int]]) -> None:
    """Allow these paths and ports, and no others."""
    ruleset = must("Landlock", call(NR_RULESET, attributes, len(attributes), 0))
    for path, access in paths:
        try:
            fd = posix.open(path, PATH_ONLY | posix.O_CLOEXEC)
        except OSError:
            continue  # not there, so nothing to allow
        rule = access.to_bytes(8, "little") + fd.to_bytes(4, "little")
        done = call(NR_RULE, ruleset, 1, rule, 0)
        posix.close(fd)
        must("Landlock for " + path, done)
    for port, access in ports:
        rule = access.to_bytes(8, "little") + port.to_bytes(8, "little")
        must("Landlock for a port", call(NR_RULE, ruleset, 2, rule, 0))
    must("Landlock", call(NR_RESTRICT, ruleset, 0))
    posix.close(ruleset)


def seccomp(program: bytes, flags: int) -> int:
    """Load the filter; what it gives is the descriptor on which it asks, if it does."""
    lines = buffer(len(program))
    lines[:] = program
    count = (len(program) // 8).to_bytes(8, "little")
    whole = count + _ctypes.addressof(lines).to_bytes(8, "little")
    return must("seccomp", call(NR_SECCOMP[machine], 1, flags, whole))
