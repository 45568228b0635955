"""Very long pages as several short trees, one after another: all at once they fill the memory."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from turbohtml import Document

MIN_CHARS = 2_000_000
"""Shorter pages are one tree."""
MIN_MARKS = 60_000
"""So are pages with fewer `<`: a tree of long texts takes little more than its source."""
FIRST = 500_000
"""Characters of the first piece, which tells what the page says of itself."""
OTHERS = 1_000_000
_SEARCHED = 20_000
_BLOCK = re.compile(
    r"<(?:p|div|li|h[1-6]|ul|ol|dl|dt|article|section|blockquote|hr|pre)[\s>]", re.IGNORECASE
)
_ANY = re.compile(r"<[a-z]+[\s>]", re.IGNORECASE)
_MARK = "\ue000 end of a piece \ue001"
_ENDED = f"(//comment()[. = '{_MARK}'])[last()]"
_MAX_OPEN = 30
_REOPENED = frozenset({
    "div", "main", "section", "article", "aside", "header", "footer", "nav", "ul", "ol", "dl",
    "blockquote", "center", "span", "font", "b", "strong", "i", "em", "small", "p", "li", "dt",
    "dd",
})  # fmt: skip
"""Elements that may go on in the next piece."""
_ENTRIES = frozenset({"p", "li", "dt", "dd"})
"""Those that end where the next block begins."""
_KEPT = ("style", "hidden", "aria-hidden")


class Pieces:
    """The trees of a page.

    A page is cut before a start tag, and what is open there is opened again in the next tree.
    Where it cannot be cut (in a script, a table or a deep tree) all the rest is one tree.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._place = 0
        self._opened = ""
        self._joint = ""
        self._counted = 0

    @property
    def elements(self) -> int:
        """How many elements the trees so far had."""
        return self._counted

    def __iter__(self) -> Iterator[tuple[str, Document]]:
        """What stands between a tree and the one before it (line feeds), and the tree.

        Each tree must be let go before the next is asked for.
        """
        while self._place < len(self._source):
            joint = self._joint
            document = self._next()
            self._counted += int(document.xpath("count(//*)"))  # type: ignore[arg-type]
            yield joint, document
            del document

    def _next(self) -> Document:
        from turbohtml import parse

        size = OTHERS if self._place else FIRST
        cut = self._cut(self._place + size)
        if cut:
            head = f"{self._opened}{self._source[self._place : cut]}<!--{_MARK}-->"
            document = parse(head, positions=False)
            mark = document.xpath_one(_ENDED)
            if mark is not None and self._reopen(mark, cut):
                self._place = cut
                return document
            del document, mark
        rest = f"{self._opened}{self._source[self._place :]}"
        self._place = len(self._source)
        return parse(rest, positions=False)

    def _cut(self, wanted: int) -> int:
        """The place of a start tag after another; 0 where little or no tag would follow."""
        if len(self._source) - wanted < OTHERS // 2:
            return 0
        end = wanted + _SEARCHED
        found = _BLOCK.search(self._source, wanted, end) or _ANY.search(self._source, wanted, end)
        return found.start() if found else 0

    def _reopen(self, mark: Any, cut: int) -> bool:
        """Take over what is open at a mark; false where that cannot be."""
        chain: list[Any] = []
        for above in mark.ancestors:
            tag = getattr(above, "tag", "html")
            if tag in ("body", "html", "head"):
                break
            if tag not in _REOPENED or len(chain) == _MAX_OPEN:
                return False
            chain.append(above)
        block = _BLOCK.match(self._source, cut) is not None
        while block and chain and chain[0].tag in _ENTRIES:
            del chain[0]
        self._joint = "\n" if chain and chain[0].tag in ("ul", "ol") else "\n\n"
        self._opened = "<body>" + "".join(map(_start_tag, reversed(chain)))
        return True


def _start_tag(element: Any) -> str:
    given = {name: element.attr(name) for name in _KEPT if element.attr(name) is not None}
    if element.tag == "ol":
        start = (element.attr("start") or "1").strip()[:9]
        first = int(start) if start.isascii() and start.isdigit() else 1
        given["start"] = str(first + int(element.xpath("count(li)")))
    attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in given.items())
    return f"<{element.tag}{attributes}>"
