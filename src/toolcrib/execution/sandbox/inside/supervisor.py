"""Runs inside the sandbox: the supervisor, parent of the program at level kernel.

It counts the processes and threads that descend from it, and ends them all.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import posix

from toolcrib.execution.sandbox.inside.confinement import confine_and_exec
from toolcrib.execution.sandbox.inside.syscalls import (
    ANSWER,
    CONTINUE,
    EAGAIN,
    MACHINE,
    NEW_PROCESS_IDS,
    NR_IOCTL,
    NR_PIDFD_GETFD,
    NR_PIDFD_OPEN,
    NR_PRCTL,
    NR_UNSHARE,
    RECEIVE,
    SET_DEATH_SIGNAL,
    SET_DUMPABLE,
    SUBREAPER,
    LaunchPlan,
    buffer,
    call,
    keep_only,
    require,
)


class ForkLimiter:
    """Allows or refuses each new process and thread of a run.

    The limit of the system is one of a user's processes together, or none for root.
    """

    def __init__(self, listener: int, limit: int) -> None:
        self.listener, self.limit = listener, limit
        self.running = 1
        self.counted = 0.0
        self.request, self.answer = buffer(80), buffer(24)

    def decide(self) -> None:
        """Answer one question."""
        self.request[:] = bytes(80)
        if call(NR_IOCTL[MACHINE], self.listener, RECEIVE, self.request) < 0:
            return
        allowed = self.running < self.limit or self.recount()
        self.running += allowed
        error, flag = (0, CONTINUE) if allowed else (-EAGAIN, 0)
        verdict = error.to_bytes(4, "little", signed=True) + flag.to_bytes(4, "little")
        self.answer[:] = bytes(self.request[:8]) + bytes(8) + verdict
        call(NR_IOCTL[MACHINE], self.listener, ANSWER, self.answer)

    def recount(self) -> bool:
        """Look how many there really are, now and then."""
        import time

        now = time.monotonic()
        if now < self.counted:
            return False
        self.running = threads(descendants())
        self.counted = time.monotonic() + 4 * (time.monotonic() - now)
        return self.running < self.limit

    def end(self) -> None:
        """Kill all that is left: without an answer from here, no new process starts."""
        import time

        if self.listener >= 0:
            posix.close(self.listener)
        pause = 0.001
        while True:
            for pid in descendants():
                try:  # noqa: SIM105
                    posix.kill(pid, _signal.SIGKILL)
                except OSError:
                    pass
            try:
                while posix.waitpid(-1, posix.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                return
            time.sleep(pause)
            pause = min(pause * 2, 0.02)


def threads(pids: list[int]) -> int:
    """How many threads some processes have."""
    count = 0
    for pid in pids:
        try:  # noqa: SIM105
            count += len(posix.listdir(f"/proc/{pid}/task"))
        except OSError:
            pass
    return count


def descendants() -> list[int]:
    """All processes that descend from this one."""
    parents: dict[int, list[int]] = {}
    for name in posix.listdir("/proc"):
        if name.isdigit():
            try:
                fd = posix.open(f"/proc/{name}/stat", posix.O_RDONLY)
            except OSError:
                continue
            try:
                data = posix.read(fd, 512)
            except OSError:
                continue
            finally:
                posix.close(fd)
            parents.setdefault(int(data[data.rfind(b")") + 4 :].split()[0]), []).append(int(name))
    found: list[int] = []
    new = parents.get(posix.getpid(), [])
    while new:
        found += new
        new = [pid for parent in new for pid in parents.get(parent, [])]
    return found


def supervise(plan: LaunchPlan, status: int) -> int:  # noqa: C901, PLR0912, PLR0915
    """Run the program as a child; its exit code, once nothing of it is left."""
    import select

    require("subreaper", call(NR_PRCTL[MACHINE], SUBREAPER, 1, 0, 0, 0))
    lifeline = plan["lifeline"]
    wakeup_reader, wakeup_writer = posix.pipe()
    posix.set_blocking(wakeup_reader, False)
    posix.set_blocking(wakeup_writer, False)
    # Whoever ends the run tells the program itself; this one goes last.
    ended = (_signal.SIGCHLD, _signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)
    for number in ended:
        _signal.signal(number, lambda *_: None)
    # Before there is a child: one that ends at once must be heard too.
    _signal.set_wakeup_fd(wakeup_writer)
    listener_reader, listener_writer = posix.pipe()
    ack_reader, ack_writer = posix.pipe()
    own_pid = posix.getpid()
    # The system does not limit the processes of root, but it ends those of a namespace at once.
    namespaced = plan["counts_processes"] and call(NR_UNSHARE[MACHINE], NEW_PROCESS_IDS) >= 0
    child = posix.fork()
    if child == 0:
        _signal.set_wakeup_fd(-1)
        for number in ended:
            _signal.signal(number, _signal.SIG_DFL)
        call(NR_PRCTL[MACHINE], SET_DEATH_SIGNAL, _signal.SIGKILL, 0, 0, 0)
        if not namespaced and posix.getppid() != own_pid:
            posix._exit(126)  # noqa: SLF001
        if plan["counts_processes"] and not namespaced:
            plan["listener_writer"], plan["ack_reader"] = listener_writer, ack_reader
        if namespaced:
            become_init()
        if not plan["terminal"]:
            posix.setsid()
        confine_and_exec(plan, status)
    call(NR_PRCTL[MACHINE], SET_DUMPABLE, 0, 0, 0, 0)
    posix.closerange(0, 3)
    keep_only(lifeline, wakeup_reader, wakeup_writer, listener_reader, ack_writer)
    listener = fetch_listener(child, posix.read(listener_reader, 4))
    posix.close(listener_reader)
    posix.close(ack_writer)
    poll = select.poll()
    poll.register(lifeline, select.POLLHUP)
    poll.register(wakeup_reader, select.POLLIN)
    limiter = ForkLimiter(listener, plan["max_processes"])
    if listener >= 0:
        poll.register(listener, select.POLLIN)
    code: int | None = None
    while code is None:
        for fd, events in poll.poll():
            if fd == lifeline:
                code = 137
            elif fd == wakeup_reader:
                drain(wakeup_reader)
                ending = reap(child)
                code = ending if code is None else code
            elif events & select.POLLIN:
                limiter.decide()
            else:
                poll.unregister(listener)
    limiter.end()
    return code


def become_init() -> None:
    """Be the first process of a namespace: fork, and end with what was forked."""
    child = posix.fork()
    if child == 0:
        return
    call(NR_PRCTL[MACHINE], SET_DUMPABLE, 0, 0, 0, 0)
    posix.closerange(0, 1 << 16)
    code: int | None = None
    while code is None:
        pid, status = posix.waitpid(-1, 0)
        if pid == child:
            code = posix.waitstatus_to_exitcode(status)
    posix._exit(128 - code if code < 0 else code)  # noqa: SLF001


def fetch_listener(child: int, number: bytes) -> int:
    """The descriptor by which the filter asks; -1 where the program was not reached."""
    if len(number) < 4:
        return -1
    pidfd = require("program", call(NR_PIDFD_OPEN, child, 0))
    listener = require(
        "its filter", call(NR_PIDFD_GETFD, pidfd, int.from_bytes(number, "little"), 0)
    )
    posix.close(pidfd)
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
