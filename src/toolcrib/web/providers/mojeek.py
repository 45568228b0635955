"""Mojeek without a key: a small index of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from toolcrib.net.egress.response import Response
from toolcrib.web.engines.engine import Engine
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask

SIZE = 10
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


class Mojeek(Engine):
    """Mojeek."""

    name = "mojeek"
    about = "Mojeek's page for people; an index of its own."
    base_url = "https://www.mojeek.com"
    site = "mojeek.com"

    blocks = (
        "ul.results-standard > li, ul[class*=results-standard] > li",
        ".results > ul > li:has(h2 a), .results ol > li:has(h2 a), li:has(a.ob):has(h2)",
    )
    never = ".ad, .ads, .sponsored, [class*=sponsor], [class*='-ad '], [data-ad]"
    aside = (
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
    said = ".serp-results, .results, .results-count-container, .top-info, .container, .content"
    pager = ".pagination li:last-child a[href*='s='], .pagination a.next[href]"
    pager_fields = ("s",)

    async def request(self, ask: Ask, reach: Reach) -> Response:
        """`s` is sent for later pages only: with the first it looks like a program."""
        params = {"q": ask.words, "safe": "0" if ask.safe_search == "off" else "1"}
        if ask.page > 1:
            params["s"] = ask.cursor.get("s") or str(1 + SIZE * (ask.page - 1))
        if ask.freshness:
            since = datetime.now(UTC) - timedelta(days=_DAYS[ask.freshness])
            params["since"] = since.strftime("%Y%m%d")
        sent = {"lb": ask.language, "arc": ask.country.lower()}
        return await self.fetch_page(reach, ask, "/search", params=params, cookies=sent)
