"""Addresses on result pages: out of their wrappers, and which of them are no results.

Search engines link through redirects of their own that carry the address in one of
several codings. What comes out is the address as the site wrote it: its own
percent-encoding is not touched.
"""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import quote, unquote_to_bytes

DEPTH = 4
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


def unwrap(href: str) -> str:
    """The address that a link of a result page leads to; relative ones stay so."""
    for _ in range(DEPTH):
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
