"""HTML: the main content of a page, or all of it, with absolute links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from itertools import compress, islice
from typing import TYPE_CHECKING

from toolcrib.documents.html_text import (
    INVISIBLE_TAGS,
    MAX_URL_CHARS,
    absolute_url,
    base_of,
    escape_url,
    make_visible,
    rendered,
    resolve_links,
    tidy_lines,
    tree_of,
    web_url,
)
from toolcrib.documents.reader.choice import MENU_NAMES, MIN_LINKED_SHARE
from toolcrib.text.cleaner import clean, one_line
from toolcrib.web.page import CUT_MARK, Choice, Facts, Link, Page, Picture, RawPage, decode

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

    from toolcrib.documents.reader.extraction import ChosenPage
    from toolcrib.documents.reader.markdown.writer import PageMarkdown
    from toolcrib.documents.reader.page_metadata import PageMetadata


_NAVIGATION = "nav, [role=navigation], [role=search], [role=contentinfo], body > footer"
_NO_PAGE = re.compile(
    r"\[([^\[\]\n]*)\]\(<?(?!https?:|[/#?.])[a-z][a-z0-9+.-]{0,20}:[^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)",
    re.IGNORECASE,
)
# What plain text would join: 10<sup>8</sup> is not 108. Behind a word it is a note's number.
_POWER = re.compile(
    r"(?<=[\w)])(?<![^\W\d_]{3})<sup(?:\s[^<>]{0,200})?>\s*([-+\u2212]?\w{1,6})\s*</sup>",
    re.IGNORECASE,
)
_STRUCK = re.compile(r"<(del|s|strike)(?:\s[^<>]{0,200})?>([^<>]{1,200})</\1\s*>", re.IGNORECASE)
TOO_LARGE_REASON = "it is too large to choose from"
LITTLE_CONTENT_REASON = "little main content was found"
NO_CONTENT_REASON = "no main content was found"
MIN_CONTENT_WORDS = 60
"""Words of main content below which a page that has much more is shown whole."""
MUCH_MORE = 4
"""So many times more."""
MAX_HIDDEN_SHARE = 0.5
"""Share of the content above which it is told that most of it is marked as hidden."""
MAX_LINKS = 2_000
MAX_ANCHORS = 40_000
"""Links that are looked at, most of them to pages that were named before."""
MAX_PICTURES = 2_000
MAX_LINK_CHARS = 200
MAX_TRIES = 3
"""How many links to one page are looked at for its words."""
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-url", "data-image")
_LAZY_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_STAND_IN = re.compile(
    r"data:|about:|(?:[^?#]*/)?(?:blank|spacer|placeholder|lazy|1x1)\.", re.IGNORECASE
)
_CANDIDATE = re.compile(r"[\s,]*([^\s,](?:\S*[^\s,])?)(?:\s+([\d.]{1,12})[wx])?\s*(?:,|\Z|(?=\s))")
MAX_NAVIGATION_BYTES = 8_192
MAX_CANDIDATES = 500
MAX_DEPTH = 1_000
MAX_STRINGS = 5_000
_MENU_ELEMENTS = "nav, [role=navigation i], [role=menu i], [role=menubar i], [role=directory i]"
_NAMED_MENUS = ", ".join(f'[class~="{name}" i], [id="{name}" i]' for name in sorted(MENU_NAMES))
MAX_FORWARD_SECONDS = 10
ONLY_HIDDEN_NOTE = "Only hidden or navigation text was found."
NO_TEXT_NOTE = "The page has no text without a browser that runs its scripts."


def convert_html(raw: RawPage) -> Page:
    """The main content of a page, as Markdown or plain, and what else the page holds.

    Where that cannot be distinguished, or the whole page is asked for, it is all that a reader
    of the page would see, without menus.
    """
    from toolcrib.documents.reader.extraction import choose_content
    from toolcrib.documents.reader.large_pages import is_bulk

    source, encoding = decode(raw)
    if raw.format == "text":
        source = _STRUCK.sub(r"~~\2~~", _POWER.sub(r"^\1", source))
    if raw.whole and not is_bulk(source, tree_of(source)):
        return _whole(source, raw, encoding)
    reading = choose_content(source, raw.url, excerpt=False)
    if reading.bulk is not None:
        return _bulk(reading, reading.bulk, raw, encoding)
    hidden = _drop_hidden(reading)
    menus = menus_of(reading.document)
    choice = choice_of(reading)
    if choice.method == "whole":
        return _whole(source, raw, encoding, choice.reason)
    return replace(_main(reading, menus, raw), encoding=encoding, hidden=hidden, choice=choice)


def _main(reading: ChosenPage, menus: list[Element], raw: RawPage) -> Page:
    """The main content, and what stands in and around it."""
    tree = reading.document
    base = base_of(tree, raw.url)
    pictures = pictures_of(tree, base)
    anchors = Anchors(tree, base, raw.url)
    navigation = navigation_of(menus, lambda menu: _menu(menu, base, raw))
    forward = _forward(tree, raw)
    notes = _forward_note(forward)
    if reading.place:
        notes.append(f"The text comes from the page's {reading.place}.")
    if is_disguised(reading):
        notes.append(ONLY_HIDDEN_NOTE)
    reading.narrow()
    content = set(tree.select("a[href]"))
    links = anchors.listed(content, menus)
    if raw.format == "text":
        text, removed = tidy_lines(reading.full_text), {}
    else:
        # The reader's Markdown has none of them left.
        removed = {} if reading.text.isascii() else clean(reading.text).removed
        anchors.settle(content)
        _tame(tree)
        text = reading.write(pictures=False).markdown
    return Page(
        text,
        "html",
        reading.meta.title or _title(tree),
        notes=notes,
        links=links,
        pictures=pictures,
        facts=_facts(reading.meta),
        forward=forward,
        navigation=navigation,
        removed=removed,
    )


def _bulk(reading: ChosenPage, all_of_it: PageMarkdown, raw: RawPage, encoding: str) -> Page:
    """A page of a million elements: nothing here may look at each of them."""
    forward = _forward(reading.document, raw)
    notes = _forward_note(forward)
    if not raw.whole:
        notes.append(f"This is the whole page: {TOO_LARGE_REASON}.")
    written = reading.write().markdown
    links = ((link.text, web_url(link.url)) for link in all_of_it.links)
    images = ((image.text, web_url(image.url)) for image in all_of_it.images)
    return Page(
        tidy_lines(reading.full_text) if raw.format == "text" else _NO_PAGE.sub(r"\1", written),
        "html",
        reading.meta.title or _title(reading.document),
        encoding,
        notes,
        links=[Link(one_line(text, MAX_LINK_CHARS), url) for text, url in links if url],
        pictures=[Picture(url, one_line(text, MAX_LINK_CHARS)) for text, url in images if url],
        facts=_facts(reading.meta),
        forward=forward,
        choice=Choice(reason=TOO_LARGE_REASON),
    )


def _drop_hidden(reading: ChosenPage) -> int:
    """Remove what the page hides, and count the parts of it that have text."""
    count = sum(1 for node in reading.page.hidden if next(iter(node.stripped_strings), ""))
    for node in reading.page.hidden:
        node.extract()
    return reading.silent + count


def _tame(tree: Tree) -> None:
    """Let no address of an embedded video end before it ends."""
    for frame in tree.select("iframe[src], video[src], audio[src], embed[src], source[src]"):
        frame.attrs["src"] = escape_url(frame.attr("src") or "")


def _menu(menu: Element, base: str, raw: RawPage) -> str:
    menu.remove(INVISIBLE_TAGS)
    resolve_links(menu, base)
    return rendered(menu, raw.format)


def _whole(source: str, raw: RawPage, encoding: str, reason: str = "") -> Page:
    """All that is visible, without menus; where nothing is left, menus and hidden parts too."""
    from toolcrib.documents.reader.page_metadata import read_meta

    tree = tree_of(source)
    meta = read_meta(tree, url=raw.url, excerpt=False)
    forward = _forward(tree, raw)
    notes = _forward_note(forward)
    hidden = make_visible(tree)
    base = base_of(tree, raw.url)
    pictures = pictures_of(tree, base)
    anchors = Anchors(tree, base, raw.url)
    resolve_links(tree, base)
    menus = menus_of(tree)
    navigation = navigation_of(menus, lambda menu: rendered(menu, raw.format))
    for menu in menus:
        menu.extract()
    if not raw.whole:
        tree.remove(_NAVIGATION)
    links = anchors.listed(set(tree.select("a[href]")), menus)
    text = rendered(tree, raw.format)
    if text and reason:
        notes.append(f"This is the whole page: {reason}.")
    if not text:
        text = _last_words(source, base, raw)
        notes.append(ONLY_HIDDEN_NOTE if text else NO_TEXT_NOTE)
        reason = reason or NO_CONTENT_REASON
    return Page(
        text,
        "html",
        meta.title or _title(tree),
        encoding,
        notes,
        hidden,
        links=links,
        pictures=pictures,
        facts=_facts(meta),
        forward=forward,
        navigation=navigation,
        choice=Choice(reason=reason),
    )


def _last_words(source: str, base: str, raw: RawPage) -> str:
    """The text with menus and hidden parts."""
    tree = tree_of(source)
    tree.remove(INVISIBLE_TAGS)
    resolve_links(tree, base)
    return rendered(tree, raw.format)


def _facts(meta: PageMetadata) -> Facts:
    return Facts(
        published=meta.published,
        modified=meta.modified,
        type=meta.type,
        description=meta.description,
        site=meta.site_name,
        author=meta.byline,
        language=meta.language,
    )


def _title(tree: Tree) -> str:
    for selector in ("title", "h1"):
        found = tree.select_one(selector)
        title = " ".join(found.text.split()) if found else ""
        if title:
            return title[:300]
    return ""


def _forward(tree: Tree, raw: RawPage) -> str:
    """The address of the web that the page leads browsers to by itself; empty for none."""
    forward = tree.meta_refresh(raw.url)
    if forward and forward[0] <= MAX_FORWARD_SECONDS and forward[1] != raw.url:
        return web_url(forward[1])
    return ""


def _forward_note(forward: str) -> list[str]:
    return [f"The page forwards to {forward}"] if forward else []


def choice_of(reading: ChosenPage) -> Choice:
    """What is told of the choice; all of the page where that says much more."""
    from toolcrib.documents.reader.choice import in_menus

    menus = in_menus(reading.page, reading.page_type, everything=reading.everything)
    words = [block.words for block in reading.page.blocks]
    count = sum(
        size for size, own, menu in zip(words, reading.chosen, menus, strict=True) if own > menu
    )
    left = sum(words) - count - _sum(words, menus)
    if reading.data:
        count += len(reading.data.split())
        return Choice("data", True, page_type=reading.page_type, words=count, left=left)
    is_little = count < MIN_CONTENT_WORDS and left > MUCH_MORE * count + MIN_CONTENT_WORDS
    if not count or is_little:
        return Choice(reason=LITTLE_CONTENT_REASON if count else NO_CONTENT_REASON)
    return Choice(
        "main", True, page_type=reading.page_type, words=count, left=left,
        running=reading.left_words,
    )  # fmt: skip


def is_disguised(reading: ChosenPage) -> bool:
    """Whether most of the content is marked as hidden, and a script would show it."""
    from toolcrib.documents.reader.tree import HIDDEN, visibility

    page = reading.page
    words = [block.words for block in page.blocks]
    total = _sum(words, reading.chosen)
    for element in page.elements:
        above = page.elements[element.parent].flags if element.parent >= 0 else 0
        if element.flags & HIDDEN and not above & HIDDEN and visibility(element.node) == "hidden":
            inside = range(element.start, element.end)
            if sum(words[n] for n in inside if reading.chosen[n]) > MAX_HIDDEN_SHARE * total:
                return True
    return visibility(page.elements[0].node) == "hidden"


def _sum(words: Iterable[int], taken: Iterable[bool]) -> int:
    return sum(compress(words, taken))


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
            url = absolute_url(anchor.attr("href") or "", base)
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
            url = escape_url(href) if href.startswith("#") else self._urls.get(anchor, "")
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
            found.setdefault(
                url, Picture(url, one_line(alt, MAX_LINK_CHARS), one_line(title, MAX_LINK_CHARS))
            )
    return list(found.values())


def _words(anchor: Element) -> str:
    words = one_line(" ".join(islice(anchor.stripped_strings, 50)), MAX_LINK_CHARS)
    if words:
        return words
    picture = anchor.find("img", alt=True)
    label = (picture.attr("alt") if picture else "") or anchor.attr("aria-label")
    return one_line(label or anchor.attr("title"), MAX_LINK_CHARS)


def _is_pixel(element: Element) -> bool:
    sizes = [(element.attr(name) or "").strip().removesuffix("px") for name in ("width", "height")]
    return all(size in ("0", "1") for size in sizes)


def _source(element: Element, base: str) -> str:
    plain = (element.attr("src") or "").strip()
    if plain and not _STAND_IN.match(plain):
        return absolute_url(plain, base)
    lazy = [element.attr(name) or "" for name in _LAZY]
    sets = [_largest(element.attr(name) or "") for name in _LAZY_SETS]
    candidates = (absolute_url(url, base) for url in [*lazy, *sets, plain] if url.strip())
    return next(filter(None, candidates), "")


def _largest(srcset: str) -> str:
    """The candidate of a `srcset` with the most pixels; URLs in it may hold commas."""
    best, pixels = "", -1.0
    for match in islice(_CANDIDATE.finditer(srcset[: 8 * MAX_URL_CHARS]), 100):
        url, size = match.groups()
        try:
            number = float(size or 1)
        except ValueError:
            number = 0.0
        if number > pixels:
            best, pixels = url, number
    return best


def menus_of(tree: Tree) -> list[Element]:
    """The elements that are menus, the outermost of each, in document order.

    An element counts by its tag or role, or by its name if it is mostly links and not
    most of the page.
    """
    named = _mostly_links(tree)
    found: dict[Element, None] = {}
    for element in tree.select(f"{_MENU_ELEMENTS}, {_NAMED_MENUS}")[:MAX_CANDIDATES]:
        if element not in named and not element.matches(_MENU_ELEMENTS):
            continue
        if not any(above in found for above in islice(element.ancestors, MAX_DEPTH)):
            found[element] = None
    return list(found)


def navigation_of(menus: list[Element], render: Callable[[Element], str]) -> str:
    """The text of menus, each once, within MAX_BYTES."""
    texts: dict[str, None] = {}
    size = 0
    for menu in menus:
        text = render(menu)
        if text and text not in texts:
            texts[text] = None
            size += len(text.encode("utf-8", "replace")) + 2
        if size > MAX_NAVIGATION_BYTES:
            break
    whole = "\n\n".join(texts)
    if len(whole.encode("utf-8", "replace")) <= MAX_NAVIGATION_BYTES:
        return whole
    head = whole.encode("utf-8", "replace")[: MAX_NAVIGATION_BYTES - len(CUT_MARK)].decode(
        "utf-8", "ignore"
    )
    return (head.rpartition("\n")[0] or head) + CUT_MARK


def _mostly_links(tree: Tree) -> set[Element]:
    found: set[Element] = set()
    candidates = tree.select(_NAMED_MENUS)[:MAX_CANDIDATES]
    if not candidates:
        return found
    whole = len(tree.text)
    for element in candidates:
        size = sum(len(text) for text in islice(element.stripped_strings, MAX_STRINGS))
        if not size or size * 2 > whole:
            continue
        linked = sum(
            len(text)
            for anchor in islice(element.select("a"), MAX_STRINGS)
            for text in islice(anchor.stripped_strings, 50)
        )
        if linked >= MIN_LINKED_SHARE * size:
            found.add(element)
    return found
