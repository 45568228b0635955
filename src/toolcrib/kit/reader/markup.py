"""The chosen part of a page as Markdown, with its headings, links and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from toolcrib.kit.reader.tags import SKIPPED

MAX_LISTED = 2000
"""Links and pictures that are listed."""
_UNWANTED = ",".join(sorted(SKIPPED - {"svg"} | {"svg", "noscript"} - {"title", "head"}))


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the content: 1 to 6, and its text."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link or picture: the address as absolute as the page's address allows."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Markup:
    """What is left of the tree, written out."""

    markdown: str
    outline: tuple[Heading, ...]
    links: tuple[Link, ...]
    images: tuple[Link, ...]


def write_markup(root: Any, base: str) -> Markup:
    """The tree below a node, which is changed, as Markdown and lists.

    Args:
        root: an element of turbohtml's tree with nothing but what was chosen.
        base: what relative addresses are relative to; empty leaves them.
    """
    root.remove(_UNWANTED)
    if base:
        root.resolve_links(base)
    outline = tuple(
        Heading(int(node.tag[1]), text)
        for node in root.find_all(["h1", "h2", "h3", "h4", "h5", "h6"], limit=MAX_LISTED)
        if (text := " ".join(node.text.split()))
    )
    return Markup(
        markdown=root.to_markdown().strip(),
        outline=outline,
        links=_listed(root, "a", "href", None),
        images=_listed(root, "img", "src", "alt"),
    )


def _listed(root: Any, tag: str, address: str, words: str | None) -> tuple[Link, ...]:
    found: dict[str, Link] = {}
    for node in root.find_all(tag, limit=MAX_LISTED):
        url = (node.attr(address) or "").strip()
        if url and not url.startswith(("#", "javascript:", "data:")):
            text = (node.attr(words) or "") if words else node.text
            found.setdefault(url, Link(url, " ".join(text.split())))
    return tuple(found.values())
