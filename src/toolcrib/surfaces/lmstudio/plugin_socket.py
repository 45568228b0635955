"""A connection to LM Studio by its own protocol: calls, channels, and the end of both.

Everything is a JSON object in a text frame of one WebSocket. A call has one answer; a channel
stays open, and both sides send objects through it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import ConnectionFailed, Denied, MissingExtra, Unavailable
from toolcrib.net.egress.client import Egress
from toolcrib.net.egress.url import bracketed, parse_url
from toolcrib.surfaces.lmstudio.host import Credentials
from toolcrib.text.cleaner import one_line
from toolcrib.text.json_values import json_object

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

JsonObject = dict[str, Any]
OnMessage = Callable[[JsonObject], Awaitable[None]]
Tell = Callable[[str], None]
AUTH_VERSION = 1
OPEN_SECONDS = 10.0
CALL_SECONDS = 30.0
MAX_FRAME_BYTES = 64_000_000
"""A history with pictures comes in one frame."""
PING_SECONDS = 30.0
PING_PATIENCE_SECONDS = 60.0
MAX_REPORTS = 20
"""Lines about what was not understood, for one connection."""
LOST = "LM Studio closed the connection."


class Channel:
    """One open channel; `closed` is set when LM Studio has closed it."""

    def __init__(self, socket: PluginSocket, number: int, on_message: OnMessage) -> None:
        self._socket = socket
        self._number = number
        self.on_message = on_message
        self.closed = asyncio.Event()
        self.error = ""

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send an object; nothing happens where the connection has ended."""
        with suppress(ConnectionFailed):
            await self._socket.send(
                {"type": "channelSend", "channelId": self._number, "message": message}
            )


class PluginSocket:
    """One connection, which `open` makes.

    Args:
        connection: an open WebSocket.
        tell: takes a line for the person at the terminal.
    """

    def __init__(self, connection: ClientConnection, tell: Tell) -> None:
        self._connection = connection
        self._tell = tell
        self._reports = 0
        self._number = 0
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._channels: dict[int, Channel] = {}
        self.ended = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def open(
        cls, address: str, namespace: str, who: Credentials, egress: Egress, tell: Tell
    ) -> AsyncIterator[PluginSocket]:
        """Connect and say who we are; closed with the context.

        Args:
            address: as `http://127.0.0.1:41343`.
            namespace: `plugins` or `files`.
            who: the credentials.
            egress: the guard, whose policy judges the address.
            tell: takes a line for the person at the terminal.

        Raises:
            ConnectionFailed: nothing takes the connection.
            Denied: LM Studio does not accept the credentials.
            Blocked: the policy refuses the address.
            MissingExtra: the extra lmstudio is not installed.
        """
        connection = await _connect(address, namespace, egress)
        socket = cls(connection, tell)
        reader: asyncio.Task[None] | None = None
        try:
            await socket._authenticate(who)
            reader = asyncio.create_task(socket._read())
            yield socket
        finally:
            await connection.close()
            if reader is not None:
                reader.cancel()
                await asyncio.gather(reader, return_exceptions=True)

    async def call(self, endpoint: str, parameter: Any = None) -> Any:
        """Call something of LM Studio's, and wait for what it answers.

        Raises:
            Unavailable: it answers with an error, or not in time.
            ConnectionFailed: the connection ended.
        """
        self._number += 1
        number = self._number
        answer = self._calls[number] = asyncio.get_running_loop().create_future()
        message: JsonObject = {"type": "rpcCall", "endpoint": endpoint, "callId": number}
        # None is left out: LM Studio's "void" is a field that is not there.
        if parameter is not None:
            message["parameter"] = parameter
        try:
            await self.send(message)
            async with asyncio.timeout(CALL_SECONDS):
                return await answer
        except TimeoutError:
            raise Unavailable(
                f"LM Studio did not answer {endpoint} within {CALL_SECONDS:g} s.",
                hint="Look whether it hangs, and start it again.",
            ) from None
        finally:
            self._calls.pop(number, None)

    async def open_channel(
        self, endpoint: str, on_message: OnMessage, parameter: Any = None
    ) -> Channel:
        """Open a channel; `on_message` gets each object, must be quick, and is awaited.

        Raises:
            ConnectionFailed: the connection ended.
        """
        self._number += 1
        channel = self._channels[self._number] = Channel(self, self._number, on_message)
        message: JsonObject = {
            "type": "channelCreate",
            "endpoint": endpoint,
            "channelId": self._number,
        }
        if parameter is not None:
            message["creationParameter"] = parameter
        await self.send(message)
        return channel

    async def send(self, message: Mapping[str, Any]) -> None:
        """Send an object as it is.

        Raises:
            ConnectionFailed: the connection ended.
        """
        from websockets.exceptions import ConnectionClosed

        try:
            await self._connection.send(json.dumps(message))
        except ConnectionClosed:
            raise ConnectionFailed(LOST, reason="closed") from None

    def tell(self, line: str) -> None:
        """A line for the person; of a flood only the first ones."""
        self._reports += 1
        if self._reports <= MAX_REPORTS:
            self._tell(line)

    async def _authenticate(self, who: Credentials) -> None:
        from websockets.exceptions import ConnectionClosed

        hello = {
            "authVersion": AUTH_VERSION,
            "clientIdentifier": who.identifier,
            "clientPasskey": who.passkey,
        }
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                await self.send(hello)
                answer = json_object(await self._connection.recv()) or {}
        except (ConnectionClosed, ConnectionFailed):
            raise ConnectionFailed(
                "LM Studio closed the connection before it answered.", reason="closed"
            ) from None
        except TimeoutError:
            raise ConnectionFailed(
                f"LM Studio did not answer within {OPEN_SECONDS:g} s.", reason="stall"
            ) from None
        if answer.get("success") is not True:
            why = one_line(str(answer.get("error") or "no reason given"), 200)
            raise Denied(
                f"LM Studio does not accept this plugin: {why}.",
                hint="Credentials hold for one start of LM Studio: run the plugin from there "
                "again, or register anew with `toolcrib lmstudio`.",
            )

    async def _read(self) -> None:
        """Take what comes until the connection ends."""
        from websockets.exceptions import ConnectionClosed

        try:
            with suppress(ConnectionClosed):
                while True:
                    await self._take(await self._connection.recv())
        finally:
            self.ended.set()
            for answer in self._calls.values():
                if not answer.done():
                    answer.set_exception(ConnectionFailed(LOST, reason="closed"))
            for channel in self._channels.values():
                channel.error = channel.error or LOST
                channel.closed.set()

    async def _take(self, raw: str | bytes) -> None:
        message = json_object(raw) or {}
        kind = message.get("type")
        if kind in ("rpcResult", "rpcError"):
            self._answered(message)
        elif kind in ("channelSend", "channelClose", "channelError"):
            await self._on_channel(kind, message)
        elif kind == "communicationWarning":
            self.tell(f"LM Studio warns: {one_line(str(message.get('warning')), 300)}")
        elif kind not in ("keepAliveAck", "channelAck"):
            self.tell(f"A message of LM Studio's was not understood: {one_line(str(kind), 60)}")

    def _answered(self, message: JsonObject) -> None:
        answer = self._calls.get(_number_of(message, "callId"))
        if answer is None or answer.done():
            return
        if message["type"] == "rpcResult":
            answer.set_result(message.get("result"))
        else:
            error = Unavailable(
                f"LM Studio refused: {error_title(message)}.", hint="Look at the log of LM Studio."
            )
            answer.set_exception(error)

    async def _on_channel(self, kind: str, message: JsonObject) -> None:
        channel = self._channels.get(_number_of(message, "channelId"))
        if channel is None:
            return
        if kind != "channelSend":
            channel.error = error_title(message) if kind == "channelError" else "it was closed"
            channel.closed.set()
            return
        content = message.get("message")
        if isinstance(message.get("ackId"), int):
            ack = {"type": "channelAck", "channelId": message["channelId"]}
            await self.send(ack | {"ackId": message["ackId"]})
        if not isinstance(content, dict):
            self.tell("A message of LM Studio's was no object.")
            return
        try:
            await channel.on_message(content)
        except ConnectionFailed:
            raise
        except Exception as error:  # noqa: BLE001 - one bad message must not end the others' work
            name = one_line(str(content.get("type")), 60)
            self.tell(f"The message '{name}' failed: {type(error).__name__}: {str(error)[:200]}")


async def _connect(address: str, namespace: str, egress: Egress) -> ClientConnection:
    try:
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException
    except ImportError:
        raise MissingExtra("lmstudio", "toolcrib lmstudio") from None
    target = parse_url(address)
    policy = egress.policy("lmstudio", (address,))
    policy.check(target)
    found = await egress.addresses(target, policy)
    host = str(found[0]) if found else target.host.strip("[]")
    scheme = "wss" if target.scheme == "https" else "ws"
    uri = f"{scheme}://{bracketed(target.host)}:{target.port}/{namespace}"
    try:
        return await connect(
            uri,
            host=host,
            port=target.port,
            proxy=None,
            compression=None,
            max_size=MAX_FRAME_BYTES,
            open_timeout=OPEN_SECONDS,
            close_timeout=2,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_PATIENCE_SECONDS,
        )
    except (OSError, TimeoutError, WebSocketException) as error:
        why = one_line(str(error) or type(error).__name__, 200)
        raise ConnectionFailed(
            f"LM Studio does not take the connection at {address}: {why}.",
            hint="Start LM Studio, and run this again.",
            reason="connect",
        ) from None


def error_title(message: Mapping[str, Any]) -> str:
    """What an error of LM Studio's says, in one line."""
    error = message.get("error")
    if not isinstance(error, dict):
        return "no reason given"
    texts = [str(error[key]) for key in ("title", "cause") if error.get(key)]
    return one_line(": ".join(dict.fromkeys(texts)) or "no reason given", 300)


def _number_of(message: JsonObject, key: str) -> int:
    number = message.get(key)
    return number if isinstance(number, int) else -1
