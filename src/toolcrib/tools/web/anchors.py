"""The links and pictures of an HTML page, absolute and each once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import quote

from toolcrib.kit.text import one_line
from toolcrib.tools.web.document import Link, Picture

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

MAX_LINKS = 2_000
MAX_PICTURES = 2_000
MAX_URL = 4_096
"""Characters; longer ones are left out."""
MAX_TEXT = 200
MAX_TRIES = 3
"""How many links to one page are looked at for its words."""
_WEB = re.compile(r"https?://[^/?#]", re.IGNORECASE)
_BLANKS = re.compile(r"[\t\r\n]")
# What no URL has as it stands, and what could end one where it is listed.
_ODD = re.compile(r'[\s"<>`\x00-\x1f\x7f-\x9f]')
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-url", "data-image")
_LAZY_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_STAND_IN = re.compile(
    r"data:|about:|(?:[^?#]*/)?(?:blank|spacer|placeholder|lazy|1x1)\.", re.IGNORECASE
)
_CANDIDATE = re.compile(r"[\s,]*([^\s,](?:\S*[^\s,])?)(?:\s+([\d.]{1,12})[wx])?\s*(?:,|\Z|(?=\s))")


def anchors_of(anchors: Iterable[Element], content: set[Element], page: str) -> list[Link]:
    """The links to pages, in their order.

    Args:
        anchors: elements whose `href` is absolute already.
        content: those of them that are not part of a menu.
        page: the URL of the page; links to its own parts are left out.
    """
    here = page.partition("#")[0]
    found: dict[str, Link] = {}
    tries: Counter[str] = Counter()
    for anchor in anchors:
        url = web_url(anchor.attr("href") or "")
        if not url or ("#" in url and url.partition("#")[0] == here):
            continue
        known = found.get(url)
        if known is None and len(found) >= MAX_LINKS:
            continue
        text, navigation = (known.text, known.navigation) if known else ("", True)
        if not text and tries[url] < MAX_TRIES:
            tries[url] += 1
            text = _words(anchor)
        found[url] = Link(text, url, navigation and anchor not in content)
    return list(found.values())


def pictures_of(tree: Tree, base: str) -> list[Picture]:
    """The images of a page, in its order.

    Of an image that is loaded later, the address from where it is loaded counts; images
    that are declared to be a pixel are left out.
    """
    found: dict[str, Picture] = {}
    for element in tree.find_all("img"):
        if len(found) >= MAX_PICTURES:
            break
        if _is_pixel(element):
            continue
        url = _source(element, base)
        if url:
            alt, title = element.attr("alt"), element.attr("title")
            found.setdefault(url, Picture(url, one_line(alt, MAX_TEXT), one_line(title, MAX_TEXT)))
    return list(found.values())


def web_url(url: str) -> str:
    """An absolute http(s) URL as browsers read it; empty for anything else."""
    url = one_word(url)
    return url if _WEB.match(url) and len(url) <= MAX_URL else ""


def one_word(url: str) -> str:
    """A URL with nothing in it that could end it where it is shown."""
    return _ODD.sub(lambda odd: quote(odd[0]), _BLANKS.sub("", url.strip()))


def absolute(url: str, base: str) -> str:
    """The http(s) URL that a reference means on a page; empty for anything else."""
    from ada_url import URL

    url = _BLANKS.sub("", url.strip())
    if not url or len(url) > MAX_URL:
        return ""
    try:
        return web_url(URL(url, base).href)
    except (ValueError, UnicodeEncodeError):
        return ""


def _words(anchor: Element) -> str:
    words = one_line(" ".join(islice(anchor.stripped_strings, 50)), MAX_TEXT)
    if words:
        return words
    picture = anchor.find("img", alt=True)
    told = (picture.attr("alt") if picture else "") or anchor.attr("aria-label")
    return one_line(told or anchor.attr("title"), MAX_TEXT)


def _is_pixel(element: Element) -> bool:
    sizes = [(element.attr(name) or "").strip().removesuffix("px") for name in ("width", "height")]
    return all(size in ("0", "1") for size in sizes)


def _source(element: Element, base: str) -> str:
    plain = (element.attr("src") or "").strip()
    if plain and not _STAND_IN.match(plain):
        return absolute(plain, base)
    lazy = [element.attr(name) or "" for name in _LAZY]
    sets = [_largest(element.attr(name) or "") for name in _LAZY_SETS]
    candidates = (absolute(url, base) for url in [*lazy, *sets, plain] if url.strip())
    return next(filter(None, candidates), "")


def _largest(srcset: str) -> str:
    """The candidate of a `srcset` with the most pixels; URLs in it may hold commas."""
    best, most = "", -1.0
    for match in islice(_CANDIDATE.finditer(srcset[: 8 * MAX_URL]), 100):
        url, size = match.groups()
        try:
            number = float(size or 1)
        except ValueError:
            number = 0.0
        if number > most:
            best, most = url, number
    return best
