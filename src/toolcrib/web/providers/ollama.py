"""The web search of Ollama's cloud."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import content_of, found, page_of

MOST = 10


class Ollama(Provider):
    """Ollama."""

    name = "ollama"
    about = "Ollama's web search; a free account has a key."
    base_url = "https://ollama.com"
    key_env = "OLLAMA_API_KEY"
    needs_key = True
    max_bytes = 5_000_000
    ignores = ("freshness", "region", "safe_search")

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """The best results; there is one page."""
        answer = await reach.call(
            "/api/web_search",
            json_body={"query": ask.words, "max_results": MOST},
            headers=reach.bearer,
        )
        return page_of(map(_result, reach.listed(answer, "results")))


def _result(item: dict[str, Any]) -> Found | None:
    text = content_of(item.get("content"))
    return found(one_line(item.get("title")), item.get("url"), content=text)
