"""SearXNG: an instance of the user's own, through its JSON form."""

from __future__ import annotations

from typing import Any, ClassVar

from toolcrib.core.errors import NotConfigured, Unavailable
from toolcrib.net.statuses import check
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider
from toolcrib.web.provider_api.responses import found, number, page_of

_SAFE = {"strict": "2", "moderate": "1", "off": "0"}
MOST_ENGINES = 8


class SearXNG(Provider):
    """SearXNG."""

    name = "searxng"
    about = "An instance of your own; its settings must allow JSON."
    max_chars = 1000
    category: ClassVar[str] = ""

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of what the instance gathered from its engines."""
        items = await gathered(reach, ask, self.category)
        results = page_of(map(_result, items))
        return Page(results.results, more=bool(results.results))


async def gathered(reach: Reach, ask: Ask, category: str) -> list[dict[str, Any]]:
    """The results of an instance in one category; empty is its usual one.

    Raises:
        NotConfigured: the instance does not give JSON.
        Unavailable: none of its engines answered.
    """
    # No word of who we are: the instance's own defence takes browsers only.
    response = await reach.send(
        "/search",
        params={
            "q": ask.words,
            "format": "json",
            "pageno": str(ask.page),
            "categories": category,
            "language": ask.region,
            "time_range": ask.freshness,
            "safesearch": _SAFE[ask.safe_search],
        },
        headers=reach.bearer,
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
    items = reach.listed(answer, "results")
    silent = _silent(answer.get("unresponsive_engines"))
    if silent and not items:
        raise Unavailable(
            f"No engine of the SearXNG instance answered: {silent}.",
            hint="Wait a minute, or use another provider; the instance's settings name engines.",
            provider=reach.name,
        )
    if silent:
        reach.warn(f"{reach.name} had no answer from {silent}.")
    return items


def _silent(value: Any) -> str:
    """The engines that did not answer, each with the reason, as `[["google", "timeout"]]`."""
    told = []
    for entry in value if isinstance(value, list) else []:
        parts = [one_line(p) for p in entry] if isinstance(entry, list) else [one_line(entry)]
        name, reason = parts[0] if parts else "", parts[1] if len(parts) > 1 else ""
        if name:
            told.append(f"{name[:40]} ({reason[:60]})" if reason else name[:40])
    told = sorted(set(told))
    return ", ".join(told[:MOST_ENGINES]) + (" and others" if len(told) > MOST_ENGINES else "")


def engines_of(item: dict[str, Any]) -> list[str]:
    """The engines that found a result."""
    listed = item.get("engines")
    names = listed if isinstance(listed, list) and listed else [item.get("engine")]
    return [name for value in names if (name := one_line(value))]


def _result(item: dict[str, Any]) -> Found | None:
    title = one_line(item.get("title"))
    if not title:
        return None
    return found(
        title,
        item.get("url"),
        one_line(item.get("content")),
        item.get("publishedDate"),
        engines=engines_of(item),
        score=number(item.get("score")),
    )
