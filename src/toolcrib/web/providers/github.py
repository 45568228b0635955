"""Repositories of GitHub."""

from __future__ import annotations

from typing import Any

from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import at, covers, day_of, found, number, page_of, texts

COUNT = 20
REACHABLE = 1000
"""Results that the service gives of one query, however many there are."""


class GitHub(Provider):
    """GitHub."""

    name = "github"
    about = "Repositories of GitHub. A key is optional; with it more may be asked."
    base_url = "https://api.github.com"
    key_env = "GITHUB_TOKEN"
    max_chars = 256
    ignores = ("region", "safe_search")

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of repositories."""
        if not covers(ask.site, "github.com"):
            return Page()
        since = day_of(ask.freshness)
        answer = await reach.call(
            "/search/repositories",
            params={
                "q": f"{ask.query} pushed:>={since}" if since else ask.query,
                "per_page": str(COUNT),
                "page": str(ask.page),
            },
            headers={
                **reach.bearer,
                "accept": "application/vnd.github+json",
                "x-github-api-version": "2022-11-28",
            },
        )
        items = reach.listed(answer, "items")
        total = number(answer.get("total_count")) or 0
        return page_of(map(_result, items), more=ask.page * COUNT < min(total, REACHABLE))


def _result(item: dict[str, Any]) -> Found | None:
    return found(
        one_line(item.get("full_name")),
        item.get("html_url"),
        one_line(item.get("description")),
        item.get("pushed_at"),
        stars=number(item.get("stargazers_count")),
        language=one_line(item.get("language")),
        license=one_line(at(item, "license", "spdx_id")),
        topics=texts(item.get("topics"))[:10],
        archived=item.get("archived") or None,
    )
