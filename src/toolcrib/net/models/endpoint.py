"""Which model server and which model: checked before a run starts, found if none is named."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.core.config import Config
from toolcrib.core.errors import ConfigError, NotConfigured, ToolError, Unavailable
from toolcrib.net.egress.client import Egress
from toolcrib.net.models.client import MAX_BODY_BYTES, error_message
from toolcrib.net.models.completion import error_text
from toolcrib.net.models.connection import Connection
from toolcrib.text.display import some_of
from toolcrib.text.json_values import json_value

CHECK_SECONDS = 4.0
NO_LIST = (404, 405, 501)
NO_CHAT = ("embed", "rerank", "whisper", "tts", "clip")
START = (
    "Start the server of LM Studio, Ollama or llama.cpp, or set agent.base_url to where it listens."
)
MAX_MODELS = 1000
MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server that answered, the models that it lists, and the one to ask."""

    base_url: str
    models: tuple[str, ...]
    model: str

    @property
    def doubt(self) -> str:
        """That the server does not list the model, and what it has; empty where it does."""
        if not self.models or self.model in self.models:
            return ""
        has = some_of(chat_models(self.models) or self.models, MAX_NAMED)
        return f"{self.base_url} lists no model {self.model[:80]}. It has: {has}."

    def named(self, name: str) -> str:
        """A model of this server by name, in its spelling; without a name the one to ask."""
        return _chosen(name, self.models) if name else self.model


class NoServer(Exception):
    """Why an address is no model server: nothing answers, or something else does."""

    def __init__(self, why: str, *, answers: bool, status: int = 0) -> None:
        super().__init__(why)
        self.why = why
        self.answers = answers
        self.status = status


async def find_endpoint(
    config: Config, egress: Egress, wanted: str = "", instead: str = ""
) -> Endpoint:
    """The configured server, or the first of the usual ones that answers, within 4 s.

    Args:
        config: the whole tree; `agent` is read.
        egress: the guard.
        wanted: the model that is asked for.
        instead: the one to ask where nothing else names one.

    Raises:
        Unavailable: nothing answers there, or what answers is no model server.
        NotConfigured: the server has no model, and none is configured.
        ConfigError: an address has no scheme.
    """
    agent = config.agent
    named = wanted or agent.model
    found = await probe_servers(config, egress, may_lack=bool(named or instead))
    answered = [(url, models) for url, models in found if not isinstance(models, NoServer)]
    # Of several, one with a model to ask.
    for url, models in sorted(answered, key=lambda pair: not (chat_models(pair[1]) or named)):
        model = _chosen(named, models) or instead
        if model:
            return Endpoint(url, tuple(models), model)
        raise NotConfigured(
            f"The model server at {url} has no model.",
            hint="Load a model there, or name one with agent.model.",
        )
    raise _unavailable(agent.base_url, [(u, e) for u, e in found if isinstance(e, NoServer)])


async def probe_servers(
    config: Config, egress: Egress, *, may_lack: bool = False
) -> list[tuple[str, list[str] | NoServer]]:
    """Each configured server, asked at once: its models, or why it is none.

    Args:
        config: the whole tree; `agent` is read.
        egress: the guard.
        may_lack: one that is configured and has no list of models counts all the same.

    Raises:
        ConfigError: an address has no scheme.
    """
    agent = config.agent
    urls = [agent.base_url] if agent.base_url else list(agent.servers)
    _check_scheme(urls, "agent.base_url" if agent.base_url else "agent.servers")
    return await asyncio.gather(*(_probe(url, config, egress, may_lack=may_lack) for url in urls))


def _check_scheme(urls: Sequence[str], setting: str) -> None:
    """`localhost:1234` would be read as an address of the scheme `localhost`."""
    for url in (url.strip() for url in urls):
        if "://" not in url:
            place = url.strip("/").removesuffix("/v1")
            raise ConfigError(
                f"{setting} is {url[:200]}, without http:// before it.",
                hint=f"Write http://{place[:200]}/v1.",
            )


def _unavailable(base_url: str, tried: Sequence[tuple[str, NoServer]]) -> ToolError:
    if not tried:
        return NotConfigured("No model server is configured.", hint="Set agent.base_url.")
    if not base_url:
        where = ", ".join(url for url, _ in tried)
        return Unavailable(f"No model server answers. Tried: {where}.", hint=START)
    url, error = tried[0]
    if error.status in (401, 403):
        return Unavailable(
            f"The model server at {url} wants another key: {error.why}.",
            hint="Set agent.api_key_env to the name of the variable that holds its key.",
        )
    if error.status == 429 or error.status >= 500:
        return Unavailable(
            f"The model server at {url} is not ready: {error.why}.",
            hint="Wait until it has loaded its model, or look at its log.",
        )
    if error.answers:
        return Unavailable(
            f"What answers at {url} is no OpenAI-compatible server: {error.why}.",
            hint="Set agent.base_url to the address of a model server, which ends in /v1.",
        )
    return Unavailable(f"No model server answers at {url}: {error.why}.", hint=START)


async def _probe(
    url: str, config: Config, egress: Egress, *, may_lack: bool
) -> tuple[str, list[str] | NoServer]:
    """The models of a server, and the URL under which it answers as one.

    `may_lack`: a configured server without that list is asked all the same.
    """
    url = url.rstrip("/")
    places = [url] if url.endswith("/v1") else [url, f"{url}/v1"]
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await _first(places, config, egress, may_lack=may_lack)
    except NoServer as error:
        return url, error
    except TimeoutError:
        return url, NoServer(f"no answer within {CHECK_SECONDS:g} s", answers=False)
    except ToolError as error:
        if error.details.get("reason") in ("connect", "closed", "stall"):
            return url, NoServer(error.message.rstrip("."), answers=False)
        if config.agent.base_url:
            raise
        return url, NoServer(error.message.rstrip("."), answers=False)


async def _first(
    places: Sequence[str], config: Config, egress: Egress, *, may_lack: bool
) -> tuple[str, list[str]]:
    """The first of some addresses that lists models, else the first of all."""
    failed = None
    for place in places:
        try:
            return place, await _models(place, config, egress)
        except NoServer as error:
            failed = failed or error
            if not error.answers:
                break
    assert failed is not None
    if may_lack and config.agent.base_url and failed.status in NO_LIST:
        return places[0], []
    raise failed


async def _models(url: str, config: Config, egress: Egress) -> list[str]:
    connection = Connection(url, config, egress)
    try:
        async with connection.request("GET", "/models", stall=CHECK_SECONDS) as reply:
            parts, size = [], 0
            async for chunk in reply.chunks:
                parts.append(chunk)
                size += len(chunk)
                if size > MAX_BODY_BYTES:
                    raise NoServer("its list of models has no end", answers=True)
            status, text = reply.status, b"".join(parts).decode("utf-8", "replace")
    finally:
        await connection.close()
    if status != 200:
        message = error_message(text)
        why = f"HTTP {status}{f', {message}' if message else ''}"
        status = 0 if text.lstrip()[:1] == "<" and status in NO_LIST else status
        raise NoServer(why, answers=True, status=status)
    value = json_value(text)
    listed = value.get("data", value.get("models")) if isinstance(value, dict) else value
    if not isinstance(listed, list):
        message = "an HTML page" if text.lstrip()[:1] == "<" else "its /models is no list"
        if isinstance(value, dict) and value.get("error"):
            message = error_text(value["error"])
        raise NoServer(message, answers=True)
    names = [
        m if isinstance(m, str) else m.get("id") or m.get("name") or m.get("model")
        for m in listed[:MAX_MODELS]
        if isinstance(m, str | dict)
    ]
    return [name for name in names if isinstance(name, str) and name]


def chat_models(models: Sequence[str]) -> list[str]:
    """Those of a list that can be chatted with, by their names."""
    return [m for m in models if not any(word in m.lower() for word in NO_CHAT)]


def _chosen(named: str, models: Sequence[str]) -> str:
    """The model to ask: the named one in the server's spelling, else the first that chats."""
    if not named:
        return next(iter(chat_models(models)), "")
    low = named.lower()
    for model in models:
        if model.lower() == low:
            return model
    ends = [m for m in models if m.lower().rpartition("/")[2].removesuffix(":latest") == low]
    return ends[0] if ends else named
