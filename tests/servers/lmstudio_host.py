"""A host on loopback that speaks to plugins as LM Studio does, and says what a test tells it to.

The form of its frames is that of LM Studio's own SDKs for Python and node, which talk to it in
tests/surfaces/lmstudio/test_referees.py.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tests.conditions import until

Message = dict[str, Any]


def panel(**values: Any) -> Message:
    """What a panel holds, as it is sent."""
    return {"fields": [{"key": key, "value": value} for key, value in values.items()]}


@dataclass
class HostedPlugin:
    """One connection of a plugin: what it registered and said; `send` speaks to its hooks."""

    connection: ServerConnection
    identifier: str
    schematics: Message = field(default_factory=dict)
    global_schematics: Message = field(default_factory=dict)
    channels: dict[str, int] = field(default_factory=dict)
    reply: list[tuple[str, Message]] = field(default_factory=list)
    updates: list[Message] = field(default_factory=list)
    ready: int = 0
    ended: bool = False

    async def raw(self, message: Any) -> None:
        text = message if isinstance(message, str | bytes) else json.dumps(message)
        await self.connection.send(text)

    async def send(self, endpoint: str, message: Message) -> None:
        await self.raw(
            {"type": "channelSend", "channelId": self.channels[endpoint], "message": message}
        )

    def heard(self, kind: str, **fits: Any) -> list[Message]:
        """What it said of a kind, and with these fields."""
        return [
            message
            for _, message in self.reply
            if message.get("type") == kind
            and all(message.get(key) == value for key, value in fits.items())
        ]

    async def hears(self, kind: str, count: int = 1, **fits: Any) -> Message:
        """Wait until it has said so; gives the last."""
        await until(lambda: len(self.heard(kind, **fits)) >= count or self.ended)
        return self.heard(kind, **fits)[-1]

    async def open_session(self, session: str = "s1", folder: str | None = None, **on: Any) -> Any:
        """Begin a session of tools; gives its tools by name."""
        await self.send(
            "setToolsProvider",
            {
                "type": "initSession",
                "sessionId": session,
                "pluginConfig": panel(**on),
                "globalPluginConfig": panel(),
                "workingDirectoryPath": folder,
            },
        )
        begun = await self.hears("sessionInitialized", sessionId=session)
        return {one["function"]["name"]: one["function"] for one in begun["toolDefinitions"]}

    async def call(self, call: str, tool: str, session: str = "s1", **parameters: Any) -> None:
        await self.send(
            "setToolsProvider",
            {
                "type": "callTool",
                "sessionId": session,
                "callId": call,
                "toolName": tool,
                "parameters": parameters,
            },
        )

    async def result(self, call: str, tool: str, session: str = "s1", **parameters: Any) -> str:
        """Call a tool, and wait for its result."""
        await self.call(call, tool, session, **parameters)
        return str((await self.hears("toolCallComplete", callId=call))["result"])

    async def preprocess(
        self, task: str, *content: Message, folder: str | None = None, **on: Any
    ) -> None:
        await self.send(
            "setPromptPreprocessor",
            {
                "type": "preprocess",
                "taskId": task,
                "input": {"role": "user", "content": list(content)},
                "config": panel(),
                "pluginConfig": panel(**on),
                "globalPluginConfig": panel(),
                "workingDirectoryPath": folder,
                "enabledPluginInfos": [],
                "pci": f"pci-{task}",
                "token": f"token-{task}",
            },
        )


def text(words: str) -> Message:
    return {"type": "text", "text": words}


def attached(name: str, kind: str = "text/plain") -> Message:
    return {"type": "file", "name": name, "identifier": name, "sizeBytes": 1, "fileType": kind}


def message(role: str, *content: Message) -> Message:
    return {"role": role, "content": list(content)}


@dataclass
class LmStudioHost:
    """The host. `passkeys` are those of plugins, `history` what a plugin reads as the chat.

    `greets` is what it says to whoever asks whether it is LM Studio, and `takes_plugins` whether
    one may register.
    """

    passkeys: dict[str, str] = field(default_factory=dict)
    plugins: list[HostedPlugin] = field(default_factory=list)
    history: list[Message] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    greets: bool = True
    takes_plugins: bool = True
    model: str = ""
    window: int = 0
    registered: int = 0
    greetings: int = 0
    endpoints: list[str] = field(default_factory=list)
    _server: Server | None = None
    _port: int = 0

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self._port}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[LmStudioHost]:
        await self.start()
        try:
            yield self
        finally:
            await self.stop()

    async def start(self) -> None:
        """Listen, after a stop at the same port."""
        self._server = await serve(
            self._talk,
            "127.0.0.1",
            self._port,
            process_request=self._greet,
            max_size=None,
            close_timeout=1,
        )
        self._port = next(iter(self._server.sockets)).getsockname()[1]

    async def stop(self) -> None:
        """End every connection."""
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def plugin(self, count: int = 1) -> HostedPlugin:
        """The plugin that has registered everything as the `count`th."""

        def ready() -> list[HostedPlugin]:
            return [plugin for plugin in self.plugins if plugin.ready]

        await until(lambda: len(ready()) >= count)
        return ready()[count - 1]

    def _greet(self, connection: ServerConnection, request: Any) -> Any:
        if request.path != "/lmstudio-greeting":
            return None
        self.greetings += 1
        return connection.respond(HTTPStatus.OK, json.dumps({"lmstudio": self.greets}))

    async def _talk(self, connection: ServerConnection) -> None:
        try:
            hello = json.loads(await connection.recv())
            identifier = hello["clientIdentifier"]
            known = self.passkeys.get(identifier)
            right = hello["authVersion"] == 1 and known in (None, hello["clientPasskey"])
            if identifier.startswith("plugin:") and known is None:
                right = False
            if not right:
                await connection.send(json.dumps({"success": False, "error": "Invalid passkey"}))
                return
            await connection.send(json.dumps({"success": True}))
            plugin = HostedPlugin(connection, identifier)
            self.plugins.append(plugin)
            try:
                async for raw in connection:
                    await self._take(plugin, json.loads(raw))
            finally:
                plugin.ended = True
        except ConnectionClosed:
            return

    async def _take(self, plugin: HostedPlugin, message: Message) -> None:
        kind = message["type"]
        if kind == "channelCreate":
            plugin.channels[message["endpoint"]] = message["channelId"]
            if message["endpoint"] == "registerDevelopmentPlugin":
                await self._register(plugin, message)
        elif kind == "channelSend":
            named = {number: name for name, number in plugin.channels.items()}
            plugin.reply.append((named[message["channelId"]], message["message"]))
        elif kind == "rpcCall":
            await self._answer(plugin, message)
        elif kind == "keepAlive":
            await plugin.raw({"type": "keepAliveAck"})

    async def _register(self, plugin: HostedPlugin, message: Message) -> None:
        number = message["channelId"]
        if not self.takes_plugins:
            error = {"title": "Plugins are switched off"}
            await plugin.raw({"type": "channelError", "channelId": number, "error": error})
            return
        manifest = message["creationParameter"]["manifest"]
        assert manifest["type"] == "plugin"
        assert manifest["runner"] in ("node", "ecmascript", "mcpBridge")
        self.registered += 1
        identifier = f"plugin:{manifest['owner']}/{manifest['name']}"
        self.passkeys[identifier] = f"passkey-{self.registered}"
        ready = {
            "type": "ready",
            "clientIdentifier": identifier,
            "clientPasskey": self.passkeys[identifier],
        }
        await plugin.raw({"type": "channelSend", "channelId": number, "message": ready})

    async def _answer(self, plugin: HostedPlugin, message: Message) -> None:
        endpoint, given = message["endpoint"], message.get("parameter")
        answer: Message = {"type": "rpcResult", "callId": message["callId"]}
        self.endpoints.append(endpoint)
        if endpoint == "setConfigSchematics":
            plugin.schematics = given["schematics"]
        elif endpoint == "setGlobalConfigSchematics":
            plugin.global_schematics = given["schematics"]
        elif endpoint == "pluginInitCompleted":
            plugin.ready += 1
        elif endpoint == "processingHandleUpdate":
            plugin.updates.append(given["update"])
        elif endpoint == "processingPullHistory":
            answer["result"] = {"messages": self.history}
        elif endpoint == "processingGetOrLoadTokenSource" and self.model:
            source = {"type": "model", "identifier": self.model}
            answer["result"] = {"tokenSourceIdentifier": source}
        elif endpoint == "getModelInfo" and self.window:
            assert given["specifier"]["query"] == {"identifier": self.model}
            answer["result"] = {"type": "llm", "contextLength": self.window}
        elif endpoint == "getLocalFileAbsolutePath" and given["fileName"] in self.files:
            answer["result"] = {"path": self.files[given["fileName"]]}
        else:
            answer["type"] = "rpcError"
            answer["error"] = {"title": f"No {endpoint} here"}
        await plugin.raw(answer)
