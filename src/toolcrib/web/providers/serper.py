"""Serper: results of Google by an API."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import found, page_of

COUNT = 10


class Serper(Provider):
    """Serper."""

    name = "serper"
    about = "Google's results by the API of Serper."
    base_url = "https://google.serper.dev"
    key_env = "SERPER_API_KEY"
    needs_key = True
    max_chars = 2000
    ignores = ("safe_search",)

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of the organic results."""
        answer = await reach.call(
            "/search",
            json_body={
                "q": ask.words,
                "gl": ask.country.lower(),
                "hl": ask.language,
                "tbs": f"qdr:{ask.freshness[:1]}" if ask.freshness else "",
                "page": ask.page if ask.page > 1 else None,
            },
            headers={"x-api-key": reach.key},
        )
        items = reach.listed(answer, "organic", optional=True)
        # Google gives fewer than ten now and then, and more pages all the same.
        return page_of(map(_result, items), more=len(items) >= COUNT // 2)


def _result(item: dict[str, Any]) -> Found | None:
    return found(
        one_line(item.get("title")),
        item.get("link"),
        one_line(item.get("snippet")),
        item.get("date"),
    )
