from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.servers.scripted import Scripted, scripted
from tests.tools.web.made_up import NAMES, service
from toolcrib.core.context import Caller, Progress
from toolcrib.toolbox import Toolbox
from toolcrib.web.provider import Provider
from toolcrib.web.providers import Providers


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted() as served:
        yield served


@pytest.fixture
def settings(tmp_path, server) -> Callable[..., dict[str, Any]]:
    """A configuration with its own store; `allow` opens the server for pages."""

    def build(*, allow: bool = True, fetch: dict | None = None, **search: Any) -> dict[str, Any]:
        return {
            "store": {"url": f"sqlite:///{tmp_path}/store.db"},
            "egress": {
                "allow_hosts": [server.origin] if allow else [],
                "retry": {"initial_seconds": 0},
            },
            "web": {
                "fetch": {"host_gap_seconds": 0, **(fetch or {})},
                "search": {"gap_seconds": 0, "providers": ["duckduckgo"], **search},
                "providers": {
                    "duckduckgo": {"base_url": server.url},
                    "searxng": {"base_url": server.url},
                    "brave": {"base_url": server.url, "api_key_env": "TEST_BRAVE_KEY"},
                },
            },
        }

    return build


@pytest.fixture
def grow_older(tmp_path) -> Callable[[float], None]:
    """Let all that is cached be older by some seconds."""

    def grow(seconds: float) -> None:
        with contextlib.closing(sqlite3.connect(tmp_path / "store.db")) as store, store:
            store.execute(
                "UPDATE cache SET created = created - ?1, expires = expires - ?1, "
                "stale_until = stale_until - ?1",
                (seconds,),
            )

    return grow


@pytest.fixture
async def box(settings):
    async with Toolbox(config=settings()) as box:
        yield box


class Watcher:
    """A caller that keeps the progress it is told of."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.caller = Caller("test", notify=self._note)

    async def _note(self, progress: Progress) -> None:
        self.messages.append(progress.message)


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()


@pytest.fixture
async def made_up(settings, server) -> AsyncIterator[Callable[..., Toolbox]]:
    """A toolbox with services that do not exist, at `/alpha/find`, `/beta/find`, `/gamma/find`.

    `services` are providers to add in place of those; the rest goes to `web.search`.
    """
    async with AsyncExitStack() as stack:

        async def build(*services: Provider, fetch: dict | None = None, **search: Any) -> Toolbox:
            chosen = services or tuple(map(service, NAMES))
            config = settings(
                **{"providers": [one.name for one in chosen], "fetch": fetch, **search}
            )
            for one in chosen:
                config["web"]["providers"][one.name] = {"base_url": f"{server.url}/{one.name}"}
            box = await stack.enter_async_context(Toolbox(config=config))
            for one in chosen:
                box.use(Providers).add(one)
            return box

        yield build
