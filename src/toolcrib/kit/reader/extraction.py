"""A page in, its main content out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from toolcrib.kit.content.encoding import detect
from toolcrib.kit.reader.choice import best_set, drop_rest, once, with_formulas
from toolcrib.kit.reader.embedded import linked_text, state_text
from toolcrib.kit.reader.markdown import Heading, Link, Written, write
from toolcrib.kit.reader.meta import Meta, read_meta
from toolcrib.kit.reader.scorer import Scorer
from toolcrib.kit.reader.signals import PAGE_TYPES, metas_of, page_signals, title_of
from toolcrib.kit.reader.tree import Page, read_tree
from toolcrib.kit.reader.wording import plain_text

MAX_CHARS = 12_000_000
"""What is longer is cut before it is parsed."""
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
    meta = read_meta(document, url or "")
    root = document.find("body") or document.root
    page = read_tree(root) if root is not None else Page([], [], [])
    page_type, chosen = "", []
    if not page.whole:
        warnings.append("The page is too large to choose from: this is all its text.")
    elif page.blocks:
        signals = page_signals(metas, linked, url or "")
        chances, types = Scorer.shared().read(page, title_of(document), signals)
        page_type = max(zip(types, PAGE_TYPES, strict=True))[1]
        chosen = _chosen(page, chances)
        hidden = sum(len(node.text.split()) for node in page.hidden)
        if hidden:
            warnings.append(f"{hidden:,} words that the page hides are left out.")
    text = plain_text(page, chosen) if chosen else _everything(document)
    told, place = "", ""
    if text.count(" ") < _FEW:
        told, place = _from_data(document, linked, metas, text)
    written = Written(text, (), (), ())
    if chosen and root is not None:
        base = document.base_url(url or "")
        drop_rest(page, with_formulas(page, chosen))
        written = write(root, base, keep_hidden=True)
    if told:
        warnings.append(f"The text comes from the page's {place}.")
        written, text = _joined(written, text, told)
    return _assembled(meta, page_type, written, text, warnings)


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


def _chosen(page: Page, chances: list[float]) -> list[bool]:
    words = [block.words for block in page.blocks]
    chosen = best_set(once(page, chances), words)
    if sum(words) <= _SHORT or not any(chosen):
        return [True] * len(words)
    return chosen


def _everything(document: Any) -> str:
    """All visible text, for what cannot be chosen from."""
    text = str(document.to_text()).strip()
    if not text:
        frames = document.find("noframes")
        if frames is not None:
            from turbohtml import parse

            text = str(parse(frames.text, positions=False).to_text()).strip()
    return text


def _from_data(document: Any, linked: Any, metas: dict[str, str], text: str) -> tuple[str, str]:
    """The content as the page's scripts would show it, where that is much more, and its place."""
    least = 2 * len(text) + 200
    places = (
        (linked_text(linked), "JSON-LD"),
        (state_text(document), "script data"),
        (max((metas.get(name, "") for name in _DESCRIPTIONS), key=len), "description"),
    )
    return next((one for one in places if len(one[0]) > least), ("", ""))


def _joined(written: Written, text: str, told: str) -> tuple[Written, str]:
    """What the page shows, followed by what its data tell, unless that holds it already."""
    if not text or text in told:
        return Written(told, (), written.links, written.images), told
    both = replace(written, markdown=f"{written.markdown}\n\n{told}")
    return both, f"{text}\n\n{told}"


def _assembled(
    meta: Meta, page_type: str, written: Written, text: str, warnings: list[str]
) -> Extraction:
    return Extraction(
        markdown=written.markdown,
        text=text,
        title=meta.title,
        byline=meta.byline,
        site_name=meta.site_name,
        published=meta.published,
        modified=meta.modified,
        language=meta.language,
        excerpt=meta.excerpt,
        page_type=page_type,
        outline=written.outline,
        links=written.links,
        images=written.images,
        warnings=tuple(warnings),
    )
