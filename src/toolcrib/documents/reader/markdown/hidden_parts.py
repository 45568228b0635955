"""Parts of a tree that no reader sees, and trees that are too deep or too large."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbohtml import Document, Element

MAX_DEPTH = 300
"""Elements inside each other; deeper trees lose the elements that nest."""
MAX_ELEMENTS = 60_000
"""Larger trees are written without being prepared."""

_UNSEEN = (
    "script", "style", "template", "noscript", "head", "title", "meta", "link", "base", "svg",
    "canvas", "iframe", "object", "embed", "applet", "audio", "video", "select", "datalist",
    "textarea", "map", "progress", "meter", "input", "noembed", "noframes", "dialog", "rp", "rt",
    "colgroup", "math",
)  # fmt: skip
_SHOWN = {"dialog": "dialog:not([open])"}
"""What of a tag is not seen, where that is not all."""
_HIDDEN = (
    '[hidden]:not([hidden="until-found"]), [aria-hidden=true], [style*="display:none" i],'
    ' [style*="display: none" i], [style*="visibility:hidden" i], [style*="visibility: hidden" i]'
)
_MOST_HIDDEN = 0.67
"""Share of the text above which marks of hiding are not believed."""
_LONG = 400
"""Characters up to which they always are."""
_STEP = 200
_SLICE, _OVERLAP = 1 << 20, 16
_NESTING = (
    "b, i, em, strong, font, span, u, small, big, a, s, ins, del, sup, sub, code, label, center, q",
    "blockquote, ul, ol, dl, dd, dt, table, tbody, thead, tr, td, th, form, fieldset, details",
    "div, section, article, main, aside, header, footer, nav, li, p, figure, svg, g",
)


def drop_hidden(root: Element) -> int:
    """Remove what is marked as hidden, unless that is most of the text; gives its words."""
    hidden = root.select(_HIDDEN)
    if not hidden:
        return 0
    texts = [node.text for node in hidden[:1000]]
    if sum(map(len, texts)) > max(_LONG, _MOST_HIDDEN * len(root.text)):
        return 0
    root.remove(_HIDDEN)
    return sum(len(text.split()) for text in texts)


def may_hide(source: str) -> bool:
    """Whether a page has anything that `drop_hidden` could find: quicker than looking there."""
    for start in range(0, len(source), _SLICE):
        part = source[start : start + _SLICE + _OVERLAP].lower()
        if "hidden" in part or "display" in part or "&" in part:
            return True
    return False


def drop_scripts(root: Element, tags: Container[str]) -> None:
    """Remove what is never text, before texts are looked at; `tags` are those of the tree."""
    _drop(root, [tag for tag in ("script", "style", "template") if tag in tags])


def drop_unseen(root: Element, tags: Container[str]) -> None:
    """Remove scripts, forms' fields, frames and the like; `tags` are those of the tree."""
    _drop(root, [_SHOWN.get(tag, tag) for tag in _UNSEEN if tag in tags])


def unseen_tags(document: Document) -> frozenset[str]:
    """Those tags of a whole document that are not seen; takes hardly any time.

    The document has a list for each tag, which is not looked at where there is a limit.
    """
    return frozenset(tag for tag in _UNSEEN if document.find_all(tag))


def _drop(root: Element, selectors: list[str]) -> None:
    if selectors:
        root.remove(f":is({', '.join(selectors)})")


def flattened(root: Element) -> list[Element]:
    """The elements of a tree, without those that nest where it is too deep; no text is lost."""
    elements = root.select("*")
    for tags in _NESTING:
        if not is_deep(elements):
            break
        root.strip_tags(tags)
        elements = root.select("*")
    return elements


def is_deep(elements: list[Element]) -> bool:
    """Whether of all elements of a tree one stands more than `MAX_DEPTH` levels down."""
    # In document order an element is at most one level deeper than the one before it: where
    # every so many elements none is deep, no element is deeper by more than that.
    if len(elements) <= MAX_DEPTH:
        return False
    for place in range(_STEP, len(elements), _STEP):
        if any(depth > MAX_DEPTH for depth, _ in enumerate(elements[place].ancestors)):
            return True
    return False
