"""One provider at a time, without the chain around it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.servers.scripted import Answer, Request, Scripted
from toolcrib.core.config import Config
from toolcrib.core.context import Caller, Ctx, Services, Session
from toolcrib.core.errors import ToolError
from toolcrib.core.result import Result
from toolcrib.core.settings import ProviderConfig
from toolcrib.web.provider import ProviderClient, ResultPage, SearchRequest, SearchResult
from toolcrib.web.providers import Providers

KEY = "sesame/open+123"


def answer(value: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(json.dumps(value), status, "application/json", named)


class Bench:
    """One provider at a time, asked over the scripted server."""

    def __init__(self, server: Scripted, config: dict[str, Any]) -> None:
        self.server = server
        self.services = Services(Config.load(config))
        self.ctx = Ctx(
            call_id="1",
            caller=Caller("test"),
            session=Session("s"),
            services=self.services,
            registry=None,  # type: ignore[arg-type]
            invoke=_never,
        )

    async def page(self, name: str, query: str = "q", **ask: Any) -> ResultPage:
        """What the provider gives."""
        provider = self.services.use(Providers).named(name)
        settings = self.services.config.web.providers.get(name, ProviderConfig())
        reach = ProviderClient(provider, settings, self.ctx)
        return await provider.search(SearchRequest(query, **ask), reach)

    async def results(self, name: str, query: str = "q", **ask: Any) -> tuple[SearchResult, ...]:
        return (await self.page(name, query, **ask)).results

    async def error(self, name: str, query: str = "q", **ask: Any) -> ToolError:
        """What the provider raises."""
        with pytest.raises(ToolError) as caught:
            await self.page(name, query, **ask)
        return caught.value

    @property
    def sent(self) -> Request:
        return self.server.requested[-1]

    @property
    def json(self) -> Any:
        return json.loads(self.sent.body)


async def _never(*_: Any) -> Result:
    raise AssertionError


KEYED = (
    *("brave", "tavily", "exa", "serper", "ollama", "perplexity", "jina", "kagi", "linkup"),
    "youcom",
)
OPEN = ("wikipedia", "arxiv", "stackexchange", "github", "hackernews", "openalex", "searxng")
