"""The plugin as it runs: registered with LM Studio, with its hooks, until it is stopped."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from dataclasses import dataclass
from functools import partial
from io import FileIO
from typing import Protocol

from toolcrib.core.config import Config
from toolcrib.core.errors import ConnectionFailed, ToolError, Unavailable
from toolcrib.execution.interpreters.lmstudio import LMSTUDIO_PORTS
from toolcrib.net.egress.client import Egress
from toolcrib.surfaces.lmstudio.generator import Generator
from toolcrib.surfaces.lmstudio.host import Credentials, find_host
from toolcrib.surfaces.lmstudio.panel import Panel
from toolcrib.surfaces.lmstudio.plugin_socket import Channel, JsonObject, PluginSocket, Tell
from toolcrib.surfaces.lmstudio.prompt_preprocessor import OpenSocket, PromptPreprocessor
from toolcrib.surfaces.lmstudio.toolboxes import PanelToolboxes
from toolcrib.surfaces.lmstudio.tools_provider import ToolsProvider
from toolcrib.surfaces.shutdown import end_within

OWNER = NAME = "toolcrib"
MANIFEST = {"type": "plugin", "runner": "node", "owner": OWNER, "name": NAME}
"""LM Studio knows no runner for Python, and does not start what registers itself."""
HOOKS = ("tools", "prompts", "model")
FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 30.0
REGISTER_SECONDS = 15.0
GIVEN_TRIES = 5
"""Times that credentials of LM Studio's own are tried again: its next start makes new ones."""
GRACE_SECONDS = 2.0


class Hook(Protocol):
    """One thing that the plugin does for LM Studio."""

    async def register(self, socket: PluginSocket) -> Channel:
        """Begin on a connection; gives the channel through which it is asked."""
        ...

    async def close(self) -> None:
        """Cancel what is under way."""
        ...


@dataclass(frozen=True, slots=True)
class PluginOptions:
    """How the plugin is started.

    Attributes:
        address: that of LM Studio; "" to look for it.
        wait: whether to wait for LM Studio where it does not run yet.
        hooks: what is offered, of `HOOKS`.
        credentials: those that LM Studio gave; None to register as a plugin under development.
        reports_ready: whether this process tells LM Studio that all is registered; the shell
            of a plugin folder does that itself.
        ports: those of this machine to look at where no address is given.
    """

    address: str = ""
    wait: bool = False
    hooks: tuple[str, ...] = HOOKS
    credentials: Credentials | None = None
    reports_ready: bool = True
    ports: Sequence[int] = LMSTUDIO_PORTS


class LmStudioPlugin:
    """Keeps the plugin registered, again after every end of a connection.

    Args:
        config: without what the panel sets.
        egress: the guard.
        boxes: the toolboxes by settings.
        options: how it is started.
        tell: takes a line for the person at the terminal.
        on_ready: called when everything is registered, each time.
    """

    def __init__(
        self,
        config: Config,
        egress: Egress,
        boxes: PanelToolboxes,
        options: PluginOptions,
        tell: Tell,
        on_ready: Callable[[], object] | None = None,
    ) -> None:
        self._config = config
        self._egress = egress
        self._boxes = boxes
        self._options = options
        self._tell = tell
        self._on_ready = on_ready or (lambda: None)
        self._panel = Panel(config)
        self._served = 0

    async def run(self) -> None:
        """Serve until cancelled.

        Raises:
            Unavailable, ConnectionFailed: LM Studio does not run, and waiting was not asked for.
            Denied: it does not accept the credentials.
            MissingExtra: the extra lmstudio is not installed.
        """
        pause, failures = FIRST_PAUSE_SECONDS, 0
        address, ports = self._options.address, self._options.ports
        while True:
            served = self._served
            try:
                # It stays the one: what answers at another port later may be another program.
                address = await find_host(self._config, self._egress, address, ports)
                await self._serve(address)
                self._tell(f"LM Studio closed the connection; looking for it again at {address}.")
            except (Unavailable, ConnectionFailed) as error:
                if error.stable_code not in ("unavailable", "connection_failed"):
                    raise
                if not (self._options.wait or self._served):
                    raise
                if failures == 0 and served == self._served:
                    self._tell(f"Waiting for LM Studio: {error.message}")
            if served != self._served:
                pause, failures = FIRST_PAUSE_SECONDS, 0
            failures += 1
            if self._options.credentials is not None and failures > GIVEN_TRIES:
                raise ConnectionFailed(
                    "LM Studio is gone.", hint="It starts its plugins again by itself."
                )
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE_SECONDS)

    async def _serve(self, address: str) -> None:
        """Register everything on a connection, and stay until it ends."""
        async with AsyncExitStack() as stack:
            ended: list[asyncio.Event] = []
            who = self._options.credentials
            if who is None:
                who = await stack.enter_async_context(self._registered(address, ended))
            open_socket = partial(self._open, address, who)
            socket = await stack.enter_async_context(open_socket("plugins"))
            hooks = self._hooks(open_socket)
            ended.append(socket.ended)
            for hook in hooks:
                stack.push_async_callback(hook.close)
            await socket.call("setConfigSchematics", {"schematics": self._panel.schematics()})
            await socket.call(
                "setGlobalConfigSchematics", {"schematics": self._panel.global_schematics()}
            )
            ended += [(await hook.register(socket)).closed for hook in hooks]
            if self._options.reports_ready:
                await socket.call("pluginInitCompleted")
            self._served += 1
            self._on_ready()
            self._tell(f"Registered with LM Studio at {address} as {OWNER}/{NAME}.")
            await _first(ended)

    @asynccontextmanager
    async def _registered(
        self, address: str, ended: list[asyncio.Event]
    ) -> AsyncIterator[Credentials]:
        """The credentials of a plugin under development, which is one as long as this is open."""
        ready = asyncio.Event()
        given: list[Credentials] = []

        async def on_message(message: JsonObject) -> None:
            name, passkey = message.get("clientIdentifier"), message.get("clientPasskey")
            if isinstance(name, str) and isinstance(passkey, str):
                given.append(Credentials(name, passkey))
                ready.set()

        async with PluginSocket.open(
            address, "plugins", Credentials.made_up(), self._egress, self._tell
        ) as socket:
            channel = await socket.open_channel(
                "registerDevelopmentPlugin", on_message, {"manifest": MANIFEST}
            )
            with suppress(TimeoutError):
                async with asyncio.timeout(REGISTER_SECONDS):
                    await _first([ready, channel.closed])
            if not given:
                why = channel.error or f"no answer within {REGISTER_SECONDS:g} s"
                raise Unavailable(
                    f"LM Studio does not take toolcrib as a plugin: {why}.",
                    hint="Update LM Studio. As an MCP server it works without plugins: "
                    "toolcrib install lmstudio",
                )
            ended.append(channel.closed)
            try:
                yield given[0]
            finally:
                await channel.send({"type": "end"})

    def _open(
        self, address: str, who: Credentials, namespace: str
    ) -> AbstractAsyncContextManager[PluginSocket]:
        return PluginSocket.open(address, namespace, who, self._egress, self._tell)

    def _hooks(self, open_socket: OpenSocket) -> list[Hook]:
        makers: dict[str, Callable[[], Hook]] = {
            "tools": lambda: ToolsProvider(self._boxes, self._panel),
            "prompts": lambda: PromptPreprocessor(self._boxes, self._panel, open_socket),
            "model": lambda: Generator(self._boxes, self._panel),
        }
        return [makers[name]() for name in self._options.hooks]


async def _first(events: list[asyncio.Event]) -> None:
    """Wait until one of them is set."""
    waiting = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()


async def serve(plugin: LmStudioPlugin, boxes: PanelToolboxes, stdin: FileIO | None = None) -> None:
    """Run a plugin until a signal comes; then no child process is left.

    Args:
        plugin: it.
        boxes: its toolboxes.
        stdin: whoever started it holds the other end, and it ends with them.

    Raises:
        ToolError: as `LmStudioPlugin.run`.
    """
    serving = asyncio.ensure_future(plugin.run())
    loop = asyncio.get_running_loop()

    def end() -> None:
        boxes.end_soon()
        serving.cancel()

    def on_signal(*_: object) -> None:
        end_within(GRACE_SECONDS, boxes.kill_all_now)
        with suppress(RuntimeError):  # it has ended by itself
            loop.call_soon_threadsafe(end)

    def watch(stream: FileIO) -> None:
        while stream.read(1):
            pass
        on_signal()

    if stdin is not None:
        threading.Thread(target=watch, args=(stdin,), name="stdin", daemon=True).start()

    # Not the loop's own handlers: those wait for the loop, which a tool may hold up.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    try:
        with suppress(asyncio.CancelledError):
            await serving
    finally:
        with suppress(ToolError):
            await boxes.close()
