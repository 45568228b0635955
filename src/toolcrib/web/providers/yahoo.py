"""Yahoo without a key: Bing's index on a page of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.core.errors import ToolError
from toolcrib.net.egress.response import Response
from toolcrib.web.provider import ProviderClient, SearchRequest
from toolcrib.web.result_markup import page_text, visible_text
from toolcrib.web.search_engine import SearchEngine, marked_refusal, rate_limited, worded_refusal

if TYPE_CHECKING:
    from turbohtml import Document, Element

SIZE = 7
_SAFE = {"strict": "r", "moderate": "i", "off": "p"}
_PERIODS = {"": "", "day": "d", "week": "w", "month": "m", "year": "y"}
BUSY = 999


class Yahoo(SearchEngine):
    """Yahoo."""

    name = "yahoo"
    about = "Yahoo's page for people."
    base_url = "https://search.yahoo.com"
    site = "yahoo.com"
    max_chars = 1000

    result_selectors = (
        "#web div.algo, #web div.algo-sr, #web div.relsrch",
        "div.algo, div.algo-sr",
        "#web li > div.res, #web li > div:has(> .compTitle h3 a):has(> .compText)",
    )
    excluded = (
        "[class*=TopAds], [class*=BottomAds], .ads, .compAds, .ad, .AdTop, .AdBottom,"
        "[data-matarget=ad], .ads-block, .pla, .Promotion, .Video, .Img, .NewsArticle, .sys_news,"
        ".bingrelqa, .AlsoTry"
    )
    excluded_areas = (
        "#right, .compGenericCardList, .s-card, .News, .compImageList, .compArticleList,"
        ".compContainerExp, .compList, .carousel"
    )
    links = (
        ".compTitle h3 a[href]",
        ".compTitle a[href]:has(h3)",
        "h3 a[href]",
        ".compTitle a[href]",
    )
    titles = (".compTitle h3", "h3", ".compTitle .title", "a.yschttl")
    snippets = (
        ".compText p",
        ".compText",
        ".abstr, .abstract",
        ".aAbs",
        ".compList.info p",
        "p",
    )
    dates = (".compText .fc-smoke", ".compText .fc-2nd", ".s-time")
    noise = "h3 .p-abs, h3 .cite, .compTitle .lh-l, .compTitle .algo-favicon, h3 .d-ib.p-abs"
    frame = "#web, #results, #main, .searchCenterMiddle"
    empty = "#web .zrp, .zrp, .dd.zrp"
    empty_texts = "#web, #main, #results"
    pager = ".compPagination a.next[href], a.next[href], .pagination a[href*='b=']:last-child"
    pager_fields = ("b", "pz", "bct", "xargs")

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Safe search and language live in a cookie of several parts."""
        params = {"p": request.words, "ei": "UTF-8", "btf": _PERIODS[request.freshness]}
        params |= {"vm": _SAFE[request.safe_search], "vc": request.country.lower()}
        if request.page > 1:
            params |= {"b": str(1 + SIZE * (request.page - 1)), "pz": str(SIZE), **request.cursor}
        language = f"&vl=lang_{request.language}" if request.language else ""
        sent = {"sB": f"v=1&vm={_SAFE[request.safe_search]}&fl=1{language}&pn=10&rw=new&userset=1"}
        return await self.fetch_page(client, request, "/search", params=params, cookies=sent)

    def refuse(self, response: Response, document: Document, client: ProviderClient) -> None:
        """Status 999, and its sad panda with status 500, mean that it is asked too often."""
        error: ToolError | None = marked_refusal(client.name, response, document)
        sad = b"sad-panda" in response.body or b"sad_panda" in response.body
        if error is None and not sad and response.status != BUSY:
            error = worded_refusal(client.name, response, page_text(document))
        if error is None and (sad or response.status == BUSY):
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
