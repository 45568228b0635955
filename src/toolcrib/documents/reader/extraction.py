"""Extraction of the main content and the metadata of an HTML page."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from toolcrib.documents.reader.block_choice import (
    best_set,
    drop_rest,
    plain_text,
    with_whole_formulas,
    without_comments,
    without_repeats,
)
from toolcrib.documents.reader.large_pages import (
    MAX_BLOCKS,
    MAX_TEXT,
    Pieces,
    is_bulk,
    is_long,
    write_bulk,
)
from toolcrib.documents.reader.markdown.writer import (
    MarkdownHeading,
    PageLink,
    PageMarkdown,
    may_hide,
    write,
)
from toolcrib.documents.reader.page_metadata import PageMetadata, read_meta
from toolcrib.documents.reader.scorer import Scorer
from toolcrib.documents.reader.signals import (
    PAGE_TYPES,
    linked_text,
    meta_values,
    page_signals,
    state_text,
    title_of,
)
from toolcrib.documents.reader.tree import MAX_ELEMENTS, PageTables, read_tree
from toolcrib.files.content.kinds import decoded

# Repairs of source that a parser of HTML would read otherwise than its writer meant.

_MAX_BREAKS = 10_000
"""Line breaks in a page from which on rows of them are made short."""
_XML = re.compile(r"\s*<\?xml|[^>]{0,600}<html[^>]{0,600}\sxmlns\s*=", re.IGNORECASE)
_LOOKED_AT = 2_000
_CLOSED = re.compile(
    r"<(title|script|style|textarea|iframe|noscript|xmp|noembed|noframes)\b([^<>]{0,2000}?)/>",
    re.IGNORECASE,
)
_SECTION = re.compile(
    r"(?P<code><(?P<tag>script|style)\b.*?</(?P=tag)\s*>)|<!\[CDATA\[(?P<said>.*?)\]\]>",
    re.IGNORECASE | re.DOTALL,
)
_SHADOW = re.compile(r"<template(?=[^<>]{0,500}\sshadowrootmode\b)", re.IGNORECASE)
_OPENED = re.compile(
    r"<(title|textarea|style|script|noembed|noframes|iframe|xmp|noscript)\b[^<>]{0,2000}>|(<!--)",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<(?:p|div|h[1-6]|table|ul|ol|main|article|section|body)\b", re.IGNORECASE)
_ENDS = {"<!--": "-->"}
_MAX_OPENED = 2_000


def repair_source(source: str, marks: int) -> str:
    """The source with XHTML and declarative shadow trees as HTML that says the same.

    Rows of line breaks in long pages become short: they are parsed one by one otherwise.

    Args:
        source: the page.
        marks: how many `<` it has, or 0 where they are few.
    """
    head = source[:_LOOKED_AT].lower()
    if ("xmlns" in head or "<?xml" in head) and _XML.match(source[:_LOOKED_AT]):
        source = _CLOSED.sub(r"<\1\2></\1>", source)
        if "<![CDATA[" in source:
            source = _SECTION.sub(_section, source)
    if "shadowrootmode" in source:
        source = _SHADOW.sub("<div", source)
    if marks >= _MAX_BREAKS:
        source = _compacted(source)
    # Text before any tag takes the parser twenty times its memory.
    return source if source[:1] in ("", "<") else f"<body>{source}"


def after_unclosed(source: str) -> str:
    """What follows the first element or comment that is never closed; empty if there is none.

    Browsers take all of that for a title, a script or a comment.
    """
    low = source.lower()
    place = 0
    for _ in range(_MAX_OPENED):
        found = _OPENED.search(source, place)
        if found is None:
            return ""
        tag = (found[1] or found[2]).lower()
        place = low.find(_ENDS.get(tag, f"</{tag}"), found.end())
        if place < 0:
            rest = source[found.end() :]
            if tag in ("script", "style"):
                markup = _MARKUP.search(rest)
                return rest[markup.start() :] if markup else ""
            return rest
    return ""


def _compacted(source: str) -> str:
    """The source with two of each row of line breaks, by what is fast and needs no memory."""
    if source.count("<br") + source.count("<BR") < _MAX_BREAKS:
        return source
    for spelling in ("<br/>", "<br />", "<BR>", "<BR/>", "<BR />", "<br>\n", "<br> "):
        source = source.replace(spelling, "<br>")
    for number in (1000, 100, 30, 10, 5, 4, 3, 3):
        source = source.replace("<br>" * number, "<br><br>")
    return source


def _section(found: re.Match[str]) -> str:
    text = found["said"]
    return found[0] if text is None else html.escape(text, quote=False)


MAX_CHARS = 12_000_000
"""What is longer is cut before it is parsed."""
MAX_REREAD_CHARS = 4_000_000
"""Characters up to which the source of a page too large to choose from stays for a second read."""
MAX_EARLY_CHARS = 500_000
"""Characters of such a page that are searched for its metadata."""
_FEW_WORDS = 40
"""Words under which a page's data for scripts is looked at too."""
_MANY_CHARS = 20_000
"""Characters of a text that are likely to have as many."""
_SHORT_PAGE_WORDS = 25
"""Words up to which a page is taken whole: too few for a choice."""
_FEW_MARKS = 300_000
"""Characters of a page up to which it cannot hold so many tags that they need care."""
_LARGE = "The page is too large to choose from: this is all its text."
_MANY_BLOCKS, _FEW_TEXTS = 100, 8
_COMMENTED = ("article", "service")
"""Where comments are no content. A page taken for a service is often an article after all."""
_DESCRIPTIONS = ("og:description", "description", "twitter:description")


@dataclass(frozen=True, slots=True)
class Extraction:
    """The content and the metadata of a page.

    Attributes:
        markdown: the main content as Markdown.
        text: the same as plain text, blocks apart by blank lines.
        title, byline, site_name, language, excerpt: as reader modes give them, or empty;
            the title without the site's name where that can be told apart.
        published, modified: dates as the page gives them, or empty.
        page_type: article, collection, documentation, forum, listing, product or service;
            empty where there was nothing to judge by.
        outline: the headings of the content, with their places in the Markdown.
        links, images: those in the content, each address once.
        warnings: what was left out, cut or found elsewhere than in the text.
    """

    markdown: str = ""
    text: str = ""
    title: str = ""
    byline: str = ""
    site_name: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    excerpt: str = ""
    page_type: str = ""
    outline: tuple[MarkdownHeading, ...] = ()
    links: tuple[PageLink, ...] = ()
    images: tuple[PageLink, ...] = ()
    warnings: tuple[str, ...] = field(default=())


def extract(
    html: bytes | str, url: str | None = None, content_type: str | None = None
) -> Extraction:
    """The main content of an HTML page, and its metadata.

    Text that a reader of the page would not see is left out, and `warnings` says so. A page
    in which no main content is found gives all its visible text.

    Args:
        html: the page; bytes are decoded as browsers do.
        url: where it came from: helps to judge, and makes links absolute.
        content_type: the Content-Type header, for its charset.
    """
    reading = choose_content(
        html if isinstance(html, str) else decode_page(html, content_type or ""), url or ""
    )
    written = reading.write()
    return _assembled(reading, written)


@dataclass(slots=True)
class ChosenPage:
    """A page whose main content is chosen, and not yet taken out of its tree.

    Attributes:
        document: the tree, with all that is on the page.
        page: its blocks; empty where it has no text.
        chosen: for each block whether it is main content; empty where there was no choice.
        meta: what the page says of itself.
        page_type: see `Extraction`.
        url: where it came from, or empty.
        text: the content as plain text, without what the page's data tell.
        data, place: what its scripts or its head tell of its content where the text has
            little, and where that stood; else empty.
        warnings: see `Extraction`.
        bulk: all of a page that was too large to choose from.
        narrowed: whether the tree holds the content alone.
    """

    document: Any
    page: PageTables
    chosen: list[bool]
    meta: PageMetadata
    page_type: str
    url: str
    text: str
    data: str
    place: str
    warnings: list[str]
    bulk: PageMarkdown | None = None
    narrowed: bool = False

    @property
    def full_text(self) -> str:
        """The text, with the content of the page's data."""
        return _with_data(self.text, self)

    def choose(self, chosen: list[bool]) -> None:
        """Take other blocks as the content, before anything is written."""
        if chosen != self.chosen:
            self.chosen = chosen
            self.text = plain_text(self.page, chosen)

    def narrow(self) -> None:
        """Take out of the tree what was not chosen; `write` begins with it."""
        if self.chosen and not self.narrowed:
            drop_rest(self.page, with_whole_formulas(self.page, self.chosen))
        self.narrowed = True

    def write(self, *, pictures: bool = True) -> PageMarkdown:
        """The content as Markdown; the tree holds nothing else after.

        Args:
            pictures: with their addresses; else only their alternative texts.
        """
        written = self.bulk or PageMarkdown(self.text, (), (), ())
        if self.chosen:
            base = self.document.base_url(self.url)
            self.narrow()
            root = self.page.elements[0].node
            written = write(root, base, keep_hidden=True, pictures=pictures)
        markdown = _with_data(written.markdown, self)
        unchanged = markdown.startswith(written.markdown)
        return replace(written, markdown=markdown, outline=written.outline if unchanged else ())


def choose_content(source: str, url: str = "", *, excerpt: bool = True) -> ChosenPage:
    """A page parsed and its main content chosen, for callers that also want the rest.

    Args:
        source: the page.
        url: where it came from; empty where that is not known.
        excerpt: whether `meta` is to have one.
    """
    warnings: list[str] = []
    if len(source) > MAX_CHARS:
        warnings.append(f"The page is cut after {MAX_CHARS:,} characters.")
        source = source[:MAX_CHARS]
    marks = source.count("<") if len(source) > _FEW_MARKS else 0
    source = repair_source(source, marks)
    if is_long(source, marks):
        pieces = Pieces(source)
        document = next(iter(pieces))[1]
        if pieces.ended:
            return _read_whole(source, url, warnings, document, excerpt=excerpt)
        reading = _read_pieces(pieces, document, url, warnings)
        if reading is not None:
            return reading
    return _read_whole(source, url, warnings, excerpt=excerpt)


def _read_whole(
    source: str, url: str, warnings: list[str], document: Any = None, *, excerpt: bool
) -> ChosenPage:
    """A page as one tree."""
    from turbohtml import parse

    document = document or parse(source, positions=False)
    root = document.find("body") or document.root
    # The walk gives shorter ones up by itself, and their metadata is soon read.
    large = len(source) > MAX_EARLY_CHARS and is_bulk(source, document)
    early = source[:MAX_EARLY_CHARS] if large else ""
    source_tree = parse(early, positions=False) if early else document
    meta, metas, linked = _page_facts(source_tree, excerpt=excerpt)
    page = _no_page() if root is None or large else read_tree(root)
    page_type, chosen, text, hidden, bulk = "", [], "", 0, None
    if root is not None and (not page.whole or len(page.blocks) > MAX_BLOCKS):
        hides = may_hide(source)
        source = "" if len(source) > MAX_REREAD_CHARS else source  # its memory is needed
        bulk, text, hidden = write_bulk([("", document)], document.base_url(url), hides=hides)
        warnings.append(_LARGE)
        page = _no_page()
    elif page.blocks:
        signals = page_signals(metas, linked, url)
        chances, types = Scorer.shared().read(page, title_of(document), signals)
        page_type = max(zip(types, PAGE_TYPES, strict=True))[1]
        chosen = _chosen(page, chances)
        if page_type in _COMMENTED:
            chosen = without_comments(page, chosen)
        hidden = sum(len(node.text.split()) for node in page.hidden)
        text = plain_text(page, chosen)
    if hidden:
        warnings.append(_hidden(hidden))
    if not text.strip():
        # Nothing of the tree may be left, if all stood in what is no text.
        whole = parse(source, positions=False) if bulk and source else document
        text, bulk = _everything(whole, source), None
    data, place = _data_text(document, linked, metas, text)
    if data:
        warnings.append(f"The text comes from the page's {place}.")
    return ChosenPage(
        document, page, chosen, meta, page_type, url, text, data, place, warnings, bulk
    )


def _read_pieces(pieces: Pieces, first: Any, url: str, warnings: list[str]) -> ChosenPage | None:
    """A very long page piece by piece; nothing where it is short in the end, or has few words."""
    meta, base = read_meta(first), first.base_url(url)
    parts = chain([("", first)], pieces)
    bulk, text, hidden = write_bulk(parts, base, near=False, hides=pieces.may_hide)
    if pieces.elements <= MAX_ELEMENTS and len(text) <= MAX_TEXT:
        return None
    if len(text) <= _MANY_CHARS and len(text.split()) < _FEW_WORDS:
        return None
    warnings += [_LARGE, *([_hidden(hidden)] if hidden else [])]
    return ChosenPage(first, _no_page(), [], meta, "", url, text, "", "", warnings, bulk)


def _hidden(words: int) -> str:
    return f"{words:,} words that the page hides are left out."


def decode_page(data: bytes, content_type: str) -> str:
    """The text of a page; the charset of the header counts unless the bytes contradict it."""
    _, _, charset = content_type.lower().partition("charset=")
    charset = charset.partition(";")[0].strip(" \"'")
    return decoded(data, charset)


def _no_page() -> PageTables:
    """The tables of a page that is not chosen from."""
    return PageTables([], [], [], whole=False)


def _page_facts(document: Any, *, excerpt: bool) -> tuple[PageMetadata, dict[str, str], Any]:
    """The metadata of a page, its `meta` elements and its JSON-LD."""
    meta = read_meta(document, excerpt=excerpt)
    return meta, meta_values(document), _linked(document)


def _linked(document: Any) -> Any:
    try:
        return document.json_ld()
    except (ValueError, RecursionError):
        return []


def _chosen(page: PageTables, chances: list[float]) -> list[bool]:
    words = [block.words for block in page.blocks]
    chosen = best_set(without_repeats(page, chances), words)
    if sum(words) <= _SHORT_PAGE_WORDS or not any(chosen) or _is_monotonous(page):
        return [True] * len(words)
    return chosen


def _is_monotonous(page: PageTables) -> bool:
    """Whether a page repeats a few texts again and again, so that no part stands out."""
    blocks = page.blocks
    return len(blocks) > _MANY_BLOCKS and len({block.text for block in blocks}) <= _FEW_TEXTS


def _everything(document: Any, source: str) -> str:
    """All text that can be found, for what cannot be chosen from."""
    from turbohtml import parse

    text = str(document.to_text()).strip()
    frames = None if text else document.find("noframes")
    if frames is not None:
        text = str(parse(frames.text, positions=False).to_text()).strip()
    if not text and (rest := after_unclosed(source)):
        text = str(parse(rest, positions=False).to_text()).strip()
    return text


def _data_text(document: Any, linked: Any, metas: dict[str, str], text: str) -> tuple[str, str]:
    """What `_from_data` gives, where the page itself has few words."""
    # Most texts have enough of them early.
    few = text.count(" ", 0, _MANY_CHARS) < _FEW_WORDS and text.count(" ") < _FEW_WORDS
    return _from_data(document, linked, metas, text) if few else ("", "")


def _from_data(document: Any, linked: Any, metas: dict[str, str], text: str) -> tuple[str, str]:
    """The content as the page's scripts would show it, where that is much more, and its place."""
    min_chars = 2 * len(text) + 200
    places = (
        (linked_text(linked), "JSON-LD"),
        (state_text(document), "script data"),
        (max((metas.get(name, "") for name in _DESCRIPTIONS), key=len), "description"),
    )
    return next((one for one in places if len(one[0]) > min_chars), ("", ""))


def _with_data(text: str, reading: ChosenPage) -> str:
    """The visible text, followed by that of the page's data unless they hold it already."""
    if not reading.data or not reading.text or reading.text in reading.data:
        return reading.data or text
    return f"{text}\n\n{reading.data}"


def _assembled(reading: ChosenPage, written: PageMarkdown) -> Extraction:
    meta = reading.meta
    return Extraction(
        markdown=written.markdown,
        text=reading.full_text,
        title=meta.title,
        byline=meta.byline,
        site_name=meta.site_name,
        published=meta.published,
        modified=meta.modified,
        language=meta.language,
        excerpt=meta.excerpt,
        page_type=reading.page_type,
        outline=written.outline,
        links=written.links,
        images=written.images,
        warnings=tuple(reading.warnings),
    )
