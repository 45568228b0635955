"""Mojeek without a key: a small index of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from toolcrib.net.egress.response import Response
from toolcrib.web.provider import ProviderClient, SearchRequest
from toolcrib.web.search_engine import SearchEngine

SIZE = 10
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


class Mojeek(SearchEngine):
    """Mojeek."""

    name = "mojeek"
    about = "Mojeek's page for people; an index of its own."
    base_url = "https://www.mojeek.com"
    site = "mojeek.com"

    result_selectors = (
        "ul.results-standard > li, ul[class*=results-standard] > li",
        ".results > ul > li:has(h2 a), .results ol > li:has(h2 a), li:has(a.ob):has(h2)",
    )
    excluded = ".ad, .ads, .sponsored, [class*=sponsor], [class*='-ad '], [data-ad]"
    excluded_areas = (
        ".news-search-result, .results-news, .infobox, .results-images, .image-results, .summary,"
        ".results-extra, .right-col, .kp"
    )
    links = ("h2 a[href]", "a.title[href]", "a.ob[href]")
    titles = ("h2 a", "a.title", "h2", "a.ob")
    snippets = ("p.s", ".s", "p.desc", "p:not(.i):not(.more):not(.url)")
    dates = ("p.i .date", ".mdate", ".date")
    noise = "p.more, .i-more"
    frame = ".results, .serp-results, ul.results-standard, .top-info"
    empty = ".no-results, .results-none"
    empty_texts = (
        ".serp-results, .results, .results-count-container, .top-info, .container, .content"
    )
    pager = ".pagination li:last-child a[href*='s='], .pagination a.next[href]"
    pager_fields = ("s",)

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """`s` is sent for later pages only: with the first it looks like a program."""
        params = {"q": request.words, "safe": "0" if request.safe_search == "off" else "1"}
        if request.page > 1:
            params["s"] = request.cursor.get("s") or str(1 + SIZE * (request.page - 1))
        if request.freshness:
            since = datetime.now(UTC) - timedelta(days=_DAYS[request.freshness])
            params["since"] = since.strftime("%Y%m%d")
        sent = {"lb": request.language, "arc": request.country.lower()}
        return await self.fetch_page(client, request, "/search", params=params, cookies=sent)
