"""Who may be born: counting the processes of a run, and ending them."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import posix

from toolcrib.execution.sandbox.inside.syscalls import (
    ANSWER,
    GO_ON,
    NR_IOCTL,
    RECEIVE,
    TRY_AGAIN,
    buffer,
    call,
    machine,
)


class Births:
    """Says of each new process and thread whether it may be; nobody else can make one.

    The limit of the system is one of a user's processes together, or none for root.
    """

    def __init__(self, listener: int, most: int) -> None:
        self.listener, self.most = listener, most
        self.born = 1
        self.counted = 0.0
        self.request, self.answer = buffer(80), buffer(24)

    def decide(self) -> None:
        """Answer one question."""
        self.request[:] = bytes(80)
        if call(NR_IOCTL[machine], self.listener, RECEIVE, self.request) < 0:
            return
        may = self.born < self.most or self.recount()
        self.born += may
        error, flag = (0, GO_ON) if may else (-TRY_AGAIN, 0)
        told = error.to_bytes(4, "little", signed=True) + flag.to_bytes(4, "little")
        self.answer[:] = bytes(self.request[:8]) + bytes(8) + told
        call(NR_IOCTL[machine], self.listener, ANSWER, self.answer)

    def recount(self) -> bool:
        """Look how many there really are, now and then."""
        import time

        now = time.monotonic()
        if now < self.counted:
            return False
        self.born = threads(descendants())
        self.counted = time.monotonic() + 4 * (time.monotonic() - now)
        return self.born < self.most

    def end(self) -> None:
        """Kill all that is left: without an answer from here, nothing new is born."""
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
