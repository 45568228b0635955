"""Kagi, through version 1 of its API."""

from __future__ import annotations

from typing import Any

from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import day_of, found, page_of, unmarked

LAST_PAGE = 10


class Kagi(Provider):
    """Kagi."""

    name = "kagi"
    about = "Kagi by its API."
    base_url = "https://kagi.com"
    key_env = "KAGI_API_KEY"
    needs_key = True

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of web results."""
        wanted = {"region": ask.country, "after": day_of(ask.freshness)}
        filters = {name: value for name, value in wanted.items() if value}
        answer = await reach.call(
            "/api/v1/search",
            json_body={
                "query": ask.query,
                "workflow": "search",
                "page": ask.page if ask.page > 1 else None,
                "filters": filters or None,
                "lens": {"sites_included": [ask.site]} if ask.site else None,
                "safe_search": ask.safe_search != "off",
            },
            headers=reach.bearer,
        )
        items = reach.listed(answer, "data", "search", optional=True)
        return page_of(map(_result, items), more=ask.page < LAST_PAGE)


def _result(item: dict[str, Any]) -> Found | None:
    return found(
        unmarked(item.get("title")),
        item.get("url"),
        unmarked(item.get("snippet")),
        item.get("time"),
    )
