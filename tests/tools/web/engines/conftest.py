from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.net.egress.samples import context
from tests.servers.scripted import Script
from tests.tools.web.engines.forms import ENGINES, PATHS
from toolcrib.core.config import Config
from toolcrib.net.egress.client import Egress
from toolcrib.web.provider import ProviderClient, ResultPage, SearchRequest

Look = Callable[..., Awaitable[ResultPage]]


@pytest.fixture
async def look(server, tmp_path):
    """Ask an engine that answers on loopback as told, end to end."""
    config = Config.model_validate(
        {
            "store": {"url": f"sqlite:///{tmp_path}/store.db"},
            "web": {"providers": {name: {"base_url": server.url} for name in ENGINES}},
        }
    )
    ctx = context(config)

    async def ask(name: str, answer: Script | None = None, **options: Any) -> ResultPage:
        if answer is not None:
            server[PATHS[name]] = answer
        provider = ENGINES[name]()
        reach = ProviderClient(provider, config.web.providers[name], ctx)
        return await provider.search(
            SearchRequest(options.pop("query", "tool crib"), **options), reach
        )

    yield ask
    await ctx.use(Egress).close()
