"""Search engines without keys: requests like those of a browser, results read from the page.

An engine is mostly a list of selectors, those of every form of its page that is known.
A page is read in this order: an address or a status that means refusal; results; marks
of a refusal (captcha, consent, scripts); a page that says that nothing was found; the
words of a refusal, which could come from the query. A page that is none of these is an
error, not an empty answer.
"""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import parse_qsl, urlsplit

from toolcrib.core.errors import ChallengePage, RateLimited, ToolError
from toolcrib.core.package_data import package_table
from toolcrib.net.egress.response import Response
from toolcrib.net.egress.url import web_origin
from toolcrib.net.response_check import check
from toolcrib.web.provider import (
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    is_web,
)
from toolcrib.web.result_markup import (
    DASHES,
    LEADING_DATE,
    WHOLE_DATE,
    ancestor,
    first_match,
    is_ad,
    is_own,
    is_page_wide,
    outermost,
    own_text,
    page_text,
    parse_page,
    says_nothing_found,
    unwrap,
    visible_text,
)

if TYPE_CHECKING:
    from turbohtml import Document, Element


MAX_SCANNED_CHARS = 2500
"""How much of a page is read: refusals are short, pages of an unknown form are not."""

_SCRIPTS = b"/httpservice/retry/enablejs"
PERIOD_LETTERS = {"": "", "day": "d", "week": "w", "month": "m", "year": "y"}
_SELECTORS = package_table("web/providers/engines.toml")
_REFUSALS = package_table("web/refusals.toml")


class SearchEngine(Provider):
    """A provider that reads the result page of a search engine.

    Our own have their selectors in `engines.toml` and name their table there, as in
    `class Bing(SearchEngine, selectors="bing")`; others set the attributes themselves.

    Attributes:
        site: the domain of the engine, whose other hosts it may redirect to.
        result_selectors: where results stand, by forms of the page; the first form that gives
            results counts, and of elements inside each other the outer one.
        excluded: what is no result, whole or inside: ads above all.
        excluded_areas: what no result stands in: answers, carousels, links beneath a result.
        links: the link of a result. The first selector that finds something counts.
        titles: its title, where that is not the whole link.
        snippets: its text.
        dates: where its date is shown by itself.
        noise: parts of a title or text that do not belong to it.
        frame: what every page of results has, an empty one too.
        empty: what only an empty page has.
        empty_texts: where such a page says in words that there is nothing.
        pager: the link to the next page.
        pager_fields: its parameters that ask for that page.
    """

    site: ClassVar[str] = ""
    result_selectors: ClassVar[tuple[str, ...]] = ()
    excluded: ClassVar[str] = ""
    excluded_areas: ClassVar[str] = ""
    links: ClassVar[tuple[str, ...]] = ()
    titles: ClassVar[tuple[str, ...]] = ()
    snippets: ClassVar[tuple[str, ...]] = ()
    dates: ClassVar[tuple[str, ...]] = ()
    noise: ClassVar[str] = ""
    frame: ClassVar[str] = ""
    empty: ClassVar[str] = ""
    empty_texts: ClassVar[str] = ""
    pager: ClassVar[str] = ""
    pager_fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, selectors: str = "") -> None:
        super().__init_subclass__()
        for name, value in (_SELECTORS[selectors] if selectors else {}).items():
            setattr(cls, name, tuple(value) if isinstance(value, list) else value)

    @abstractmethod
    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Ask for the page."""

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of results."""
        self.check_query(request.words)
        response = await self.send_request(request, client)
        return await asyncio.to_thread(self.read, response, client)

    async def fetch_page(
        self,
        client: ProviderClient,
        request: SearchRequest,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send the headers of a browser that follows a link within the engine."""
        sent = {"referer": f"{client.base_url}/", "sec-fetch-site": "same-origin"}
        sent |= {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        sent |= {"sec-fetch-user": "?1", "upgrade-insecure-requests": "1"}
        if form is not None:
            sent["origin"] = web_origin(client.base_url)
        if request.language:
            sent["accept-language"] = accepted_languages(request)
        cookie_values = {name: value for name, value in (cookies or {}).items() if value}
        if cookie_values:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in cookie_values.items())
        return await client.send(
            path,
            params=params,
            form=form,
            headers={**sent, **(headers or {})},
            checked=False,
            on_redirect=lambda url: self.check_redirect(url, client),
        )

    def check_redirect(self, url: str, client: ProviderClient) -> None:
        """Stop before a redirect that leads to a refusal, or away from the engine.

        Raises:
            ChallengePage: to a captcha or a question for consent.
            Unavailable: to another site, as bangs do.
        """
        refused = refusal_of_url(client.name, url)
        if refused is not None:
            raise refused
        host = urlsplit(url).hostname or ""
        at_home = host == urlsplit(client.base_url).hostname
        if not at_home and host != self.site and not host.endswith(f".{self.site}"):
            raise client.unreadable("it redirects to another page")

    def read(self, response: Response, client: ProviderClient) -> ResultPage:
        """The results in an answer.

        Raises:
            ChallengePage: a captcha, a question for consent, or scripts are in the way.
            RateLimited: it asks to slow down.
            HttpStatus: it has an error status.
            Unavailable: the page has an unknown form.
        """
        document = parse_page(response)
        if response.status >= 400 or response.status == 202:
            self.refuse(response, document, client)
        self.prepare(document)
        found = self.results(document)
        if found:
            cursor = self.next_cursor(document)
            return ResultPage(tuple(found), cursor is not None, cursor or {})
        return self.check_empty(response, document, client)

    def refuse(self, response: Response, document: Document, client: ProviderClient) -> None:
        """Raise for an answer whose status alone means that there are no results."""
        error = page_refusal(client.name, response, document, by_words=response.status != 429)
        if error is not None:
            raise error
        if response.status == 202:
            raise bot_refusal(client.name, response.status)
        if response.status == 429:
            raise rate_limited(client.name, response)
        check(response, client.name)

    def prepare(self, document: Document) -> None:
        """Take out what would stand in titles and texts."""
        for element in document.select(self.noise) if self.noise else ():
            element.decompose()

    def results(self, document: Document) -> list[SearchResult]:
        """The results in order, each address once."""
        for form in self.result_selectors:
            blocks = outermost(document.select(form), form)
            found = unique_results(r for b in blocks if self.is_result(b) and (r := self.result(b)))
            if found:
                return found
        return []

    def is_result(self, block: Element) -> bool:
        """Whether a block is where results are."""
        excluded_block = block.closest(self.excluded) if self.excluded else None
        if excluded_block is not None and not is_page_wide(excluded_block):
            return False
        area = ancestor(block, self.excluded_areas) if self.excluded_areas else None
        return area is None or is_page_wide(area)

    def result(self, block: Element) -> SearchResult | None:
        """The result in a block, unless it is an ad or nothing."""
        link = first_match(block, self.links)
        url = self.address(link) if link is not None else ""
        title = self.title(block, link) if url and link is not None else ""
        if not url or not title:
            return None
        snippet, date = self.snippet(block, link)
        return SearchResult(title, url, snippet, date)

    def address(self, link: Element) -> str:
        """Where a link leads; empty for ads and for pages of the engine."""
        href = str(link.attr("href") or "").strip()
        url = "" if is_ad(href) else unwrap(href)
        return url if is_web(url) and not is_ad(url) and not is_own(url) else ""

    def title(self, block: Element, link: Element) -> str:
        """The title of a result."""
        named = first_match(block, self.titles) if self.titles else None
        return (visible_text(named) if named is not None else "") or visible_text(link)

    def snippet(self, block: Element, link: Element | None) -> tuple[str, str]:
        """The text of a result without its date, and the date."""
        own = first_match(block, self.dates) if self.dates else None
        day = visible_text(own) if own is not None else ""
        date = WHOLE_DATE.fullmatch(day)
        text = ""
        for selector in self.snippets:
            text = next(
                (t for e in block.select(selector) if (t := own_text(e, selector, link))), ""
            )
            if text:
                break
        if date and text.startswith(day):
            return text[len(day) :].lstrip(DASHES), date[1]
        led = LEADING_DATE.match(text)
        if led:
            return text[led.end() :], led[1]
        return text, date[1] if date else ""

    def next_cursor(self, document: Document) -> Mapping[str, str] | None:
        """What asking for the next page takes; None where there is none."""
        links = document.select(self.pager) if self.pager else []
        if not links:
            return None
        if not self.pager_fields:
            return {}
        query = str(links[-1].attr("href") or "").partition("#")[0].partition("?")[2]
        return {name: value for name, value in parse_qsl(query) if name in self.pager_fields}

    def check_empty(
        self, response: Response, document: Document, client: ProviderClient
    ) -> ResultPage:
        """An empty page, where it says so.

        Raises:
            ChallengePage: it is a refusal.
            RateLimited: it asks to slow down.
            Unavailable: it has an unknown form.
        """
        if self.empty and document.select_one(self.empty):
            return ResultPage()
        error = marked_refusal(client.name, response, document)
        if error is None and self.says_nothing(document):
            return ResultPage()
        error = error or worded_refusal(client.name, response, page_text(document))
        if error is not None:
            raise error
        check(response, client.name)
        if self.frame and document.select_one(self.frame):
            raise client.unreadable("it has no results in a known form")
        raise client.unreadable("it is not a page of results")

    def says_nothing(self, document: Document) -> bool:
        """Whether the page says near its beginning that nothing was found."""
        places = document.select(self.empty_texts) if self.empty_texts else []
        return any(says_nothing_found(e) for e in places or document.select("body"))


def unique_results(found: Iterable[SearchResult]) -> list[SearchResult]:
    """Each address once; the first stays."""
    by_url: dict[str, SearchResult] = {}
    for result in found:
        by_url.setdefault(result.url, result)
    return list(by_url.values())


def accepted_languages(request: SearchRequest) -> str:
    """What a browser of the wanted region accepts."""
    wide = (
        f"{request.language}-{request.country},{request.language};q=0.9"
        if request.country
        else request.language
    )
    return wide if request.language == "en" else f"{wide},en;q=0.6"


def _shows(kind: str, document: Document) -> bool:
    """Whether a page has an element of a kind of refusal."""
    return document.select_one(", ".join(_REFUSALS[kind]["selectors"])) is not None


def _says(kind: str, where: str, text: str) -> bool:
    """Whether an address, or words, are those of a kind of refusal."""
    return re.search("|".join(_REFUSALS[kind][where]), text, re.IGNORECASE) is not None


def refusal_of_url(name: str, url: str) -> ToolError | None:
    """What an address says to which an engine redirects, or nothing."""
    if _says("consent", "addresses", url):
        return _consent_required(name, HTTPStatus.FOUND)
    return bot_refusal(name, HTTPStatus.FOUND) if _says("captcha", "addresses", url) else None


def marked_refusal(name: str, response: Response, document: Document) -> ToolError | None:
    """What the elements of a page without results say, or nothing."""
    if _shows("consent", document):
        return _consent_required(name, response.status)
    if _shows("captcha", document) or b"component---src-pages-captcha" in response.body:
        return bot_refusal(name, response.status)
    if _SCRIPTS in response.body:
        return ChallengePage(
            f"{name} answers only browsers that run scripts.",
            hint="Use another provider.",
            kind=f"{_engine_name(name)}_scripts",
            provider=name,
            status=response.status,
        )
    return None


def worded_refusal(name: str, response: Response, text: str) -> ToolError | None:
    """What the words of a page without results say, or nothing.

    Args:
        name: the provider.
        response: the answer.
        text: the title and what the page shows.
    """
    text = text[:MAX_SCANNED_CHARS]
    if _says("consent", "words", text):
        return _consent_required(name, response.status)
    if _says("captcha", "words", text):
        return bot_refusal(name, response.status)
    return rate_limited(name, response) if _says("slow", "words", text) else None


def page_refusal(
    name: str, response: Response, document: Document, *, by_words: bool
) -> ToolError | None:
    """What a page without results says by its elements, else by its words; or nothing."""
    error = marked_refusal(name, response, document)
    if error is None and by_words:
        error = worded_refusal(name, response, page_text(document))
    return error


def rate_limited(name: str, response: Response) -> RateLimited:
    """The error for an engine that asks for patience."""
    after = response.retry_after
    wait = f" for {after:g} s" if after else ""
    return RateLimited(
        f"{name} asks to slow down{wait} (HTTP {response.status}).",
        hint=f"Wait{wait or ' a minute'} before asking there again, or use another provider.",
        provider=name,
        status=response.status,
        retry_after=after,
    )


def bot_refusal(name: str, status: int) -> ChallengePage:
    """The error for an engine that takes the caller for a program."""
    return ChallengePage(
        f"{name} wants proof of a human instead of answering.",
        hint="It may block your IP address for up to an hour. Use another provider until then.",
        kind=_engine_name(name),
        provider=name,
        status=status,
    )


def _consent_required(name: str, status: int) -> ChallengePage:
    return ChallengePage(
        f"{name} wants consent to cookies instead of answering.",
        hint="It asks so in some countries. Use another provider.",
        kind=f"{_engine_name(name)}_consent",
        provider=name,
        status=status,
    )


def _engine_name(name: str) -> str:
    """The engine behind a provider: that of duckduckgo_lite is duckduckgo."""
    return name.partition("_")[0]
