"""A chosen part of a page as Markdown or plain text, with its headings, links and pictures."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolcrib.documents.reader.markdown.anchors import make_absolute, write_anchors
from toolcrib.documents.reader.markdown.contents import (
    Heading,
    Link,
    headings_of,
    images_of,
    links_of,
)
from toolcrib.documents.reader.markdown.finish import finish
from toolcrib.documents.reader.markdown.formulas import HINTS, write_formulas, write_pictured
from toolcrib.documents.reader.markdown.grids import write_tables
from toolcrib.documents.reader.markdown.hidden_parts import (
    MAX_ELEMENTS,
    drop_hidden,
    drop_scripts,
    drop_unseen,
    flattened,
)
from toolcrib.documents.reader.markdown.listings import write_listings
from toolcrib.documents.reader.markdown.notes import write_notes
from toolcrib.documents.reader.markdown.phrases import clean_texts, thin_breaks, write_phrases
from toolcrib.documents.reader.markdown.pictures import link_frames, load_pictures
from toolcrib.documents.reader.markdown.slots import Slots

if TYPE_CHECKING:
    from turbohtml import Element

MAX_RESOLVED = 150_000
"""Elements of a tree whose addresses are all made absolute."""

_CODE = frozenset({"pre", "code", "xmp", "listing", "plaintext", "td"})

_CELL = "\x1f"
_CELLS = re.compile(f" *{_CELL} *")
_LONE_BULLET = re.compile(r"^( *(?:-|\d{1,9}\.)) *\n\s*(?=\S)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Written:
    """Markdown, its headings, and the links and pictures of the tree it was made from."""

    markdown: str
    outline: tuple[Heading, ...]
    links: tuple[Link, ...]
    images: tuple[Link, ...]


def write(
    subtree: Element | Sequence[Element],
    base_url: str = "",
    *,
    keep_hidden: bool = False,
    pictures: bool = True,
) -> Written:
    """A part of a page as Markdown, with what it holds.

    The tree is changed: prepare a copy where it is needed again.

    Args:
        subtree: an element of turbohtml's tree, or elements in document order.
        base_url: what relative addresses are relative to; empty leaves them.
        keep_hidden: whether what is marked as hidden stays, for a caller that chose already.
        pictures: whether they are shown by their addresses, or by their words alone.
    """
    slots = Slots()
    root = _prepared(subtree, base_url, slots, keep_hidden=keep_hidden)
    markdown = slots.fill(finish(root.to_markdown(_markdown_options(pictures=pictures))))
    return Written(markdown, headings_of(markdown), links_of(root), images_of(root))


def to_markdown(
    subtree: Element | Sequence[Element], base_url: str = "", *, keep_hidden: bool = False
) -> str:
    """The Markdown of `write`."""
    slots = Slots()
    root = _prepared(subtree, base_url, slots, keep_hidden=keep_hidden)
    return slots.fill(finish(root.to_markdown(_markdown_options())))


def to_text(subtree: Element | Sequence[Element], *, keep_hidden: bool = False) -> str:
    """A part of a page as plain text: blocks on lines of their own, no addresses, no pictures.

    The tree is changed as by `write`.
    """
    from turbohtml import PlainText

    slots = Slots(tags=False)
    root = _prepared(subtree, "", slots, keep_hidden=keep_hidden)
    text = root.to_text(PlainText(bullet="- ", table_cell_separator=_CELL))
    text = _CELLS.sub(" | ", text) if _CELL in text else text
    text = _LONE_BULLET.sub(r"\1 ", text)
    lines = (line.rstrip() for line in slots.fill(text).split("\n"))
    return _narrowed("\n".join(lines)).strip("\n")


def _narrowed(text: str) -> str:
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


def _markdown_options(*, pictures: bool = True) -> Any:
    from turbohtml import Markdown

    return Markdown(
        images=Markdown.Images(mode="markdown" if pictures else "alt"),
        links=Markdown.Links(autolink=False),
        document=Markdown.Document(line_break="backslash"),
    )


def _prepared(
    subtree: Element | Sequence[Element], base_url: str, slots: Slots, *, keep_hidden: bool
) -> Element:
    """One element that holds everything, in the shape that the converter writes best."""
    root = _gathered(subtree)
    elements = flattened(root)
    if len(elements) <= MAX_ELEMENTS:
        _prepare(root, _by_tag(elements), slots, keep_hidden=keep_hidden)
    else:
        drop_unseen(root, {node.tag for node in elements})
        thin_breaks(root.find_all("br"))
    if base_url and len(elements) <= MAX_RESOLVED:
        make_absolute(root, base_url)
    return root


def _prepare(
    root: Element, tags: dict[str, list[Element]], slots: Slots, *, keep_hidden: bool
) -> None:
    if not HINTS.isdisjoint(tags):
        write_formulas(root, slots)
    drop_scripts(root, tags)
    clean_texts(root, slots)
    if "img" in tags or "noscript" in tags:
        if "img" in tags:
            write_pictured(root, slots)
        load_pictures(tags, words=slots.tags)
    link_frames(tags)
    if not keep_hidden:
        drop_hidden(root)
    write_notes(tags.get("a", []), root, slots)
    write_phrases(root, tags, slots)
    drop_unseen(root, tags)
    if not _CODE.isdisjoint(tags):
        write_listings(root, tags)
    write_anchors(root, tags)
    if "table" in tags:
        write_tables(root.find_all("table"))


def _by_tag(elements: list[Element]) -> dict[str, list[Element]]:
    tags: defaultdict[str, list[Element]] = defaultdict(list)
    for node in elements:
        tags[node.tag].append(node)
    return dict(tags)


def _gathered(subtree: Element | Sequence[Element]) -> Element:
    """One element around all; entries of lists and rows get the list or table they need."""
    from turbohtml import Element

    nodes = [subtree] if isinstance(subtree, Element) else list(subtree)
    if len(nodes) == 1 and nodes[0].tag in ("body", "div", "article", "main", "section", "html"):
        return nodes[0]
    outer = Element("div")
    holder, last = outer, ""
    for node in nodes:
        needed = {"li": "ul", "tr": "table", "dt": "dl", "dd": "dl"}.get(node.tag, "")
        if needed == "ul" and getattr(node.parent, "tag", "") == "ol":
            needed = "ol"
        if needed != last:
            holder = Element(needed) if needed else outer
            if needed:
                outer.append(holder)
            last = needed
        holder.append(node.extract())
    return outer
