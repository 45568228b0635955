"""The hook that works on a message before the model gets it: the stages of `chatflow`.

LM Studio lets a plugin change the new message alone. So what stages would put into the system
part stands before the message, and where the context guard sums earlier messages up, the
summary stands in the new one, and is there when LM Studio cuts the beginning of the chat off.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from functools import partial
from typing import Any

from toolcrib.chatflow.flow import run_stages, select_stages
from toolcrib.chatflow.phrases import language_of, worded
from toolcrib.chatflow.prompt import Attachment, Prompt, StageContext, text_of
from toolcrib.chatflow.token_count import count_messages, count_tools
from toolcrib.core.config import merge
from toolcrib.core.errors import ToolError
from toolcrib.files.handles import read_plain
from toolcrib.net.egress.client import Egress
from toolcrib.surfaces.lmstudio.messages import IMAGE, chat_messages, parts_of, text_of_parts
from toolcrib.surfaces.lmstudio.panel import Panel, stages_of
from toolcrib.surfaces.lmstudio.plugin_socket import Channel, JsonObject, PluginSocket
from toolcrib.surfaces.lmstudio.task_hook import TaskHook, words_of
from toolcrib.surfaces.lmstudio.toolboxes import PanelToolboxes, conversation_of
from toolcrib.surfaces.proxy.prompt_stages import ModelCompletion
from toolcrib.surfaces.proxy.upstreams import Upstreams
from toolcrib.system.threads import in_thread, random_id
from toolcrib.text.cleaner import one_line
from toolcrib.toolbox import Toolbox, openai_tools

MAX_FILE_BYTES = 64_000_000
MAX_ORIGINALS = 2_000
MAX_STATUS_CHARS = 300
MAX_REQUEST_CHARS = 2_000
SUMMARY = "### CONTEXT SUMMARY"
SUMMARY_PREFACE = "[What was said before in this chat, summed up, should its beginning be cut off:"
NO_CLEARING = {"guard": {"keep_results": 50}}
"""LM Studio keeps the results of tools as they are: what the guard can do here is to sum up."""
OpenSocket = Callable[[str], AbstractAsyncContextManager[PluginSocket]]
"""Opens a further connection of this plugin, by its namespace."""


class StatusLine:
    """The line under a message that says what is done with it; there is none until it is needed.

    Args:
        socket: the connection.
        message: what LM Studio asked, with the marks of its message.
    """

    def __init__(self, socket: PluginSocket, message: Mapping[str, Any]) -> None:
        self._socket = socket
        self._about = {"pci": message.get("pci"), "token": message.get("token")}
        self._id = f"toolcrib-{random_id(8)}"
        self.is_visible = False

    async def show(self, text: str, status: str = "loading") -> None:
        """Show a text in place of the one before; what cannot be shown is no failure."""
        kind = "status.update" if self.is_visible else "status.create"
        state = {"status": status, "text": one_line(text, MAX_STATUS_CHARS)}
        update = {"type": kind, "id": self._id, "state": state}
        self.is_visible = True
        with suppress(ToolError):
            await self._socket.call("processingHandleUpdate", {**self._about, "update": update})


class PromptPreprocessor(TaskHook):
    """Answers on the channel `setPromptPreprocessor`.

    Args:
        boxes: the toolboxes by settings.
        panel: reads what the settings panel of a chat says.
        open_socket: opens a further connection of this plugin.
    """

    channel_name = "setPromptPreprocessor"
    request = "preprocess"

    def __init__(self, boxes: PanelToolboxes, panel: Panel, open_socket: OpenSocket) -> None:
        super().__init__(boxes, panel)
        self._open_socket = open_socket
        self._originals: OrderedDict[str, str] = OrderedDict()
        self._socket: PluginSocket | None = None

    async def register(self, socket: PluginSocket) -> Channel:
        """Offer to work on messages; see `TaskHook`."""
        self._socket = socket
        return await super().register(socket)

    async def _work(self, task: str, message: JsonObject) -> None:
        assert self._socket is not None
        given = message.get("input")
        sent: JsonObject = given if isinstance(given, dict) else {"role": "user", "content": []}
        status = StatusLine(self._socket, message)
        try:
            processed = await self._processed(message, sent, status)
        except Exception as error:  # noqa: BLE001 - without us the message would have gone through
            text = worded("unchanged", self._panel.language, reason=words_of(error))
            await status.show(text, "error")
            processed = sent
        await self._send("complete", task, processed=processed)

    async def _processed(
        self, message: JsonObject, sent: JsonObject, status: StatusLine
    ) -> JsonObject:
        values = self._panel.values(message)
        layer = merge(self._panel.layer(values), NO_CLEARING)
        place = message.get("workingDirectoryPath")
        folder = place if isinstance(place, str) else ""
        async with AsyncExitStack() as stack:
            box = await stack.enter_async_context(self._boxes.lease(layer, folder))
            stages = select_stages(stages_of(values), box.config)
            if not stages:
                return sent
            prompt = await self._prompt(message, sent, box)
            prompt.session = conversation_of(folder) or ""
            read: list[Mapping[str, Any]] = []
            if values["documentRAG"]:
                read = await self._attach(prompt, sent)
            complete = await self._completion(box, prompt.model, stack)
            context = StageContext(box.services, complete=complete, status=status.show)
            await run_stages(prompt, context, stages)
            self._boxes.note_question(prompt.conversation, text_of_parts(sent))
            if not folder:
                self._boxes.last_chat = prompt.conversation
            await self._report(prompt, box, status)
            return self._changed(prompt, sent, read)

    async def _prompt(self, message: JsonObject, sent: JsonObject, box: Toolbox) -> Prompt:
        """The chat with the new message, and what is known of its model."""
        assert self._socket is not None
        about = {"pci": message.get("pci"), "token": message.get("token")}
        history: Any = None
        with suppress(ToolError):  # of a chat that cannot be read the new message is there still
            history = await self._socket.call(
                "processingPullHistory", {**about, "includeCurrent": False}
            )
        messages = chat_messages(history)
        for one in messages:
            if one["role"] == "user":
                one["content"] = self._originals.get(one["content"], one["content"])
        question = {"role": "user", "content": text_of_parts(sent)}
        model = await self._model(about)
        return Prompt(
            [*messages, question],
            tools=openai_tools(box.listed),
            model=model,
            window=await self._window(model),
        )

    async def _model(self, about: Mapping[str, Any]) -> str:
        assert self._socket is not None
        with suppress(ToolError):
            found = await self._socket.call("processingGetOrLoadTokenSource", about)
            source = found.get("tokenSourceIdentifier") if isinstance(found, dict) else None
            if isinstance(source, dict) and source.get("type") == "model":
                return str(source.get("identifier") or "")
        return ""

    async def _window(self, model: str) -> int | None:
        """The window of a loaded model; None where LM Studio does not tell."""
        if not model:
            return None
        query = {"type": "query", "query": {"identifier": model}}
        with suppress(ToolError):
            async with self._open_socket("llm") as socket:
                found = await socket.call(
                    "getModelInfo", {"specifier": query, "throwIfNotFound": False}
                )
            window = found.get("contextLength") if isinstance(found, dict) else None
            if isinstance(window, int) and not isinstance(window, bool) and window > 0:
                return window
        return None

    async def _attach(self, prompt: Prompt, sent: JsonObject) -> list[Mapping[str, Any]]:
        """Give the prompt the files that came with the message; the parts that were read."""
        parts = [p for p in parts_of(sent, "file") if p.get("fileType") != IMAGE]
        read: list[Mapping[str, Any]] = []
        if not parts:
            return read
        async with self._open_socket("files") as socket:
            for part in parts:
                name = str(part.get("identifier") or "").removeprefix("local:")
                try:
                    found = await socket.call("getLocalFileAbsolutePath", {"fileName": name})
                    path = str(found.get("path")) if isinstance(found, dict) else ""
                    work: Callable[[Any], bytes] = partial(_content, path)
                    content = await in_thread(work)
                except (ToolError, OSError, ValueError) as error:
                    why = words_of(error)
                    prompt.note("attachments", f"{part.get('name')} was left to LM Studio: {why}")
                    continue
                prompt.attachments.append(Attachment(str(part.get("name") or name), content))
                read.append(part)
        return read

    async def _completion(
        self, box: Toolbox, model: str, stack: AsyncExitStack
    ) -> ModelCompletion | None:
        """Asks the model of the chat, where LM Studio's server (or another) is on."""
        with suppress(ToolError):
            upstreams = Upstreams(box.config, box.use(Egress))
            stack.push_async_callback(upstreams.close)
            return ModelCompletion(await upstreams.choose(model), (), model)
        return None

    async def _report(self, prompt: Prompt, box: Toolbox, status: StatusLine) -> None:
        """Say under the message what was done, where there is something to say."""
        language = box.config.stages.language or language_of(prompt.question)
        lines = [*prompt.notices]
        if prompt.report and box.config.guard.report != "off":
            lines.append(_budget(prompt, box, language))
        failed = [
            f"{done.stage} {done.line}" for done in prompt.trace if done.line.startswith("left out")
        ]
        names = dict.fromkeys(a.stage for a in prompt.additions if a.stage != "clock")
        if lines or failed or status.is_visible or names:
            added = worded("added" if names else "nothing_added", language, names=", ".join(names))
            parts = [*lines, *failed] or [added]
            await status.show(" · ".join(parts), "error" if failed else "done")

    def _changed(
        self, prompt: Prompt, sent: JsonObject, read: list[Mapping[str, Any]]
    ) -> JsonObject:
        """The message with what stages added, and without the files that they have read."""
        before = [a.text for a in prompt.additions if a.system]
        after = [a.text for a in prompt.additions if not a.system]
        _, mark, summary = prompt.report.partition(SUMMARY)
        if mark:
            # The guard keeps the first request beside the summary; LM Studio may cut it off.
            first = next((text_of(m) for m in prompt.originals if m.get("role") == "user"), "")
            parts = [SUMMARY_PREFACE, f"First request: {first[:MAX_REQUEST_CHARS]}"]
            before.insert(0, "\n".join([*parts, f"{_without_end(summary)}]"]))
        if not before and not after and not read:
            return sent
        original = text_of_parts(sent)
        text = "\n\n".join(part for part in [*before, original, *after] if part)
        self._originals[text] = original
        while len(self._originals) > MAX_ORIGINALS:
            self._originals.popitem(last=False)
        others = [p for p in parts_of(sent) if p.get("type") != "text" and p not in read]
        return {**sent, "content": [*others, {"type": "text", "text": text}]}


def _budget(prompt: Prompt, box: Toolbox, language: str) -> str:
    """How full the window is. What the guard saves is not saved in LM Studio's own chat."""
    window = prompt.window or box.config.guard.limit
    tokens = count_messages(prompt.originals) + count_tools(prompt.tools)
    used = worded(
        "budget",
        language,
        tokens=f"{tokens / 1000:.1f}k/{window / 1000:.1f}k",
        percent=f"{tokens * 100 // window}",
    )
    done = worded("summed_up" if SUMMARY in prompt.report else "nothing_summed_up", language)
    return f"[ContextGuard] {used} {done}"


def _content(path: str, _check: Any) -> bytes:
    return read_plain(path, MAX_FILE_BYTES)


def _without_end(summary: str) -> str:
    """A summary of the guard's report, without the title's rest and the lines about figures."""
    _, _, text = summary.partition("\n")
    return text.rpartition("[ContextGuard]")[0].strip() or text.strip()
