"""The toolboxes of a plugin: one for each set of settings that chats have chosen in the panel."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from toolcrib.core.config import Config
from toolcrib.state.sessions import Sessions
from toolcrib.system.processes import Processes
from toolcrib.toolbox import Toolbox

MAX_CONVERSATIONS = 500
MAX_IDLE = 6
"""Toolboxes that are kept open though no call uses them, for the next message of their chats."""
Load = Callable[[Mapping[str, Any]], Config]


@dataclass(slots=True)
class _Lease:
    toolbox: Toolbox
    users: int = 0


class PanelToolboxes:
    """Opens a toolbox when settings are first used, and closes those that were not for long.

    Args:
        load: gives the configuration with a layer of settings over all others.
    """

    def __init__(self, load: Load) -> None:
        self._load = load
        self._open: OrderedDict[str, _Lease] = OrderedDict()
        self.last_chat: str | None = None
        """The session of the last prompt of a chat that has no folder."""
        self._questions: OrderedDict[str, str] = OrderedDict()

    def conversation(self, folder: str) -> str | None:
        """The session of a chat's tools: what its prompts name by a handle is read there."""
        return conversation_of(folder) or self.last_chat

    def note_question(self, conversation: str, question: str) -> None:
        """What the user said last in a conversation, whose calls may come to another toolbox."""
        self._questions[conversation] = question
        self._questions.move_to_end(conversation)
        while len(self._questions) > MAX_CONVERSATIONS:
            self._questions.popitem(last=False)

    async def begin_call(self, toolbox: Toolbox, conversation: str | None) -> None:
        """Let a call go by what the user said, where that is known."""
        question = self._questions.get(conversation or "")
        if conversation and question is not None:
            (await toolbox.use(Sessions).load(conversation)).begin_turn(question)

    @asynccontextmanager
    async def lease(self, layer: Mapping[str, Any], folder: str = "") -> AsyncIterator[Toolbox]:
        """The toolbox of some settings; it stays open within the context.

        Args:
            layer: settings, as a tree.
            folder: the folder of the chat, which is the workspace where none is set.

        Raises:
            ConfigError, BadInput: the settings are wrong.
        """
        config = self._load(layer)
        roots = [folder] if not config.workspace.roots and _is_folder(folder) else []
        key = json.dumps([layer, roots], sort_keys=True)
        lease = self._open.get(key)
        if lease is None:
            toolbox = Toolbox(config, profile=config.listed_profile)
            toolbox.use_roots(roots)
            if not self._open:
                toolbox.keep_schedule()
            lease = self._open[key] = _Lease(toolbox)
        self._open.move_to_end(key)
        lease.users += 1
        try:
            yield lease.toolbox
        finally:
            lease.users -= 1
            await self._close_idle()

    async def _close_idle(self) -> None:
        idle = [key for key, lease in self._open.items() if not lease.users]
        for key in idle[: max(0, len(idle) - MAX_IDLE)]:
            await self._open.pop(key).toolbox.close()

    def end_soon(self) -> None:
        """End what runs in the background; `close` must follow."""
        for lease in self._open.values():
            lease.toolbox.end_soon()

    def kill_all_now(self) -> None:
        """End all child processes at once; from any thread."""
        for lease in tuple(self._open.values()):
            lease.toolbox.use(Processes).kill_all_now()

    async def close(self) -> None:
        """Close all of them."""
        while self._open:
            _, lease = self._open.popitem()
            await lease.toolbox.close()


def _is_folder(path: str) -> bool:
    return bool(path) and Path(path).is_absolute() and Path(path).is_dir()


def conversation_of(folder: str) -> str | None:
    """The session of a chat, by the folder that LM Studio gives each; None where it gives none."""
    if not folder:
        return None
    return f"lmstudio:{blake2b(folder.encode('utf-8', 'replace'), digest_size=12).hexdigest()}"
