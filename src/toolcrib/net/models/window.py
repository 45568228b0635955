"""How much a model can read: the size of its window, where its server tells it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from toolcrib.core.config import Config
from toolcrib.core.errors import ToolError
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.client import MAX_BODY_BYTES
from toolcrib.net.models.connection import Connection
from toolcrib.net.models.endpoint import Endpoint
from toolcrib.text.json_values import json_value

ASK_SECONDS = 3.0
# What is loaded comes before what the model could have.
FIELDS = ("loaded_context_length", "n_ctx", "max_model_len", "context_length", "context_window")
LARGEST_FIELDS = ("max_context_length", "n_ctx_train")
# llama.cpp, LM Studio, Ollama; the list of models itself is asked last.
PLACES = (("", "/props"), ("", "/api/v0/models"), ("", "/api/ps"), ("/v1", "/models"))


async def context_window(endpoint: Endpoint, config: Config, egress: Egress) -> int:
    """Tokens that the model of an endpoint can read; 0 where its server does not tell."""
    root = endpoint.base_url.removesuffix("/v1")
    found = await asyncio.gather(
        *(_window_at(root + base, path, endpoint.model, config, egress) for base, path in PLACES)
    )
    return next((size for size in found if size), 0)


async def _window_at(base: str, path: str, model: str, config: Config, egress: Egress) -> int:
    connection = Connection(base, config, egress)
    try:
        with suppress(ToolError, TimeoutError):
            async with (
                asyncio.timeout(ASK_SECONDS),
                connection.request("GET", path, stall=ASK_SECONDS) as reply,
            ):
                body = b""
                async for chunk in reply.chunks:
                    body += chunk
                    if len(body) > MAX_BODY_BYTES:
                        return 0
                if reply.status == 200:
                    return _size(json_value(body.decode("utf-8", "replace")), model)
    finally:
        await connection.close()
    return 0


def _size(value: Any, model: str) -> int:
    """The size in what a server says of itself, or of its models."""
    if not isinstance(value, Mapping):
        return 0
    listed = value.get("data", value.get("models"))
    if isinstance(listed, list):
        mine = [m for m in listed if isinstance(m, Mapping) and _is(m, model)]
        return next((size for m in mine if (size := _field(m))), 0)
    settings = value.get("default_generation_settings")
    return _field(settings) if isinstance(settings, Mapping) else 0


def _is(entry: Mapping[str, Any], model: str) -> bool:
    names = {str(entry.get(key)) for key in ("id", "name", "model") if entry.get(key)}
    return model in names or f"{model}:latest" in names


def _field(entry: Mapping[str, Any]) -> int:
    meta = entry.get("meta")
    places = [entry, meta] if isinstance(meta, Mapping) else [entry]
    for name in (*FIELDS, *LARGEST_FIELDS):
        for place in places:
            size = place.get(name)
            if isinstance(size, int) and not isinstance(size, bool) and 0 < size < 10**9:
                return size
    return 0
