"""DuckDuckGo's lightest page: a table, for the slowest of browsers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolcrib.net.egress.response import Response
from toolcrib.web.engines.duck import SAFE, cookies, fields, limited
from toolcrib.web.engines.engine import Engine, unique
from toolcrib.web.engines.markup import shown
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page

if TYPE_CHECKING:
    from turbohtml import Document, Element

_DAY = re.compile(r"\b\d{4}-\d\d-\d\d(?!\d)")
_SPONSORED = re.compile(r"sponsored", re.IGNORECASE)
_PASSED = 4
"""How many rows after the title belong to a result at most."""


class DuckDuckGoLite(Engine):
    """DuckDuckGo Lite."""

    name = "duckduckgo_lite"
    about = "DuckDuckGo's lightest page."
    base_url = "https://lite.duckduckgo.com"
    site = "duckduckgo.com"
    max_chars = 499

    blocks = ("tr:has(a.result-link)",)
    never = ".result-sponsored"
    links = ("a.result-link",)
    frame = "form[action*='/lite/'], a.result-link"
    empty = ".no-results"
    said = "table"

    async def request(self, ask: Ask, reach: Reach) -> Response:
        """Post the form that the page has, or the one that leads on."""
        limited(self, ask)
        safe, setting = SAFE[ask.safe_search]
        form = {**fields(ask), "p": safe, "kp": setting}
        return await self.fetch_page(reach, ask, "/lite/", form=form, cookies=cookies(ask))

    def results(self, document: Document) -> list[Found]:
        """A result is a row with a link, and the rows up to the next one."""
        return unique(r for row in document.select(self.blocks[0]) if (r := self.result(row)))

    def result(self, block: Element) -> Found | None:
        """The result that begins with a row."""
        link = block.select_one("a.result-link")
        url = self.address(link) if link is not None else ""
        if link is None or not url or block.matches(self.never):
            return None
        snippet = date = ""
        row, seen = block, 0
        while (following := _next(row)) is not None and seen < _PASSED:
            if following.select_one("a.result-link"):
                break
            row, seen = following, seen + 1
            text = row.select_one(".result-snippet")
            snippet = snippet or (shown(text) if text is not None else "")
            line = row.select_one(".timestamp, .link-text")
            day = _DAY.search(row.text) if line is not None else None
            date = date or (day[0] if day else "")
            if line is not None and _SPONSORED.search(row.text):
                return None
        title = shown(link)
        return Found(title, url, snippet, date) if title else None

    def following(self, document: Document) -> Mapping[str, str] | None:
        """The hidden fields of the form that leads on."""
        for form in document.select("form:has(input[name=s])"):
            button = form.select_one("input[type=submit]")
            if button is not None and "prev" in str(button.attr("value") or "").lower():
                continue
            inputs = form.select("input[type=hidden][name]")
            return {str(f.attr("name")): str(f.attr("value") or "") for f in inputs}
        return None

    def without_results(self, response: Response, document: Document, reach: Reach) -> Page:
        """A page with its form alone, or with ads alone, has found nothing."""
        plain_page = document.select_one("form[action*='/lite/'] input[name=q]") is not None
        puzzled = document.select_one("form[action*='anomaly'], [class*=anomaly]") is not None
        only_ads = all(not self.address(a) for a in document.select("a.result-link"))
        if plain_page and not puzzled and only_ads and document.select_one("a.result-link"):
            return Page()
        return super().without_results(response, document, reach)


def _next(row: Element) -> Element | None:
    """The row below."""
    for sibling in row.next_siblings:
        if getattr(sibling, "tag", "") == "tr":
            return sibling  # type: ignore[return-value]
    return None
