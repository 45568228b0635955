"""Run by another interpreter: makes sockets in the network namespace of a run, and passes them on.

A socket belongs for good to the namespace that it was made in. So what is made here can be used
by the server, outside, and nothing of ours runs beside the program. Only a process with one
thread may enter the namespaces of a run, which is why this is one of its own. It reads what to
make from its stdin, a socket, and ends with it.
"""

from __future__ import annotations

import ctypes
import os
import socket
import sys

NEW_USER, NEW_NET = 0x10000000, 0x40000000
FREEBIND = 15
"""The loopback may not be up yet."""
BACKLOG = 128


def enter(pidfd: int) -> None:
    """Go into the user and the network namespace of a process, both at once."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(pidfd, NEW_USER | NEW_NET):
        raise OSError(ctypes.get_errno(), "setns")


def made(request: str) -> socket.socket:
    """A socket: `4` or `6` to connect with, `L8000` to listen with on a port."""
    if not request.startswith("L"):
        return socket.socket(socket.AF_INET6 if request == "6" else socket.AF_INET)
    made = socket.socket(socket.AF_INET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.IPPROTO_IP, FREEBIND, 1)
    made.bind(("127.0.0.1", int(request[1:])))
    made.listen(BACKLOG)
    return made


def main() -> None:
    """Answer each request with `+` and a socket, or with the number of an error."""
    link = socket.socket(fileno=0)
    try:
        enter(int(sys.argv[1]))
        os.close(int(sys.argv[1]))
        link.send(b"+")
    except OSError as error:
        link.send(str(error.errno).encode())
        return
    while request := link.recv(16).decode():
        try:
            with made(request) as answer:
                socket.send_fds(link, [b"+"], [answer.fileno()])
        except OSError as error:
            link.send(str(error.errno or 1).encode())


if __name__ == "__main__":
    main()
