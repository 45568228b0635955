"""The stage: the parent of the program, which counts and ends all that descends from it."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import posix

from toolcrib.execution.sandbox.inside.confinement import run
from toolcrib.execution.sandbox.inside.fork_limiter import Births
from toolcrib.execution.sandbox.inside.syscalls import (
    NEW_PROCESS_IDS,
    NR_PIDFD_GETFD,
    NR_PIDFD_OPEN,
    NR_PRCTL,
    NR_UNSHARE,
    SET_DEATH_SIGNAL,
    SET_DUMPABLE,
    SUBREAPER,
    Plan,
    call,
    keep_only,
    machine,
    must,
)


def stage(plan: Plan, status: int) -> int:  # noqa: C901, PLR0912, PLR0915
    """Run the program as a child; its exit code, once nothing of it is left."""
    import select

    must("subreaper", call(NR_PRCTL[machine], SUBREAPER, 1, 0, 0, 0))
    lifeline = plan["lifeline"]
    heard, hears = posix.pipe()
    posix.set_blocking(heard, False)
    posix.set_blocking(hears, False)
    # Whoever ends the run tells the program itself; this one goes last.
    ended = (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)
    for number in ended:
        _signal.signal(number, lambda *_: None)
    asked, asking = posix.pipe()
    told, tells = posix.pipe()
    myself = posix.getpid()
    # The system does not limit the processes of root, but it ends those of a namespace at once.
    apart = plan["root"] and call(NR_UNSHARE[machine], NEW_PROCESS_IDS) >= 0
    child = posix.fork()
    if child == 0:
        for number in ended:
            _signal.signal(number, _signal.SIG_DFL)
        call(NR_PRCTL[machine], SET_DEATH_SIGNAL, _signal.SIGKILL, 0, 0, 0)
        if not apart and posix.getppid() != myself:
            posix._exit(126)  # noqa: SLF001
        if plan["root"] and not apart:
            plan["asking"], plan["told"] = asking, told
        if apart:
            first()
        if not plan["terminal"]:
            posix.setsid()
        run(plan, status)
    _signal.set_wakeup_fd(hears)
    call(NR_PRCTL[machine], SET_DUMPABLE, 0, 0, 0, 0)
    posix.closerange(0, 3)
    keep_only(lifeline, heard, hears, asked, tells)
    listener = fetched(child, posix.read(asked, 4))
    posix.close(asked)
    posix.close(tells)
    poll = select.poll()
    poll.register(lifeline, select.POLLHUP)
    poll.register(heard, select.POLLIN)
    births = Births(listener, plan["most"])
    if listener >= 0:
        poll.register(listener, select.POLLIN)
    code: int | None = None
    while code is None:
        for fd, events in poll.poll():
            if fd == lifeline:
                code = 137
            elif fd == heard:
                drain(heard)
                ending = reap(child)
                code = ending if code is None else code
            elif events & select.POLLIN:
                births.decide()
            else:
                poll.unregister(listener)
    births.end()
    return code


def first() -> None:
    """Be the first process of a namespace: fork, and end with what was forked."""
    child = posix.fork()
    if child == 0:
        return
    call(NR_PRCTL[machine], SET_DUMPABLE, 0, 0, 0, 0)
    posix.closerange(0, 1 << 16)
    code: int | None = None
    while code is None:
        pid, status = posix.waitpid(-1, 0)
        if pid == child:
            code = posix.waitstatus_to_exitcode(status)
    posix._exit(128 - code if code < 0 else code)  # noqa: SLF001


def fetched(child: int, number: bytes) -> int:
    """The descriptor by which the filter asks; -1 where the program was not reached."""
    if len(number) < 4:
        return -1
    held = must("program", call(NR_PIDFD_OPEN, child, 0))
    listener = must("its filter", call(NR_PIDFD_GETFD, held, int.from_bytes(number, "little"), 0))
    posix.close(held)
    return listener


def drain(fd: int) -> None:
    """Read away what says only that something happened."""
    try:  # noqa: SIM105
        posix.read(fd, 4096)
    except OSError:
        pass


def reap(child: int) -> int | None:
    """Collect who ended; the exit code of the program once it is among them."""
    code: int | None = None
    while True:
        try:
            pid, status = posix.waitpid(-1, posix.WNOHANG)
        except ChildProcessError:
            return 137 if code is None else code
        if pid == 0:
            return code
        if pid == child:
            code = posix.waitstatus_to_exitcode(status)
            code = 128 - code if code < 0 else code
