"""The search of You.com."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import found, page_of, texts, unmarked
from toolcrib.web.providers.brave import language

COUNT = 20
LAST_PAGE = 10


class YouCom(Provider):
    """You.com."""

    name = "youcom"
    about = "You.com by its API."
    base_url = "https://ydc-index.io"
    key_env = "YDC_API_KEY"
    needs_key = True

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of web results, and of news where the service saw fit."""
        answer = await reach.call(
            "/v1/search",
            params={
                "query": ask.query,
                "count": str(COUNT),
                "offset": str(ask.page - 1) if ask.page > 1 else "",
                "freshness": ask.freshness,
                "country": ask.country,
                # The same codes as Brave's, in upper case.
                "language": language(ask).upper(),
                "safesearch": ask.safe_search,
                "include_domains": ask.site,
            },
            headers={"x-api-key": reach.key},
        )
        if not isinstance(answer.get("results"), dict):
            raise reach.unreadable("it has no results")
        pages = reach.listed(answer, "results", "web", optional=True)
        news = reach.listed(answer, "results", "news", optional=True)
        more = len(pages) >= COUNT and ask.page < LAST_PAGE
        return page_of(map(_result, [*pages, *news]), more=more)


def _result(item: dict[str, Any]) -> Found | None:
    snippets = texts(item.get("snippets"))
    return found(
        unmarked(item.get("title")),
        item.get("url"),
        unmarked(item.get("description")) or (snippets[0] if snippets else ""),
        one_line(item.get("page_age")),
        extra_snippets=snippets,
    )
