from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.servers.scripted import Scripted, scripted
from toolcrib.core.context import Caller, Progress
from toolcrib.toolbox import Toolbox


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
            "egress": {"allow_hosts": [server.origin] if allow else []},
            "web": {
                "fetch": fetch or {},
                "search": {"gap_seconds": 0, **search},
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
