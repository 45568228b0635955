"""News of Brave Search, through its API."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page
from toolcrib.web.provider_api.responses import at, found, page_of, texts, unmarked
from toolcrib.web.providers.brave import LAST_PAGE, BraveApi

COUNT = 20


class BraveNews(BraveApi):
    """Brave News."""

    name = "brave_news"
    about = "News by Brave's API."
    kind = "news"
    shares = "brave"

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of news, newest and most relevant first."""
        answer = await self.ask(
            "/res/v1/news/search",
            ask,
            reach,
            count=str(COUNT),
            offset=str(ask.page - 1),
            safesearch=ask.safe_search,
            extra_snippets="true",
        )
        results = reach.listed(answer, "results", optional=True)
        more = len(results) >= COUNT and ask.page < LAST_PAGE
        return page_of(map(_result, results), more=more)


def _result(item: dict[str, Any]) -> Found | None:
    return found(
        unmarked(item.get("title")),
        item.get("url"),
        unmarked(item.get("description")),
        one_line(item.get("page_age")) or one_line(item.get("age")),
        extra_snippets=texts(item.get("extra_snippets")),
        source=one_line(at(item, "meta_url", "hostname")),
        breaking=item.get("breaking") or None,
    )
