"""DuckDuckGo without a key: the HTML page for browsers that run no scripts."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from toolcrib.core.errors import ChallengePage
from toolcrib.tools.web.answers import check
from toolcrib.tools.web.provider import Ask, Found, Page, Provider, Reach, is_web, plain

if TYPE_CHECKING:
    from turbohtml import Document, Element

_SAFE = {"strict": ("1", "1"), "moderate": ("", "-1"), "off": ("-1", "-2")}
_BANG = re.compile(r"(?<!\S)(!\S+|\S+!)(?!\S)")
_TARGET = re.compile(r"(?:^|duckduckgo\.com)/l/\?(?:[^#]*&)?uddg=([^&#]*)")
_AD = re.compile(r"^(?:https?:)?//(?:[\w-]+\.)?duckduckgo\.com/y\.js\b")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d(?!\d)")


async def search(ask: Ask, reach: Reach) -> Page:
    """Post the form that the page has, and read the page that comes back."""
    p, kp = _SAFE[ask.safe_search]
    # A word like !w would send the query on to another site.
    form = {"q": _BANG.sub(r'"\1"', ask.query), "b": "", "kl": "wt-wt", "p": p, "kp": kp}
    form |= {"df": ask.freshness[:1], **ask.cursor}
    response = await reach.send(
        "/html/", form=form, headers={"referer": f"{reach.base_url}/"}, checked=False
    )
    document = await asyncio.to_thread(_parse, response.body)
    if response.status == 202 or document.select_one("form#challenge-form, [class*=anomaly-modal]"):
        raise ChallengePage(
            f"{reach.name} wants proof of a human instead of answering.",
            hint="It blocks an address for up to an hour. Use another provider until then.",
            kind="duckduckgo",
            status=response.status,
        )
    check(response, reach.name)
    if response.redirects and not response.url.startswith(f"{reach.base_url}/"):
        raise reach.unreadable("it redirects to another page")
    return await asyncio.to_thread(_page, document, reach)


def _parse(body: bytes) -> Document:
    from turbohtml import parse

    return parse(body, encoding="utf-8", positions=False)


def _page(document: Document, reach: Reach) -> Page:
    blocks = document.select("#links .result, .serp__results .result")
    organic = [b for b in blocks if not b.matches(".result--ad, .result--no-result")]
    found = [result for block in organic if (result := _result(block))]
    empty = document.select_one(".no-results, .result--no-result, .no-results__message")
    if organic and not found and not empty and not any(map(_is_ad, organic)):
        raise reach.unreadable("it has results in an unknown form")
    if not blocks and not empty and not document.select_one("#links, .serp__results"):
        raise reach.unreadable("it is not a page of results")
    following = document.select_one(".nav-link form:has(input[value=Next])")
    fields = following.select("input[type=hidden][name]") if following else []
    cursor = {str(f.attr("name")): f.attr("value") or "" for f in fields}
    return Page(tuple(found), bool(cursor), cursor)


def _result(block: Element) -> Found | None:
    link = block.select_one("a.result__a")
    title = plain(link.text) if link else ""
    url = _unwrap((link.attr("href") or "").strip()) if link else ""
    if not title or not is_web(url) or _AD.match(url):
        return None
    snippet = block.select_one(".result__snippet")
    shown = block.select_one(".result__extras__url")
    date = _DATE.search(shown.text) if shown else None
    return Found(title, url, plain(snippet.text) if snippet else "", date[0] if date else "")


def _is_ad(block: Element) -> bool:
    link = block.select_one("a.result__a")
    href = (link.attr("href") or "").strip() if link else ""
    return bool(_AD.match(href) or _AD.match(_unwrap(href)))


def _unwrap(href: str) -> str:
    """The address behind DuckDuckGo's redirect, with its own percent-encoding untouched."""
    wrapped = _TARGET.search(href)
    if not wrapped:
        return f"https:{href}" if href.startswith("//") else href
    raw = unquote_to_bytes(wrapped[1])
    try:
        return raw.decode("utf-8").strip().replace(" ", "%20")
    except UnicodeDecodeError:
        return quote(raw, safe="%/:?#[]@!$&'()*+,;=~-._")


PROVIDER = Provider("duckduckgo", search, base_url="https://html.duckduckgo.com")
