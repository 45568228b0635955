"""Pages too large to choose from: all their text, with as much structure as time allows.

No step here goes through a page node by node in Python: a page may have a million of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urljoin, urlsplit

from toolcrib.documents.reader.markdown.anchors import make_absolute
from toolcrib.documents.reader.markdown.contents import (
    MAX_LISTED,
    Link,
    headings_of,
    images_of,
    links_of,
)
from toolcrib.documents.reader.markdown.hidden_parts import drop_hidden, drop_unseen, unseen_tags
from toolcrib.documents.reader.markdown.writer import Written
from toolcrib.documents.reader.pieces import CODE
from toolcrib.documents.reader.tree import MAX_ELEMENTS

if TYPE_CHECKING:
    from turbohtml import Document, Element

MAX_BLOCKS = 4_000
"""Blocks of such a page; none had more than 2,700."""
MAX_TEXT = 1_500_000
"""Characters of its text, scripts not counted."""
_LEAST = 3
"""Characters of the shortest element."""
_MAX_CELLS = 20_000
"""Cells over which text comes from the Markdown: laying them out takes much memory."""
_MAX_LINKS = 20_000
"""Links up to which each address is made absolute by itself."""
_BLANKS = re.compile(r"\n{3,}")
_PADDED = re.compile(r" +\t")
# It begins with plain signs, which makes the search fast.
_RELATIVE = re.compile(r"\]\((?<!\\\]\()(?![a-zA-Z][a-zA-Z0-9+.-]*:|[<#/)])")
_EMPTY_LINK = re.compile(r"(?<![!\\])\[\]\((?:<[^<>\n]*>|[^()\s<>]*)\)")
_TARGET = re.compile(r"(!?)\[([^\[\]\n]*)\]\([^()\n]*\)")
_ESCAPE = re.compile(r"\\([^\w\s])")


def is_bulk(source: str, document: Document) -> bool:
    """Whether a page is too large to choose from."""
    if len(source) > _LEAST * MAX_ELEMENTS and document.xpath("count(//*)") > MAX_ELEMENTS:  # type: ignore[operator]
        return True
    if len(source) <= MAX_TEXT:
        return False
    scripts = document.find_all(["script", "style"], limit=1000)
    code = sum(len(script.text) for script in scripts)
    # Text is never longer than its source.
    return len(source) - code > MAX_TEXT and len(document.text) - code > MAX_TEXT


def write_bulk(
    parts: Iterable[tuple[str, Document | None]],
    base: str,
    *,
    near: bool = True,
    hides: bool = True,
) -> tuple[Written, str, int]:
    """All of a page as Markdown and as text, and how many hidden words were left out.

    The trees are changed.

    Args:
        parts: its trees, each with what stands between it and the one before it; nothing
            instead of a tree that says the same as the one before it.
        base: what relative addresses are relative to; empty leaves them.
        near: whether each address may be looked at where there are not too many.
        hides: whether some of it may be hidden.
    """
    pieces: list[str] = []
    texts: list[str] = []
    links: dict[str, Link] = {}
    images: dict[str, Link] = {}
    hidden = 0
    part: _Part | None = None
    for number, (joint, document) in enumerate(parts):
        root = None
        if document is not None:
            root, part = document.find("body") or document.root, None
        if document is not None and root is not None:
            drop_unseen(root, unseen_tags(document))
            tables = bool(document.find_all("table"))
            near_ones = near and _are_few(document)
            part = _Part(root, base, near=near_ones, tables=tables, hides=hides)
            for known, find in ((links, links_of), (images, images_of)):
                # Where a whole tree adds hardly one, the rest says the same.
                if len(known) < MAX_LISTED and (not known or len(known) > number):
                    found = find(root) if part.near else _absolute(find(root), base)
                    known.update((one.url, one) for one in found if one.url not in known)
        if part is not None:
            _add(pieces, joint, part.markdown)
            texts += [_joint_of_text(joint) if texts and part.text else "", part.text]
            hidden += part.hidden
        del root, document
    del part
    markdown, text = _joined(pieces), _joined(texts)
    listed = [tuple(known.values())[:MAX_LISTED] for known in (links, images)]
    return Written(markdown, headings_of(markdown), *listed), text, hidden


def _add(pieces: list[str], joint: str, markdown: str) -> None:
    """Put the Markdown of one more tree after what stands between it and the one before."""
    if joint == CODE:
        joint = "\n\n"
        fence = markdown[: markdown.find("\n")]
        if len(fence) >= len(CODE) and not fence.strip("`") and pieces[-1].endswith(f"\n{fence}"):
            # One block of code goes on.
            pieces[-1] = pieces[-1][: -len(fence) - 1]
            joint, markdown = "", markdown[len(fence) :]
    pieces += [joint if pieces and markdown else "", markdown]


def _joint_of_text(joint: str) -> str:
    return "\n" if joint == CODE else joint


def _joined(pieces: list[str]) -> str:
    """The pieces as one text; the list is emptied."""
    text = "".join(pieces) if len(pieces) > 2 else "".join(pieces[1:])
    pieces.clear()
    return text


class _Part:
    """One tree of a page, written."""

    def __init__(self, root: Element, base: str, *, near: bool, tables: bool, hides: bool) -> None:
        from turbohtml import Markdown

        self.near = near or not base
        self.hidden = drop_hidden(root) if hides else 0
        if base and near:
            make_absolute(root, base)
        markdown = root.to_markdown(
            Markdown(
                images=Markdown.Images(mode="markdown"),
                links=Markdown.Links(autolink=False),
                tables=Markdown.Tables(cell_blocks="text"),
                document=Markdown.Document(line_break="backslash"),
            )
        )
        if not self.near:
            markdown = _resolved(markdown, base)
        self.markdown = _tidy(_EMPTY_LINK.sub("", markdown) if "[](" in markdown else markdown)
        del markdown
        self.text = _text(root, self.markdown, tables=tables)


def _are_few(document: Document) -> bool:
    """Whether each address can be made absolute by itself."""
    return len(document.find_all("a")) + len(document.find_all("img")) <= _MAX_LINKS


def _text(root: Any, markdown: str, *, tables: bool) -> str:
    from turbohtml import PlainText

    if tables and len(root.find_all(["td", "th"], limit=_MAX_CELLS + 1)) > _MAX_CELLS:
        return _plain(markdown)
    text = root.to_text(PlainText(bullet="- ", table_cell_separator="\t"))
    return _tidy(_PADDED.sub("\t", text) if "\t" in text else text)


def _plain(markdown: str) -> str:
    """Markdown of tables without its marks, the cells of a row apart by tabs."""
    text = f"\n{markdown}\n".replace("| --- ", "").replace("\n|\n", "\n")
    text = text.replace(" | ", "\t").replace("\n| ", "\n").replace(" |\n", "\n").strip("\n")
    if "](" in text:
        text = _TARGET.sub(lambda link: "" if link[1] else link[2], text)
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def _tidy(text: str) -> str:
    """Without space at the ends of lines and with one empty line at most."""
    if "\n" not in text:
        return text.rstrip()
    if not text.isascii() or " \n" in text or ("\t" in text and "\t\n" in text):
        text = "\n".join(map(str.rstrip, text.split("\n")))
    text = text.rstrip().lstrip("\n")
    return _BLANKS.sub("\n\n", text) if "\n\n\n" in text else text


def _resolved(markdown: str, base: str) -> str:
    """Markdown with its addresses absolute, without parsing each of them."""
    try:
        parts = urlsplit(base)
    except ValueError:
        return markdown
    markdown = markdown.replace("](//", f"]({parts.scheme}://")
    markdown = markdown.replace("](/", f"]({parts.scheme}://{parts.netloc}/")
    left = markdown.count("](")
    for start in ("](http", "](<", "](#", "](mailto:"):
        left -= markdown.count(start) if left else 0
    folder = f"]({urljoin(base, '.')}".replace("\\", "%5C")
    return _RELATIVE.sub(folder, markdown) if left else markdown


def _absolute(links: tuple[Link, ...], base: str) -> tuple[Link, ...]:
    try:
        parts = urlsplit(base)
    except ValueError:
        return links
    return tuple(Link(_joined_to(base, parts, link.url), link.text) for link in links)


def _joined_to(base: str, parts: SplitResult, url: str) -> str:
    """An absolute address; the usual kinds without parsing them."""
    if url.startswith(("https://", "http://")):
        return url
    if url[:1] == "/" and url[1:2] != "/" and "/." not in url:
        return f"{parts.scheme}://{parts.netloc}{url}"
    try:
        return urljoin(base, url)
    except ValueError:
        return url
