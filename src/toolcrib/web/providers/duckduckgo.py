"""DuckDuckGo without a key: its page for browsers without scripts, its lightest page, images."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolcrib.core.errors import BadInput
from toolcrib.core.names import name_set
from toolcrib.core.package_data import package_table
from toolcrib.net.egress.response import Response
from toolcrib.net.response_check import check
from toolcrib.text.cleaner import one_line
from toolcrib.web.provider import (
    SHORTER_QUERY_HINT,
    Provider,
    ProviderClient,
    ResultPage,
    SearchRequest,
    SearchResult,
    records,
    web_url,
)
from toolcrib.web.result_markup import hidden_fields, parse_page, visible_text
from toolcrib.web.search_engine import (
    PERIOD_LETTERS,
    SearchEngine,
    bot_refusal,
    marked_refusal,
    page_refusal,
    unique_results,
)

if TYPE_CHECKING:
    from turbohtml import Document, Element

SAFE = {"strict": ("1", "1"), "moderate": ("", "-1"), "off": ("-1", "-2")}
"""Safe search as the form takes it, and as the settings do."""

_REGIONS = package_table("web/providers/regions.toml")["duckduckgo"]
REGIONS = name_set(_REGIONS["regions"])
ALL_REGIONS = "wt-wt"
_REGION_OF_COUNTRY: dict[str, str] = _REGIONS["of_country"]
_REGION_OF_LANGUAGE: dict[str, str] = _REGIONS["of_language"]
_BANG = re.compile(r"(?<!\S)(!\S+|\S+!)(?!\S)")
MAX_QUERY_CHARS = 499


def duck_region(request: SearchRequest) -> str:
    """The region as DuckDuckGo writes it: `de-de`, `us-en`; `wt-wt` for all."""
    country, language = request.country.lower(), request.language
    if not country:
        same = f"{language}-{language}"
        return same if same in REGIONS else _REGION_OF_LANGUAGE.get(language, ALL_REGIONS)
    exact = f"{country}-{language}"
    if exact in REGIONS:
        return exact
    only = [r for r in REGIONS if r.startswith(f"{country}-")]
    return _REGION_OF_COUNTRY.get(country) or (only[0] if len(only) == 1 else ALL_REGIONS)


def escaped_query(request: SearchRequest) -> str:
    """The query; a word like !w would send it on to another site, so it is quoted."""
    return _BANG.sub(r'"\1"', request.words)


def form_fields(request: SearchRequest) -> dict[str, str]:
    """The form of the first page, or of the one that `cursor` leads to."""
    if request.cursor:
        return {"q": escaped_query(request), **request.cursor}
    form = {
        "q": escaped_query(request),
        "b": "",
        "kl": duck_region(request),
        "df": PERIOD_LETTERS[request.freshness],
    }
    if request.page > 1:
        offset = 10 + (request.page - 2) * 15
        del form["b"]
        form |= {"s": str(offset), "dc": str(offset + 1), "nextParams": "", "v": "l", "o": "json"}
        form |= {"api": "d.js"}
    return form


def cookies(request: SearchRequest) -> dict[str, str]:
    """What the form leaves in the browser."""
    place = duck_region(request)
    return {"kl": "" if place == ALL_REGIONS else place, "df": PERIOD_LETTERS[request.freshness]}


def check_length(provider: Provider, request: SearchRequest) -> None:
    """Refuse what is too long once it is written for DuckDuckGo.

    Raises:
        BadInput: it is.
    """
    if len(escaped_query(request)) > MAX_QUERY_CHARS:
        raise BadInput(
            f"{provider.name} takes at most {MAX_QUERY_CHARS} characters a query.",
            hint=SHORTER_QUERY_HINT,
        )


_DAY = re.compile(r"\b\d{4}-\d\d-\d\d(?!\d)")
_SPONSORED = re.compile(r"sponsored", re.IGNORECASE)
MAX_RESULT_ROWS = 4
"""Rows of the lightest page after its title that belong to a result."""
IMAGE_PAGE_SIZE = 100
# Data of images wants a token from the page.
_TOKEN = re.compile(rb"""vqd(?:=|["']?\s*:\s*)["']?(\d+-[\d-]+)""")
_IMAGE_COOKIES = {"strict": "1", "moderate": "", "off": "-2"}


class DuckDuckGo(SearchEngine, selectors="duckduckgo"):
    """DuckDuckGo."""

    name = "duckduckgo"
    about = "DuckDuckGo's page for browsers without scripts."
    base_url = "https://html.duckduckgo.com"
    site = "duckduckgo.com"
    max_chars = 499

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Post the form that the page has, or the one that leads on."""
        safe, setting = SAFE[request.safe_search]
        check_length(self, request)
        form = {**form_fields(request), "p": safe, "kp": setting}
        sent = (
            {**cookies(request), "p": setting}
            if request.safe_search != "moderate"
            else cookies(request)
        )
        return await self.fetch_page(client, request, "/html/", form=form, cookies=sent)

    def snippet(self, block: Element, link: Element | None) -> tuple[str, str]:
        """The text; the date stands beside the address."""
        text, date = super().snippet(block, link)
        beside = block.select_one(".result__extras__url")
        day = _DAY.search(beside.text) if beside is not None else None
        return text, day[0] if day else date

    def next_cursor(self, document: Document) -> Mapping[str, str] | None:
        """The hidden fields of the form that leads on; without its vqd nothing goes on."""
        form = document.select_one(
            ".nav-link form:has(input[value=Next]), form:has(input[name=vqd]):has(input[name=s])"
        )
        return hidden_fields(form) or None if form is not None else None

    def check_empty(
        self, response: Response, document: Document, client: ProviderClient
    ) -> ResultPage:
        """Its frame without any block means that nothing was found."""
        blocks = [b for b in document.select(", ".join(self.result_selectors)) if visible_text(b)]
        unread = [b for b in blocks if self.is_result(b) and not self.paid(b)]
        page = document.select_one("#links, .serp__results")
        if (
            page is not None
            and not unread
            and marked_refusal(client.name, response, document) is None
        ):
            return ResultPage()
        return super().check_empty(response, document, client)

    def paid(self, block: Element) -> bool:
        """Whether a block without marks is an ad after all."""
        return all(not self.address(link) for link in block.select("a[href]")) and bool(
            block.select("a[href*='y.js']")
        )


class DuckDuckGoLite(SearchEngine, selectors="duckduckgo_lite"):
    """DuckDuckGo Lite."""

    name = "duckduckgo_lite"
    about = "DuckDuckGo's lightest page."
    base_url = "https://lite.duckduckgo.com"
    site = "duckduckgo.com"
    max_chars = 499

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """Post the form that the page has, or the one that leads on."""
        check_length(self, request)
        safe, setting = SAFE[request.safe_search]
        form = {**form_fields(request), "p": safe, "kp": setting}
        return await self.fetch_page(client, request, "/lite/", form=form, cookies=cookies(request))

    def results(self, document: Document) -> list[SearchResult]:
        """A result is a row with a link, and the rows up to the next one."""
        return unique_results(
            r for row in document.select(self.result_selectors[0]) if (r := self.result(row))
        )

    def result(self, block: Element) -> SearchResult | None:
        """The result that begins with a row."""
        link = block.select_one("a.result-link")
        url = self.address(link) if link is not None else ""
        if link is None or not url or block.matches(self.excluded):
            return None
        snippet = date = ""
        row, seen = block, 0
        while (following := _next(row)) is not None and seen < MAX_RESULT_ROWS:
            if following.select_one("a.result-link"):
                break
            row, seen = following, seen + 1
            text = row.select_one(".result-snippet")
            snippet = snippet or (visible_text(text) if text is not None else "")
            line = row.select_one(".timestamp, .link-text")
            day = _DAY.search(row.text) if line is not None else None
            date = date or (day[0] if day else "")
            if line is not None and _SPONSORED.search(row.text):
                return None
        title = visible_text(link)
        return SearchResult(title, url, snippet, date) if title else None

    def next_cursor(self, document: Document) -> Mapping[str, str] | None:
        """The hidden fields of the form that leads on."""
        for form in document.select("form:has(input[name=s])"):
            button = form.select_one("input[type=submit]")
            if button is not None and "prev" in str(button.attr("value") or "").lower():
                continue
            return hidden_fields(form)
        return None

    def check_empty(
        self, response: Response, document: Document, client: ProviderClient
    ) -> ResultPage:
        """A page with its form alone, or with ads alone, has found nothing."""
        plain_page = document.select_one("form[action*='/lite/'] input[name=q]") is not None
        puzzled = document.select_one("form[action*='anomaly'], [class*=anomaly]") is not None
        only_ads = all(not self.address(a) for a in document.select("a.result-link"))
        if plain_page and not puzzled and only_ads and document.select_one("a.result-link"):
            return ResultPage()
        return super().check_empty(response, document, client)


def _next(row: Element) -> Element | None:
    """The row below."""
    for sibling in row.next_siblings:
        if getattr(sibling, "tag", "") == "tr":
            return sibling  # type: ignore[return-value]
    return None


class DuckDuckGoImages(SearchEngine):
    """DuckDuckGo's images."""

    name = "duckduckgo_images"
    about = "DuckDuckGo's images."
    kind = "images"
    base_url = "https://duckduckgo.com"
    site = "duckduckgo.com"
    max_chars = MAX_QUERY_CHARS

    async def search(self, request: SearchRequest, client: ProviderClient) -> ResultPage:
        """One page of images, with the token of the page before or of a new one."""
        check_length(self, request)
        token = request.cursor.get("vqd") or await self._token(request, client)
        offset = request.cursor.get("s") or (
            str(IMAGE_PAGE_SIZE * (request.page - 1)) if request.page > 1 else ""
        )
        place = duck_region(request)
        params = {"l": place, "o": "json", "q": escaped_query(request), "vqd": token, "s": offset}
        params |= {"p": SAFE[request.safe_search][0], "f": _filters(request)}
        headers = {"accept": "application/json, text/javascript, */*; q=0.01"}
        headers |= {"sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}
        headers["x-requested-with"] = "XMLHttpRequest"
        sent = {"p": _IMAGE_COOKIES[request.safe_search], "l": place}
        answer = await self.fetch_page(
            client, request, "/i.js", params=params, cookies=sent, headers=headers
        )
        return self._images(answer, client, token)

    async def send_request(self, request: SearchRequest, client: ProviderClient) -> Response:
        """The page that has the token."""
        params = {"q": escaped_query(request), "iax": "images", "ia": "images", "t": "h_"}
        return await self.fetch_page(client, request, "/", params=params)

    async def _token(self, request: SearchRequest, client: ProviderClient) -> str:
        page = await self.send_request(request, client)
        found = _TOKEN.search(page.body)
        if found is None or page.status >= 400:
            self._refused(page, client)
            raise client.unreadable("its page has no token for images")
        return found[1].decode("ascii")

    def _images(self, answer: Response, client: ProviderClient, token: str) -> ResultPage:
        if answer.status != 200 or answer.body.lstrip()[:1] != b"{":
            self._refused(answer, client)
        data = client.json(answer)
        if not isinstance(data.get("results"), list):
            raise client.unreadable("it has no list of results")
        images = unique_results(f for item in records(data["results"]) if (f := _image(item)))
        following = re.search(r"[?&]s=(\d+)", str(data.get("next") or ""))
        cursor = {"vqd": token, "s": following[1]} if following and images else {}
        return ResultPage(tuple(images), bool(cursor), cursor)

    def _refused(self, answer: Response, client: ProviderClient) -> None:
        """Raise for a refusal; a plain 403 of this address is one too.

        Raises:
            ChallengePage: it takes the caller for a program.
            RateLimited: it asks to slow down.
            HttpStatus: it has another error status.
        """
        document = parse_page(answer)
        error = page_refusal(client.name, answer, document, by_words=answer.status != 429)
        if error is not None:
            raise error
        if answer.status in (202, 403):
            raise bot_refusal(client.name, answer.status)
        check(answer, client.name)


def _image(item: dict[str, object]) -> SearchResult | None:
    image = web_url(item.get("image"))
    if not image:
        return None
    known: dict[str, object] = {"page": web_url(item.get("url"))}
    known["thumbnail"] = web_url(item.get("thumbnail"))
    known |= {n: v for n in ("width", "height") if isinstance(v := item.get(n), int)}
    return SearchResult(one_line(item.get("title")), image, extra=known)


def _filters(request: SearchRequest) -> str:
    return f"time:{request.freshness.capitalize()},,,,," if request.freshness else ""
