"""Brave Search without a key: the page for people."""

from __future__ import annotations

from toolcrib.net.egress.response import Response
from toolcrib.web.engines.engine import Engine
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask

_PERIODS = {"": "", "day": "pd", "week": "pw", "month": "pm", "year": "py"}
LAST_OFFSET = 9


class BraveHtml(Engine):
    """Brave Search."""

    name = "brave_html"
    about = "Brave Search's page for people."
    base_url = "https://search.brave.com"
    site = "brave.com"
    max_chars = 400
    max_words = 50

    blocks = (
        ".snippet[data-type=web], [data-type=web]:has(a[href])",
        ".snippet.fdb, #results > .snippet:not([data-type])",
        "#results .snippet[data-pos]:not([data-type]), #results .result:has(h2 a)",
    )
    never = (
        "[data-type=ad], [data-type=ads], .ad, #search-ad, #ads, [id^=search-ad],"
        ".snippet:not([data-type=web]).standalone"
    )
    aside = (
        ".result-cluster, .cluster, [data-type=news], [data-type=videos], [data-type=images],"
        "[data-type=infobox], [data-type=faq], [data-type=locations], #infobox, #faq, #news,"
        "#videos, #images, #discussions, #search-elsewhere, #related-queries, #video-cluster,"
        ".sidebar, #side-right, [data-macro=videos-cluster], .carousel"
    )
    links = (
        ".result-content > a[href]",
        "a.result-header",
        "a.l1[href]",
        "a.heading-serpresult",
        "a.h[href]",
        "a[href]:has(.title)",
        "a[href]:has(.snippet-title)",
        ".title a[href]",
        "h2 a[href]",
        "a[href]",
    )
    titles = (
        ".search-snippet-title",
        ".snippet-title",
        "a > .title",
        ".title",
        ".heading-serpresult .url",
        "h2",
    )
    snippets = (
        ".generic-snippet .content",
        ".generic-snippet",
        ".snippet-description",
        ".snippet-content .description",
        ".snippet-content",
        ".inline-qa-answer",
        ".description",
        ".video-snippet .snippet-description",
        ".desktop-default-regular.t-primary",
        "[class*=line-clamp-dynamic]",
        ".body, .content",
    )
    noise = ".result-cluster, .site-name-wrapper, .netloc, .snippet-url, .badge, .deep-results"
    frame = "#results, #mixed-main, main"
    empty = "#no-results, .no-results, #results .no-result"
    said = "#results, #mixed-main, main"
    pager = "#pagination a[href*='offset='], #pagination-snippet a[href*='offset='], a#next"
    pager_fields = ("offset",)

    async def request(self, ask: Ask, reach: Reach) -> Response:
        """Its settings live in cookies; a location is not guessed."""
        params = {"q": ask.words, "source": "web", "spellcheck": "0"}
        params["tf"] = _PERIODS[ask.freshness]
        if ask.page > 1:
            params["offset"] = str(min(ask.page - 1, LAST_OFFSET))
        language = f"{ask.language}-{ask.country.lower()}" if ask.country else ""
        sent = {"safesearch": ask.safe_search, "useLocation": "0", "summarizer": "0"}
        sent |= {"country": ask.country.lower() or "all", "ui_lang": language}
        return await self.fetch_page(reach, ask, "/search", params=params, cookies=sent)
