"""Startpage without a key: Google's index behind a page of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.net.egress.response import Response
from toolcrib.web.engines.engine import LETTER_OF, Engine, unique
from toolcrib.web.engines.markup import parse_page, shown
from toolcrib.web.engines.wrappers import is_ad, is_own, unwrap
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, is_web, records

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


class Startpage(Engine):
    """Startpage."""

    name = "startpage"
    about = "Startpage's page for people; Google's index."
    base_url = "https://www.startpage.com"
    site = "startpage.com"

    blocks = (
        ".w-gl .result, div.result, .w-gl__result",
        "li.search-result, .search-item, .list-flat > li:has(h3 a)",
        ".w-gl article, .w-gl > div:has(> a h2)",
    )
    never = (
        "[id^=gcsa], [class*=gcsa], .a-bg-result, .a-gl, .w-gl-ad, #adBlock, .adBox, .sponsored,"
        "[id^=spon], .ad, .ads, [data-testid*='ad-'], .AdSense, .TextAd"
    )
    aside = (
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
    said = "#main, .mainline-results, .show-results, main, .layout-web"
    pager = ".pagination form, nav.pagination form, .pagination__form, .pagination a.next"

    async def request(self, ask: Ask, reach: Reach) -> Response:
        """Post the form of its home page, or the one that leads on.

        Without the `sc` of a page that it gave before, it asks for a captcha.
        """
        form = dict(ask.cursor) or await self._hidden(ask, reach)
        form |= {"query": ask.words, "cat": "web", "qadf": _SAFE[ask.safe_search]}
        form["with_date"] = LETTER_OF[ask.freshness]
        form.setdefault("t", "device")
        form.setdefault("segment", "organic")
        if ask.language in _TONGUES:
            form |= {"language": _TONGUES[ask.language], "lui": "english"}
        if ask.country:
            form["qsr"] = f"{ask.language}_{ask.country}"
        if ask.page > 1:
            form["page"] = str(ask.page)
        return await self.fetch_page(reach, ask, "/sp/search", form=form)

    async def _hidden(self, ask: Ask, reach: Reach) -> dict[str, str]:
        """The hidden fields of the form on its home page; none where it shows none.

        Raises:
            ChallengePage: the home page is a refusal.
            RateLimited: it asks to slow down.
        """
        home = await self.fetch_page(reach, ask, "/")
        document = parse_page(home)
        token = document.select_one("form input[name=sc]")
        form = token.closest("form") if token is not None else None
        if form is None:
            if home.status in (202, 403, 429):
                self.refuse(home, document, reach)
            return {}
        return _fields(form.select("input[type=hidden][name]"))

    def results(self, document: Document) -> list[Found]:
        """Those of the page; where it shows none, those of its data."""
        found = super().results(document)
        scripts = [] if found else document.select("script")
        return found or unique(item for script in scripts for item in _listed(script.text))

    def following(self, document: Document) -> Mapping[str, str] | None:
        """The hidden fields of the form of the page after the current one."""
        forms = [_fields(f.select("input[type=hidden][name]")) for f in document.select(self.pager)]
        forms = [form for form in forms if form.get("page", "").isdigit()]
        current = document.select_one("form[aria-label^='current page'] input[name=page]")
        here = str(current.attr("value") or "") if current is not None else "1"
        number = int(here) + 1 if here.isdigit() else 2
        return next((form for form in forms if int(form["page"]) == number), None)


def _fields(inputs: list[Any]) -> dict[str, str]:
    return {str(f.attr("name")): str(f.attr("value") or "") for f in inputs}


def _listed(script: str) -> Iterator[Found]:
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
                yield Found(title, url, _text(item.get("description")))


def _text(value: Any) -> str:
    from turbohtml import parse_fragment

    return shown(parse_fragment(value)) if isinstance(value, str) else ""
