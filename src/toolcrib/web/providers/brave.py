"""Brave Search: its API with a key (web, news, images, text for models), and its web page."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.core.names import name_set
from toolcrib.core.package_data import package_table
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.url import Headers
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider import (
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    content_of,
    member,
    number,
    result_page,
    search_result,
    texts,
    unmarked,
    web_url,
)
from toolcrib.web.search_engine import SearchEngine

PAGE_SIZE = 20
LAST_PAGE = 10
MAX_IMAGES = 100
MAX_CONTEXT_TOKENS = 16_384
MAX_PAGE_OFFSET = 9
FEW_LEFT = 0.1
"""Of the month's requests; from there on the user is told."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_REGIONS = package_table("web/providers/regions.toml")["brave"]
COUNTRIES, LANGUAGES, UI = (name_set(_REGIONS[kind]) for kind in ("countries", "languages", "ui"))
SPECIAL: dict[str, str] = _REGIONS["special"]


class BraveApi(Provider):
    """What Brave's services have in common."""

    base_url = "https://api.search.brave.com"
    key_env = "BRAVE_API_KEY"
    needs_key = True
    max_chars = 400
    max_words = 50
    max_bytes = 1_048_576
    gap_seconds = 1.0

    async def fetch_page(
        self, path: str, request: SearchRequest, client: ProviderClient
    ) -> dict[str, Any]:
        """One page of results with their snippets."""
        return await self.fetch(
            path,
            request,
            client,
            count=str(PAGE_SIZE),
            offset=str(request.page - 1),
            safesearch=request.safe_search,
            extra_snippets="true",
        )

    async def fetch(
        self, path: str, request: SearchRequest, client: ProviderClient, **more: str
    ) -> dict[str, Any]:
        """One answer of the service at a path."""
        # The operator for a site counts as well.
        self.check_query(request.words)
        params = {"q": request.words, "freshness": period(request)}
        headers = {"x-subscription-token": client.key}
        response = await client.fetch(
            path, params={**params, **region(request), **more}, headers=headers
        )
        if left := requests_left(response.headers):
            client.warn(left)
        return client.json(response)


def requests_left(headers: Headers) -> str:
    """What the user should know of the month's requests; nothing while there are plenty.

    Brave counts by the second and by the month, in one header: `1, 1990`.
    """
    limit = _of_the_month(headers, "x-ratelimit-limit")
    left = _of_the_month(headers, "x-ratelimit-remaining")
    if not limit or left is None or left > limit * FEW_LEFT:
        return ""
    days = (_of_the_month(headers, "x-ratelimit-reset") or 0) / 86_400
    reset = f", for {days:.0f} days more" if days >= 1 else ""
    return f"Brave's key has {left:,} of {limit:,} requests of this month left{reset}."


def _of_the_month(headers: Headers, name: str) -> int | None:
    numbers = headers.get(name, "").split(",")
    last = numbers[-1].strip()
    return int(last) if len(numbers) > 1 and last.isascii() and last.isdigit() else None


class Brave(BraveApi):
    """Brave Search."""

    name = "brave"
    about = "Brave Search by its API."

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of web results."""
        answer = await self.fetch_page("/res/v1/web/search", request, client)
        more = bool(member(answer, "query", "more_results_available")) and request.page < LAST_PAGE
        results = client.listed(answer, "web", "results", optional=True)
        return result_page(map(_web_result, results), more=more)


def _web_result(item: dict[str, Any]) -> SearchResult | None:
    if not unmarked(item.get("title")):
        return None
    return _result(
        item, language=one_line(item.get("language")), family_friendly=item.get("family_friendly")
    )


def _news_result(item: dict[str, Any]) -> SearchResult | None:
    return _result(
        item,
        source=one_line(member(item, "meta_url", "hostname")),
        breaking=item.get("breaking") or None,
    )


def _result(item: dict[str, Any], **extra: Any) -> SearchResult | None:
    return search_result(
        unmarked(item.get("title")),
        item.get("url"),
        unmarked(item.get("description")),
        one_line(item.get("page_age")) or one_line(item.get("age")),
        extra_snippets=texts(item.get("extra_snippets")),
        **extra,
    )


def language(request: SearchRequest) -> str:
    """The language of a region as Brave writes it; empty for one that it does not know."""
    name = SPECIAL.get(f"{request.language}-{request.country}") or SPECIAL.get(
        request.language, request.language
    )
    return name if name in LANGUAGES else ""


def period(request: SearchRequest) -> str:
    """The age of results as Brave takes it, such as pw for a week."""
    return f"p{request.freshness[:1]}" if request.freshness else ""


def region(request: SearchRequest) -> dict[str, str]:
    """A region as Brave takes it: what it does not know is left out."""
    ui = f"{request.language}-{request.country}"
    return {
        "country": request.country if request.country in COUNTRIES else "",
        "search_lang": language(request),
        "ui_lang": ui if ui in UI else "",
    }


class BraveContext(BraveApi):
    """Brave LLM Context."""

    name = "brave_context"
    about = "Text of pages by Brave's API for language models."
    shares = "brave"
    ignores = ("safe_search",)

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """The pages found, each with the text that bears on the query; there is one page."""
        answer = await self.fetch(
            "/res/v1/llm/context",
            request,
            client,
            count=str(PAGE_SIZE),
            maximum_number_of_tokens=str(MAX_CONTEXT_TOKENS),
            ui_lang="",
        )
        items = client.listed(answer, "grounding", "generic", optional=True)
        return result_page(_context_result(item, answer) for item in items)


def _context_result(item: dict[str, Any], answer: dict[str, Any]) -> SearchResult | None:
    snippets = item.get("snippets")
    parts = [content_of(s) for s in snippets] if isinstance(snippets, list) else []
    url = item.get("url")
    source = member(answer, "sources", url) if isinstance(url, str) else None
    ages = member(source, "age")
    dates = [a for a in ages if isinstance(a, str)] if isinstance(ages, list) else []
    date = next((a for a in dates if _DAY.fullmatch(a)), dates[0] if dates else "")
    return search_result(
        one_line(item.get("title")),
        url,
        published=date,
        content=content_of("\n\n".join(part for part in parts if part)),
        source=one_line(member(source, "hostname")),
    )


class BraveNews(BraveApi):
    """Brave News."""

    name = "brave_news"
    about = "News by Brave's API."
    kind = "news"
    shares = "brave"

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of news, newest and most relevant first."""
        answer = await self.fetch_page("/res/v1/news/search", request, client)
        results = client.listed(answer, "results", optional=True)
        more = len(results) >= PAGE_SIZE and request.page < LAST_PAGE
        return result_page(map(_news_result, results), more=more)


class BraveImages(BraveApi):
    """Brave Images."""

    name = "brave_images"
    about = "Images by Brave's API."
    kind = "images"
    shares = "brave"
    ignores = ("freshness",)

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """The images found; there is one page."""
        answer = await self.fetch(
            "/res/v1/images/search",
            request,
            client,
            count=str(MAX_IMAGES),
            freshness="",
            ui_lang="",
            safesearch="off" if request.safe_search == "off" else "strict",
        )
        return result_page(map(_image_result, client.listed(answer, "results", optional=True)))


def _image_result(item: dict[str, Any]) -> SearchResult | None:
    return search_result(
        unmarked(item.get("title")),
        member(item, "properties", "url"),
        page=web_url(item.get("url")),
        thumbnail=web_url(member(item, "thumbnail", "src")),
        width=number(member(item, "properties", "width")),
        height=number(member(item, "properties", "height")),
        source=one_line(item.get("source")),
    )


class BraveHtml(SearchEngine, selectors="brave_html"):
    """Brave Search."""

    name = "brave_html"
    about = "Brave Search's page for people."
    base_url = "https://search.brave.com"
    site = "brave.com"
    max_chars = 400
    max_words = 50

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Its settings live in cookies; a location is not guessed."""
        params = {"q": request.words, "source": "web", "spellcheck": "0"}
        params["tf"] = period(request)
        if request.page > 1:
            params["offset"] = str(min(request.page - 1, MAX_PAGE_OFFSET))
        language = f"{request.language}-{request.country.lower()}" if request.country else ""
        sent = {"safesearch": request.safe_search, "useLocation": "0", "summarizer": "0"}
        sent |= {"country": request.country.lower() or "all", "ui_lang": language}
        return await self.fetch_page(client, request, "/search", params=params, cookies=sent)
