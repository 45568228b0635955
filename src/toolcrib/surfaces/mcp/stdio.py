"""The stdio server: what a host starts and talks to through pipes."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Self

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from toolcrib.surfaces.mcp.server import create_server
from toolcrib.surfaces.shutdown import end_within
from toolcrib.system.processes import Processes
from toolcrib.system.stdin_monitor import Lifeline
from toolcrib.toolbox import Toolbox

# stdin and stdout as message streams for the SDK, on the event loop.
#
# The SDK's own transport reads and writes in worker threads: three thread changes a call,
# and a read that no cancellation reaches, so that a signal ends the server only after the
# next line. Here nothing blocks, and a line that is no message is answered instead of
# dropped. Where stdin or stdout is no pipe (a file, a terminal), and on Windows, the SDK's
# transport serves.

LONGEST_LINE = 32_000_000
"""Bytes; a longer message is refused without being kept."""
SCHEDULE_AFTER = 2.0
"""Seconds from the start until calls are looked for whose time has come: a host waits for it."""
LAST_WORDS = 0.5
"""Seconds in which a client may still take what was written when the server ends."""


@asynccontextmanager
async def messages(on_end: Callable[[], object]) -> AsyncIterator[tuple[Any, Any]]:
    """The read stream and the write stream of this process.

    While it lasts, fd 0 is at its end and fd 1 leads to stderr: what tools and children
    print does not reach the protocol.

    Args:
        on_end: called when the client has closed its end. Calls may still be in flight.
    """
    if sys.platform == "win32" or not all(map(_is_pipe, (0, 1))):
        from mcp.server.stdio import stdio_server

        async with stdio_server() as streams:
            yield streams
        return
    inward, outward = _take(0), _take(1)
    end, unused = os.pipe()
    os.close(unused)
    os.dup2(end, 0)
    os.dup2(2, 1)
    os.close(end)
    outgoing = await Outgoing.open(outward)
    try:
        yield await Incoming.open(inward, outgoing, on_end), outgoing
    finally:
        await outgoing.finish()
        # Whoever started us may go on using the same pipes.
        for fd in (inward, outward):
            os.set_blocking(fd, True)


def _is_pipe(fd: int) -> bool:
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _take(fd: int) -> int:
    """A duplicate outside of the standard three, which children do not inherit."""
    if sys.platform == "win32":
        raise NotImplementedError
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)


class _Flow(asyncio.Protocol):
    """Tells when more may be written."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.open.set()
        self.lost = asyncio.Event()

    def pause_writing(self) -> None:
        self.open.clear()

    def resume_writing(self) -> None:
        self.open.set()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.lost.set()
        self.open.set()


class _Stream:
    """What the SDK asks of either stream beside reading and writing."""

    async def aclose(self) -> None:
        """Nothing to do: the pipes are closed by the end of the process."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


class Outgoing(_Stream):
    """Messages to the client."""

    def __init__(self, transport: asyncio.WriteTransport, flow: _Flow) -> None:
        self._transport = transport
        self._flow = flow

    @classmethod
    async def open(cls, fd: int) -> Self:
        """Write to a pipe."""
        loop = asyncio.get_running_loop()
        transport, flow = await loop.connect_write_pipe(
            _Flow, os.fdopen(fd, "wb", buffering=0, closefd=False)
        )
        return cls(transport, flow)

    async def send(self, item: SessionMessage) -> None:
        """Write one message; waits while the client reads more slowly than we write.

        Raises:
            anyio.BrokenResourceError: the client has closed its end.
        """
        await self._flow.open.wait()
        if self._flow.lost.is_set() or self._transport.is_closing():
            raise anyio.BrokenResourceError
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._transport.write(f"{text}\n".encode())

    async def finish(self) -> None:
        """Let the client take what is still on its way, for a short time."""
        self._transport.close()
        try:
            async with asyncio.timeout(LAST_WORDS):
                await self._flow.lost.wait()
        except TimeoutError:
            self._transport.abort()


class Incoming(_Stream):
    """Messages from the client. What is none is answered here, and not passed on."""

    def __init__(
        self, reader: asyncio.StreamReader, outgoing: Outgoing, on_end: Callable[[], object]
    ) -> None:
        self._reader = reader
        self._outgoing = outgoing
        self._on_end = on_end

    @classmethod
    async def open(cls, fd: int, outgoing: Outgoing, on_end: Callable[[], object]) -> Self:
        """Read from a pipe."""
        reader = asyncio.StreamReader(limit=LONGEST_LINE)
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader),
            os.fdopen(fd, "rb", buffering=0, closefd=False),
        )
        return cls(reader, outgoing, on_end)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> SessionMessage:
        """The next message.

        Raises:
            anyio.EndOfStream: the client has closed its end.
        """
        while True:
            line = await self._line()
            if not line.strip():
                continue
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValidationError as error:
                await self._refuse(error)
            else:
                return SessionMessage(message)

    async def _line(self) -> bytes:
        too_long = False
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as error:
                if not error.partial:
                    self._on_end()
                    raise anyio.EndOfStream from None
                line = error.partial
            except asyncio.LimitOverrunError as error:
                await self._reader.readexactly(error.consumed)
                too_long = True
                continue
            if not too_long:
                return line
            too_long = False
            await self._answer(
                types.INVALID_REQUEST, f"A message may have {LONGEST_LINE:,} bytes at most."
            )

    async def _refuse(self, error: ValidationError) -> None:
        if any(item["type"] == "json_invalid" for item in error.errors()):
            reason = error.errors()[0]["msg"]
            await self._answer(types.PARSE_ERROR, f"One JSON object a line is expected: {reason}")
        else:
            await self._answer(types.INVALID_REQUEST, "This is JSON, but no JSON-RPC 2.0 message.")

    async def _answer(self, code: int, message: str) -> None:
        error = types.ErrorData(code=code, message=message)
        await self._outgoing.send(
            SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error))
        )


GRACE = 1.0
"""Seconds for a clean end after a signal; after that it ends all the same."""
LOGGING = 2.0
"""Seconds more for writing down what programs in the background have changed."""


def run(toolbox: Toolbox) -> None:
    """Serve until stdin closes or a signal comes; then no child process is left."""
    processes: Processes = toolbox.use(Processes)
    # Started first: the transport diverts fd 0 while it serves.
    Lifeline.start(on_dead=lambda: _end(toolbox, processes))
    asyncio.run(_serve(toolbox, processes))
    sys.stderr.flush()
    # A worker thread may still sit in a blocking call, and must not delay the exit.
    os._exit(0)


async def _serve(toolbox: Toolbox, processes: Processes) -> None:
    serving = asyncio.ensure_future(_speak(toolbox))
    loop = asyncio.get_running_loop()

    def end() -> None:
        toolbox.end_soon()
        serving.cancel()

    def on_signal(*_: object) -> None:
        end_within(GRACE, lambda: _end(toolbox, processes))
        loop.call_soon_threadsafe(end)

    # Not the loop's own handlers: those wait for the loop, which a tool may hold up.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    try:
        await serving
    except asyncio.CancelledError:
        pass
    finally:
        await toolbox.close()


async def _speak(toolbox: Toolbox) -> None:
    server = create_server(toolbox)
    asyncio.get_running_loop().call_later(SCHEDULE_AFTER, toolbox.keep_schedule)
    async with messages(toolbox.end_soon) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _end(toolbox: Toolbox, processes: Processes) -> None:
    """The end of all children, from another thread; what they changed may yet be written down.

    An event loop that is held up has not begun with that, and is not waited for.
    """
    processes.kill_all_now()
    end = time.monotonic() + LOGGING
    while toolbox.ending and time.monotonic() < end:
        time.sleep(0.02)
