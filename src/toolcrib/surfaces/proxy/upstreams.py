"""The model servers behind the proxy, and which of them a request goes to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from time import monotonic
from typing import Any

from toolcrib.core.config import Config
from toolcrib.core.errors import ConfigError, Unavailable
from toolcrib.core.proxy_settings import UpstreamConfig
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.upstream import RawHeaders, Upstream
from toolcrib.surfaces.proxy.wire import json_answer

LIST_SECONDS = 4.0
"""For one list of models."""
FRESH_SECONDS = 60.0
RETRY_SECONDS = 5.0
"""After which a server that did not answer, or lacks a model, is looked at again."""
MAX_LIST_BYTES = 16_000_000


@dataclass(slots=True)
class _Server:
    upstream: Upstream
    patterns: tuple[str, ...]
    is_optional: bool
    """One of the usual addresses: it counts while it answers."""
    models: tuple[str, ...] = ()
    answers: bool = False
    checked: float = -1e9
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Upstreams:
    """All servers, in the order of the configuration.

    Args:
        config: the whole tree; `proxy` and `agent` are read.
        egress: the guard.

    Raises:
        ConfigError: none is configured, or an address has no scheme.
        BadInput, Blocked, NotConfigured: as `Upstream`.
    """

    def __init__(self, config: Config, egress: Egress) -> None:
        proxy, agent = config.proxy, config.agent
        listed: Sequence[UpstreamConfig] = proxy.upstreams
        optional = False
        if not listed and agent.base_url:
            listed = [UpstreamConfig(base_url=agent.base_url, api_key_env=agent.api_key_env)]
        elif not listed:
            listed = [UpstreamConfig(base_url=url) for url in agent.servers]
            optional = True
        if not listed:
            raise ConfigError(
                "No model server is configured.",
                hint='Set proxy.upstreams, as [{base_url = "http://127.0.0.1:1234/v1"}].',
            )
        self._servers = [
            _Server(
                Upstream(_checked(one.base_url), config, egress, one.api_key_env),
                tuple(one.models),
                optional,
            )
            for one in listed
        ]

    @property
    def all(self) -> list[Upstream]:
        """Every server."""
        return [server.upstream for server in self._servers]

    @property
    def has_many(self) -> bool:
        """Whether there is a choice."""
        return len(self._servers) > 1

    async def close(self) -> None:
        """Close all connections."""
        for server in self._servers:
            await server.upstream.close()

    async def choose(self, model: str, headers: RawHeaders = ()) -> Upstream:
        """The server of a model, else the first; of the usual addresses one that answers.

        Args:
            model: as the request names it; "" where it names none.
            headers: those of the request that say who asks.

        Raises:
            Unavailable: none of the usual addresses answers.
        """
        if not self.has_many:
            return self._servers[0].upstream
        if model:
            for server in self._servers:
                if any(fnmatchcase(model.lower(), glob.lower()) for glob in server.patterns):
                    return server.upstream
        await self._refresh(model, headers)
        if model:
            for server in self._servers:
                if not server.patterns and _has(server.models, model):
                    return server.upstream
        for server in self._servers:
            if server.answers or not server.is_optional:
                return server.upstream
        where = ", ".join(server.upstream.base_url for server in self._servers)
        raise Unavailable(
            f"No model server answers. Tried: {where}.",
            hint="Start LM Studio, Ollama or llama.cpp, or set proxy.upstreams.",
        )

    async def merged_list(self, path: bytes, headers: RawHeaders) -> dict[str, Any] | None:
        """The lists of models of all servers as one; None where no server gives one."""
        answers = await asyncio.gather(
            *(_listed(server.upstream, path, headers) for server in self._servers)
        )
        found = [answer for answer in answers if answer is not None]
        if not found:
            return None
        first = found[0]
        key = _list_key(first)
        seen: set[str] = set()
        merged: list[Any] = []
        for answer in found:
            for model in answer.get(_list_key(answer), ()):
                name = _name_of(model)
                if name not in seen:
                    seen.add(name)
                    merged.append(model)
        return {**first, key: merged}

    async def _refresh(self, model: str, headers: RawHeaders) -> None:
        await asyncio.gather(*(self._look(server, model, headers) for server in self._servers))

    async def _look(self, server: _Server, model: str, headers: RawHeaders) -> None:
        async with server.lock:
            age = monotonic() - server.checked
            lacks = bool(model) and not _has(server.models, model)
            if age < RETRY_SECONDS or (age < FRESH_SECONDS and server.answers and not lacks):
                return
            answer = await _listed(server.upstream, b"/v1/models", headers)
            server.checked = monotonic()
            server.answers = answer is not None
            listed = answer.get(_list_key(answer)) if answer else None
            server.models = tuple(map(_name_of, listed)) if isinstance(listed, list) else ()


def _checked(url: str) -> str:
    if "://" not in url:
        raise ConfigError(
            f"proxy.upstreams has {url[:200]}, without http:// before it.",
            hint=f"Write http://{url[:200].strip('/')}.",
        )
    return url.strip()


def _list_key(answer: Mapping[str, Any]) -> str:
    return "models" if isinstance(answer.get("models"), list) and "data" not in answer else "data"


def _name_of(model: Any) -> str:
    if isinstance(model, str):
        return model
    if not isinstance(model, dict):
        return ""
    found = next((model[k] for k in ("id", "name", "model") if isinstance(model.get(k), str)), "")
    return str(found)


def _has(models: Sequence[str], wanted: str) -> bool:
    low = wanted.lower()
    return any(name.lower() in (low, f"{low}:latest") for name in models)


async def _listed(upstream: Upstream, path: bytes, headers: RawHeaders) -> dict[str, Any] | None:
    """The list of models of a server; None where it gives none in time."""
    return await json_answer(
        upstream, path, credentials_for(upstream, headers), LIST_SECONDS, MAX_LIST_BYTES
    )


CREDENTIALS = (b"authorization", b"x-api-key")


def credentials_for(
    upstream: Upstream, headers: RawHeaders, own_token: str = ""
) -> list[tuple[bytes, bytes]]:
    """The headers for a server: those that came, without our token, and with its own key.

    Args:
        upstream: the server.
        headers: those that came.
        own_token: the token of this proxy, which nobody else may see.
    """
    passed = [pair for pair in headers if not (own_token and is_own(pair, own_token))]
    has_key = any(name.lower() in CREDENTIALS for name, _ in passed)
    if upstream.key and (own_token or not has_key):
        passed = [pair for pair in passed if pair[0].lower() not in CREDENTIALS]
        uses_x_api_key = any(name.lower() == b"anthropic-version" for name, _ in passed)
        passed.append((b"authorization", f"Bearer {upstream.key}".encode("latin-1", "ignore")))
        if uses_x_api_key:
            passed.append((b"x-api-key", upstream.key.encode("latin-1", "ignore")))
    return passed


def is_own(pair: tuple[bytes, bytes], token: str) -> bool:
    """Whether a header carries our token."""
    name, value = pair[0].lower(), pair[1].decode("latin-1").strip()
    if name == b"x-api-key":
        return value == token
    scheme, _, given = value.partition(" ")
    return name == b"authorization" and scheme.lower() == "bearer" and given.strip() == token
