"""The menus of a page: what leads elsewhere and is not its content."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbohtml import Document as Tree
    from turbohtml import Element

MAX_BYTES = 8_192
CUT = "\n(cut here)"
MAX_CANDIDATES = 500
MAX_DEPTH = 1_000
MAX_STRINGS = 5_000
LINKED = 0.6
"""Share of its text in links from which an element with such a name is a menu."""
_SURE = "nav, [role=navigation i], [role=menu i], [role=menubar i], [role=directory i]"
_NAMES = [
    "sidebar",
    "side-bar",
    "toc",
    "table-of-contents",
    "menu",
    "main-menu",
    "navbar",
    "nav-menu",
    "breadcrumb",
    "breadcrumbs",
    "pagination",
    "pager",
    "page-numbers",
]
_NAMED = ", ".join(f'[class~="{name}" i], [id="{name}" i]' for name in _NAMES)


def menus_of(tree: Tree) -> list[Element]:
    """The elements that are menus, the outermost of each, in document order.

    An element counts by its tag or role, or by its name if it is mostly links and not
    most of the page.
    """
    named = _mostly_links(tree)
    found: dict[Element, None] = {}
    for element in tree.select(f"{_SURE}, {_NAMED}")[:MAX_CANDIDATES]:
        if element not in named and not element.matches(_SURE):
            continue
        if not any(above in found for above in islice(element.ancestors, MAX_DEPTH)):
            found[element] = None
    return list(found)


def navigation_of(menus: list[Element], render: Callable[[Element], str]) -> str:
    """The text of menus, each once, within MAX_BYTES."""
    texts: dict[str, None] = {}
    size = 0
    for menu in menus:
        text = render(menu)
        if text and text not in texts:
            texts[text] = None
            size += len(text.encode("utf-8", "replace")) + 2
        if size > MAX_BYTES:
            break
    whole = "\n\n".join(texts)
    if len(whole.encode("utf-8", "replace")) <= MAX_BYTES:
        return whole
    head = whole.encode("utf-8", "replace")[: MAX_BYTES - len(CUT)].decode("utf-8", "ignore")
    return (head.rpartition("\n")[0] or head) + CUT


def _mostly_links(tree: Tree) -> set[Element]:
    found: set[Element] = set()
    candidates = tree.select(_NAMED)[:MAX_CANDIDATES]
    if not candidates:
        return found
    whole = len(tree.text)
    for element in candidates:
        size = sum(len(text) for text in islice(element.stripped_strings, MAX_STRINGS))
        if not size or size * 2 > whole:
            continue
        linked = sum(
            len(text)
            for anchor in islice(element.select("a"), MAX_STRINGS)
            for text in islice(anchor.stripped_strings, 50)
        )
        if linked >= LINKED * size:
            found.add(element)
    return found
