from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.servers.api import Api, api
from toolcrib.toolbox import Toolbox

TOKEN = 'tok/ "en"+é&7xQ-0123456789'.replace("é", "e")
USER = "sam:pa$$ w/rd&9"


@pytest.fixture
def server() -> Iterator[Api]:
    with api() as served:
        yield served


@pytest.fixture
def other() -> Iterator[Api]:
    """A second service, at another origin."""
    with api() as served:
        yield served


@pytest.fixture
def settings(tmp_path, server, other, monkeypatch) -> Callable[..., dict[str, Any]]:
    """A configuration that opens both services, allows sending, and knows three secrets."""
    monkeypatch.setenv("TEST_TOKEN", TOKEN)
    monkeypatch.setenv("TEST_USER", USER)

    def build(*, ask: bool = False, **more: Any) -> dict[str, Any]:
        rules = [] if ask else [{"action": "allow", "group": "http"}]
        host = server.origin
        secrets = {
            "service": {"env": "TEST_TOKEN", "hosts": [host]},
            "person": {"env": "TEST_USER", "hosts": [host], "scheme": "basic"},
            "keyed": {
                "env": "TEST_TOKEN",
                "hosts": [host],
                "scheme": "header",
                "header": "X-Api-Key",
            },
            "elsewhere": {"env": "TEST_TOKEN", "hosts": ["api.example.com", "*.example.net"]},
            "unset": {"env": "TEST_NOT_SET", "hosts": [host]},
        }
        tree: dict[str, Any] = {
            "store": {"url": f"sqlite:///{tmp_path}/store.db"},
            "egress": {
                "allow_hosts": [server.origin, other.origin],
                "retry": {"initial_seconds": 0.01},
            },
            "policy": {"rules": rules},
            "web": {"requests": {"secrets": secrets}, "fetch": {"host_gap_seconds": 0}},
        }
        for branch, value in more.items():
            if branch == "requests":
                tree["web"]["requests"] |= value
            else:
                tree[branch] = {**tree.get(branch, {}), **value}
        return tree

    return build


@pytest.fixture
async def box(settings) -> AsyncIterator[Toolbox]:
    async with Toolbox(settings()) as box:
        yield box
