"""What the search engines without keys share: asking like a browser, reading the page.

An engine is mostly a list of selectors, those of every form of its page that is known.
A page is read in this order: an address or a status that means refusal; results; marks
of a refusal; a page that says that nothing was found; the words of a refusal. A page
that is none of these is an error, not an empty answer.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import parse_qsl, urlsplit

from toolcrib.net.egress.response import Response
from toolcrib.net.statuses import check
from toolcrib.web.engines.markup import (
    DASHES,
    LEADING_DATE,
    WHOLE_DATE,
    above,
    first,
    nothing_in,
    outermost,
    page_text,
    page_wide,
    parse_page,
    shown,
    told,
)
from toolcrib.web.engines.refusals import marked, refusal_of_url, refused, slowed, worded
from toolcrib.web.engines.wrappers import is_ad, is_own, unwrap
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, Provider, is_web

if TYPE_CHECKING:
    from turbohtml import Document, Element

LETTER_OF = {"": "", "day": "d", "week": "w", "month": "m", "year": "y"}


class Engine(Provider):
    """A provider that reads the result page of a search engine.

    Attributes:
        site: the domain of the engine, whose other hosts it may redirect to.
        blocks: where results stand, by forms of the page; the first form that gives results
            counts, and of elements inside each other the outer one.
        never: what is no result, whole or inside: ads above all.
        aside: what no result stands in: answers, carousels, links beneath a result.
        links: the link of a result. The first selector that finds something counts.
        titles: its title, where that is not the whole link.
        snippets: its text.
        dates: where its date is shown by itself.
        noise: parts of a title or text that do not belong to it.
        frame: what every page of results has, an empty one too.
        empty: what only an empty page has.
        said: where such a page says in words that there is nothing.
        pager: the link to the next page.
        pager_fields: its parameters that ask for that page.
    """

    site: ClassVar[str] = ""
    blocks: ClassVar[tuple[str, ...]] = ()
    never: ClassVar[str] = ""
    aside: ClassVar[str] = ""
    links: ClassVar[tuple[str, ...]] = ()
    titles: ClassVar[tuple[str, ...]] = ()
    snippets: ClassVar[tuple[str, ...]] = ()
    dates: ClassVar[tuple[str, ...]] = ()
    noise: ClassVar[str] = ""
    frame: ClassVar[str] = ""
    empty: ClassVar[str] = ""
    said: ClassVar[str] = ""
    pager: ClassVar[str] = ""
    pager_fields: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    async def request(self, ask: Ask, reach: Reach) -> Response:
        """Ask for the page."""

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of results."""
        self.check_query(ask.words)
        response = await self.request(ask, reach)
        return await asyncio.to_thread(self.read, response, reach)

    async def fetch_page(
        self,
        reach: Reach,
        ask: Ask,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send what a browser sends that goes on from a page of the engine."""
        given = {"referer": f"{reach.base_url}/", "sec-fetch-site": "same-origin"}
        given |= {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        given |= {"sec-fetch-user": "?1", "upgrade-insecure-requests": "1"}
        if form is not None:
            given["origin"] = origin(reach.base_url)
        if ask.language:
            given["accept-language"] = languages(ask)
        shown = {name: value for name, value in (cookies or {}).items() if value}
        if shown:
            given["cookie"] = "; ".join(f"{name}={value}" for name, value in shown.items())
        return await reach.send(
            path,
            params=params,
            form=form,
            headers={**given, **(headers or {})},
            checked=False,
            judge=lambda url: self.judge(url, reach),
        )

    def judge(self, url: str, reach: Reach) -> None:
        """Stop before a redirect that leads to a refusal, or away from the engine.

        Raises:
            ChallengePage: to a captcha or a question for consent.
            Unavailable: to another site, as bangs do.
        """
        refused = refusal_of_url(reach.name, url)
        if refused is not None:
            raise refused
        host = urlsplit(url).hostname or ""
        at_home = host == urlsplit(reach.base_url).hostname
        if not at_home and host != self.site and not host.endswith(f".{self.site}"):
            raise reach.unreadable("it redirects to another page")

    def read(self, response: Response, reach: Reach) -> Page:
        """The results in an answer.

        Raises:
            ChallengePage: a captcha, a question for consent, or scripts are in the way.
            RateLimited: it asks to slow down.
            HttpStatus: it has an error status.
            Unavailable: the page has an unknown form.
        """
        document = parse_page(response)
        if response.status >= 400 or response.status == 202:
            self.refuse(response, document, reach)
        self.prepare(document)
        found = self.results(document)
        if found:
            cursor = self.following(document)
            return Page(tuple(found), cursor is not None, cursor or {})
        return self.without_results(response, document, reach)

    def refuse(self, response: Response, document: Document, reach: Reach) -> None:
        """Raise for an answer whose status alone means that there are no results."""
        error = marked(reach.name, response, document)
        text = page_text(document)
        if error is None and response.status != 429:
            error = worded(reach.name, response, text)
        if error is not None:
            raise error
        if response.status == 202:
            raise refused(reach.name, response.status)
        if response.status == 429:
            raise slowed(reach.name, response)
        check(response, reach.name)

    def prepare(self, document: Document) -> None:
        """Take out what would stand in titles and texts."""
        for element in document.select(self.noise) if self.noise else ():
            element.decompose()

    def results(self, document: Document) -> list[Found]:
        """The results in order, each address once."""
        for form in self.blocks:
            blocks = outermost(document.select(form), form)
            found = unique(r for b in blocks if self.counts(b) and (r := self.result(b)))
            if found:
                return found
        return []

    def counts(self, block: Element) -> bool:
        """Whether a block is where results are."""
        kept_out = block.closest(self.never) if self.never else None
        if kept_out is not None and not page_wide(kept_out):
            return False
        held = above(block, self.aside) if self.aside else None
        return held is None or page_wide(held)

    def result(self, block: Element) -> Found | None:
        """The result in a block, unless it is an ad or nothing."""
        link = first(block, self.links)
        url = self.address(link) if link is not None else ""
        title = self.title(block, link) if url and link is not None else ""
        if not url or not title:
            return None
        snippet, date = self.snippet(block, link)
        return Found(title, url, snippet, date)

    def address(self, link: Element) -> str:
        """Where a link leads; empty for ads and for pages of the engine."""
        href = str(link.attr("href") or "").strip()
        url = "" if is_ad(href) else unwrap(href)
        return url if is_web(url) and not is_ad(url) and not is_own(url) else ""

    def title(self, block: Element, link: Element) -> str:
        """The title of a result."""
        named = first(block, self.titles) if self.titles else None
        return (shown(named) if named is not None else "") or shown(link)

    def snippet(self, block: Element, link: Element | None) -> tuple[str, str]:
        """The text of a result without its date, and the date."""
        own = first(block, self.dates) if self.dates else None
        day = shown(own) if own is not None else ""
        date = WHOLE_DATE.fullmatch(day)
        text = ""
        for selector in self.snippets:
            text = next((t for e in block.select(selector) if (t := told(e, selector, link))), "")
            if text:
                break
        if date and text.startswith(day):
            return text[len(day) :].lstrip(DASHES), date[1]
        led = LEADING_DATE.match(text)
        if led:
            return text[led.end() :], led[1]
        return text, date[1] if date else ""

    def following(self, document: Document) -> Mapping[str, str] | None:
        """What asking for the next page takes; None where there is none."""
        links = document.select(self.pager) if self.pager else []
        if not links:
            return None
        if not self.pager_fields:
            return {}
        query = str(links[-1].attr("href") or "").partition("#")[0].partition("?")[2]
        return {name: value for name, value in parse_qsl(query) if name in self.pager_fields}

    def without_results(self, response: Response, document: Document, reach: Reach) -> Page:
        """An empty page, where it says so.

        Raises:
            ChallengePage: it is a refusal.
            RateLimited: it asks to slow down.
            Unavailable: it has an unknown form.
        """
        if self.empty and document.select_one(self.empty):
            return Page()
        error = marked(reach.name, response, document)
        if error is None and self.says_nothing(document):
            return Page()
        error = error or worded(reach.name, response, page_text(document))
        if error is not None:
            raise error
        check(response, reach.name)
        if self.frame and document.select_one(self.frame):
            raise reach.unreadable("it has no results in a known form")
        raise reach.unreadable("it is not a page of results")

    def says_nothing(self, document: Document) -> bool:
        """Whether the page says near its beginning that nothing was found."""
        places = document.select(self.said) if self.said else []
        return any(nothing_in(e) for e in places or document.select("body"))


def unique(found: Iterable[Found]) -> list[Found]:
    """Each address once; the first stays."""
    kept: dict[str, Found] = {}
    for result in found:
        kept.setdefault(result.url, result)
    return list(kept.values())


def origin(url: str) -> str:
    """Scheme and host of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def languages(ask: Ask) -> str:
    """What a browser of the wanted region accepts."""
    wide = f"{ask.language}-{ask.country},{ask.language};q=0.9" if ask.country else ask.language
    return wide if ask.language == "en" else f"{wide},en;q=0.6"
