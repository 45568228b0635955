"""Unix sockets that are bound to files, as the kernel lists them for a network namespace."""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolcrib.system.sweep import read

if TYPE_CHECKING and sys.platform != "linux":  # nothing here is called elsewhere
    raise ImportError

SOCK_DIAG, SOCK_DIAG_BY_FAMILY, REQUEST_DUMP = 4, 20, 0x301
NLMSG_ERROR, NLMSG_DONE = 2, 3
ALL_STATES, SHOW_VFS, VFS = 0xFFFFFFFF, 2, 1
HEADER_BYTES, MESSAGE_BYTES = 16, 16
"""Of a netlink message, and of what it says of one socket; see linux/unix_diag.h."""
ESTABLISHED = b"03"
LINE = re.compile(rb"^\S+: \S+ \S+ \S+ \S+ (\S+) +\d+ (.+)$", re.MULTILINE)
"""Of /proc/net/unix: the state of a socket, and its name as it was given."""


def bound_inodes() -> frozenset[int]:
    """The numbers of the files, in 32 bits, to which sockets of our own network are bound.

    Raises:
        OSError: the kernel does not list them.
    """
    body = struct.pack("=BBHIIIQ", socket.AF_UNIX, 0, 0, ALL_STATES, 0, SHOW_VFS, 0)
    head = struct.pack("=IHHII", HEADER_BYTES + len(body), SOCK_DIAG_BY_FAMILY, REQUEST_DUMP, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as link:
        link.settimeout(1)
        link.send(head + body)
        found: set[int] = set()
        while True:
            data = link.recv(1 << 16)
            while data:
                length, kind = struct.unpack_from("=IH", data)
                if kind == NLMSG_ERROR:
                    raise OSError(-struct.unpack_from("=i", data, HEADER_BYTES)[0], "sock_diag")
                if kind == NLMSG_DONE:
                    return frozenset(found)
                found.update(_files_in(data[HEADER_BYTES + MESSAGE_BYTES : length]))
                data = data[(length + 3) & ~3 :]


def _files_in(attributes: bytes) -> Iterator[int]:
    while attributes:
        length, kind = struct.unpack_from("=HH", attributes)
        if kind == VFS:
            yield struct.unpack_from("=I", attributes, 4)[0]
        attributes = attributes[(length + 3) & ~3 :]


def is_named_in(process: str, path: str, *, connected: bool = False) -> bool:
    """Whether the network of a process has a socket with the name of a file.

    The table has names as they were given: of a relative one only the last part counts. The
    server's end of a connection has the name too, in the network of who connected.

    Args:
        process: by its number.
        path: of the file, absolute.
        connected: whether there has to be such an end, and nothing that listens.
    """
    name = path.rpartition("/")[2]
    states: set[bool] = set()
    for state, bound in LINE.findall(read(f"/proc/{process}/net/unix")):
        text = os.fsdecode(bound)
        if text.rpartition("/")[2] != name:
            continue
        if not text.startswith("/") or os.path.realpath(text) == path:
            states.add(state == ESTABLISHED)
    return states == {True} if connected else bool(states)
