"""Search services with a JSON API that want a key of the user's own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from toolcrib.core.errors import HttpStatus
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider import (
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    content_of,
    day_of,
    number,
    result_page,
    search_result,
    start_of,
    texts,
    unmarked,
)
from toolcrib.web.providers.brave import language

MAX_TEXT_BYTES = 5_000_000
"""For answers that hold the text of pages."""


class KeyService(Provider):
    """A service that takes a JSON body and answers with a list of results.

    Attributes:
        path: where it is asked.
        results: the members of the answer that lead to the list.
        optional: an answer without the list has no results; else it is an error.
        fields: the members of a result that hold its snippet, date ("published") and text
            ("content"); its title and url too, where they have other names.
    """

    needs_key = True
    path: ClassVar[str] = "/search"
    results: ClassVar[tuple[str, ...]] = ("results",)
    optional: ClassVar[bool] = False
    fields: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def body(self, request: SearchRequest) -> dict[str, Any]:
        """What is sent."""

    def headers(self, request: SearchRequest, client: ProviderClient) -> dict[str, str]:
        """The header with the key, and others."""
        del request
        return client.bearer

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of results."""
        answer = await client.call(
            self.path, json_body=self.body(request), headers=self.headers(request, client)
        )
        items = client.listed(answer, *self.results, optional=self.optional)
        return result_page(map(self.result, items), more=self.more(request, items))

    def more(self, request: SearchRequest, items: Sequence[dict[str, Any]]) -> bool:
        """Whether there is another page; most of these services have one page only."""
        del request, items
        return False

    def result(self, item: dict[str, Any], **extra: Any) -> SearchResult | None:
        """A result of the list."""
        fields = {"title": "title", "url": "url", **self.fields}
        return search_result(
            one_line(item.get(fields["title"])),
            item.get(fields["url"]),
            one_line(item.get(fields.get("snippet", ""))),
            item.get(fields.get("published", "")),
            content_of(item.get(fields.get("content", ""))),
            **extra,
        )


class Exa(KeyService):
    """Exa."""

    name = "exa"
    about = "Exa by its API, with the text of pages."
    base_url = "https://api.exa.ai"
    key_env = "EXA_API_KEY"
    max_chars = 1000
    counted = True
    max_bytes = MAX_TEXT_BYTES
    fields: ClassVar[Mapping[str, str]] = {
        "snippet": "snippet",
        "published": "publishedDate",
        "content": "text",
    }

    def body(self, request: SearchRequest) -> dict[str, Any]:
        """A site and a country are members of their own."""
        start = start_of(request.freshness)
        return {
            "query": request.query,
            "type": "auto",
            "numResults": min(request.count, 20),
            "contents": {"text": {"maxCharacters": 10_000}, "highlights": True},
            "startPublishedDate": f"{start:%Y-%m-%dT%H:%M:%S.000Z}" if start else "",
            "includeDomains": [request.site] if request.site else [],
            "userLocation": request.country,
            "moderation": True if request.safe_search == "strict" else None,
        }

    def headers(self, request: SearchRequest, client: ProviderClient) -> dict[str, str]:
        """It has taken the key in either header."""
        del request
        return {**client.bearer, "x-api-key": client.key}

    def result(self, item: dict[str, Any], **extra: Any) -> SearchResult | None:
        """Its snippets are a list."""
        return super().result(
            {**item, "snippet": " … ".join(texts(item.get("highlights")))},
            score=number(item.get("score")),
            author=one_line(item.get("author")),
            **extra,
        )


class Jina(KeyService):
    """Jina. Its reader works without a key, its search does not."""

    name = "jina"
    about = "Jina's search by its API."
    base_url = "https://s.jina.ai"
    key_env = "JINA_API_KEY"
    ignores = ("freshness", "safe_search")
    path = "/"
    results = ("data",)
    fields: ClassVar[Mapping[str, str]] = {
        "snippet": "description",
        "published": "date",
        "content": "content",
    }
    count: ClassVar[int] = 10

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of results; finding nothing is an error of its own."""
        try:
            return await super().search(request, client)
        except HttpStatus as error:
            if error.details.get("status") == 422 and "No search results" in error.message:
                return ResultPage()
            raise

    def headers(self, request: SearchRequest, client: ProviderClient) -> dict[str, str]:
        """Results without the pages themselves; the site is a header."""
        site = {"x-site": f"https://{request.site}"} if request.site else {}
        return {**client.bearer, "x-respond-with": "no-content", **site}

    def body(self, request: SearchRequest) -> dict[str, Any]:
        """Region and language apart."""
        return {
            "q": request.query,
            "num": self.count,
            "gl": request.country,
            "hl": request.language,
            "page": request.page if request.page > 1 else None,
        }

    def more(self, request: SearchRequest, items: Sequence[dict[str, Any]]) -> bool:
        """A full page is followed by another."""
        del request
        return len(items) >= self.count


class Kagi(KeyService):
    """Kagi, through version 1 of its API."""

    name = "kagi"
    about = "Kagi by its API."
    base_url = "https://kagi.com"
    key_env = "KAGI_API_KEY"
    path = "/api/v1/search"
    results = ("data", "search")
    optional = True

    def body(self, request: SearchRequest) -> dict[str, Any]:
        """A site is a lens."""
        wanted = {"region": request.country, "after": day_of(request.freshness)}
        filters = {name: value for name, value in wanted.items() if value}
        return {
            "query": request.query,
            "workflow": "search",
            "page": request.page if request.page > 1 else None,
            "filters": filters or None,
            "lens": {"sites_included": [request.site]} if request.site else None,
            "safe_search": request.safe_search != "off",
        }

    def more(self, request: SearchRequest, items: Sequence[dict[str, Any]]) -> bool:
        """It has ten pages at most."""
        del items
        return request.page < 10

    def result(self, item: dict[str, Any], **extra: Any) -> SearchResult | None:
        """Its texts have tags in them."""
        title, snippet = unmarked(item.get("title")), unmarked(item.get("snippet"))
        return search_result(title, item.get("url"), snippet, item.get("time"), **extra)


class Linkup(KeyService):
    """Linkup."""

    name = "linkup"
    about = "Linkup by its API, with the text of pages."
    base_url = "https://api.linkup.so"
    key_env = "LINKUP_API_KEY"
    max_chars = 1000
    counted = True
    max_bytes = MAX_TEXT_BYTES
    ignores = ("region", "safe_search")
    path = "/v1/search"
    fields: ClassVar[Mapping[str, str]] = {
        "title": "name",
        "published": "date",
        "content": "content",
    }

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """The best results; it calls finding nothing a bad request."""
        try:
            return await super().search(request, client)
        except HttpStatus as error:
            if "NO_RESULT" in error.message:
                return ResultPage()
            raise

    def body(self, request: SearchRequest) -> dict[str, Any]:
        """Results alone, without an answer of its own."""
        return {
            "q": request.query,
            "depth": "standard",
            "outputType": "searchResults",
            "maxResults": min(request.count, 50),
            "fromDate": day_of(request.freshness),
            "includeDomains": [request.site] if request.site else [],
        }

    def result(self, item: dict[str, Any], **extra: Any) -> SearchResult | None:
        """Images stand among its results."""
        return super().result(item, **extra) if item.get("type", "text") == "text" else None


class Ollama(KeyService):
    """Ollama's cloud."""

    name = "ollama"
    about = "Ollama's web search; a free account has a key."
    base_url = "https://ollama.com"
    key_env = "OLLAMA_API_KEY"
    max_bytes = MAX_TEXT_BYTES
    ignores = ("freshness", "region", "safe_search")
    path = "/api/web_search"
    fields: ClassVar[Mapping[str, str]] = {"content": "content"}

    def body(self, request: SearchRequest) -> dict[str, Any]:
        """It takes nothing but words."""
        return {"query": request.words, "max_results": 10}


class Perplexity(KeyService):
    """Perplexity: ranked results, no written answer."""

    name = "perplexity"
    about = "Perplexity's search by its API, with the text of pages."
    base_url = "https://api.perplexity.ai"
    key_env = "PERPLEXITY_API_KEY"
    max_chars = 1000
    counted = True
    max_bytes = MAX_TEXT_BYTES
    ignores = ("safe_search",)
    # What it calls a snippet is text of the page.
    fields: ClassVar[Mapping[str, str]] = {"published": "date", "content": "snippet"}

    def body(self, request: SearchRequest) -> dict[str, Any]:
        """It takes languages of two letters only."""
        return {
            "query": request.query,
            "max_results": min(request.count, 20),
            "search_recency_filter": request.freshness,
            "search_domain_filter": [request.site] if request.site else [],
            "country": request.country,
            "search_language_filter": [request.language] if len(request.language) == 2 else [],
        }

    def result(self, item: dict[str, Any], **extra: Any) -> SearchResult | None:
        """The day of the last change, where none is given for the first."""
        date = one_line(item.get("date")) or one_line(item.get("last_updated"))
        return super().result({**item, "date": date}, **extra)


class Serper(KeyService):
    """Serper."""

    name = "serper"
    about = "Google's results by the API of Serper."
    base_url = "https://google.serper.dev"
    key_env = "SERPER_API_KEY"
    max_chars = 2000
    ignores = ("safe_search",)
    results = ("organic",)
    optional = True
    fields: ClassVar[Mapping[str, str]] = {"url": "link", "snippet": "snippet", "published": "date"}

    def body(self, request: SearchRequest) -> dict[str, Any]:
        """As Google takes it."""
        return {
            "q": request.words,
            "gl": request.country.lower(),
            "hl": request.language,
            "tbs": f"qdr:{request.freshness[:1]}" if request.freshness else "",
            "page": request.page if request.page > 1 else None,
        }

    def headers(self, request: SearchRequest, client: ProviderClient) -> dict[str, str]:
        """The key has a header of its own."""
        del request
        return {"x-api-key": client.key}

    def more(self, request: SearchRequest, items: Sequence[dict[str, Any]]) -> bool:
        """Google gives fewer than ten now and then, and more pages all the same."""
        del request
        return len(items) >= 5


class Tavily(KeyService):
    """Tavily."""

    name = "tavily"
    about = "Tavily by its API, with the text of pages."
    base_url = "https://api.tavily.com"
    key_env = "TAVILY_API_KEY"
    max_chars = 400
    counted = True
    max_bytes = 10_000_000
    ignores = ("region", "safe_search")
    fields: ClassVar[Mapping[str, str]] = {
        "snippet": "content",
        "published": "published_date",
        "content": "raw_content",
    }

    def body(self, request: SearchRequest) -> dict[str, Any]:
        """With the text of pages."""
        return {
            "query": request.query,
            "search_depth": "basic",
            "max_results": min(request.count, 20),
            "include_raw_content": "markdown",
            "time_range": request.freshness,
            "include_domains": [request.site] if request.site else [],
        }

    def result(self, item: dict[str, Any], **extra: Any) -> SearchResult | None:
        """With its score."""
        return super().result(item, score=number(item.get("score")), **extra)


class YouCom(Provider):
    """You.com."""

    name = "youcom"
    about = "You.com by its API."
    base_url = "https://ydc-index.io"
    key_env = "YDC_API_KEY"
    needs_key = True
    count: ClassVar[int] = 20

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of web results, and of news where the service saw fit."""
        answer = await client.call(
            "/v1/search",
            params={
                "query": request.query,
                "count": str(self.count),
                "offset": str(request.page - 1) if request.page > 1 else "",
                "freshness": request.freshness,
                "country": request.country,
                # The same codes as Brave's, in upper case.
                "language": language(request).upper(),
                "safesearch": request.safe_search,
                "include_domains": request.site,
            },
            headers={"x-api-key": client.key},
        )
        if not isinstance(answer.get("results"), dict):
            raise client.unreadable("it has no results")
        pages = client.listed(answer, "results", "web", optional=True)
        news = client.listed(answer, "results", "news", optional=True)
        more = len(pages) >= self.count and request.page < 10
        return result_page(map(self._result, [*pages, *news]), more=more)

    @staticmethod
    def _result(item: dict[str, Any]) -> SearchResult | None:
        snippets = texts(item.get("snippets"))
        return search_result(
            unmarked(item.get("title")),
            item.get("url"),
            unmarked(item.get("description")) or (snippets[0] if snippets else ""),
            one_line(item.get("page_age")),
            extra_snippets=snippets,
        )
