"""How many tokens a prompt takes, learned from what servers count, and how large windows are."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

from toolcrib.chatflow.prompt import Prompt, PromptMessage, StageContext
from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError, StorageFailure
from toolcrib.state.store import Area, Schema, Store
from toolcrib.text.tokens import estimate

SCHEMA = Schema(
    "chat_tokens",
    (
        """
        CREATE TABLE chat_ratio (
            name TEXT PRIMARY KEY, ratio REAL NOT NULL, changed REAL NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE chat_window (
            model TEXT PRIMARY KEY, tokens INTEGER NOT NULL, changed REAL NOT NULL
        ) WITHOUT ROWID;
        """,
    ),
)
PRIOR_RATIO = 1.25
"""What an estimate is raised by before a server has counted: too few would be worse."""
MIN_RATIO, MAX_RATIO = 0.4, 4.0
MODEL_SHARE = 0.3
"""How much of the ratio of a model comes from the newest count."""
MAX_ROWS = 5_000
MAX_CACHED = 40_000
SHORT_CHARS = 40
IMAGE_TOKENS = 800
MESSAGE_TOKENS, CALL_TOKENS = 4, 8
OVERFLOW_SHARE = 0.9
"""What an overflow that names no window leaves of what was sent."""
MIN_WINDOW = 512

_cache: OrderedDict[bytes, int] = OrderedDict()


def count_text(text: str) -> int:
    """`estimate`, worked out once for each text of a conversation that is sent again and again."""
    if len(text) < SHORT_CHARS:
        return estimate(text)
    key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    known = _cache.get(key)
    if known is None:
        known = _cache[key] = estimate(text)
        if len(_cache) > MAX_CACHED:
            _cache.popitem(last=False)
    return known


def count_message(message: PromptMessage) -> int:
    """Tokens of a message, estimated: text, calls, images at a flat price."""
    total = MESSAGE_TOKENS
    content = message.get("content")
    if isinstance(content, str):
        total += count_text(content)
    elif isinstance(content, list):
        total += sum(_count_part(part) for part in content)
    for field in ("reasoning_content", "reasoning"):
        if isinstance(message.get(field), str):
            total += count_text(message[field])
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            total += CALL_TOKENS + count_text(str(function.get("name") or ""))
            total += count_text(str(function.get("arguments") or ""))
    return total


def count_messages(messages: Iterable[PromptMessage]) -> int:
    """Tokens of messages, estimated."""
    return sum(map(count_message, messages))


def count_tools(tools: Sequence[Any]) -> int:
    """Tokens of the definitions of tools, estimated."""
    if not tools:
        return 0
    return count_text(json.dumps(tools, ensure_ascii=False, default=str)) + MESSAGE_TOKENS


def _count_part(part: Any) -> int:
    if not isinstance(part, dict):
        return estimate(str(part))
    if isinstance(part.get("text"), str):
        return count_text(part["text"])
    if part.get("type") in ("image_url", "image", "input_image", "input_audio", "file"):
        return IMAGE_TOKENS
    return count_text(json.dumps(part, ensure_ascii=False, default=str))


@dataclass(frozen=True, slots=True)
class _Known:
    ratio: float
    window: int | None


class Calibration:
    """A service: what servers counted, beside what was estimated; and the windows of models.

    Args:
        rows: where it lasts.
    """

    def __init__(self, rows: Area) -> None:
        self._rows = rows
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """That of the toolbox's store."""
        return cls(services.use(Store).area(SCHEMA))

    async def ratio(self, model: str, conversation: str) -> float:
        """What an estimate is multiplied by: learned in the conversation, else of the model."""
        return (await self._look_up(model, conversation)).ratio

    async def window(self, model: str) -> int | None:
        """The window of a model as its server's errors told it; None if they did not."""
        return (await self._look_up(model, "")).window

    async def learn_ratio(self, model: str, conversation: str, ratio: float) -> None:
        """Take in what a server counted, as a multiple of the bare estimate."""
        ratio = min(max(ratio, MIN_RATIO), MAX_RATIO)

        def write(connection: sqlite3.Connection) -> None:
            found = connection.execute(
                "SELECT ratio FROM chat_ratio WHERE name = ?", (_of_model(model),)
            ).fetchone()
            mixed = ratio if found is None else found[0] + MODEL_SHARE * (ratio - found[0])
            connection.executemany(
                "REPLACE INTO chat_ratio VALUES (?, ?, ?)",
                [(_of_model(model), mixed, time.time()), (conversation, ratio, time.time())],
            )
            connection.execute(
                "DELETE FROM chat_ratio WHERE name IN (SELECT name FROM chat_ratio "
                "ORDER BY changed DESC LIMIT -1 OFFSET ?)",
                (MAX_ROWS,),
            )

        await self._write(write)
        known = self._known.get((model, conversation))
        self._remember(model, conversation, _Known(ratio, known.window if known else None))

    async def learn_window(self, model: str, tokens: int) -> None:
        """Remember the window of a model."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "REPLACE INTO chat_window VALUES (?, ?, ?)", (model, tokens, time.time())
            )
            connection.execute(
                "DELETE FROM chat_window WHERE model IN (SELECT model FROM chat_window "
                "ORDER BY changed DESC LIMIT -1 OFFSET ?)",
                (MAX_ROWS,),
            )

        await self._write(write)
        self._known = OrderedDict(
            (key, _Known(known.ratio, tokens) if key[0] == model else known)
            for key, known in self._known.items()
        )
        self._remember(model, "", _Known(await self.ratio(model, ""), tokens))

    async def _look_up(self, model: str, conversation: str) -> _Known:
        known = self._known.get((model, conversation))
        if known is not None:
            return known

        def read(connection: sqlite3.Connection) -> _Known:
            found = dict(
                connection.execute(
                    "SELECT name, ratio FROM chat_ratio WHERE name IN (?, ?)",
                    (conversation, _of_model(model)),
                ).fetchall()
            )
            ratio = found.get(conversation) or found.get(_of_model(model)) or PRIOR_RATIO
            window = connection.execute(
                "SELECT tokens FROM chat_window WHERE model = ?", (model,)
            ).fetchone()
            return _Known(ratio, window and window[0])

        try:
            known = await self._rows.read(read, quick=True)
        except (StorageFailure, ConfigError):
            return _Known(PRIOR_RATIO, None)
        self._remember(model, conversation, known)
        return known

    def _remember(self, model: str, conversation: str, known: _Known) -> None:
        self._known[model, conversation] = known
        while len(self._known) > MAX_ROWS:
            self._known.popitem(last=False)

    async def _write(self, work: Any) -> None:
        with suppress(StorageFailure, ConfigError):  # then it is known as long as this process
            await self._rows.write(work)


def _of_model(model: str) -> str:
    return f"model:{model}"


CUT_SHARE = 0.7
"""The server read less than this of what was sent: it left out the beginning."""


def silent_cut(prompt: Prompt, tokens_in: int) -> str:
    """What to tell where a server read much less than it was sent; else ""."""
    if not prompt.tokens or not 0 < tokens_in < CUT_SHARE * prompt.tokens:
        return ""
    return (
        f"the server read {tokens_in:,} of about {prompt.tokens:,} tokens: it left out "
        "the beginning. Load the model with a larger context."
    )


async def learn_usage(prompt: Prompt, context: StageContext, tokens_in: int) -> None:
    """Take in how many tokens the server counted for a prompt, those from its cache included."""
    if prompt.estimated_tokens > 0 and tokens_in > 0:
        ratio = tokens_in / prompt.estimated_tokens
        await context.use(Calibration).learn_ratio(prompt.model, prompt.conversation, ratio)


async def learn_overflow(prompt: Prompt, context: StageContext, message: str) -> int | None:
    """Take in a server's error that a prompt is longer than its window.

    Args:
        prompt: that was sent.
        context: of its stages.
        message: what the server said.

    Returns:
        The window as it is known now; None where the error says nothing of one.
    """
    window = window_in(message)
    if window is None:
        if not prompt.tokens:
            return None
        window = max(int(prompt.tokens * OVERFLOW_SHARE), MIN_WINDOW)
    await context.use(Calibration).learn_window(prompt.model, window)
    return window


_NUMBER = r"(\d[\d,._]{2,10})"
_WINDOWS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\"?n_ctx\"?\s*[:=]\s*{_NUMBER}",
        rf"maximum context length (?:is|of) {_NUMBER}",
        rf"context length of (?:only )?{_NUMBER}",
        rf"(?:context|window) size[^\d\n]{{0,20}}{_NUMBER}",
        rf"context (?:window|length|limit)[^\d\n]{{0,30}}{_NUMBER}",
        rf"> {_NUMBER} maximum",
        rf"maximum (?:of|is|allowed)[^\d\n]{{0,20}}{_NUMBER} tokens",
    )
)


def window_in(message: str) -> int | None:
    """The window that an error of a server names; None where it names none."""
    for pattern in _WINDOWS:
        found = pattern.search(message[:20_000])
        if found:
            tokens = int(re.sub(r"\D", "", found[1]))
            if MIN_WINDOW <= tokens <= 100_000_000:
                return tokens
    return None
