"""Texts, dates and addresses on the result pages of search engines."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from toolcrib.net.egress.response import Response
from toolcrib.text.cleaner import one_line

if TYPE_CHECKING:
    from turbohtml import Document, Element, Node


MAX_WRAPPERS = 4
"""How many wrappers may lie around each other."""

_HOST = r"(?:https?:)?//(?:[\w-]+\.)*"
_GOOGLE = r"google\.(?:[a-z]{2,3}\.)?[a-z]{2,3}"
# The parameter of each that holds the address. A relative link is the engine's own.
_PERCENT = re.compile(
    rf"(?:{_HOST}duckduckgo\.com)?/l/\?(?:[^#]*&)?uddg=([^&#]*)"
    rf"|(?:{_HOST}{_GOOGLE})?/url\?(?:[^#]*&)?(?:q|url)=([^&#]*)"
    rf"|{_HOST}(?:startpage|ixquick)\.com/(?:do|cgi-bin)/[^?#]*\?(?:[^#]*&)?u=([^&#]*)"
    rf"|{_HOST}search\.yahoo\.com/[^?#]*?/RU=([^/?#]+)"
    rf"|{_HOST}yahoo\.com/[^?#]*\*\*(https?[^?#]+)",
    re.IGNORECASE,
)
_BASE64 = re.compile(
    rf"(?:{_HOST}bing\.com)?/ck/a\?(?:[^#]*&)?u=a1([A-Za-z0-9_\-]+)", re.IGNORECASE
)
_ADS = re.compile(
    rf"(?:{_HOST}duckduckgo\.com)?/y\.js\b"
    rf"|(?:{_HOST}bing\.com)?/acli?c?k\b"
    rf"|(?:{_HOST}{_GOOGLE})?/(?:pagead/)?aclk\b"
    rf"|{_HOST}(?:googleadservices|doubleclick|googlesyndication)\."  # codespell:ignore doubleclick
    rf"|{_HOST}adservice\.google\."
    rf"|{_HOST}search\.yahoo\.com/(?:[^?#]*/)?cbclk\d?\b"
    rf"|{_HOST}(?:search|ads-serve)\.brave\.com/(?:a/|v\d+/ad)"
    rf"|{_HOST}(?:amazon-adsystem|adsensecustomsearchads)\.com/"
    rf"|{_HOST}mojeek\.com/(?:ads?|click)\b"
    rf"|{_HOST}startpage\.com/(?:[^?#]*/)?(?:gsa|aclk)\b",
    re.IGNORECASE,
)
# Pages of the engines themselves that stand among results: more of a kind, other
# searches, and wrappers that could not be undone.
_OWN = re.compile(
    rf"{_HOST}bing\.com/(?:ck/|(?:search|images|videos?|news|maps|shop|travel|copilotsearch|chat)"
    r"(?:/(?:search|riverview|details?))*/?\?)"
    rf"|{_HOST}{_GOOGLE}/(?:(?:search|url|imgres|maps/search|preferences|advanced_search)(?:[?#]|$)"
    r"|sorry/|httpservice/)"
    rf"|{_HOST}duckduckgo\.com/(?:l/|[idv]\.js|(?:html/?|lite/?)?\?)"
    rf"|{_HOST}search\.yahoo\.com/"
    rf"|{_HOST}search\.brave\.com/(?:search|images|videos|news|goggles|ask|settings)\b"
    rf"|{_HOST}mojeek\.com/(?:search|preferences)\b"
    rf"|{_HOST}startpage\.com/(?:sp|do|av)/",
    re.IGNORECASE,
)
INVISIBLE_TAGS = frozenset({"style", "script", "svg", "template"})
OPENING_CHARS = 1500
"""How much of a page is believed to tell what became of the query."""

# What stands around all results of a page, in one engine or another.
_WHOLE = "html, body, main, #b_results, #links, #web, #results, #main, #search, .serp-results"
DASHES = " \u00b7\u2014\u2013-|:"
_BLOCK_TAGS = frozenset(
    (  # noqa: SIM905 - a list of words reads best as one
     "address article aside br dd div dl dt figure footer h1 h2 h3 h4 h5 h6 header hr li"
     " main nav ol p section table tbody td th tr ul").split()
)  # fmt: skip
# Months in the languages of most pages, by their beginnings.
_MONTH = (
    r"(?:jan|feb|mar|m\u00e4r|mrt|apr|may|mai|mei|mag|jun|jul|aug|sep|oct|okt|nov|dec|dez|d\u00e9c"
    r"|ene|abr|ago|dic|gen|giu|lug|set|ott|f\u00e9v|fev|avr|juin|juil|ao\u00fb|out)[^\W\d_]{0,9}\.?"
)
_DATE = (
    rf"(?:{_MONTH} \d{{1,2}},? \d{{4}}|\d{{1,2}}\.? (?:de )?{_MONTH} (?:de )?\d{{4}}"
    rf"|{_MONTH} \d{{4}}"
    r"|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4}"
    r"|(?:\d{1,3}|an?|one) (?:sec|second|min|minute|hour|hr|day|week|month|year)s? ago|yesterday)"
)
LEADING_DATE = re.compile(
    rf"({_DATE})\s*(?:[\u00b7\u2014\u2013\-|:]|\.{{3}}|\u2026)\s+", re.IGNORECASE
)
WHOLE_DATE = re.compile(rf"({_DATE})\s*[\u00b7\u2014\u2013\-|]?", re.IGNORECASE)
_NOTHING = re.compile(
    r"\b(?:(?:there (?:are|were) )?no (?:web )?(?:results?|pages?|matches|documents)"
    r" (?:were |was )?(?:found|match|for\b|containing)"
    r"|did not match any (?:documents|results)|did(?: not|n't|n\u2019t) find (?:any )?results"
    r"|could(?: not|n't|n\u2019t) find (?:any|what|results)|not many (?:great )?matches"
    r"|too few matches|no more results|your search returned no|sorry, there are no|no results\b"
    r"|keine (?:ergebnisse|treffer|seiten)|aucun r\u00e9sultat|ning\u00fan resultado"
    r"|no se han? encontrado|nessun risultato|geen resultaten|nenhum resultado"
    r"|stimmt mit keinem|ne correspond \u00e0 aucun)",
    re.IGNORECASE,
)


def parse_page(response: Response) -> Document:
    """The page of an answer. The engines send UTF-8, whatever they say."""
    from turbohtml import parse

    try:
        response.body.decode("utf-8")
    except UnicodeDecodeError:
        return parse(response.body, positions=False)
    return parse(response.body, encoding="utf-8", positions=False)


def hidden_fields(form: Element) -> dict[str, str]:
    """The fields of a form that nobody sees."""
    inputs = form.select("input[type=hidden][name]")
    return {str(f.attr("name")): str(f.attr("value") or "") for f in inputs}


def page_text(document: Document) -> str:
    """The title of a page and what it shows."""
    parts = [document.select_one("title"), document.select_one("body")]
    return " ".join(visible_text(part) for part in parts if part is not None)


def visible_text(element: Element) -> str:
    """The text of an element as it is read: in one line, blocks apart."""
    return one_line("".join(_pieces(element)))


def first_match(block: Element, selectors: Iterable[str]) -> Element | None:
    """The first element of the first selector that finds one with a link or with text."""
    for selector in selectors:
        for element in block.select(selector):
            if element.attr("href") or element.text.strip():
                return element
        if block.matches(selector):
            return block
    return None


def ancestor(element: Element, selector: str) -> Element | None:
    """The nearest element around another that a selector matches."""
    parent = element.parent
    return parent.closest(selector) if parent is not None and hasattr(parent, "closest") else None


def outermost(elements: Iterable[Element], selector: str) -> Iterator[Element]:
    """The elements that stand in no other one of the same selector."""
    return (element for element in elements if ancestor(element, selector) is None)


def is_page_wide(element: Element) -> bool:
    """Whether an element holds the whole page: its marks say nothing about a result."""
    return element.matches(_WHOLE) or element.select_one(_WHOLE) is not None


def own_text(element: Element, selector: str, link: Element | None) -> str:
    """The text of an element, unless it only wraps one that counts, or has the title in it."""
    if link is not None:
        href, title = link.attr("href"), link.text
        if any(a.attr("href") == href and a.text == title for a in element.select("a[href]")):
            return ""
    own = any(type(c).__name__ == "Text" and c.text.strip() for c in element.children)
    return "" if not own and element.select_one(selector) else visible_text(element)


def says_nothing_found(element: Element) -> bool:
    """Whether the beginning of a part of a page says that nothing was found."""
    return bool(_NOTHING.search(visible_text(element)[:OPENING_CHARS]))


def _pieces(element: Element) -> Iterator[str]:
    """The texts inside, in order; no recursion, as pages can be nested as deep as they like."""
    waiting: list[Node | str] = list(reversed(element.children))
    while waiting:
        node = waiting.pop()
        tag = getattr(node, "tag", None)
        if isinstance(node, str):
            yield node
        elif tag is None:
            yield node.text if type(node).__name__ in ("Text", "CData") else ""
        elif tag not in INVISIBLE_TAGS:
            apart = tag in _BLOCK_TAGS
            waiting += [" "] if apart else []
            waiting += reversed(node.children)
            waiting += [" "] if apart else []


def unwrap(href: str) -> str:
    """The address that a link of a result page leads to; relative ones stay so.

    Search engines link through redirects of their own that carry the address in one of
    several codings. What comes out is the address as the site wrote it: its own
    percent-encoding is not touched.
    """
    for _ in range(MAX_WRAPPERS):
        href = href.strip()
        inner = _inner(href)
        if inner is None:
            break
        href = inner
    if href.startswith("//"):
        return f"https:{href}"
    return href


def is_ad(url: str) -> bool:
    """Whether an address is one that an advertiser pays for."""
    return bool(_ADS.match(url))


def is_own(url: str) -> bool:
    """Whether an address is a page of a search engine instead of a result."""
    return bool(_OWN.match(url))


def _inner(href: str) -> str | None:
    found = _PERCENT.match(href)
    if found:
        return _text(unquote_to_bytes(next(group for group in found.groups() if group is not None)))
    coded = _BASE64.match(href)
    if coded is None:
        return None
    try:
        return _text(base64.urlsafe_b64decode(coded[1] + "=" * (-len(coded[1]) % 4)))
    except (binascii.Error, ValueError):
        return None


def _text(raw: bytes) -> str:
    """What was wrapped, as a URL that can be sent: only what no URL may hold is coded."""
    try:
        return raw.decode("utf-8").strip().replace(" ", "%20")
    except UnicodeDecodeError:
        return quote(raw, safe="%/:?#[]@!$&'()*+,;=~-._")
