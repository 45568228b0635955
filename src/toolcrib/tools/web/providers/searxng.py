"""SearXNG: an instance of the user's own, through its JSON form."""

from __future__ import annotations

from toolcrib.core.errors import NotConfigured
from toolcrib.tools.web.answers import check
from toolcrib.tools.web.provider import Ask, Found, Page, Provider, Reach, is_web, plain, records

_SAFE = {"strict": "2", "moderate": "1", "off": "0"}


async def search(ask: Ask, reach: Reach) -> Page:
    """One page of what the instance gathered from its engines."""
    response = await reach.send(
        "/search",
        params={
            "q": ask.query,
            "format": "json",
            "pageno": str(ask.page),
            "time_range": ask.freshness,
            "safesearch": _SAFE[ask.safe_search],
        },
        checked=False,
    )
    if response.status == 403:
        raise NotConfigured(
            f"The SearXNG instance at {reach.base_url} refuses JSON (HTTP 403).",
            hint="Its settings.yml must list `json` under search.formats; then restart it.",
            status=403,
        )
    check(response, reach.name)
    answer = reach.json(response)
    if not isinstance(answer.get("results"), list):
        raise reach.unreadable("it has no list of results")
    found = tuple(
        Found(
            plain(item.get("title")),
            item["url"].strip(),
            plain(item.get("content")),
            plain(item.get("publishedDate")),
            {"engine": plain(item.get("engine"))},
        )
        for item in records(answer["results"])
        if plain(item.get("title")) and is_web(str(item.get("url")).strip())
    )
    return Page(found, more=bool(found))


PROVIDER = Provider("searxng", search, max_chars=1000)
