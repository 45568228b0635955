"""The end of a stdio server whose client is gone, whatever the event loop is doing.

A client ends a stdio server by closing its stdin. The event loop notices when it gets
to it, and a tool that computes or blocks keeps it from that; a thread of its own does
not wait. It asks the kernel for the hang-up alone, so it takes no input from anyone,
and it sleeps until something happens.
"""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable
from typing import Self

from toolcrib.system.sweep import hold

PARENT_CHECK = 0.5
"""Seconds between two looks at the parent, where there is no descriptor to wait on."""


class Lifeline:
    """Ends this process when its client is gone and it does not end by itself.

    Use `Lifeline.start`. The client is gone when the other end of `fd` is closed (a
    pipe, a socket, a terminal that hangs up; a file has none), or the parent has died.
    """

    def __init__(
        self, on_dead: Callable[[], object], grace: float, fd: int, *, parent: bool
    ) -> None:
        self._on_dead = on_dead
        self._grace = grace
        # Our own descriptor: the transport may put something else in the place of `fd`.
        self._fd = os.dup(fd)
        self._stop_out, self._stop_in = os.pipe()
        self._parent = os.getppid() if parent else 0
        self._parent_fd = _hold(self._parent) if parent else -1
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="lifeline", daemon=True)

    @classmethod
    def start(
        cls,
        on_dead: Callable[[], object],
        grace: float = 1.0,
        fd: int = 0,
        *,
        parent: bool = True,
    ) -> Self:
        """Start to watch.

        Args:
            on_dead: called when the process did not end in time, to kill its children.
                It must not need the event loop, and must return soon.
            grace: seconds that a clean end may take.
            fd: where input comes from.
            parent: whether the death of the parent counts too, for a pipe that somebody
                else still holds open.

        Raises:
            OSError: `fd` is not open.
        """
        lifeline = cls(on_dead, grace, fd, parent=parent)
        lifeline._thread.start()
        return lifeline

    def stop(self) -> None:
        """Stop watching; the process is no longer ended."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        os.close(self._stop_in)
        self._thread.join()
        for fd in (self._fd, self._stop_out, self._parent_fd):
            if fd >= 0:
                os.close(fd)

    def _watch(self) -> None:
        if not self._wait_for_end():
            return
        if self._stopped.wait(self._grace):
            return
        try:
            self._on_dead()
        finally:
            os._exit(0)

    def _wait_for_end(self) -> bool:
        """Wait until the client is gone; False when stopped first."""
        if sys.platform == "win32":
            return self._look_again_and_again()
        hang_up = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)
        poll = select.poll()
        poll.register(self._fd, hang_up & ~select.POLLERR)
        poll.register(self._stop_out, 0)
        if self._parent_fd >= 0:
            poll.register(self._parent_fd, select.POLLIN)
        patience = PARENT_CHECK * 1000 if self._parent and self._parent_fd < 0 else None
        while True:
            events = dict(poll.poll(patience))
            if self._stop_out in events:
                return False
            if events.get(self._fd, 0) & hang_up or self._parent_fd in events:
                return True
            if events.get(self._fd, 0):  # closed or not pollable: nothing to learn from it
                poll.unregister(self._fd)
            if patience is not None and os.getppid() != self._parent:
                return True

    def _look_again_and_again(self) -> bool:
        """The same where the kernel tells nobody: on Windows."""
        from toolcrib.system.windows import is_hung_up

        while not self._stopped.wait(PARENT_CHECK):
            if is_hung_up(self._fd):
                return True
        return False


def _hold(pid: int) -> int:
    """A descriptor that becomes readable when a process ends; -1 where there is none."""
    held = hold(pid)
    if held >= 0 and os.getppid() != pid:  # it died before it was held, and this may be another
        os.close(held)
        return -1
    return held
