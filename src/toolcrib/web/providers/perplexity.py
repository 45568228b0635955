"""The search of Perplexity: ranked results, no written answer."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import content_of, found, page_of

MOST = 20


class Perplexity(Provider):
    """Perplexity."""

    name = "perplexity"
    about = "Perplexity's search by its API, with the text of pages."
    base_url = "https://api.perplexity.ai"
    key_env = "PERPLEXITY_API_KEY"
    needs_key = True
    max_chars = 1000
    counted = True
    max_bytes = 5_000_000
    ignores = ("safe_search",)

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """The best results; there is one page."""
        answer = await reach.call(
            "/search",
            json_body={
                "query": ask.query,
                "max_results": min(ask.count, MOST),
                "search_recency_filter": ask.freshness,
                "search_domain_filter": [ask.site] if ask.site else [],
                "country": ask.country,
                "search_language_filter": [ask.language] if len(ask.language) == 2 else [],
            },
            headers=reach.bearer,
        )
        return page_of(map(_result, reach.listed(answer, "results")))


def _result(item: dict[str, Any]) -> Found | None:
    return found(
        one_line(item.get("title")),
        item.get("url"),
        published=one_line(item.get("date")) or one_line(item.get("last_updated")),
        content=content_of(item.get("snippet")),
    )
