"""Linkup, a search service for language models."""

from __future__ import annotations

from typing import Any

from toolcrib.core.errors import HttpStatus
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import content_of, day_of, found, page_of

MOST = 50


class Linkup(Provider):
    """Linkup."""

    name = "linkup"
    about = "Linkup by its API, with the text of pages."
    base_url = "https://api.linkup.so"
    key_env = "LINKUP_API_KEY"
    needs_key = True
    max_chars = 1000
    counted = True
    max_bytes = 5_000_000
    ignores = ("region", "safe_search")

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """The best results; there is one page."""
        try:
            answer = await reach.call(
                "/v1/search",
                json_body={
                    "q": ask.query,
                    "depth": "standard",
                    "outputType": "searchResults",
                    "maxResults": min(ask.count, MOST),
                    "fromDate": day_of(ask.freshness),
                    "includeDomains": [ask.site] if ask.site else [],
                },
                headers=reach.bearer,
            )
        except HttpStatus as error:
            # It calls finding nothing a bad request.
            if "NO_RESULT" in error.message:
                return Page()
            raise
        items = reach.listed(answer, "results")
        return page_of(_result(item) for item in items if item.get("type", "text") == "text")


def _result(item: dict[str, Any]) -> Found | None:
    return found(
        one_line(item.get("name")),
        item.get("url"),
        published=item.get("date"),
        content=content_of(item.get("content")),
    )
