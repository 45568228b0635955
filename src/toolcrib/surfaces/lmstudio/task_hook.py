"""What the hooks have in common that LM Studio gives one task after another by a channel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from toolcrib.core.errors import ToolError
from toolcrib.surfaces.lmstudio.panel import Panel
from toolcrib.surfaces.lmstudio.plugin_socket import Channel, JsonObject, PluginSocket
from toolcrib.surfaces.lmstudio.tasks import OpenTasks
from toolcrib.surfaces.lmstudio.toolboxes import PanelToolboxes
from toolcrib.text.cleaner import one_line


class ChannelHook(ABC):
    """Answers on a channel that it opens, with many tasks at once.

    Args:
        boxes: the toolboxes by settings.
        panel: reads what the settings panel of a chat says.
    """

    channel_name: ClassVar[str]

    def __init__(self, boxes: PanelToolboxes, panel: Panel) -> None:
        self._boxes = boxes
        self._panel = panel
        self._tasks = OpenTasks()
        self._channel: Channel | None = None

    async def register(self, socket: PluginSocket) -> Channel:
        """Offer the hook on a connection.

        Raises:
            ConnectionFailed: it has ended.
        """
        self._channel = await socket.open_channel(self.channel_name, self._on_message)
        return self._channel

    async def close(self) -> None:
        """Cancel what is under way."""
        await self._tasks.close()

    @abstractmethod
    async def _on_message(self, message: JsonObject) -> None:
        """Take what LM Studio sends."""


class TaskHook(ChannelHook):
    """Works on the tasks of a channel until they end or LM Studio aborts them."""

    request: ClassVar[str]
    """The kind of message that begins a task."""

    async def _on_message(self, message: JsonObject) -> None:
        task = str(message.get("taskId"))
        if message.get("type") == self.request:
            why = self._tasks.start(task, self._work(task, message))
            if why:
                await self._send("error", task, error=error_of(why))
        elif message.get("type") == "abort" and self._tasks.cancel(lambda key: key == task):
            await self._send("aborted", task)

    @abstractmethod
    async def _work(self, task: str, message: JsonObject) -> None:
        """Work on a task until it is complete; what fails is sent, and not raised."""

    async def _send(self, kind: str, task: str, **more: Any) -> None:
        assert self._channel is not None
        await self._channel.send({"type": kind, "taskId": task, **more})


def words_of(error: Exception) -> str:
    """An error in words, with what to do."""
    if isinstance(error, ToolError):
        return f"{error.message} {error.hint}".strip()
    return f"{type(error).__name__}: {str(error)[:200]}"


def error_of(why: str) -> JsonObject:
    """An error in the form of LM Studio, which shows its title."""
    title = one_line(f"toolcrib: {why}", 500)
    return {"title": title, "rootTitle": title}
