from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.tools.web.providers.bench import KEY, KEYED, OPEN, Bench


@pytest.fixture
async def bench(server, tmp_path, monkeypatch) -> AsyncIterator[Bench]:
    monkeypatch.setenv("TEST_KEY", KEY)
    providers = {name: {"base_url": server.url, "api_key_env": "TEST_KEY"} for name in KEYED}
    providers |= {name: {"base_url": server.url} for name in OPEN}
    made = Bench(
        server,
        {
            "store": {"url": f"sqlite:///{tmp_path}/store.db"},
            "egress": {"retry": {"initial_seconds": 0}},
            "web": {"providers": providers},
        },
    )
    yield made
    await made.services.close()
