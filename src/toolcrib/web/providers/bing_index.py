"""Bing's index without a key: its page for people, its images, and Yahoo."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from toolcrib.net.egress.response import Response
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider import (
    ProviderClient,
    SearchRequest,
    SearchResult,
    picture_size,
    web_url,
)
from toolcrib.web.result_markup import visible_text
from toolcrib.web.search_engine import (
    PERIOD_LETTERS,
    SearchEngine,
    page_refusal,
    rate_limited,
    unique_results,
)

if TYPE_CHECKING:
    from turbohtml import Document, Element

PAGE_SIZE = 10
_ADULT = {"strict": "STRICT", "moderate": "DEMOTE", "off": "OFF"}
_DAY_SECONDS = 86_400
IMAGE_PAGE_SIZE = 35
_IMAGE_ENDING = re.compile(r"\.(?:jpe?g|png|gif|webp|svg)$", re.IGNORECASE)
_PERIOD_MINUTES = {"day": 1440, "week": 10_080, "month": 44_640, "year": 525_600}
YAHOO_PAGE_SIZE = 7
_YAHOO_SAFE = {"strict": "r", "moderate": "i", "off": "p"}
YAHOO_BUSY_STATUS = 999


class Bing(SearchEngine, selectors="bing"):
    """Bing."""

    name = "bing"
    about = "Bing's page for people."
    base_url = "https://www.bing.com"
    site = "bing.com"
    max_chars = 1000

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Ask as its form does; later pages need `first` and `FORM` together."""
        market = f"{request.language}-{request.country}" if request.country else ""
        params = {
            "q": request.words,
            "pq": request.words,
            "adlt": request.safe_search,
            **_period(request),
        }
        params |= {"cc": request.country, "setlang": request.language, "mkt": market}
        if request.page > 1:
            params["first"] = request.cursor.get("first") or str(1 + PAGE_SIZE * (request.page - 1))
            params["FORM"] = f"PERE{request.page - 2 or ''}"
        sent = {"_EDGE_CD": f"m={market.lower()}&u={market.lower()}" if market else ""}
        sent["_EDGE_S"] = f"mkt={market.lower()}&ui={market.lower()}" if market else ""
        sent["SRCHHPGUSR"] = f"ADLT={_ADULT[request.safe_search]}"
        return await self.fetch_page(client, request, "/search", params=params, cookies=sent)

    def results(self, document: Document) -> list[SearchResult]:
        """None where the page says that there is nothing: what follows is for other words."""
        return [] if document.select_one(self.empty) else super().results(document)

    def is_result(self, block: Element) -> bool:
        """An ad may stand in the form of a result; its link gives it away."""
        paid = block.select_one("a[href*='/aclk?'], a[href*='/aclick?'], .b_adlabel, .b_adSlug")
        return paid is None and super().is_result(block)


def _period(request: SearchRequest) -> dict[str, str]:
    if not request.freshness:
        return {}
    today = int(time.time()) // _DAY_SECONDS
    codes = {"day": "ez1", "week": "ez2", "month": "ez3", "year": f"ez5_{today - 365}_{today}"}
    return {"filters": f'ex1:"{codes[request.freshness]}"'}


class BingImages(SearchEngine, selectors="bing_images"):
    """Bing's images."""

    name = "bing_images"
    about = "Bing's images."
    kind = "images"
    base_url = "https://www.bing.com"
    site = "bing.com"
    max_chars = 1000

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Pages are 35 images apart."""
        first = 1 + IMAGE_PAGE_SIZE * (request.page - 1)
        params = {
            "q": request.words,
            "first": str(first),
            "count": str(IMAGE_PAGE_SIZE),
            "form": "HDRSC2",
        }
        params |= {"adlt": request.safe_search, "cc": request.country, "setlang": request.language}
        if request.freshness:
            params["qft"] = f"+filterui:age-lt{_PERIOD_MINUTES[request.freshness]}"
        return await self.fetch_page(client, request, "/images/search", params=params)

    def results(self, document: Document) -> list[SearchResult]:
        """A tile carries its data as JSON; one that is broken is passed over."""
        tiles = document.select(self.result_selectors[0])
        return unique_results(found for tile in tiles if (found := self.result(tile)))

    def result(self, block: Element) -> SearchResult | None:
        """The image of a tile."""
        try:
            data = json.loads(str(block.attr("m") or ""))
        except (ValueError, RecursionError):
            return None
        if not isinstance(data, dict):
            return None
        image = web_url(data.get("murl"))
        if not _IMAGE_ENDING.search(urlsplit(image).path):
            return None
        known: dict[str, object] = {
            "page": web_url(data.get("purl")),
            "thumbnail": web_url(data.get("turl")),
        }
        known |= _size(block)
        title = one_line(data.get("t")) or one_line(str(block.attr("title") or ""))
        return SearchResult(title, image, one_line(data.get("desc")), extra=known)

    def next_cursor(self, document: Document) -> dict[str, str] | None:
        """There is more as long as a page is not nearly empty."""
        return (
            {} if len(document.select(self.result_selectors[0])) >= IMAGE_PAGE_SIZE // 2 else None
        )


def _size(block: Element) -> dict[str, int]:
    """Width and height as the tile tells them, where it does."""
    tile = block.closest("li, .iuscp, .imgpt") or block
    label = tile.select_one(".img_info .nowrap, .fileInfo, .nowrap")
    return picture_size(label.text) if label is not None else {}


class Yahoo(SearchEngine, selectors="yahoo"):
    """Yahoo."""

    name = "yahoo"
    about = "Yahoo's page for people."
    base_url = "https://search.yahoo.com"
    site = "yahoo.com"
    max_chars = 1000

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Safe search and language live in a cookie of several parts."""
        params = {"p": request.words, "ei": "UTF-8", "btf": PERIOD_LETTERS[request.freshness]}
        params |= {"vm": _YAHOO_SAFE[request.safe_search], "vc": request.country.lower()}
        if request.page > 1:
            params |= {
                "b": str(1 + YAHOO_PAGE_SIZE * (request.page - 1)),
                "pz": str(YAHOO_PAGE_SIZE),
                **request.cursor,
            }
        language = f"&vl=lang_{request.language}" if request.language else ""
        sent = {
            "sB": f"v=1&vm={_YAHOO_SAFE[request.safe_search]}&fl=1{language}&pn=10&rw=new&userset=1"
        }
        return await self.fetch_page(client, request, "/search", params=params, cookies=sent)

    def refuse(self, response: Response, document: Document, client: ProviderClient) -> None:
        """Status 999, and its sad panda with status 500, mean that it is asked too often."""
        sad = b"sad-panda" in response.body or b"sad_panda" in response.body
        busy = sad or response.status == YAHOO_BUSY_STATUS
        error = page_refusal(client.name, response, document, by_words=not busy)
        if error is None and busy:
            error = rate_limited(client.name, response)
        if error is not None:
            raise error
        super().refuse(response, document, client)

    def title(self, block: Element, link: Element) -> str:
        """Older pages put the address into the link; its label has the title alone."""
        label = str(link.attr("aria-label") or "")
        if label and link.closest("h3") is not None:
            from turbohtml import parse_fragment

            return visible_text(parse_fragment(label))
        return super().title(block, link)
