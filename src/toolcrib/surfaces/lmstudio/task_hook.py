"""What the hooks have in common that LM Studio gives one task after another by a channel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from toolcrib.surfaces.lmstudio.panel import Panel
from toolcrib.surfaces.lmstudio.plugin_socket import Channel, JsonObject, PluginSocket
from toolcrib.surfaces.lmstudio.tasks import OpenTasks
from toolcrib.surfaces.lmstudio.toolboxes import PanelToolboxes
from toolcrib.surfaces.lmstudio.tools_provider import error_of


class TaskHook(ABC):
    """Works on the tasks of a channel, many at once, until they end or LM Studio aborts them.

    Args:
        boxes: the toolboxes by settings.
        panel: reads what the settings panel of a chat says.
    """

    channel_name: ClassVar[str]
    request: ClassVar[str]
    """The kind of message that begins a task."""

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
