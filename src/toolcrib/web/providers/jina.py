"""The search of Jina. Its reader works without a key, its search does not."""

from __future__ import annotations

from typing import Any

from toolcrib.core.errors import HttpStatus
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import content_of, found, page_of

COUNT = 10


class Jina(Provider):
    """Jina."""

    name = "jina"
    about = "Jina's search by its API."
    base_url = "https://s.jina.ai"
    key_env = "JINA_API_KEY"
    needs_key = True
    ignores = ("freshness", "safe_search")

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of results."""
        headers = {**reach.bearer, "x-respond-with": "no-content"}
        if ask.site:
            headers["x-site"] = f"https://{ask.site}"
        try:
            answer = await reach.call(
                "/",
                json_body={
                    "q": ask.query,
                    "num": COUNT,
                    "gl": ask.country,
                    "hl": ask.language,
                    "page": ask.page if ask.page > 1 else None,
                },
                headers=headers,
            )
        except HttpStatus as error:
            if error.details.get("status") == 422 and "No search results" in error.message:
                return Page()
            raise
        items = reach.listed(answer, "data")
        return page_of(map(_result, items), more=len(items) >= COUNT)


def _result(item: dict[str, Any]) -> Found | None:
    return found(
        one_line(item.get("title")),
        item.get("url"),
        one_line(item.get("description")),
        item.get("date"),
        content_of(item.get("content")),
    )
