"""SearXNG: pages, news and images of an instance of the user's own, through its JSON form."""

from __future__ import annotations

from typing import Any, ClassVar

from toolcrib.core.errors import NotConfigured, Unavailable
from toolcrib.net.response_check import check
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider import (
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    joined,
    number,
    picture_size,
    result_page,
    search_result,
)

_SAFE = {"strict": "2", "moderate": "1", "off": "0"}
MAX_LISTED_ENGINES = 8


class SearXNG(Provider):
    """SearXNG."""

    name = "searxng"
    about = "An instance of your own; its settings must allow JSON."
    max_chars = 1000
    category: ClassVar[str] = ""

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of what the instance collected from its engines.

        Raises:
            NotConfigured: the instance does not give JSON.
            Unavailable: none of its engines answered.
        """
        # No word of who we are: the instance's own defence takes browsers only.
        response = await client.send(
            "/search",
            params={
                "q": request.words,
                "format": "json",
                "pageno": str(request.page),
                "categories": self.category,
                "language": request.region,
                "time_range": request.freshness,
                "safesearch": _SAFE[request.safe_search],
            },
            headers=client.bearer,
            checked=False,
        )
        if response.status == 403:
            raise NotConfigured(
                f"The SearXNG instance at {client.base_url} refuses JSON (HTTP 403).",
                hint="Its settings.yml must list `json` under search.formats; then restart it.",
                status=403,
            )
        check(response, client.name)
        answer = client.json(response)
        items = client.listed(answer, "results")
        silent = _silent(answer.get("unresponsive_engines"))
        if silent and not items:
            raise Unavailable(
                f"No engine of the SearXNG instance answered: {silent}.",
                hint="Wait a minute, or use another provider; "
                "the instance's settings name engines.",
                provider=client.name,
            )
        if silent:
            client.warn(f"{client.name} had no answer from {silent}.")
        return result_page((self.result(item, client.base_url) for item in items), more=True)

    def result(self, item: dict[str, Any], base_url: str) -> SearchResult | None:
        """A result, unless it has no title."""
        del base_url
        title = one_line(item.get("title"))
        if not title:
            return None
        return search_result(
            title,
            item.get("url"),
            one_line(item.get("content")),
            item.get("publishedDate"),
            engines=_engines_of(item),
            score=number(item.get("score")),
        )


class SearXNGNews(SearXNG):
    """News of SearXNG."""

    name = "searxng_news"
    about = "News by your SearXNG instance."
    kind = "news"
    shares = "searxng"
    category = "news"


class SearXNGImages(SearXNG):
    """Images of SearXNG."""

    name = "searxng_images"
    about = "Images by your SearXNG instance."
    kind = "images"
    shares = "searxng"
    category = "images"

    def result(self, item: dict[str, Any], base_url: str) -> SearchResult | None:
        """An image; engines leave out the scheme or the host of some addresses."""
        size = picture_size(one_line(item.get("resolution")))
        return search_result(
            one_line(item.get("title")),
            _absolute(item.get("img_src"), base_url),
            one_line(item.get("content")),
            item.get("publishedDate"),
            page=_absolute(item.get("url"), base_url),
            thumbnail=_absolute(item.get("thumbnail_src"), base_url),
            width=size.get("width"),
            height=size.get("height"),
            source=one_line(item.get("source")),
            engines=_engines_of(item),
        )


def _silent(value: Any) -> str:
    """The engines that did not answer, each with the reason, as `[["google", "timeout"]]`."""
    names = []
    for entry in value if isinstance(value, list) else []:
        parts = [one_line(p) for p in entry] if isinstance(entry, list) else [one_line(entry)]
        name, reason = parts[0] if parts else "", parts[1] if len(parts) > 1 else ""
        if name:
            names.append(f"{name[:40]} ({reason[:60]})" if reason else name[:40])
    names = sorted(set(names))
    return ", ".join(names[:MAX_LISTED_ENGINES]) + (
        " and others" if len(names) > MAX_LISTED_ENGINES else ""
    )


def _engines_of(item: dict[str, Any]) -> list[str]:
    """The engines that found a result."""
    listed = item.get("engines")
    names = listed if isinstance(listed, list) and listed else [item.get("engine")]
    return [name for value in names if (name := one_line(value))]


def _absolute(value: Any, base: str) -> str:
    """An address as engines give it, some of them without a scheme or a host."""
    return joined(f"{base}/", value.strip()) if isinstance(value, str) and value.strip() else ""
