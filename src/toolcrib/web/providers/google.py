"""Google without a key: the page for browsers without scripts, where it still gives one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.net.egress.response import Response
from toolcrib.web.provider import ProviderClient, SearchRequest, SearchResult
from toolcrib.web.result_markup import ancestor, visible_text
from toolcrib.web.search_engine import PERIOD_LETTERS, SearchEngine, unique_results

if TYPE_CHECKING:
    from turbohtml import Document, Element

SIZE = 10
_SAFE = {"strict": "active", "moderate": "", "off": "off"}
_BOX = ".fP1Qef, .ZINbbc, .Gx5Zad, .xpd"
# The smallest thing around a title that holds its text too, of each form of the page.
_AROUND = (
    ".tF2Cxc, .fP1Qef, .ezO2md, .Ww4FFb, .g, .ZINbbc, .hlcw0c, .MjjYud, .Gx5Zad, .xpd,"
    ".srg > div, .web_result, li.g"
)


class Google(SearchEngine):
    """Google."""

    name = "google"
    about = "Google's page for people; it mostly wants a browser with scripts."
    base_url = "https://www.google.com"
    site = "google.com"
    max_chars = 2048

    # A result begins with its title: the containers have changed, that has not.
    result_selectors = (
        (
            "a[href]:has(h3), h3.r > a[href], a[href]:has(.BNeawe.vvjwJb),"
            "a[href]:has(span.CVA68e), a[href]:has([role=heading].MBeuO), a.C8nzq, a.fuLhoc"
        ),
    )
    excluded = (
        "#tads, #tadsb, #bottomads, #tvcap, .uEierd, [data-text-ad], [class*=commercial-unit],"
        ".ads-ad, .ads-fr, .cu-container"
    )
    excluded_areas = (
        "#rhs, #rhs_block, .kno-kp, .related-question-pair,"
        ".yStFkb, [jsname=N760b], [jsname=yEVEwb], g-accordion-expander, .cUnQKe, [data-initq],"
        "g-scrolling-carousel, g-section-with-header, g-inner-card, g-card, g-expandable-container,"
        ".e4xoPb, .UFQ0Gb, [data-attrid*=video], .HiHjCd, .St3GK, table.nrgt, .jYOxx, .osl,"
        ".oIk2Cb,"
        "#botstuff .card-section, #brs, footer, .mslg, .X7NTVe, .tHmfQe, .Lt3Tzc, inline-video"
    )
    snippets = (
        ".VwiC3b",
        "[data-sncf='1']",
        "[data-sncf='2']",
        "[data-content-feature='1']",
        ".IsZvec .aCOpRe",
        ".aCOpRe",
        ".IsZvec",
        "span.st",
        ".BNeawe.s3v9rd",
        ".FrIlee",
        ".hgKElc",
        ".yDYNvb",
        ".s",
        ".Dks9wf",
    )
    dates = (".LEwnzc", ".MUxGbd.wuQ4Ob > span:first-child", "span.f", ".xUrNXd", ".YrbPuc")
    titles = (".BNeawe.vvjwJb", "h3", "span.CVA68e", "[role=heading]")
    noise = ".osl, .HiHjCd, .fl, .action-menu, .csDOgf, .st3GK"
    frame = "#search, #main, #rso, #ires, #res, #center_col, .srp"
    empty_texts = "#topstuff, #res, #main, #center_col, #botstuff, #search"
    pager = "#pnnext, a[aria-label='Next page'], a.nBDE1b[href*='start='], a.frGj1b, td.b a[href]"
    pager_fields = ("start",)

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """`gbv=1` asks for the page without scripts, `pws=0` for one that is everybody's."""
        params = {"q": request.words, "gbv": "1", "pws": "0", "ie": "utf8", "oe": "utf8"}
        params |= {"hl": request.language or "en", "gl": request.country.lower()}
        params["lr"] = f"lang_{request.language}" if request.language else ""
        params["safe"] = _SAFE[request.safe_search]
        params["tbs"] = f"qdr:{PERIOD_LETTERS[request.freshness]}" if request.freshness else ""
        if request.page > 1:
            params["start"] = request.cursor.get("start") or str(SIZE * (request.page - 1))
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
