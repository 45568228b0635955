"""The connection to one MCP server, a program or an address: started, watched, ended."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.core.config import environment, secret
from toolcrib.core.context import Services
from toolcrib.core.errors import Denied, TimedOut, ToolError, Unavailable
from toolcrib.core.extension_settings import McpServerConfig
from toolcrib.core.version import VERSION
from toolcrib.extensions.definitions import MAX_TOOLS, ToolDefinition
from toolcrib.extensions.own_tools import lies_in
from toolcrib.extensions.schemas import one_line
from toolcrib.files.paths import chosen_roots
from toolcrib.files.roots import plain_path
from toolcrib.net.egress.guard_proxy import Lease
from toolcrib.net.remote_client import guarded_client
from toolcrib.system.child import Process
from toolcrib.system.installation import code_folders, program_on
from toolcrib.system.processes import Processes

if TYPE_CHECKING:
    from mcp.client import Client
    from mcp.client.session import ElicitationFnT, ListRootsFnT, SamplingFnT
    from mcp.shared.message import SessionMessage

MAX_LINE_BYTES = 16_000_000
"""Of one message; a server that sends a longer one is ended."""
MAX_MESSAGES = 50_000
"""Messages between two answers; a server that sends more of them is ended."""
PROGRESS_GAP = 0.1
"""Seconds between two notes of progress that are passed on; those between are not."""
PASSED_ON = frozenset(
    {"notifications/progress", "notifications/tools/list_changed", "notifications/cancelled"}
)
"""Notifications that somebody here looks at."""
PARTS = re.compile(r"""[\s=:,;'"()<>|&`!]+""")
"""Between the parts of an argument, as of `--require=FILE` or `sh -c "python3 FILE"`."""
GLUED = re.compile(r"-\w(?=[/~$])")
"""An option that its folder follows at once, as of `-I/FOLDER`."""
LOADS_CODE = re.compile(
    r"PYTHON\w+|NODE_(?:PATH|OPTIONS)|(?:LD|DYLD|GEM)_\w+|PERL5?\w+|RUBY\w+|CLASSPATH"
    r"|JAVA_TOOL_OPTIONS|(?:BASH_)?ENV|HOME|XDG_CONFIG_HOME|GIT_SSH_COMMAND"
)
"""Variables by which programs load code."""
MAX_PAGES = 50
LAST_WORDS_BYTES = 2_000
LAST_WORDS_SECONDS = 0.3
STDERR_GAP = 0.02
MAX_RESPONSE_BYTES = 64_000_000
CLOSING_SECONDS = 1.0
HTTP_ERROR = 400
NO_LOG = logging.NullHandler()
"""For what the SDK says of a connection, which is told in results; unhandled it goes to stderr."""


class Flood(Exception):
    """A server that sends more than anybody asked for."""


class ServerConnection:
    """One start of a server, with a client of it.

    Everything of it lives in a task of its own, so that it outlasts the call that started it.

    Args:
        name: of the server.
        settings: of it.
        services: of the toolbox.
        on_form: what answers when the server asks the person.
        on_roots: what tells the folders of the workspace; None refuses.
        on_sampling: what asks a model; None refuses.
    """

    def __init__(
        self,
        name: str,
        settings: McpServerConfig,
        services: Services,
        on_form: ElicitationFnT,
        on_roots: ListRootsFnT | None,
        on_sampling: SamplingFnT | None,
    ) -> None:
        self.name = name
        self._settings = settings
        self._services = services
        self._callbacks: dict[str, Any] = {
            "elicitation_callback": on_form,
            "list_roots_callback": on_roots,
            "sampling_callback": on_sampling,
        }
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()
        self._client: Client | None = None
        self._last_words = b""
        self._failure = ""
        self._status = ""
        self._lease: Lease | None = None
        self.tools_changed = False

    @property
    def is_alive(self) -> bool:
        """Whether calls can be sent."""
        return self._client is not None and not self._over.is_set()

    @property
    def client(self) -> Client:
        """The client; it is there while the connection is alive."""
        assert self._client is not None
        return self._client

    @property
    def last_words(self) -> str:
        """What is known of its end: why it was ended, and the last that it wrote to stderr."""
        words = _end_of(self._last_words)
        parts = [self._failure, f"It wrote: {words}" if words else ""]
        return " ".join(part for part in parts if part)

    async def start(self) -> list[ToolDefinition]:
        """Start it, and ask what tools it has.

        The handshake of the older revisions goes first: most servers know no other, and only in
        them can a server ask back in the middle of a call. One that refuses it is started as
        one of the newer.

        Raises:
            Unavailable, NotConfigured: it cannot be started, or ended at once.
            TimedOut: it took too long.
            Blocked, Network: its address cannot be reached.
        """
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED

        try:
            return await self._started("legacy")
        except Exception as error:
            cause = _innermost(error)
            if not isinstance(cause, MCPError) or cause.code == CONNECTION_CLOSED:
                raise self.unavailable("could not be started", error) from error
        self._over.clear()
        try:
            return await self._started("auto")
        except Exception as error:
            raise self.unavailable("could not be started", error) from error

    async def _started(self, mode: str) -> list[ToolDefinition]:
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(mode, ready))
        seconds = self._settings.start_seconds
        try:
            async with asyncio.timeout(seconds):
                await asyncio.shield(ready)
                return await self.list_tools()
        except TimeoutError:
            await self.close()
            raise TimedOut(
                f"The MCP server {self.name} did not answer within {seconds:g} seconds. "
                f"{self.last_words}".strip(),
                hint=f"The user raises mcp.servers.{self.name}.start_seconds if it is slow, or "
                f"{self._correction}",
            ) from None
        except BaseException:
            await self.close()
            raise

    async def list_tools(self) -> list[ToolDefinition]:
        """The tools that it has now."""
        self.tools_changed = False
        found: list[ToolDefinition] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await self.client.list_tools(cursor=cursor, cache_mode="bypass")
            found += [
                ToolDefinition.of(tool.model_dump(mode="json", by_alias=True, exclude_none=True))
                for tool in page.tools
            ]
            cursor = page.next_cursor
            if not cursor or len(found) > MAX_TOOLS:
                break
        return found[:MAX_TOOLS]

    def unavailable(self, what: str, error: BaseException | None = None) -> ToolError:
        """The error for a server that is not there."""
        cause = _innermost(error)
        if isinstance(cause, ToolError):
            return cause
        words = self.last_words or self._status or (one_line(f"{cause}", 300) if cause else "")
        return Unavailable(
            f"The MCP server {self.name} {what}. {words}".strip(),
            hint=f"The user {self._correction}",
        )

    @property
    def _correction(self) -> str:
        """What the user does about a server that does not start."""
        entry = f"mcp.servers.{self.name}"
        does = f"starts it or corrects {entry}.url" if self._settings.url else f"corrects {entry}"
        return f"{does}, and then tries `toolcrib mcp check {self.name}`."

    async def close(self) -> None:
        """End it."""
        self._over.set()
        if self._task is not None:
            done, _ = await asyncio.wait({self._task}, timeout=CLOSING_SECONDS)
            if not done:
                self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _live(self, mode: str, ready: asyncio.Future[None]) -> None:
        try:
            await self._connected(mode, ready)
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            if not ready.done():
                ready.set_exception(error if isinstance(error, Exception) else Flood(str(error)))
        finally:
            self._client = None
            self._over.set()
            if ready.done() and not ready.cancelled():
                ready.exception()  # looked at, whoever waits or not

    async def _connected(self, mode: str, ready: asyncio.Future[None]) -> None:
        import mcp_types as types
        from mcp.client import Client

        transport = self._program() if self._settings.command else self._address()
        async with Client(
            transport,
            mode=mode,
            cache=None,
            client_info=types.Implementation(name="toolcrib", version=VERSION),
            message_handler=self._noticed,
            **self._callbacks,
        ) as client:
            self._client = client
            if not ready.done():
                ready.set_result(None)
            await self._over.wait()

    async def _noticed(self, message: Any) -> None:
        import mcp_types as types

        if isinstance(message, types.ToolListChangedNotification):
            self.tools_changed = True

    @asynccontextmanager
    async def _address(self) -> AsyncIterator[tuple[Any, Any]]:
        """The streams of a server that is reached over HTTP."""
        from mcp.client.streamable_http import streamable_http_client

        logging.getLogger("mcp.client").addHandler(NO_LOG)
        settings = self._settings
        headers = {**settings.headers, **self._secrets(settings.headers_from)}
        async with guarded_client(self._services, settings.url, headers, settings.call_seconds) as (
            client,
            lease,
        ):
            lease.max_bytes = MAX_RESPONSE_BYTES
            self._lease = lease
            self._status = ""
            client.event_hooks = {"response": [self._note_status]}
            try:
                async with streamable_http_client(settings.url, http_client=client) as streams:
                    yield streams
            finally:
                if lease.exceeded:
                    self._failure = "It sent too much, and was left."
                elif lease.refusals:
                    self._failure = lease.refusals[-1].message
                elif lease.failures:
                    self._failure = lease.failures[-1].message

    async def _note_status(self, response: Any) -> None:
        """Keep the status of a request that failed, of which the SDK says no more than that."""
        # A server without a stream of its own answers a GET with 405.
        if response.request.method == "POST" and response.status_code >= HTTP_ERROR:
            status = f"HTTP {response.status_code} {response.reason_phrase}".strip()
            self._status = (
                f"{one_line(self._settings.url, 200)} answers with {one_line(status, 80)}."
            )

    def begin_call(self) -> None:
        """Count anew how much the server sends."""
        if self._lease is not None:
            self._lease.received = 0

    @asynccontextmanager
    async def _program(self) -> AsyncIterator[tuple[Any, Any]]:
        """The streams of a server that is a program."""
        import anyio

        settings, roots = self._settings, chosen_roots(self._services.config)
        # Programs load code from the folder they start in.
        start = plain_path(settings.cwd or ("/" if lies_in(roots, plain_path("~")) else "~"))
        whole = settings.env.get("PATH") or environment(("PATH",)).get("PATH") or os.defpath
        path = _without(roots, whole)
        # What runs install for the user, if that is their workspace, is no part of a server.
        own = {"PYTHONNOUSERSITE": "1"} if lies_in(roots, plain_path("~")) else {}
        command = settings.command
        command = program_on(path, command) or program_on(whole, command) or command
        self._refuse_what_models_write(roots, start, command)
        process = await self._services.use(Processes).spawn(
            [command, *settings.args],
            cwd=start,
            env={**own, **settings.env, "PATH": path, **self._secrets(settings.env_from)},
            stdin="pipe",
        )
        to_client, incoming = anyio.create_memory_object_stream[Any](0)
        outgoing, from_client = anyio.create_memory_object_stream[Any](0)
        pumps = [
            asyncio.create_task(self._read(process, to_client)),
            asyncio.create_task(self._write(process, from_client)),
            asyncio.create_task(self._listen(process)),
        ]
        try:
            async with process:
                try:
                    yield incoming, outgoing
                finally:
                    process.close_stdin()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(CLOSING_SECONDS):
                            await process.wait()
        finally:
            await asyncio.wait({pumps[-1]}, timeout=LAST_WORDS_SECONDS)
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for stream in (to_client, incoming, outgoing, from_client):
                stream.close()

    def _refuse_what_models_write(self, roots: Sequence[str], start: str, command: str) -> None:
        """It runs with the user's rights, so that no part of it may lie where models write.

        Raises:
            Denied: the program, a file among its arguments and variables, a folder from which
                variables have code loaded, or its own folder is in the workspace.
        """
        settings = self._settings
        ours = code_folders()  # which no tool and no run can write, wherever they lie
        words = [(word, True) for word in (command, *settings.args)]
        words += [(v, False) for name, v in settings.env.items() if LOADS_CODE.fullmatch(name)]
        for word, files in words:
            for part in (word, *PARTS.split(word)):
                piece = os.path.expanduser(os.path.expandvars(GLUED.sub("", part)))  # noqa: PTH111
                path = piece if piece.startswith("/") else f"{start}/{piece}"
                glued = GLUED.match(part) is not None
                absolute = files or piece.startswith("/")
                inside = absolute and lies_in(roots, path, files=files and not glued)
                if inside and not lies_in(ours, path):
                    raise Denied(
                        f"The MCP server {self.name} is not started: {piece} lies in the "
                        "workspace, where models may change it.",
                        hint="The user moves it out of the workspace, or installs it.",
                    )
        if lies_in(roots, start):
            raise Denied(
                f"The MCP server {self.name} is not started: its cwd lies in the workspace, and "
                "programs load code from there.",
                hint=f"The user takes mcp.servers.{self.name}.cwd out, or names another folder.",
            )

    async def _read(self, process: Process, to_client: Any) -> None:
        """Pass on what it writes, message by message, until it ends or writes too much."""
        try:
            await _messages(process, to_client.send)
        except Flood as error:
            self._failure = f"{error}, and was ended."
        except Exception as error:  # noqa: BLE001 - the client is gone
            self._failure = self._failure or one_line(error, 200)
        finally:
            # First: whoever waits for an answer learns of the end by the stream.
            self._over.set()
            to_client.close()
        if self._failure:
            await process.kill(0)

    async def _write(self, process: Process, from_client: Any) -> None:
        with suppress(OSError):
            async with from_client:
                async for item in from_client:
                    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.write(f"{text}\n".encode())

    async def _listen(self, process: Process) -> None:
        """Keep the last that it writes to stderr."""
        async for data in process.read("stderr"):
            self._last_words = (self._last_words + data)[-LAST_WORDS_BYTES:]
            if not self._over.is_set():
                await asyncio.sleep(STDERR_GAP)  # one that writes without end waits

    def _secrets(self, names: Mapping[str, str]) -> dict[str, str]:
        return {
            name: secret(variable, f"The MCP server {self.name}")
            for name, variable in names.items()
        }


async def _messages(process: Process, send: Callable[[SessionMessage], Any]) -> None:
    """The messages that a program writes, one a line; what is none is passed over.

    Raises:
        Flood: a line or the messages since the last answer are more than any call needs.
    """
    rest, count, last = bytearray(), 0, 0.0
    async for data in process.read("stdout"):
        rest += data
        if b"\n" not in data:
            if len(rest) > MAX_LINE_BYTES:
                raise Flood(f"It sent a message of more than {MAX_LINE_BYTES:,} bytes")
            continue
        *lines, tail = bytes(rest).split(b"\n")
        rest = bytearray(tail)
        for line in filter(bytes.strip, lines):
            count += 1
            if count > MAX_MESSAGES:
                raise Flood(f"It sent {MAX_MESSAGES:,} messages that nobody asked for")
            message = _parsed(line)
            method = message.get("method")
            if method is None:
                count = 0
            elif "id" not in message and method not in PASSED_ON:
                continue
            elif method == "notifications/progress":
                if time.monotonic() - last < PROGRESS_GAP:
                    continue
                last = time.monotonic()
            await _passed_on(message, send)


def _parsed(line: bytes) -> dict[str, Any]:
    """The object in a line; a notification that nobody looks at where there is none."""
    with suppress(ValueError, RecursionError):
        found = json.loads(line)
        if isinstance(found, dict):
            return found
    return {"method": ""}


async def _passed_on(message: dict[str, Any], send: Callable[[SessionMessage], Any]) -> None:
    import mcp_types as types
    from mcp.shared.message import SessionMessage
    from pydantic import ValidationError

    with suppress(ValidationError):  # what is no message of the protocol is passed over
        checked = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
        await send(SessionMessage(checked))


def _end_of(output: bytes) -> str:
    """The last lines of an output."""
    lines = [line for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    return one_line(" / ".join(lines[-2:])[-300:], 300)


def _innermost(error: BaseException | None) -> BaseException | None:
    """The cause within groups of errors; one of ours goes before all others."""
    while isinstance(error, BaseExceptionGroup):
        ours = next((e for e in error.exceptions if isinstance(e, ToolError)), None)
        error = ours or error.exceptions[0]
    return error


def _without(roots: Sequence[str], path: str) -> str:
    """A search path without the folders where models may put a program."""
    ours = code_folders()
    return os.pathsep.join(
        folder
        for folder in path.split(os.pathsep)
        if Path(folder).is_absolute() and (not lies_in(roots, folder) or lies_in(ours, folder))
    )
