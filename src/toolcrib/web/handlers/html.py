"""HTML: the main content of a page, or all of it, with absolute links."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from toolcrib.documents.markup.addresses import one_word, web_url
from toolcrib.documents.markup.visible_text import (
    UNSEEN,
    make_visible,
    rendered,
    resolve,
    tidy,
    tree_of,
)
from toolcrib.text.cleaner import clean, one_line
from toolcrib.web.conversion.anchors import MAX_TEXT, Anchors, pictures_of
from toolcrib.web.conversion.content_choice import (
    LARGE,
    NOTHING,
    choice_of,
    hide_from_all,
    is_disguised,
)
from toolcrib.web.conversion.document import (
    Choice,
    Document,
    Facts,
    Link,
    Picture,
    Raw,
    decode,
)
from toolcrib.web.conversion.navigation import menus_of, navigation_of

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

    from toolcrib.documents.reader.extraction import Reading
    from toolcrib.documents.reader.markdown.writer import Written
    from toolcrib.documents.reader.metadata.page_metadata import Meta

_NAVIGATION = "nav, [role=navigation], [role=search], [role=contentinfo], body > footer"
_NO_PAGE = re.compile(
    r"\[([^\[\]\n]*)\]\(<?(?!https?:|[/#?.])[a-z][a-z0-9+.-]{0,20}:[^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)",
    re.IGNORECASE,
)
FORWARD_SECONDS = 10
ONLY_HIDDEN = "Only hidden or navigation text was found."
NO_TEXT = "The page has no text without a browser that runs its scripts."


def convert(raw: Raw) -> Document:
    """The main content of a page, as Markdown or plain, and what else the page holds.

    Where that cannot be told apart, or the whole page is asked for, it is all that a reader
    of the page would see, without menus.
    """
    from toolcrib.documents.reader.extraction import read
    from toolcrib.documents.reader.large_pages import is_bulk

    source, encoding = decode(raw)
    if raw.whole and not is_bulk(source, tree_of(source)):
        return _whole(source, raw, encoding)
    reading = read(source, raw.url, excerpt=False)
    if reading.bulk is not None:
        return _bulk(reading, reading.bulk, raw, encoding)
    everything = all(reading.chosen)
    hidden = _drop_hidden(reading)
    menus = menus_of(reading.document)
    choice = choice_of(reading, menus, everything=everything)
    if choice.method == "whole":
        return _whole(source, raw, encoding, choice.reason)
    return replace(_main(reading, menus, raw), encoding=encoding, hidden=hidden, choice=choice)


def _main(reading: Reading, menus: list[Element], raw: Raw) -> Document:
    """The main content, and what stands in and around it."""
    tree = reading.document
    base = tree.base_url(raw.url)
    pictures = pictures_of(tree, base)
    anchors = Anchors(tree, base, raw.url)
    navigation = navigation_of(menus, lambda menu: _menu(menu, base, raw))
    notes = _notes(tree, raw)
    if reading.place:
        notes.append(f"The text comes from the page's {reading.place}.")
    if is_disguised(reading):
        notes.append(ONLY_HIDDEN)
    reading.narrow()
    content = set(tree.select("a[href]"))
    links = anchors.listed(content, menus)
    if raw.format == "text":
        text, removed = tidy(reading.told), {}
    else:
        # The reader's Markdown has none of them left.
        removed = {} if reading.text.isascii() else clean(reading.text).removed
        anchors.settle(content)
        _tame(tree)
        text = reading.write(pictures=False).markdown
    return Document(
        text,
        "html",
        reading.meta.title or _title(tree),
        notes=notes,
        links=links,
        pictures=pictures,
        facts=_facts(reading.meta),
        navigation=navigation,
        removed=removed,
    )


def _bulk(reading: Reading, all_of_it: Written, raw: Raw, encoding: str) -> Document:
    """A page of a million elements: nothing here may look at each of them."""
    notes = _notes(reading.document, raw)
    if not raw.whole:
        notes.append(f"This is the whole page: {LARGE}.")
    written = reading.write().markdown
    links = ((link.text, web_url(link.url)) for link in all_of_it.links)
    images = ((image.text, web_url(image.url)) for image in all_of_it.images)
    return Document(
        tidy(reading.told) if raw.format == "text" else _NO_PAGE.sub(r"\1", written),
        "html",
        reading.meta.title or _title(reading.document),
        encoding,
        notes,
        links=[Link(one_line(text, MAX_TEXT), url) for text, url in links if url],
        pictures=[Picture(url, one_line(text, MAX_TEXT)) for text, url in images if url],
        facts=_facts(reading.meta),
        choice=Choice(reason=LARGE),
    )


def _drop_hidden(reading: Reading) -> int:
    """Remove what the page hides, and count the parts of it that have text."""
    aside = hide_from_all(reading)
    count = sum(1 for node in reading.page.hidden if next(iter(node.stripped_strings), ""))
    for node in reading.page.hidden:
        node.extract()
    return aside + count


def _tame(tree: Tree) -> None:
    """Let no address of an embedded video end before it ends."""
    for frame in tree.select("iframe[src], video[src], audio[src], embed[src], source[src]"):
        frame.attrs["src"] = one_word(frame.attr("src") or "")


def _menu(menu: Element, base: str, raw: Raw) -> str:
    menu.remove(UNSEEN)
    resolve(menu, base)
    return rendered(menu, raw.format)


def _whole(source: str, raw: Raw, encoding: str, reason: str = "") -> Document:
    """All that is visible, without menus; where nothing is left, menus and hidden parts too."""
    from toolcrib.documents.reader.metadata.page_metadata import read_meta

    tree = tree_of(source)
    meta = read_meta(tree, raw.url, excerpt=False)
    notes = _notes(tree, raw)
    hidden = make_visible(tree)
    base = tree.base_url(raw.url)
    pictures = pictures_of(tree, base)
    anchors = Anchors(tree, base, raw.url)
    resolve(tree, base)
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
        notes.append(ONLY_HIDDEN if text else NO_TEXT)
        reason = reason or NOTHING
    return Document(
        text,
        "html",
        meta.title or _title(tree),
        encoding,
        notes,
        hidden,
        links=links,
        pictures=pictures,
        facts=_facts(meta),
        navigation=navigation,
        choice=Choice(reason=reason),
    )


def _last_words(source: str, base: str, raw: Raw) -> str:
    """The text with menus and hidden parts."""
    tree = tree_of(source)
    tree.remove(UNSEEN)
    resolve(tree, base)
    return rendered(tree, raw.format)


def _facts(meta: Meta) -> Facts:
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


def _notes(tree: Tree, raw: Raw) -> list[str]:
    forward = tree.meta_refresh(raw.url)
    if forward and forward[0] <= FORWARD_SECONDS and forward[1] != raw.url:
        return [f"The page forwards to {forward[1]}"]
    return []
