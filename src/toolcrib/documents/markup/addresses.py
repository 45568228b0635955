"""Addresses of the web as a page writes them."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote

MAX_URL = 4_096
"""Characters; longer ones are left out."""
_WEB = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_BLANKS = re.compile(r"[\t\r\n]")
# What no URL has as it stands, and what could end one where it is listed.
_ODD = re.compile(r'[\s"<>`\x00-\x1f\x7f-\x9f]')

# What parsing would leave as it is: most references, and a page may have thousands.
_PLAIN = re.compile(
    r"/(?:[\w~-][\w.~-]*(?:/[\w~-][\w.~-]*)*/?)?(?:\?[\w.~/=&-]+)?(?:#[\w.~/-]+)?", re.ASCII
)


def web_url(url: str) -> str:
    """An absolute http(s) URL as browsers read it; empty for anything else."""
    url = one_word(url)
    return url if _WEB.match(url) and len(url) <= MAX_URL else ""


def one_word(url: str) -> str:
    """A URL with nothing in it that could end it where it is shown."""
    return _ODD.sub(lambda odd: quote(odd[0]), _BLANKS.sub("", url.strip()))


def absolute(url: str, base: str) -> str:
    """The http(s) URL that a reference means on a page; empty for anything else.

    Without a `base` only whole addresses mean anything.
    """
    url = url.strip()
    if _PLAIN.fullmatch(url) and (origin := _origin(base)):
        whole = f"{origin}{url}"
        return whole if len(whole) <= MAX_URL else ""
    from ada_url import URL

    url = _BLANKS.sub("", url)
    if not url or len(url) > MAX_URL:
        return ""
    try:
        return web_url(URL(url, base or None).href)
    except (ValueError, UnicodeEncodeError):
        return ""


@lru_cache(maxsize=16)
def _origin(base: str) -> str:
    """Scheme, host and port of an address of the web; else empty."""
    from ada_url import URL

    try:
        found = URL(base)
    except (ValueError, UnicodeEncodeError):
        return ""
    return f"{found.protocol}//{found.host}" if found.protocol in ("http:", "https:") else ""
