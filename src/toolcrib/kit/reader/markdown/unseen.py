"""Parts of a tree that no reader sees, and trees that are too deep or too large."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbohtml import Element

MAX_DEPTH = 300
"""Elements inside each other; deeper trees lose the elements that nest."""
MAX_ELEMENTS = 60_000
"""Larger trees are written without being prepared."""

_UNSEEN = (
    "script, style, template, noscript, head, title, meta, link, base, svg, canvas, iframe,"
    " object, embed, applet, audio, video, select, datalist, textarea, map, progress, meter,"
    " input, noembed, noframes, dialog:not([open]), rp, rt, colgroup, math"
)
_HIDDEN = (
    '[hidden]:not([hidden="until-found"]), [aria-hidden=true], [style*="display:none" i],'
    ' [style*="display: none" i], [style*="visibility:hidden" i], [style*="visibility: hidden" i]'
)
_MOST_HIDDEN = 0.67
"""Share of the text above which marks of hiding are not believed."""
_LONG = 400
"""Characters up to which they always are."""
_STEP = 200
_NESTING = (
    "b, i, em, strong, font, span, u, small, big, a, s, ins, del, sup, sub, code, label, center, q",
    "blockquote, ul, ol, dl, dd, dt, table, tbody, thead, tr, td, th, form, fieldset, details",
    "div, section, article, main, aside, header, footer, nav, li, p, figure, svg, g",
)


def drop_hidden(root: Element) -> None:
    """Remove what is marked as hidden, unless that is most of the text."""
    hidden = root.select(_HIDDEN)
    if not hidden:
        return
    length = sum(len(node.text) for node in hidden[:1000])
    if length <= max(_LONG, _MOST_HIDDEN * len(root.text)):
        root.remove(_HIDDEN)


def drop_scripts(root: Element) -> None:
    """Remove what is never text, before texts are looked at."""
    root.remove("script, style, template")


def drop_unseen(root: Element) -> None:
    """Remove scripts, forms' fields, frames and the like."""
    root.remove(_UNSEEN)


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
