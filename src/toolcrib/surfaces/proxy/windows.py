"""How long a conversation a model can read, asked of its server in each way that there is."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any
from urllib.parse import quote

from toolcrib.net.models.upstream import RawHeaders, Upstream
from toolcrib.surfaces.proxy.wire import json_answer
from toolcrib.text.json_values import objects_in

SECONDS = 2.0
FRESH_SECONDS = 60.0
MAX_MODELS = 200
MAX_BYTES = 4_000_000


def _of_lm_studio(answer: Mapping[str, Any], model: str) -> Any:
    del model
    return answer.get("loaded_context_length")


def _of_llama_cpp(answer: Mapping[str, Any], model: str) -> Any:
    del model
    settings = answer.get("default_generation_settings")
    return settings.get("n_ctx") if isinstance(settings, dict) else None


def _of_ollama(answer: Mapping[str, Any], model: str) -> Any:
    for one in objects_in(answer.get("models")):
        if model in (one.get("name"), one.get("model")) or one.get("name") == f"{model}:latest":
            return one.get("context_length")
    return None


def _of_list(answer: Mapping[str, Any], model: str) -> Any:
    for one in objects_in(answer.get("data")):
        if one.get("id") == model:
            return one.get("max_model_len") or one.get("context_length")
    return None


WAYS: tuple[tuple[str, Callable[[Mapping[str, Any], str], Any]], ...] = (
    ("/api/v0/models/{model}", _of_lm_studio),
    ("/props", _of_llama_cpp),
    ("/api/ps", _of_ollama),
    ("/v1/models", _of_list),
)


class Windows:
    """The windows of models, asked anew after a minute."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], tuple[float, int | None]] = OrderedDict()
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}

    async def of(self, upstream: Upstream, model: str, headers: RawHeaders) -> int | None:
        """The window of a model in tokens; None where the server does not say."""
        key = (upstream.base_url, model)
        async with self._locks.setdefault(key, asyncio.Lock()):
            known = self._known.get(key)
            if known is not None and monotonic() - known[0] < FRESH_SECONDS:
                return known[1]
            found = await asyncio.gather(
                *(_window_at(upstream, path, read, model, headers) for path, read in WAYS)
            )
            window = next((one for one in found if one), None)
            self._known[key] = (monotonic(), window)
            while len(self._known) > MAX_MODELS:
                self._locks.pop(self._known.popitem(last=False)[0], None)
            return window


async def _window_at(
    upstream: Upstream,
    path: str,
    read: Callable[[Mapping[str, Any], str], Any],
    model: str,
    headers: RawHeaders,
) -> int | None:
    target = path.format(model=quote(model, safe="/")).encode("ascii")
    plain = [pair for pair in headers if pair[0].lower() in (b"authorization", b"x-api-key")]
    answer = await json_answer(upstream, target, plain, SECONDS, MAX_BYTES)
    window = read(answer, model) if answer is not None else None
    if isinstance(window, int) and not isinstance(window, bool) and window > 0:
        return window
    return None
