"""Startpage without a key: Google's index behind a page of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.net.egress.response import Response
from toolcrib.web.provider import ProviderClient, SearchRequest, SearchResult, is_web, records
from toolcrib.web.result_markup import (
    hidden_fields,
    is_ad,
    is_own,
    parse_page,
    unwrap,
    visible_text,
)
from toolcrib.web.search_engine import PERIOD_LETTERS, SearchEngine, unique_results

if TYPE_CHECKING:
    from turbohtml import Document

_SAFE = {"strict": "heavy", "moderate": "moderate", "off": "none"}
_TONGUES = {
    "en": "english", "de": "deutsch", "fr": "francais", "es": "espanol", "it": "italiano",
    "nl": "nederlands", "pl": "polski", "da": "dansk", "sv": "svenska",
    "no": "norsk", "nb": "norsk", "fi": "suomi", "tr": "turkce", "ja": "nihongo", "ko": "hangul",
    "zh": "jiantizhongwen", "ru": "russian", "cs": "cestina", "hu": "magyar",
    "pt": "portugues",  # codespell:ignore portugues
}  # fmt: skip
_DATA = re.compile(r"React\.createElement\(\s*UIStartpage\.AppSerp\w*\s*,\s*(?=\{)")


class Startpage(SearchEngine):
    """Startpage."""

    name = "startpage"
    about = "Startpage's page for people; Google's index."
    base_url = "https://www.startpage.com"
    site = "startpage.com"

    result_selectors = (
        ".w-gl .result, div.result, .w-gl__result",
        "li.search-result, .search-item, .list-flat > li:has(h3 a)",
        ".w-gl article, .w-gl > div:has(> a h2)",
    )
    excluded = (
        "[id^=gcsa], [class*=gcsa], .a-bg-result, .a-gl, .w-gl-ad, #adBlock, .adBox, .sponsored,"
        "[id^=spon], .ad, .ads, [data-testid*='ad-'], .AdSense, .TextAd"
    )
    excluded_areas = (
        ".wgl-sitelinks, [data-testid=sitelinks], .w-gl__sitelinks, .article,"
        "[data-testid*=carousel], .sidebar, #sidebar, [data-testid=people-also-ask], .pa-bx,"
        ".qi-container"
    )
    links = (
        "a.result-title[href]",
        "a.w-gl__result-title[href]",
        "a.result-link[href]",
        "a[data-testid=gl-title-link]",
        "h3 a[href]",
        "h2 a[href]",
        "a[href]:has(h2)",
    )
    titles = (".wgl-title", "h2", ".w-gl__result-title", "h3")
    snippets = (
        "p.description",
        "p.w-gl__description",
        ".description",
        ".search-item__body",
        ".clk + p, p.clk",
        "p",
    )
    noise = ".anonymous-view-link, .wgl-sitelinks, .w-gl__anonymous-view-url"
    frame = "#main, .w-gl, .layout-web, .mainline-results, .show-results"
    empty = ".no-results, .w-gl__no-results, [data-testid=no-results], .mainline-no-results"
    empty_texts = "#main, .mainline-results, .show-results, main, .layout-web"
    pager = ".pagination form, nav.pagination form, .pagination__form, .pagination a.next"

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Post the form of its home page, or the one that leads on.

        Without the `sc` of a page that it gave before, it asks for a captcha.
        """
        form = dict(request.cursor) or await self._hidden(request, client)
        form |= {"query": request.words, "cat": "web", "qadf": _SAFE[request.safe_search]}
        form["with_date"] = PERIOD_LETTERS[request.freshness]
        form.setdefault("t", "device")
        form.setdefault("segment", "organic")
        if request.language in _TONGUES:
            form |= {"language": _TONGUES[request.language], "lui": "english"}
        if request.country:
            form["qsr"] = f"{request.language}_{request.country}"
        if request.page > 1:
            form["page"] = str(request.page)
        return await self.fetch_page(client, request, "/sp/search", form=form)

    async def _hidden(self, request: SearchRequest, client: ProviderClient) -> dict[str, str]:
        """The hidden fields of the form on its home page; none where it shows none.

        Raises:
            ChallengePage: the home page is a refusal.
            RateLimited: it asks to slow down.
        """
        home = await self.fetch_page(client, request, "/")
        document = parse_page(home)
        token = document.select_one("form input[name=sc]")
        form = token.closest("form") if token is not None else None
        if form is None:
            if home.status in (202, 403, 429):
                self.refuse(home, document, client)
            return {}
        return hidden_fields(form)

    def results(self, document: Document) -> list[SearchResult]:
        """Those of the page; where it shows none, those of its data."""
        found = super().results(document)
        scripts = [] if found else document.select("script")
        return found or unique_results(item for script in scripts for item in _listed(script.text))

    def next_cursor(self, document: Document) -> Mapping[str, str] | None:
        """The hidden fields of the form of the page after the current one."""
        forms = [hidden_fields(f) for f in document.select(self.pager)]
        forms = [form for form in forms if form.get("page", "").isdigit()]
        current = document.select_one("form[aria-label^='current page'] input[name=page]")
        here = str(current.attr("value") or "") if current is not None else "1"
        number = int(here) + 1 if here.isdigit() else 2
        return next((form for form in forms if int(form["page"]) == number), None)


def _listed(script: str) -> Iterator[SearchResult]:
    """The web results in the data of a page; those of other kinds have other names."""
    start = _DATA.search(script)
    if start is None:
        return
    try:
        data, _ = json.JSONDecoder().raw_decode(script, start.end())
        regions = data["render"]["presenter"]["regions"]["mainline"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for group in records(regions):
        for item in records(group.get("results")):
            kind = str(group.get("display_type") or item.get("display_type") or "")
            url = unwrap(str(item.get("clickUrl") or ""))
            title = _text(item.get("title"))
            if kind.startswith("web") and title and is_web(url) and not (is_ad(url) or is_own(url)):
                yield SearchResult(title, url, _text(item.get("description")))


def _text(value: Any) -> str:
    from turbohtml import parse_fragment

    return visible_text(parse_fragment(value)) if isinstance(value, str) else ""
