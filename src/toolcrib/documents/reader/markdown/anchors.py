"""Links: those of nothing go, those around blocks move into them."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbohtml import Element

_BLOCKS = (
    "h1, h2, h3, h4, h5, h6, p, div, ul, ol, dl, table, blockquote, section, article, header,"
    " figure, footer, pre, hr"
)
_WITH_BLOCKS = "a:has(" + _BLOCKS + ")"
_NOWHERE = re.compile(r"\s*(?:javascript:|data:|vbscript:|about:|blob:|#\s*\Z|\Z)", re.IGNORECASE)
_SPACE = re.compile(r"[\t\n\r]+\s*")
_PERMALINKS = frozenset({"", "#", "¶", "§", "🔗", "link", "permalink", "anchor", "\uf0c1"})
_EDITS = ".mw-editsection, .section-edit-link"
_PERMANENT = re.compile(r"headerlink|heading-?link|permalink|anchor", re.IGNORECASE)


def write_anchors(root: Element, tags: dict[str, list[Element]]) -> None:
    """Leave only links that lead somewhere from something."""
    for level in range(1, 7):
        for heading in tags.get(f"h{level}", ()):
            _clean_heading(heading)
    for link in tags.get("a", ()):
        _clean_address(link)
    if "a" in tags:
        for link in root.select(_WITH_BLOCKS):
            _move_in(link)


def make_absolute(root: Element, base_url: str) -> None:
    """Make every address absolute; all stay as they are where the base is none."""
    with suppress(ValueError):
        root.resolve_links(base_url)


def _clean_address(link: Any) -> None:
    href = link.attr("href")
    if href is None:
        return
    if _NOWHERE.match(href):
        del link.attrs["href"]
        return
    if "\n" in href or "\t" in href or "\r" in href or "`" in href:
        link.attrs["href"] = _SPACE.sub("", href.strip()).replace("`", "%60")
    if next(iter(link.stripped_strings), None) is None and link.find("img") is None:
        del link.attrs["href"]


def _clean_heading(heading: Any) -> None:
    """Drop the link of a heading to itself, and those to change it."""
    heading.remove(_EDITS)
    whole = heading.text.strip()
    for link in heading.find_all("a", limit=8):
        href = link.attr("href") or ""
        words = link.text.strip().lower()
        if href.startswith("#") and words and words == whole.lower():
            link.unwrap()
            continue
        if "#" in href and (
            words in _PERMALINKS or (len(words) < 3 and _PERMANENT.search(link.attr("class") or ""))
        ):
            link.extract()
    if next(iter(heading.stripped_strings), None) is None and heading.find("img") is None:
        heading.extract()


def _move_in(link: Any) -> None:
    """Put a link around the heading, or else the first text, of the blocks inside it."""
    from turbohtml import Element

    href = link.attr("href")
    if href is not None:
        target = _target(link)
        if target is not None:
            target.wrap_children(Element("a", {"href": href}))
    link.tag = "div"
    for name in ("href", "title"):
        if link.attr(name) is not None:
            del link.attrs[name]


def _target(link: Any) -> Any | None:
    for heading in link.find_all(["h1", "h2", "h3", "h4", "h5", "h6"], limit=4):
        if heading.text.strip() and heading.select_one(_BLOCKS) is None:
            return heading
    for block in link.select(_BLOCKS)[:40]:
        if block.tag not in ("ul", "ol", "dl", "table", "hr", "pre"):
            words = block.text.strip() or block.find("img") is not None
            if words and block.select_one(_BLOCKS) is None:
                return block
    return None
