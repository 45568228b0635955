"""Tavily, a search service for language models."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import content_of, found, number, page_of

MOST = 20


class Tavily(Provider):
    """Tavily."""

    name = "tavily"
    about = "Tavily by its API, with the text of pages."
    base_url = "https://api.tavily.com"
    key_env = "TAVILY_API_KEY"
    needs_key = True
    max_chars = 400
    counted = True
    max_bytes = 10_000_000
    ignores = ("region", "safe_search")

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """The best results; there is one page."""
        answer = await reach.call(
            "/search",
            json_body={
                "query": ask.query,
                "search_depth": "basic",
                "max_results": min(ask.count, MOST),
                "include_raw_content": "markdown",
                "time_range": ask.freshness,
                "include_domains": [ask.site] if ask.site else [],
            },
            headers=reach.bearer,
        )
        return page_of(map(_result, reach.listed(answer, "results")))


def _result(item: dict[str, Any]) -> Found | None:
    return found(
        one_line(item.get("title")),
        item.get("url"),
        one_line(item.get("content")),
        item.get("published_date"),
        content_of(item.get("raw_content")),
        score=number(item.get("score")),
    )
