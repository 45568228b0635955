"""With a network: what comes to a port in here goes to the socket of the guard's proxy."""

from __future__ import annotations

import posix

from toolcrib.execution.sandbox.inside.syscalls import Plan, keep_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def relay(plan: Plan) -> None:
    """Leave a process behind that answers on the port; the other goes on."""
    import _socket

    port, path = plan["relay"]
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    if posix.fork():
        listener.close()
        return
    posix.closerange(0, 3)
    keep_only(listener.fileno())
    try:
        carry(_socket, listener, path)
    finally:
        posix._exit(0)  # noqa: SLF001


def carry(sockets: Any, listener: Any, path: str) -> None:  # noqa: C901, PLR0912
    """Copy bytes between each connection and one of its own to the proxy."""
    import select

    poll = select.poll()
    poll.register(listener.fileno(), select.POLLIN)
    held: dict[int, Any] = {}
    other: dict[int, int] = {}
    waiting: dict[int, bytes] = {}
    while True:
        for fd, events in poll.poll():
            if fd == listener.fileno():
                try:
                    taken, _ = listener._accept()  # noqa: SLF001
                    one = sockets.socket(fileno=taken)
                    two = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
                    two.connect(path)
                except OSError:
                    continue
                for a, b in ((one, two), (two, one)):
                    a.setblocking(False)
                    held[a.fileno()], other[a.fileno()] = a, b.fileno()
                    waiting[a.fileno()] = b""
                    poll.register(a.fileno(), select.POLLIN)
                continue
            if fd not in held:
                continue
            peer = other[fd]
            try:
                if events & select.POLLOUT:
                    waiting[fd] = waiting[fd][held[fd].send(waiting[fd]) :]
                if events & (select.POLLIN | select.POLLHUP | select.POLLERR) and not waiting[peer]:
                    data = held[fd].recv(65536)
                    if not data:
                        raise OSError
                    waiting[peer] = data[held[peer].send(data) :]
            except BlockingIOError:
                pass
            except OSError:
                for end in (fd, peer):
                    poll.unregister(end)
                    held.pop(end).close()
                    other.pop(end)
                    waiting.pop(end)
                continue
            for end, facing in ((fd, peer), (peer, fd)):
                wanted = 0 if waiting[facing] else select.POLLIN
                poll.modify(end, wanted | (select.POLLOUT if waiting[end] else 0))
