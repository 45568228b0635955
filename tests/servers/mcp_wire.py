"""A stdio server as a subprocess, spoken to line by line, with nothing in between."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from tests.conditions import until

ROOT = Path(__file__).parents[2]
TEST_TOOLS = (sys.executable, "-m", "tests.servers.mcp_tools")
PRODUCT = (
    *(sys.executable, "-I", "-m", "toolcrib", "mcp", "--profile", "default"),
    *("--workspace", str(ROOT / "docs")),
)
"""Started as hosts start it, on a workspace in which it is not installed."""
HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
CLIENT = {"name": "wire", "version": "1"}

Message = dict[str, Any]


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return not Path("/proc/self").exists()


class Wire:
    """Both ends of the pipes. Every line that comes is kept in `lines`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self._next = 0
        self._modern = False

    @classmethod
    async def start(cls, *command: str) -> Self:
        """Start a server; nothing has been said yet."""
        return cls(
            await asyncio.create_subprocess_exec(
                *command,
                cwd=ROOT,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=2**24,
            )
        )

    async def open(self, revision: str = HANDSHAKE, capabilities: Message | None = None) -> None:
        """Shake hands, or remember to put the envelope of 2026-07-28 on each request."""
        self._modern = revision == MODERN
        if self._modern:
            return
        params = {
            "protocolVersion": revision,
            "capabilities": capabilities or {},
            "clientInfo": CLIENT,
        }
        answer = await self.ask("initialize", params)
        assert answer["result"]["protocolVersion"] == revision
        self.tell("notifications/initialized")

    def write(self, line: str) -> None:
        """Send a line as it stands."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())

    def tell(self, method: str, params: Message | None = None) -> None:
        """Send a notification."""
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}}))

    def request(self, method: str, params: Message | None = None) -> int:
        """Send a request and give its id."""
        self._next += 1
        params = dict(params or {})
        if self._modern:
            meta = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": CLIENT,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            params["_meta"] = {**meta, **params.get("_meta", {})}
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        self.write(json.dumps(message))
        return self._next

    async def read(self) -> Message:
        """The next message."""
        assert self.process.stdout is not None
        line = (await self.process.stdout.readline()).decode()
        if not line:
            raise EOFError(await self.complaints())
        self.lines.append(line)
        message: Message = json.loads(line)
        return message

    async def answer_to(self, request: int) -> Message:
        """The answer to a request; what comes before it is kept in `lines`."""
        while True:
            message = await self.read()
            if message.get("id") == request and "method" not in message:
                return message

    async def ask(self, method: str, params: Message | None = None) -> Message:
        """Send a request and wait for its answer."""
        return await self.answer_to(self.request(method, params))

    def call(self, name: str, **arguments: Any) -> int:
        """Send a tool call and give its id."""
        return self.request("tools/call", {"name": name, "arguments": arguments})

    async def say(self, text: str) -> str:
        """Have a text echoed, which shows that the server is alive."""
        answer = await self.answer_to(self.call("echo", text=text))
        return str(answer["result"]["content"][0]["text"])

    def close(self) -> None:
        """Close the server's stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def finish(self) -> None:
        """Kill it if need be, and read the pipes to their end, which closes them."""
        if self.process.returncode is None:
            self.process.kill()
        self.close()
        assert self.process.stdout is not None
        await self.process.stdout.read()
        await self.complaints()
        await self.process.wait()

    async def complaints(self) -> str:
        """All that it wrote to stderr until it ended."""
        assert self.process.stderr is not None
        return (await self.process.stderr.read()).decode("utf-8", "replace")


@asynccontextmanager
async def wire(
    *command: str, revision: str = HANDSHAKE, capabilities: Message | None = None
) -> AsyncIterator[Wire]:
    """An open server, killed at the end if need be."""
    server = await Wire.start(*(command or TEST_TOOLS))
    try:
        await server.open(revision, capabilities)
        yield server
    finally:
        await server.finish()


async def written(file: Path, lines: int = 1) -> list[str]:
    """The lines of a file, once there are so many."""

    def found() -> list[str]:
        return file.read_text().splitlines() if file.exists() else []

    await until(lambda: len(found()) >= lines)
    return found()
