"""The hook that gives LM Studio the tools of a chat and runs their calls, many at once."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.core.context import Caller, Progress
from toolcrib.core.result import Result
from toolcrib.surfaces.lmstudio.panel import Panel
from toolcrib.surfaces.lmstudio.plugin_socket import JsonObject
from toolcrib.surfaces.lmstudio.task_hook import ChannelHook, error_of, words_of
from toolcrib.surfaces.lmstudio.toolboxes import PanelToolboxes
from toolcrib.text.cleaner import one_line
from toolcrib.toolbox import Toolbox, openai_tools

SURFACE = "lmstudio"
MAX_SESSIONS = 500
"""Sessions that LM Studio opened and did not discard; the oldest are forgotten."""
MAX_STATUS_CHARS = 200


@dataclass(frozen=True, slots=True)
class ToolsSession:
    """One chat's view of the tools: the settings of its panel, and its folder."""

    layer: Mapping[str, Any]
    folder: str


class ToolsProvider(ChannelHook):
    """Answers on the channel `setToolsProvider`."""

    channel_name = "setToolsProvider"

    def __init__(self, boxes: PanelToolboxes, panel: Panel) -> None:
        super().__init__(boxes, panel)
        self._sessions: OrderedDict[str, ToolsSession] = OrderedDict()

    async def _on_message(self, message: JsonObject) -> None:
        kind, session = message.get("type"), str(message.get("sessionId"))
        call = str(message.get("callId"))
        if kind == "initSession":
            why = self._tasks.start((session, ""), self._begin(session, message))
            if why:
                await self._refuse_session(session, why)
        elif kind == "callTool":
            why = self._tasks.start((session, call), self._call(session, call, message))
            if why:
                await self._send("toolCallError", session, call, error=error_of(why))
        elif kind == "abortToolCall":
            self._tasks.cancel(lambda key: key == (session, call))
        elif kind == "discardSession":
            self._sessions.pop(session, None)
            self._tasks.cancel(lambda key: key[0] == session)

    async def _begin(self, session: str, message: JsonObject) -> None:
        folder = message.get("workingDirectoryPath")
        try:
            layer = self._panel.layer(self._panel.values(message))
            opened = ToolsSession(layer, folder if isinstance(folder, str) else "")
            async with self._boxes.lease(layer, opened.folder) as box:
                tools = openai_tools(box.listed)
        except Exception as error:  # noqa: BLE001 - else the chat would wait for it for good
            await self._refuse_session(session, words_of(error))
            return
        self._sessions[session] = opened
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        await self._send("sessionInitialized", session, toolDefinitions=tools)

    async def _call(self, session: str, call: str, message: JsonObject) -> None:
        opened = self._sessions.get(session)
        if opened is None:
            why = "the session is not open"
            await self._send("toolCallError", session, call, error=error_of(why))
            return
        name, given = str(message.get("toolName")), message.get("parameters")
        arguments = given if isinstance(given, dict | str | None) else json.dumps(given)
        try:
            async with self._boxes.lease(opened.layer, opened.folder) as box:
                conversation = self._boxes.conversation(opened.folder)
                await self._boxes.begin_call(box, conversation)
                caller = self._caller(box, session, call)
                result = await box.call(name, arguments, session=conversation, caller=caller)
        except Exception as error:  # noqa: BLE001 - else the chat would wait for it for good
            await self._send("toolCallError", session, call, error=error_of(words_of(error)))
            return
        if result.error is not None:
            warning = one_line(result.error.message, MAX_STATUS_CHARS)
            await self._send("toolCallWarn", session, call, warnText=warning)
        # What went wrong is a result too: the model reads in it what to do next.
        await self._send("toolCallComplete", session, call, result=_text(result))

    def _caller(self, box: Toolbox, session: str, call: str) -> Caller:
        last_text = ""

        async def notify(progress: Progress) -> None:
            nonlocal last_text
            text = _status(progress)
            if text and text != last_text:
                last_text = text
                await self._send("toolCallStatus", session, call, statusText=text)

        within = box.config.limits.answer_within
        return Caller(SURFACE, "LM Studio", notify=notify, answer_within=within)

    async def _refuse_session(self, session: str, why: str) -> None:
        await self._send("sessionInitializationFailed", session, error=error_of(why))

    async def _send(self, kind: str, session: str, call: str = "", **more: Any) -> None:
        assert self._channel is not None
        about = {"sessionId": session} | ({"callId": call} if call else {})
        await self._channel.send({"type": kind, **about, **more})


def _status(progress: Progress) -> str:
    text = one_line(progress.message, MAX_STATUS_CHARS)
    if progress.done is None or not progress.total:
        return text
    return f"{text} ({progress.done:g} of {progress.total:g})"


def _text(result: Result) -> str:
    """A result as a model in LM Studio reads it, which gets no pictures from tools."""
    text = result.render()
    if result.images:
        count = len(result.images)
        note = f"({count} picture{'s' if count > 1 else ''}, which LM Studio does not show here.)"
        text = f"{text}\n{note}".strip()
    return text or "(nothing)"
