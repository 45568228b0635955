"""Google's index without a key: its page for browsers without scripts, and Startpage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.core.package_data import package_table
from toolcrib.net.egress.response import Response
from toolcrib.web.provider import ProviderClient, SearchRequest, SearchResult, is_web, records
from toolcrib.web.result_markup import (
    ancestor,
    hidden_fields,
    is_ad,
    is_own,
    parse_page,
    unwrap,
    visible_text,
)
from toolcrib.web.search_engine import PERIOD_LETTERS, SearchEngine, unique_results

if TYPE_CHECKING:
    from turbohtml import Document, Element


PAGE_SIZE = 10
_SAFE = {"strict": "active", "moderate": "", "off": "off"}
_STARTPAGE_SAFE = {"strict": "heavy", "moderate": "moderate", "off": "none"}
_STARTPAGE_LANGUAGES: dict[str, str] = package_table("web/providers/regions.toml")["startpage"]
_STARTPAGE_DATA = re.compile(r"React\.createElement\(\s*UIStartpage\.AppSerp\w*\s*,\s*(?=\{)")
_BOX = ".fP1Qef, .ZINbbc, .Gx5Zad, .xpd"
# The smallest thing around a title that holds its text too, of each form of the page.
_AROUND = (
    ".tF2Cxc, .fP1Qef, .ezO2md, .Ww4FFb, .g, .ZINbbc, .hlcw0c, .MjjYud, .Gx5Zad, .xpd,"
    ".srg > div, .web_result, li.g"
)


class Google(SearchEngine, selectors="google"):
    """Google."""

    name = "google"
    about = "Google's page for people; it mostly wants a browser with scripts."
    base_url = "https://www.google.com"
    site = "google.com"
    max_chars = 2048

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """`gbv=1` asks for the page without scripts, `pws=0` for one that is everybody's."""
        params = {"q": request.words, "gbv": "1", "pws": "0", "ie": "utf8", "oe": "utf8"}
        params |= {"hl": request.language or "en", "gl": request.country.lower()}
        params["lr"] = f"lang_{request.language}" if request.language else ""
        params["safe"] = _SAFE[request.safe_search]
        params["tbs"] = f"qdr:{PERIOD_LETTERS[request.freshness]}" if request.freshness else ""
        if request.page > 1:
            params["start"] = request.cursor.get("start") or str(PAGE_SIZE * (request.page - 1))
        sent = {"CONSENT": "YES+", "SOCS": "CAESHAgBEhIaAB"}
        return await self.fetch_page(client, request, "/search", params=params, cookies=sent)

    def results(self, document: Document) -> list[SearchResult]:
        """Every title that is a link, where it stands for a result."""
        if self.other_words(document):
            return []
        links = (a for a in document.select(self.result_selectors[0]) if self.is_result(a))
        return unique_results(result for link in links if (result := self.result(link)))

    def result(self, block: Element) -> SearchResult | None:
        """The result of a title's link."""
        url = self.address(block)
        title = self.title(block, block) if url else ""
        around = block.closest(_AROUND)
        # Questions of others are small copies of a result inside the box of a result.
        if not title or (around is not None and ancestor(around, _BOX) is not None):
            return None
        snippet, date = self.snippet(around, block) if around is not None else ("", "")
        return SearchResult(title, url, snippet, date)

    def other_words(self, document: Document) -> bool:
        """Whether there was nothing, and the results are those of other words."""
        notices = document.select("#topstuff, .card-section, .mnr-c, .med")
        return any(
            "no results found for" in visible_text(e).lower() for e in notices if not _has_title(e)
        )


def _has_title(element: Element) -> bool:
    return element.select_one("a[href]:has(h3)") is not None


class Startpage(SearchEngine, selectors="startpage"):
    """Startpage."""

    name = "startpage"
    about = "Startpage's page for people; Google's index."
    base_url = "https://www.startpage.com"
    site = "startpage.com"

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Post the form of its home page, or the one that leads on.

        Without the `sc` of a page that it gave before, it asks for a captcha.
        """
        form = dict(request.cursor) or await self._hidden(request, client)
        form |= {"query": request.words, "cat": "web", "qadf": _STARTPAGE_SAFE[request.safe_search]}
        form["with_date"] = PERIOD_LETTERS[request.freshness]
        form.setdefault("t", "device")
        form.setdefault("segment", "organic")
        if request.language in _STARTPAGE_LANGUAGES:
            form |= {"language": _STARTPAGE_LANGUAGES[request.language], "lui": "english"}
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
        return found or unique_results(
            item for script in scripts for item in _results_in(script.text)
        )

    def next_cursor(self, document: Document) -> Mapping[str, str] | None:
        """The hidden fields of the form of the page after the current one."""
        forms = [hidden_fields(f) for f in document.select(self.pager)]
        forms = [form for form in forms if form.get("page", "").isdigit()]
        current = document.select_one("form[aria-label^='current page'] input[name=page]")
        here = str(current.attr("value") or "") if current is not None else "1"
        number = int(here) + 1 if here.isdigit() else 2
        return next((form for form in forms if int(form["page"]) == number), None)


def _results_in(script: str) -> Iterator[SearchResult]:
    """The web results in the data of a page; those of other kinds have other names."""
    start = _STARTPAGE_DATA.search(script)
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
            title = _plain_text(item.get("title"))
            if kind.startswith("web") and title and is_web(url) and not (is_ad(url) or is_own(url)):
                yield SearchResult(title, url, _plain_text(item.get("description")))


def _plain_text(value: Any) -> str:
    from turbohtml import parse_fragment

    return visible_text(parse_fragment(value)) if isinstance(value, str) else ""
