"""Stories of Hacker News, through the search of Algolia."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider, is_web
from toolcrib.web.provider_api.responses import found, number, page_of, start_of, unmarked

COUNT = 20
ITEM = "https://news.ycombinator.com/item?id="


class HackerNews(Provider):
    """Hacker News."""

    name = "hackernews"
    about = "Stories of Hacker News, each with its discussion."
    base_url = "https://hn.algolia.com"
    ignores = ("region", "safe_search")

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of stories."""
        start = start_of(ask.freshness)
        site = ask.site.lower()
        answer = await reach.call(
            "/api/v1/search",
            params={
                "query": f"{ask.query} {site}" if site else ask.query,
                "tags": "story",
                "hitsPerPage": str(COUNT),
                "page": str(ask.page - 1) if ask.page > 1 else "",
                "numericFilters": f"created_at_i>{start.timestamp():.0f}" if start else "",
            },
        )
        hits = [hit for hit in reach.listed(answer, "hits") if _is_of(hit, site)]
        more = ask.page < (number(answer.get("nbPages")) or 0)
        return page_of(map(_result, hits), more=more)


def _is_of(hit: dict[str, Any], site: str) -> bool:
    """Whether the page of a story stands on a site."""
    host = str(hit.get("url") or ITEM).lower().partition("://")[2].partition("/")[0]
    return not site or host == site or host.endswith(f".{site}")


def _result(hit: dict[str, Any]) -> Found | None:
    key = one_line(hit.get("objectID"))
    discussion = f"{ITEM}{key}" if key.isdecimal() else ""
    url = one_line(hit.get("url"))
    points, comments = number(hit.get("points")), number(hit.get("num_comments"))
    counts = f"{points or 0} points, {comments or 0} comments"
    return found(
        unmarked(hit.get("title")),
        url if is_web(url) else discussion,
        unmarked(hit.get("story_text")) or counts,
        hit.get("created_at"),
        discussion=discussion,
        points=points,
        comments=comments,
        author=one_line(hit.get("author")),
    )
