"""A page in, its main content out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toolcrib.kit.content.encoding import detect
from toolcrib.kit.reader.choice import best_set, drop_rest, once
from toolcrib.kit.reader.embedded import linked_text, state_text
from toolcrib.kit.reader.markup import Heading, Link, Markup, write_markup
from toolcrib.kit.reader.metadata import Metadata, read_metadata, title_of
from toolcrib.kit.reader.scorer import Scorer
from toolcrib.kit.reader.signals import PAGE_TYPES, metas_of, page_signals
from toolcrib.kit.reader.tree import Page, read_tree
from toolcrib.kit.reader.wording import plain_text

MAX_CHARS = 12_000_000
"""What is longer is cut before it is parsed."""
MAX_TITLE_CHARS = 500
_FEW = 40
"""Words under which a page's data for scripts is looked at too."""
_SHORT = 25
"""Words up to which a page is taken whole: nothing in it can be told apart."""
_LOOKED_AT = 1 << 16
_DESCRIPTIONS = ("og:description", "description", "twitter:description")


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a page says.

    Attributes:
        markdown: the main content as Markdown.
        text: the same as plain text, blocks apart by blank lines.
        title, byline, site_name, language, excerpt: as the page gives them, or empty.
        published, modified: dates as the page gives them, or empty.
        page_type: article, collection, documentation, forum, listing, product or service;
            empty where there was nothing to judge by.
        outline: the headings of the content.
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
    outline: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    images: tuple[Link, ...] = ()
    warnings: tuple[str, ...] = field(default=())


def extract(
    html: bytes | str, url: str | None = None, content_type: str | None = None
) -> Extraction:
    """The main content of an HTML page, and what the page says of itself.

    Text that a reader of the page would not see is left out, and `warnings` says so. A page
    in which no main content is found gives all its visible text.

    Args:
        html: the page; bytes are decoded as browsers do.
        url: where it came from: helps to judge, and makes links absolute.
        content_type: the Content-Type header, for its charset.
    """
    from turbohtml import parse

    warnings: list[str] = []
    source = html if isinstance(html, str) else decode(html, content_type or "")
    if len(source) > MAX_CHARS:
        warnings.append(f"The page is cut after {MAX_CHARS:,} characters.")
        source = source[:MAX_CHARS]
    document = parse(source, positions=False)
    metas, linked = metas_of(document), _linked(document)
    metadata = read_metadata(document, metas, linked)
    root = document.find("body") or document.root
    page = read_tree(root) if root is not None else Page([], [], [])
    page_type = ""
    if not page.whole:
        warnings.append("The page is too large to choose from: this is all its text.")
        markup, text = _everything(document)
    elif page.blocks:
        signals = page_signals(metas, linked, url or "")
        chances, types = Scorer.shared().read(page, title_of(document), signals)
        page_type = max(zip(types, PAGE_TYPES, strict=True))[1]
        markup, text = _chosen(page, root, chances, document.base_url(url or ""), warnings)
    else:
        markup, text = _everything(document)
    if text.count(" ") < _FEW:
        told = max((metas.get(name, "") for name in _DESCRIPTIONS), key=len)
        markup, text = _from_data(document, linked, told, markup, text, warnings)
    return _assembled(metadata, page_type, markup, text, warnings)


def decode(data: bytes, content_type: str) -> str:
    """The text of a page; the charset of the header counts unless the bytes contradict it."""
    _, _, charset = content_type.lower().partition("charset=")
    charset = charset.partition(";")[0].strip(" \"'")
    head = data[:_LOOKED_AT]
    complete = len(head) == len(data)
    return detect(head, complete=complete, declared=charset, lenient=True).decode(data)


def _linked(document: Any) -> Any:
    try:
        return document.json_ld()
    except (ValueError, RecursionError):
        return []


def _chosen(
    page: Page, root: Any, chances: list[float], base: str, warnings: list[str]
) -> tuple[Markup, str]:
    words = [block.words for block in page.blocks]
    chosen = best_set(once(page, chances), words)
    if sum(words) <= _SHORT or not any(chosen):
        chosen = [True] * len(words)
    text = plain_text(page, chosen)
    hidden = sum(len(node.text.split()) for node in page.hidden)
    if hidden:
        warnings.append(f"{hidden:,} words that the page hides are left out.")
    drop_rest(page, chosen)
    return write_markup(root, base), text


def _everything(document: Any) -> tuple[Markup, str]:
    """All visible text, for what cannot be chosen from."""
    text = str(document.to_text()).strip()
    if not text:
        frames = document.find("noframes")
        if frames is not None:
            from turbohtml import parse

            text = str(parse(frames.text, positions=False).to_text()).strip()
    return Markup(text, (), (), ()), text


def _from_data(
    document: Any, linked: Any, told: str, markup: Markup, text: str, warnings: list[str]
) -> tuple[Markup, str]:
    """The content as the page's scripts would show it, where that is much more."""
    least = 2 * len(text) + 200
    places = (
        (linked_text(linked), "JSON-LD"),
        (state_text(document), "script data"),
        (told, "description"),
    )
    for found, place in places:
        if len(found) > least:
            warnings.append(f"The text comes from the page's {place}.")
            both = f"{text}\n\n{found}" if text and text not in found else found
            return Markup(both, markup.outline, markup.links, markup.images), both
    return markup, text


def _assembled(
    metadata: Metadata, page_type: str, markup: Markup, text: str, warnings: list[str]
) -> Extraction:
    return Extraction(
        markdown=markup.markdown,
        text=text,
        title=metadata.title,
        byline=metadata.byline,
        site_name=metadata.site_name,
        published=metadata.published,
        modified=metadata.modified,
        language=metadata.language,
        excerpt=metadata.excerpt,
        page_type=page_type,
        outline=markup.outline,
        links=markup.links,
        images=markup.images,
        warnings=tuple(warnings),
    )
