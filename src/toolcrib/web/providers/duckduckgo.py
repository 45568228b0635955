"""DuckDuckGo without a key: the HTML page for browsers that run no scripts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolcrib.net.egress.response import Response
from toolcrib.web.engines.duck import SAFE, cookies, fields, limited
from toolcrib.web.engines.engine import Engine
from toolcrib.web.engines.markup import shown
from toolcrib.web.engines.refusals import marked
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Page

if TYPE_CHECKING:
    from turbohtml import Document, Element

_DAY = re.compile(r"\b\d{4}-\d\d-\d\d(?!\d)")


class DuckDuckGo(Engine):
    """DuckDuckGo."""

    name = "duckduckgo"
    about = "DuckDuckGo's page for browsers without scripts."
    base_url = "https://html.duckduckgo.com"
    site = "duckduckgo.com"
    max_chars = 499

    blocks = (
        "#links .result, .serp__results .result, .results .web-result, .result.results_links",
        "article[data-testid=result], li[data-layout=organic]",
        ".links_main:has(a.result__a), .nrn-react-div:has(h2 a)",
    )
    never = (
        "[class*='result--ad'], .result--no-result, .result--sep, .result--more, .result--news,"
        "[data-layout=ad], [data-testid=ad], [data-nrn=ad]"
    )
    aside = (
        ".module--carousel, [data-layout=videos], [data-layout=news], [data-layout=images],"
        "[data-layout=related_searches], .result__sitelinks, [data-testid=sitelinks]"
    )
    links = (
        "a.result__a",
        "a[data-testid=result-title-a]",
        ".result__title a",
        "h2 a[href]",
        "a.result__snippet",
    )
    titles = ("a.result__a", "a[data-testid=result-title-a]", ".result__title", "h2")
    snippets = (
        ".result__snippet",
        "[data-result=snippet] > div",
        "[data-result=snippet]",
        "[data-testid=result-snippet]",
        ".result__body .snippet",
    )
    dates = (
        "[data-result=snippet] > div > span:first-child",
        "[data-result=snippet] span:first-child",
    )
    noise = ".badge--ad__tooltip-wrap, .result__type"
    frame = "#links, .serp__results, .react-results--main, [data-testid=mainline]"
    empty = (
        ".result--no-result, .no-results, .no-results__message, .no-results-message,"
        "[data-testid=no-results-message], [data-testid=no-results]"
    )
    said = "#links, .serp__results, .react-results--main, [data-testid=mainline], .results--message"

    async def request(self, ask: Ask, reach: Reach) -> Response:
        """Post the form that the page has, or the one that leads on."""
        safe, setting = SAFE[ask.safe_search]
        limited(self, ask)
        form = {**fields(ask), "p": safe, "kp": setting}
        sent = {**cookies(ask), "p": setting} if ask.safe_search != "moderate" else cookies(ask)
        return await self.fetch_page(reach, ask, "/html/", form=form, cookies=sent)

    def snippet(self, block: Element, link: Element | None) -> tuple[str, str]:
        """The text; the date stands beside the address."""
        text, date = super().snippet(block, link)
        beside = block.select_one(".result__extras__url")
        day = _DAY.search(beside.text) if beside is not None else None
        return text, day[0] if day else date

    def following(self, document: Document) -> Mapping[str, str] | None:
        """The hidden fields of the form that leads on; without its vqd nothing goes on."""
        form = document.select_one(
            ".nav-link form:has(input[value=Next]), form:has(input[name=vqd]):has(input[name=s])"
        )
        inputs = form.select("input[type=hidden][name]") if form is not None else []
        return {str(f.attr("name")): str(f.attr("value") or "") for f in inputs} or None

    def without_results(self, response: Response, document: Document, reach: Reach) -> Page:
        """Its frame without any block means that nothing was found."""
        blocks = [b for b in document.select(", ".join(self.blocks)) if shown(b)]
        unread = [b for b in blocks if self.counts(b) and not self.paid(b)]
        page = document.select_one("#links, .serp__results")
        if page is not None and not unread and marked(reach.name, response, document) is None:
            return Page()
        return super().without_results(response, document, reach)

    def paid(self, block: Element) -> bool:
        """Whether a block without marks is an ad after all."""
        return all(not self.address(link) for link in block.select("a[href]")) and bool(
            block.select("a[href*='y.js']")
        )
