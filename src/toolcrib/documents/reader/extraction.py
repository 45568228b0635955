"""Extraction of the main content and the metadata of an HTML page: blocks chosen by scores."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import Any

from toolcrib.documents.html_text import base_of
from toolcrib.documents.reader.choice import PageChoice, choose
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
    headings_of,
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
from toolcrib.documents.reader.tree import (
    FOLDED,
    MAX_ELEMENTS,
    Element,
    PageTables,
    part_labels,
    read_tree,
)
from toolcrib.files.content.kinds import decoded
from toolcrib.text.cleaner import clean

# Formulas as a whole, and what was not chosen taken out of the tree.

_VISIBLE_MEDIA = "img, iframe, video, audio, math, input"
"""They are seen though they have no text."""
_FORMULA = frozenset({
    "annotation", "annotation-xml", "maction", "menclose", "merror", "mfenced", "mfrac", "mi",
    "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "ms", "mspace",
    "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder",
    "munderover", "semantics",
})  # fmt: skip
"""What stands inside a `math` element."""
_OPENED_TAGS = ("noscript", "dialog")
"""Their text is left out of the Markdown, unless it was chosen."""


def with_whole_formulas(page: PageTables, chosen: list[bool]) -> list[bool]:
    """The same choice, but of each formula all or nothing.

    A formula is many small blocks, none of which says anything alone: it is kept with its
    paragraph, or with what stands on both sides of it.
    """
    formulas = {tag for tag in {element.tag for element in page.elements} if _is_formula(tag)}
    if not formulas:
        return chosen
    inside = [page.elements[block.element].tag in formulas for block in page.blocks]
    result = chosen.copy()
    start = 0
    for is_formula, run in groupby(inside):
        end = start + len(list(run))
        if is_formula:
            wanted = any(chosen[start:end]) or _goes_on(page, chosen, start, end)
            result[start:end] = [wanted] * (end - start)
        start = end
    return result


def _is_formula(tag: str) -> bool:
    return tag in _FORMULA or tag.startswith("mjx-")


def _goes_on(page: PageTables, chosen: list[bool], start: int, end: int) -> bool:
    """Whether the blocks around some of a formula are chosen: both, or one in its paragraph."""
    index = page.blocks[start].element
    while index > 0 and _is_formula(page.elements[index].tag):
        index = page.elements[index].parent
    around = [number for number in (start - 1, end) if 0 <= number < len(chosen)]
    taken = [number for number in around if chosen[number]]
    return len(taken) == 2 or any(page.blocks[number].element == index for number in taken)


def drop_rest(page: PageTables, chosen: list[bool]) -> None:
    """Take out of the tree what was not chosen; the page's nodes are not to be used after."""
    before = [0]
    for taken in chosen:
        before.append(before[-1] + taken)
    gone: set[int] = set()
    for index, element in enumerate(page.elements):
        if element.parent in gone:
            gone.add(index)
        elif not index or before[element.end] > before[element.start]:
            if element.tag in _OPENED_TAGS:
                element.node.tag = "div"
        elif element.flags & FOLDED or not _stays(element, chosen):
            gone.add(index)
            element.node.extract()
    for node in page.hidden:
        node.extract()
    _drop_texts(page, chosen, gone)


def _drop_texts(page: PageTables, chosen: list[bool], gone: set[int]) -> None:
    """Take out the texts that were not chosen in elements that stay."""
    for number, block in enumerate(page.blocks):
        if not chosen[number] and block.element not in gone:
            top = page.elements[block.element].node
            for node in block.nodes:
                _drop_text(node, top)


def _stays(element: Element, chosen: list[bool]) -> bool:
    """Whether an element without text is part of what is chosen on both sides, or of a formula."""
    place = element.start
    if place < element.end:
        return False
    if _is_formula(element.tag):
        return True
    return 0 < place < len(chosen) and chosen[place - 1] and chosen[place]


def _drop_text(node: object, top: object) -> None:
    """A text node, with the inline elements that hold nothing else."""
    parent = getattr(node, "parent", None)
    node.extract()  # type: ignore[attr-defined]
    while parent is not None and parent is not top and not parent.text.strip():
        above = parent.parent
        if parent.select_one(_VISIBLE_MEDIA) is None:
            parent.extract()
        parent = above


# What was not chosen, though it reads like more than a menu: a reader has to know of it.

_RUNNING_WORDS = 6
"""Words of a block from which on it may be running text."""
_CELLS = ("td", "th")
"""Tags of what is short, and as much content as running text."""
_MIN_CHANCE = 0.03
"""Chance under which a text is surely none of the content."""
_MIN_LEFT_WORDS = 25
_MIN_LEFT_SHARE = 0.05
"""Words and share of all running text from which on a warning says that they are left out."""


def left_words(page: PageTables, chosen: list[bool], chances: list[float]) -> int:
    """Words of running text beside the choice; 0 where they are few.

    A text that was chosen elsewhere on the page is not left out.
    """
    taken_words = left = 0
    known = {block.text for block, taken in zip(page.blocks, chosen, strict=True) if taken}
    for block, taken, chance in zip(page.blocks, chosen, chances, strict=True):
        tag = page.elements[block.element].tag
        is_short = block.words < _RUNNING_WORDS and tag not in _CELLS
        if tag != "pre" and (is_short or 2 * block.link_chars >= len(block.text)):
            continue
        if taken:
            taken_words += block.words
        elif chance >= _MIN_CHANCE and block.text not in known:
            left += block.words
    return left if left >= max(_MIN_LEFT_WORDS, _MIN_LEFT_SHARE * (taken_words + left)) else 0


def plain_text(page: PageTables, chosen: list[bool]) -> str:
    """The text: cells of a row side by side, items of a list on lines, the rest apart."""
    parts: list[str] = []
    last = -1
    for number, block in enumerate(page.blocks):
        if not chosen[number]:
            continue
        if parts:
            parts.append(_gap(page, last, block.element))
        starts_item = page.elements[block.element].tag == "li" and block.element != last
        parts.append(f"- {block.text}" if starts_item else block.text)
        last = block.element
    return "".join(parts)


def _gap(page: PageTables, last: int, this: int) -> str:
    """What stands between the texts of two elements."""
    before, after = page.elements[last], page.elements[this]
    if before.tag in _CELLS and after.tag in _CELLS:
        return "\t" if before.parent == after.parent and last != this else "\n"
    if before.tag == after.tag == "li" or (before.tag, after.tag) == ("dt", "dd"):
        return "\n"
    return "\n\n"


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
_FEW_MARKS = 300_000
"""Characters of a page up to which it cannot hold so many tags that they need care."""
LEFT_OUT = "{:,} words of running text beside the main content are left out (whole=True)."
_LARGE = "The page is too large to choose from: this is all its text."
_DESCRIPTIONS = ("og:description", "description", "twitter:description")


@dataclass(frozen=True, slots=True)
class Extraction:
    """The content and the metadata of a page.

    Attributes:
        markdown: the main content as Markdown.
        text: the same as plain text, blocks apart by blank lines.
        title, byline, site_name, language, excerpt: as reader modes give them, or empty;
            the title without the site's name where that can be told apart.
        published, modified: dates in ISO 8601 where they can be read, or empty.
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
    warnings: tuple[str, ...] = ()


def extract(
    html: bytes | str,
    url: str | None = None,
    content_type: str | None = None,
    *,
    whole: bool = False,
) -> Extraction:
    """The main content of an HTML page, and its metadata.

    Text that a reader of the page would not see is left out, and `warnings` says so. A page
    in which no main content is found gives all its visible text.

    Args:
        html: the page; bytes are decoded as browsers do.
        url: where it came from: helps to judge, and makes links absolute.
        content_type: the Content-Type header, for its charset.
        whole: all that is visible, not the main content alone.
    """
    source = html if isinstance(html, str) else decode_page(html, content_type or "")
    # Before Markdown is written, which would part escape sequences.
    reading = choose_content(clean(source).text, url or "")
    if whole:
        reading.choose([True] * len(reading.chosen))
    if left := reading.left_words:
        reading.warnings.append(LEFT_OUT.format(left))
    return _assembled(reading, reading.write())


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
        chances: for each block, how likely it is main content.
        everything, silent: see `PageChoice`.
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
    chances: list[float] = field(default_factory=list)
    everything: bool = False
    silent: int = 0
    narrowed: bool = False

    @property
    def left_words(self) -> int:
        """Words of running text beside the content; 0 where they are few."""
        return left_words(self.page, self.chosen, self.chances)

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
            base = base_of(self.document, self.url)
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
    meta = read_meta(source_tree, url=url, excerpt=excerpt)
    metas, linked = meta_values(source_tree), _linked(source_tree)
    if not large:
        part_labels(document)
    page = _no_page() if root is None or large else read_tree(root)
    choice = PageChoice([])
    page_type, text, hidden, bulk = "", "", 0, None
    chances: list[float] = []
    if root is not None and (not page.whole or len(page.blocks) > MAX_BLOCKS):
        hides = may_hide(source)
        source = "" if len(source) > MAX_REREAD_CHARS else source  # its memory is needed
        bulk, text, hidden = write_bulk([("", document)], base_of(document, url), hides=hides)
        warnings.append(_LARGE)
        page = _no_page()
    elif page.blocks:
        signals = page_signals(metas, linked, url)
        chances, types = Scorer.shared().read(page, title_of(document), signals)
        page_type = max(zip(types, PAGE_TYPES, strict=True))[1]
        choice = choose(page, chances, page_type)
        hidden = sum(len(node.text.split()) for node in page.hidden)
        text = plain_text(page, choice.chosen)
    if hidden:
        warnings.append(_hidden(hidden))
    if not text.strip():
        # Nothing of the tree may be left, if all stood in what is no text.
        whole = parse(source, positions=False) if bulk and source else document
        text, bulk = _everything(whole, source), None
    data, place = _from_data(document, linked, metas, text)
    if data:
        warnings.append(f"The text comes from the page's {place}.")
    return ChosenPage(
        document, page, choice.chosen, meta, page_type, url, text, data, place, warnings, bulk,
        chances, choice.everything, choice.silent,
    )  # fmt: skip


def _read_pieces(pieces: Pieces, first: Any, url: str, warnings: list[str]) -> ChosenPage | None:
    """A very long page piece by piece; nothing where it is short in the end, or has few words."""
    meta, base = read_meta(first, url=url), base_of(first, url)
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


def _linked(document: Any) -> Any:
    """The JSON-LD of a page."""
    try:
        return document.json_ld()
    except (ValueError, RecursionError):
        return []


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


def _from_data(document: Any, linked: Any, metas: dict[str, str], text: str) -> tuple[str, str]:
    """The content as the page's scripts would show it, and its place.

    Nothing where the page itself has many words, or the scripts have not much more.
    """
    # Most texts have enough of them early.
    if text.count(" ", 0, _MANY_CHARS) >= _FEW_WORDS or text.count(" ") >= _FEW_WORDS:
        return "", ""
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
    # Invisible characters and terminals' escapes; places of headings are those after it.
    markdown = clean(written.markdown).text
    outline = written.outline if markdown == written.markdown else headings_of(markdown)
    return Extraction(
        markdown=markdown,
        text=clean(reading.full_text).text,
        title=meta.title,
        byline=meta.byline,
        site_name=meta.site_name,
        published=meta.published,
        modified=meta.modified,
        language=meta.language,
        excerpt=meta.excerpt,
        page_type=reading.page_type,
        outline=outline,
        links=written.links,
        images=written.images,
        warnings=tuple(reading.warnings),
    )
