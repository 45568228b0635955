"""The links and pictures of an HTML page, absolute and each once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import islice
from typing import TYPE_CHECKING

from toolcrib.documents.markup.addresses import MAX_URL, absolute, one_word
from toolcrib.text.cleaner import one_line
from toolcrib.web.conversion.document import Link, Picture

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

MAX_LINKS = 2_000
MAX_ANCHORS = 40_000
"""Links that are looked at, most of them to pages that were named before."""
MAX_PICTURES = 2_000
MAX_TEXT = 200
MAX_TRIES = 3
"""How many links to one page are looked at for its words."""
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-url", "data-image")
_LAZY_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_STAND_IN = re.compile(
    r"data:|about:|(?:[^?#]*/)?(?:blank|spacer|placeholder|lazy|1x1)\.", re.IGNORECASE
)
_CANDIDATE = re.compile(r"[\s,]*([^\s,](?:\S*[^\s,])?)(?:\s+([\d.]{1,12})[wx])?\s*(?:,|\Z|(?=\s))")


class Anchors:
    """The links of a page to others, gathered while its tree is whole.

    Args:
        tree: the page.
        base: what its addresses are relative to.
        page: the URL of the page; links to its own parts are left out.
    """

    def __init__(self, tree: Tree, base: str, page: str) -> None:
        here = page.partition("#")[0]
        self._words: dict[str, str] = {}
        self._places: dict[str, list[Element]] = {}
        self._urls: dict[Element, str] = {}
        tries: Counter[str] = Counter()
        self._unseen = set(tree.select("noscript a[href]"))
        for anchor in islice(tree.select("a[href]"), MAX_ANCHORS):
            url = absolute(anchor.attr("href") or "", base)
            self._urls[anchor] = url
            if not url or ("#" in url and url.partition("#")[0] == here):
                continue
            if url not in self._words:
                if len(self._words) >= MAX_LINKS:
                    continue
                self._words[url], self._places[url] = "", []
            self._places[url].append(anchor)
            if not self._words[url] and tries[url] < MAX_TRIES:
                tries[url] += 1
                self._words[url] = _words(anchor)

    def settle(self, content: Iterable[Element]) -> None:
        """Give anchors their absolute addresses; one that leads to no page is none any more.

        A place on the page keeps its own, for what makes notes of them.
        """
        for anchor in content:
            href = (anchor.attr("href") or "").strip()
            url = one_word(href) if href.startswith("#") else self._urls.get(anchor, "")
            if url:
                anchor.attrs["href"] = url
            else:
                del anchor.attrs["href"]

    def listed(self, content: set[Element], menus: Collection[Element] = ()) -> list[Link]:
        """The links, each once: those of the content, then the others, in their order.

        Args:
            content: anchors that stand in the content.
            menus: elements; a link that stands in them alone is one of a menu.
        """
        inside = {anchor for menu in menus for anchor in menu.select("a[href]")}
        first: list[Link] = []
        rest: list[Link] = []
        for url, places in self._places.items():
            main = not content.isdisjoint(places)
            if not main and self._unseen.issuperset(places):
                continue
            menu = not main and inside.issuperset(places)
            (first if main else rest).append(Link(self._words[url], url, menu))
        return first + rest


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
