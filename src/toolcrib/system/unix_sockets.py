"""Unix sockets that are bound to files, as the kernel lists them for a network namespace."""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from toolcrib.system.sweep import read

if TYPE_CHECKING and sys.platform != "linux":  # nothing here is called elsewhere
    raise ImportError

SOCK_DIAG, SOCK_DIAG_BY_FAMILY, REQUEST_DUMP = 4, 20, 0x301
NLMSG_ERROR, NLMSG_DONE = 2, 3
ALL_STATES, SHOW_VFS, SHOW_PEER, SHOW_WAITING = 0xFFFFFFFF, 2, 4, 8
VFS, PEER, WAITING = 1, 2, 3
LISTENING = 10
HEADER_BYTES, MESSAGE_BYTES = 16, 16
"""Of a netlink message, and of what it says of one socket; see linux/unix_diag.h."""
LIST_SECONDS = 1.0
NAMED = re.compile(rb"^\S+: \S+ \S+ \S+ \S+ \S+ +\d+ (.+)$", re.MULTILINE)
"""Of /proc/net/unix: the name of a socket as it was given."""
UNCONNECTED = re.compile(
    rb"[\da-f]+: [\dA-F]{8} [\dA-F]{8} [\dA-F]{8} (?:[\dA-F]{4} 01 .*|(?!0002)[\dA-F]{4} 03 +\d+)"
)
"""A line of it that is no end of a connection to a file: one that is not connected, or has no name
and is not of datagrams. A name may hold the end of a line and what looks like another."""


class UnixSocket(NamedTuple):
    """One of the kernel's list: its number, its file by number and device, and its other ends.

    Those of a server, which listens, are the clients that it did not accept yet: their connections
    have no number.
    """

    number: int
    listens: bool
    file: tuple[int, int] | None
    peers: frozenset[int]


Diagnostic: TypeAlias = socket.socket
"""By which the kernel lists the sockets of one network."""


def diagnostic_socket() -> Diagnostic:
    """What the kernel lists the sockets of our network by."""
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG)


def listed(link: Diagnostic) -> list[UnixSocket]:
    """The sockets of the network that a `diagnostic_socket` was made in.

    Raises:
        OSError: the kernel does not list them.
    """
    shows = SHOW_VFS | SHOW_PEER | SHOW_WAITING
    body = struct.pack("=BBHIIIQ", socket.AF_UNIX, 0, 0, ALL_STATES, 0, shows, 0)
    head = struct.pack("=IHHII", HEADER_BYTES + len(body), SOCK_DIAG_BY_FAMILY, REQUEST_DUMP, 1, 0)
    link.settimeout(LIST_SECONDS)
    link.send(head + body)
    found: list[UnixSocket] = []
    while True:
        data = link.recv(1 << 16)
        while data:
            length, kind = struct.unpack_from("=IH", data)
            if kind == NLMSG_ERROR:
                raise OSError(-struct.unpack_from("=i", data, HEADER_BYTES)[0], "sock_diag")
            if kind == NLMSG_DONE:
                return found
            found.append(_socket_of(data[HEADER_BYTES:length]))
            data = data[(length + 3) & ~3 :]


def _socket_of(message: bytes) -> UnixSocket:
    file: tuple[int, int] | None = None
    peers: set[int] = set()
    attributes = message[MESSAGE_BYTES:]
    while attributes:
        length, kind = struct.unpack_from("=HH", attributes)
        words = struct.unpack_from(f"={length // 4 - 1}I", attributes, 4)
        if kind == VFS:
            file = words[0], words[1]
        elif kind in (PEER, WAITING):
            peers.update(words)
        attributes = attributes[(length + 3) & ~3 :]
    _, _, state, _, number = struct.unpack_from("=4BI", message)
    return UnixSocket(number, state == LISTENING, file, frozenset(peers - {0}))


def bound_inodes() -> frozenset[int]:
    """The numbers of the files, in 32 bits, to which sockets of our own network are bound.

    Raises:
        OSError: the kernel does not list them.
    """
    with diagnostic_socket() as link:
        return frozenset(each.file[0] for each in listed(link) if each.file)


def reaches_ours(link: Diagnostic) -> bool:
    """Whether another network has an end of a connection to a file of our own.

    The server's end belongs to the network of who connected, and has the server's file, whatever
    its name is by now; of datagrams there is the client's alone, which tells the server's. Where
    we are connected to a server of that network, its file is none of ours.

    Args:
        link: a `diagnostic_socket` of that network.

    Raises:
        OSError: the kernel does not list them.
    """
    with diagnostic_socket() as own:
        ours = [each for each in listed(own) if each.file]
    theirs = listed(link)
    files = {each.file for each in ours} - {each.file for each in theirs if each.listens}
    numbers = {each.number for each in ours}
    waiting = frozenset[int]().union(*(each.peers for each in ours))
    return any(
        each.file in files or each.number in waiting or not numbers.isdisjoint(each.peers)
        for each in theirs
    )


def may_be_connected(process: str) -> bool:
    """Whether the network of a process may have an end of a connection to a file; quick."""
    lines = read(f"/proc/{process}/net/unix").split(b"\n")[1:-1]
    return not all(map(UNCONNECTED.fullmatch, lines))


def is_named(path: str) -> bool:
    """Whether our network has a socket with the name of a file, as it was given.

    Of a relative one only the last part counts.
    """
    name = path.rpartition("/")[2]
    for bound in NAMED.findall(read("/proc/self/net/unix")):
        text = os.fsdecode(bound)
        if text.rpartition("/")[2] != name:
            continue
        if not text.startswith("/") or os.path.realpath(text) == path:
            return True
    return False
