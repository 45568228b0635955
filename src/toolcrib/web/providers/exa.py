"""Exa, a search service for language models."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import content_of, found, number, page_of, start_of, texts

MOST = 20
TEXT_CHARS = 10_000


class Exa(Provider):
    """Exa."""

    name = "exa"
    about = "Exa by its API, with the text of pages."
    base_url = "https://api.exa.ai"
    key_env = "EXA_API_KEY"
    needs_key = True
    max_chars = 1000
    counted = True
    max_bytes = 5_000_000

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """The best results; there is one page."""
        start = start_of(ask.freshness)
        answer = await reach.call(
            "/search",
            json_body={
                "query": ask.query,
                "type": "auto",
                "numResults": min(ask.count, MOST),
                "contents": {"text": {"maxCharacters": TEXT_CHARS}, "highlights": True},
                "startPublishedDate": f"{start:%Y-%m-%dT%H:%M:%S.000Z}" if start else "",
                "includeDomains": [ask.site] if ask.site else [],
                "userLocation": ask.country,
                "moderation": True if ask.safe_search == "strict" else None,
            },
            headers={**reach.bearer, "x-api-key": reach.key},
        )
        return page_of(map(_result, reach.listed(answer, "results")))


def _result(item: dict[str, Any]) -> Found | None:
    return found(
        one_line(item.get("title")),
        item.get("url"),
        " … ".join(texts(item.get("highlights"))),
        item.get("publishedDate"),
        content_of(item.get("text")),
        score=number(item.get("score")),
        author=one_line(item.get("author")),
    )
