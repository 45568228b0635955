"""A helper that works in a namespace of a run, from outside: see `namespace_child`."""

from __future__ import annotations

import asyncio
import errno
import os
import select
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from toolcrib.system.child import Process
from toolcrib.system.processes import Mark, Processes

if TYPE_CHECKING:
    from toolcrib.execution.sandbox.masks import Mask

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

ANSWER_SECONDS = 5.0
MAX_COPY_BYTES = 65_536
"""Of what is read in the place of a file; the request for it is one message."""
CHILD = str(Path(__file__).with_name("namespace_child.py"))
LOOPBACK = (("4", "127.0.0.1"), ("6", "::1"))


def has_ended(pidfd: int) -> bool:
    """Whether a process has ended, or is not held any more (-1)."""
    if pidfd < 0:
        return True
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(0))


class NamespaceHelper:
    """Makes sockets in the network of a run, or covers places in its file system."""

    def __init__(self, process: Process, link: socket.socket) -> None:
        self._process = process
        self._link = link
        self._busy = asyncio.Lock()

    @classmethod
    async def open(cls, processes: Processes, pidfd: int, namespace: Literal["net", "mnt"]) -> Self:
        """Enter a namespace of a process.

        Raises:
            OSError: this system does not let us, or the process has ended.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(ANSWER_SECONDS)

        def start(mark: Mark) -> subprocess.Popen[bytes]:
            return subprocess.Popen(  # noqa: S603 - our own file
                [sys.executable, "-I", "-S", "-B", CHILD, str(pidfd), namespace],
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={mark.name: mark.value},
                bufsize=0,
                pass_fds=[pidfd],
                start_new_session=True,
            )

        try:
            with theirs:
                process = await processes.adopt(start)
        except BaseException:
            ours.close()
            raise
        opened = cls(process, ours)
        try:
            await opened._answer("")
        except BaseException:
            await opened.close()
            raise
        return opened

    async def connected(self, port: int) -> socket.socket:
        """A connection to a port of the run, by either version of IP.

        Raises:
            OSError: nothing listens on it.
        """
        loop = asyncio.get_running_loop()
        for version, address in LOOPBACK:
            made = await self._socket(version)
            try:
                made.setblocking(False)
                async with asyncio.timeout(ANSWER_SECONDS):
                    await loop.sock_connect(made, (address, port))
            except (OSError, TimeoutError):
                made.close()
            except BaseException:
                made.close()
                raise
            else:
                return made
        raise ConnectionRefusedError

    async def listening(self, port: int) -> socket.socket:
        """A socket that listens in the run.

        Raises:
            OSError: the program listens there itself.
        """
        return await self._socket(f"listen {port}")

    async def diagnostic(self) -> socket.socket:
        """A socket by which the kernel lists those of the run: see `unix_sockets`.

        Raises:
            OSError: this system has none.
        """
        return await self._socket("list")

    async def cover(self, mask: Mask) -> None:
        """Mount over a place, so that a run sees there what its mask says.

        Where the system cannot make a copy, as before Linux 6.15, or it is more than
        MAX_COPY_BYTES, the file is hidden: a part of settings would not be what git means.

        Raises:
            FileNotFoundError: nothing is there any more.
            OSError: that did not work.
        """
        if mask.kind in ("fixed", "pinned"):
            await self._answer(f"{mask.kind} {mask.path}")
            return
        if mask.kind == "copy" and len(mask.data) <= MAX_COPY_BYTES:
            with suppress(OSError):
                await self._answer(f"copy {mask.path}\0{os.fsdecode(mask.data)}")
                return
        await self._answer(f"hide {mask.path}")

    async def _socket(self, request: str) -> socket.socket:
        descriptors = await self._answer(request)
        if not descriptors:  # the system had none left to receive it with
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return socket.socket(fileno=descriptors[0])

    async def _answer(self, request: str) -> list[int]:
        """The descriptors that a request brings; the first is answered unasked."""
        async with self._busy:
            exchange = asyncio.ensure_future(asyncio.to_thread(self._exchange, request))
            try:
                data, descriptors = await asyncio.shield(exchange)
            except asyncio.CancelledError:
                with suppress(OSError):
                    for descriptor in (await exchange)[1]:
                        os.close(descriptor)
                raise
        if data != b"+":
            number = int(data or b"5")
            raise OSError(number, os.strerror(number))
        return descriptors

    def _exchange(self, request: str) -> tuple[bytes, list[int]]:
        try:
            if request:
                self._link.send(os.fsencode(request))
            data, descriptors, _, _ = socket.recv_fds(self._link, 16, 1)
        except TimeoutError:
            self._link.close()  # what comes too late must not answer another request
            raise
        return data, descriptors

    async def close(self) -> None:
        """End it; what it made stays."""
        self._link.close()
        try:
            await self._process.kill(0)
        finally:
            self._process.close()
