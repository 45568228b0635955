"""The tools of toolcrib that the proxy offers to a model and runs itself."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Self

from toolcrib.agents.tool_executor import result_text
from toolcrib.chatflow.prompt import PromptMessage, chain_keys
from toolcrib.core.context import Caller, Services
from toolcrib.core.result import Result
from toolcrib.state.approvals import Approvals
from toolcrib.state.sessions import Sessions
from toolcrib.state.store import Area, Schema, Store
from toolcrib.text.tokens import estimate
from toolcrib.toolbox import Toolbox

PREFIX = "toolcrib_"
APPROVAL_SECONDS = 45.0
POLL_SECONDS = 0.5
PROGRESS_SECONDS = 5.0
MAX_ARGUMENT_CHARS = 2_000_000
MIN_RESULT_TOKENS = 150
"""Of a result, however little of the window is left."""
STEPS = Schema(
    "proxy_steps",
    (
        """
        CREATE TABLE proxy_step (key TEXT PRIMARY KEY, used REAL NOT NULL, body BLOB NOT NULL);
        CREATE INDEX proxy_step_used ON proxy_step (used);
        """,
    ),
)
MAX_STEPS = 2_000


class OfferedTools:
    """Tools under names that the client's do not have.

    Args:
        toolbox: the tools and the way to call them.
        names: those that are offered.
        foreign: the names of the client's tools.
        room: tokens that are left of the window for results and the answer; 0 is unknown.
    """

    def __init__(
        self, toolbox: Toolbox, names: Sequence[str], foreign: Sequence[str], room: int = 0
    ) -> None:
        self._toolbox = toolbox
        self._room = room
        taken = set(foreign)
        self._real = {(PREFIX + name if name in taken else name): name for name in names}

    @property
    def names(self) -> list[str]:
        """The names under which the model knows them."""
        return list(self._real)

    def specs(self) -> list[dict[str, Any]]:
        """The tools in the form of the chat API."""
        found = []
        for offered, name in self._real.items():
            tool = self._toolbox.registry.resolve(name)
            function = {
                "name": offered,
                "description": tool.description,
                "parameters": tool.schema,
            }
            found.append({"type": "function", "function": function})
        return found

    async def begin_turn(self, session: str, question: str) -> None:
        """Note what the user said, so that tools can go by it."""
        (await self._toolbox.use(Sessions).load(session)).begin_turn(question)

    async def run(self, call: Mapping[str, Any], session: str) -> Result:
        """Send one call through the pipeline."""
        function = call.get("function") or {}
        name = self._real.get(str(function.get("name")), str(function.get("name")))
        caller = Caller("proxy")
        arguments = str(function.get("arguments") or "{}")[:MAX_ARGUMENT_CHARS]
        budget = max(self._room // 2, MIN_RESULT_TOKENS) if self._room else 0
        result = await self._toolbox.call(
            name, arguments, session=session, caller=caller, max_tokens=budget
        )
        if self._room:
            self._room = max(self._room - estimate(result_text(result)), 1)
        return result

    async def decided(self, request_id: str) -> AsyncIterator[None]:
        """Waits for a person to decide; gives a sign of life now and then."""
        approvals = self._toolbox.use(Approvals)
        end = time.monotonic() + APPROVAL_SECONDS
        sign = time.monotonic() + PROGRESS_SECONDS
        while time.monotonic() < end:
            if all(request.id != request_id for request in await approvals.list_open()):
                return
            await asyncio.sleep(POLL_SECONDS)
            if time.monotonic() >= sign:
                sign = time.monotonic() + PROGRESS_SECONDS
                yield


def tool_message(call: Mapping[str, Any], result: Result) -> PromptMessage:
    """The result of a call as a message for the model."""
    return {"role": "tool", "tool_call_id": call.get("id"), "content": result_text(result) or "-"}


class OwnSteps:
    """A service: what our tools did in conversations, to be there in later requests too.

    Clients send back only what they saw. What our tools did before an answer is kept under the
    hash of the conversation up to that answer.
    """

    def __init__(self, rows: Area) -> None:
        self._rows = rows
        self._has_any: bool | None = None

    @classmethod
    def open(cls, services: Services) -> Self:
        """The steps in the toolbox's store."""
        return cls(services.use(Store).area(STEPS))

    async def save(
        self,
        messages: Sequence[PromptMessage],
        answer: PromptMessage,
        steps: Sequence[PromptMessage],
        owner: str,
    ) -> None:
        """Keep what was done before an answer.

        Args:
            messages: the conversation as the client sent it.
            answer: what it got.
            steps: calls of our tools with their results.
            owner: whose it is.
        """
        key = chain_keys([*messages, answer], owner)[-1]
        body = zlib.compress(json.dumps(list(steps), ensure_ascii=True).encode(), 1)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("REPLACE INTO proxy_step VALUES (?,?,?)", (key, time.time(), body))
            connection.execute(
                "DELETE FROM proxy_step WHERE key NOT IN "
                "(SELECT key FROM proxy_step ORDER BY used DESC LIMIT ?)",
                (MAX_STEPS,),
            )

        await self._rows.write(write)
        self._has_any = True

    async def restored(
        self, messages: Sequence[PromptMessage], owner: str
    ) -> list[PromptMessage] | None:
        """The conversation with what our tools did in it; None where that is nothing."""
        if self._has_any is None:
            row = await self._rows.first("SELECT 1 FROM proxy_step LIMIT 1")
            self._has_any = row is not None
        answers = [message for message in messages if message.get("role") == "assistant"]
        if not self._has_any or not answers:
            return None
        keys = chain_keys(messages, owner)
        wanted = [k for k, m in zip(keys, messages, strict=True) if m.get("role") == "assistant"]

        marks = ",".join("?" * len(wanted[-500:]))
        sql = f"SELECT key, body FROM proxy_step WHERE key IN ({marks})"  # noqa: S608
        found: dict[str, bytes] = dict(await self._rows.fetch(sql, wanted[-500:]))
        if not found:
            return None
        whole: list[PromptMessage] = []
        for key, message in zip(keys, messages, strict=True):
            if key in found and message.get("role") == "assistant":
                whole += json.loads(zlib.decompress(found[key]))
            whole.append(message)
        return whole
