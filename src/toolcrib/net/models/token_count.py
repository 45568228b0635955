"""How many tokens a text is to a model, counted by its server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress

from toolcrib.core.config import Config
from toolcrib.core.errors import ToolError
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.connection import Connection
from toolcrib.net.models.endpoint import Endpoint
from toolcrib.text.json_values import json_value

ASK_SECONDS = 10.0
MAX_CHARS = 2_000_000
MAX_ANSWER_BYTES = 64_000_000
"""A server lists the numbers of all tokens."""


async def server_token_count(
    text: str, endpoint: Endpoint, config: Config, egress: Egress
) -> int | None:
    """Tokens of a text without the marks of a message; None where the server does not count.

    llama.cpp and vLLM have `/tokenize`, with other names for the text; LM Studio and Ollama have
    nothing of the kind over HTTP.

    Args:
        text: at most MAX_CHARS characters are sent.
        endpoint: the server and its model.
        config: the whole tree; `agent` is read.
        egress: the guard.
    """
    if len(text) > MAX_CHARS:
        return None
    given = {"model": endpoint.model, "content": text, "prompt": text, "add_special_tokens": False}
    body = json.dumps(given).encode()
    connection = Connection(endpoint.base_url.removesuffix("/v1"), config, egress)
    try:
        with suppress(ToolError, TimeoutError):
            async with (
                asyncio.timeout(ASK_SECONDS),
                connection.request("POST", "/tokenize", body, stall=ASK_SECONDS) as reply,
            ):
                answer = bytearray()
                async for chunk in reply.chunks:
                    answer += chunk
                    if len(answer) > MAX_ANSWER_BYTES:
                        return None
                if reply.status == 200:
                    return _count(json_value(answer.decode("utf-8", "replace")))
    finally:
        await connection.close()
    return None


def _count(value: object) -> int | None:
    if not isinstance(value, Mapping):
        return None
    count, tokens = value.get("count"), value.get("tokens")
    if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
        return count
    return len(tokens) if isinstance(tokens, list) else None
