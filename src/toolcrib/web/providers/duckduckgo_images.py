"""Images by DuckDuckGo, without a key: data that wants a token from the page."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from toolcrib.net.egress.response import Response
from toolcrib.net.statuses import check
from toolcrib.text.cleaner import one_line
from toolcrib.web.engines.duck import LONGEST, limited, region, words
from toolcrib.web.engines.engine import Engine, unique
from toolcrib.web.engines.markup import page_text, parse_page
from toolcrib.web.engines.refusals import marked, refused, worded
from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import Ask, Found, Page, is_web, records

SIZE = 100
_TOKEN = re.compile(rb"""vqd(?:=|["']?\s*:\s*)["']?(\d+-[\d-]+)""")
_SAFE = {"strict": "1", "moderate": "", "off": "-1"}
_COOKIES = {"strict": "1", "moderate": "", "off": "-2"}


class DuckDuckGoImages(Engine):
    """DuckDuckGo's images."""

    name = "duckduckgo_images"
    about = "DuckDuckGo's images."
    kind = "images"
    base_url = "https://duckduckgo.com"
    site = "duckduckgo.com"
    max_chars = LONGEST

    async def search(self, ask: Ask, reach: Reach) -> Page:
        """One page of images, with the token of the page before or of a new one."""
        limited(self, ask)
        token = ask.cursor.get("vqd") or await self._token(ask, reach)
        offset = ask.cursor.get("s") or (str(SIZE * (ask.page - 1)) if ask.page > 1 else "")
        place = region(ask)
        params = {"l": place, "o": "json", "q": words(ask), "vqd": token, "s": offset}
        params |= {"p": _SAFE[ask.safe_search], "f": _filters(ask)}
        headers = {"accept": "application/json, text/javascript, */*; q=0.01"}
        headers |= {"sec-fetch-mode": "cors", "sec-fetch-dest": "empty"}
        headers["x-requested-with"] = "XMLHttpRequest"
        sent = {"p": _COOKIES[ask.safe_search], "l": place}
        answer = await self.fetch_page(
            reach, ask, "/i.js", params=params, cookies=sent, headers=headers
        )
        return self._images(answer, reach, token)

    async def request(self, ask: Ask, reach: Reach) -> Response:
        """The page that has the token."""
        params = {"q": words(ask), "iax": "images", "ia": "images", "t": "h_"}
        return await self.fetch_page(reach, ask, "/", params=params)

    async def _token(self, ask: Ask, reach: Reach) -> str:
        page = await self.request(ask, reach)
        found = _TOKEN.search(page.body)
        if found is None or page.status >= 400:
            self._refused(page, reach)
            raise reach.unreadable("its page has no token for images")
        return found[1].decode("ascii")

    def _images(self, answer: Response, reach: Reach, token: str) -> Page:
        if answer.status != 200 or answer.body.lstrip()[:1] != b"{":
            self._refused(answer, reach)
        data = reach.json(answer)
        if not isinstance(data.get("results"), list):
            raise reach.unreadable("it has no list of results")
        images = unique(f for item in records(data["results"]) if (f := _image(item)))
        following = re.search(r"[?&]s=(\d+)", str(data.get("next") or ""))
        cursor = {"vqd": token, "s": following[1]} if following and images else {}
        return Page(tuple(images), bool(cursor), cursor)

    def _refused(self, answer: Response, reach: Reach) -> None:
        """Raise for a refusal; a plain 403 of this address is one too.

        Raises:
            ChallengePage: it takes the caller for a program.
            RateLimited: it asks to slow down.
            HttpStatus: it has another error status.
        """
        document = parse_page(answer)
        error = marked(reach.name, answer, document)
        if error is None and answer.status != 429:
            error = worded(reach.name, answer, page_text(document))
        if error is not None:
            raise error
        if answer.status in (202, 403):
            raise refused(reach.name, answer.status)
        check(answer, reach.name)


def _image(item: dict[str, object]) -> Found | None:
    image = str(item.get("image") or "").strip()
    if not is_web(image) or not urlsplit(image).netloc:
        return None
    page, thumbnail = str(item.get("url") or ""), str(item.get("thumbnail") or "")
    known: dict[str, object] = {"page": page if is_web(page) else ""}
    known["thumbnail"] = thumbnail if is_web(thumbnail) else ""
    known |= {n: v for n in ("width", "height") if isinstance(v := item.get(n), int)}
    return Found(one_line(item.get("title")), image, extra=known)


def _filters(ask: Ask) -> str:
    return f"time:{ask.freshness.capitalize()},,,,," if ask.freshness else ""
