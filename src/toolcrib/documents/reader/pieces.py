"""Very long pages as several short trees, one after another: all at once they fill the memory."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from toolcrib.documents.reader.markdown.hidden_parts import may_hide

if TYPE_CHECKING:
    from turbohtml import Document

MIN_CHARS = 2_000_000
"""Shorter pages are one tree."""
MIN_MARKS = 60_000
"""So are pages with fewer `<`, unless much of them is long texts."""
MANY_MARKS = 1_500_000
"""`<` from which on a page is read in pieces though it is shorter: each takes much memory."""
LONG = 500_000
"""Characters without a `<` that are such a text, if no tag or script is around them."""
ENOUGH = 100_000
"""Elements after which no more are counted."""
FIRST = 500_000
"""Characters of the first piece, which tells what the page says of itself."""
OTHERS = 1_000_000
_SEARCHED = 20_000
_BLOCK = re.compile(
    r"<(?:p|div|li|h[1-6]|ul|ol|dl|dt|article|section|blockquote|hr|pre)[\s>]", re.IGNORECASE
)
_BETWEEN = re.compile(r"</[a-z][a-z0-9]*>\s{0,20}(?=<[a-z]+[\s>])", re.IGNORECASE)
_ANY = re.compile(r"<[a-z]+[\s>]", re.IGNORECASE)
_LINE = re.compile(r"\n(?=[^\s<])")
_SPACE = re.compile(r" (?=[^\s<])")
_LONE = re.compile(r"<(?=<)")
"""A `<` that begins no tag, at least outside of tags and scripts."""
_NO_TEXT = re.compile(
    r"<(?:!|\?|script|style|textarea|title|svg|math|template|iframe|object|select|xmp|no)",
    re.IGNORECASE,
)
_MAX_TAG = 5_000
_LOOKED_AT = 30
"""Characters after a cut that say how the next piece follows: more than the tags above have."""
CODE = "```"
"""What stands between two pieces of one listing."""
_MARK = "\ue000 end of a piece \ue001"
_ENDED = f"(//comment()[. = '{_MARK}'])[last()]"
_MAX_OPEN = 30
_REOPENED = frozenset({
    "div", "main", "section", "article", "aside", "header", "footer", "nav", "ul", "ol", "dl",
    "blockquote", "center", "span", "font", "b", "strong", "i", "em", "small", "p", "li", "dt",
    "dd", "pre", "code",
})  # fmt: skip
"""Elements that may go on in the next piece."""
_ENTRIES = frozenset({"p", "li", "dt", "dd"})
"""Those that end where the next block begins."""
_KEPT = ("style", "hidden", "aria-hidden")


class Pieces:
    """The trees of a page.

    A page is cut before a start tag, or in a long text, and what is open there is opened again
    in the next tree. Where it cannot be cut (in a script, a table or a deep tree) all the rest is
    one tree. A piece that says the same as the one before it is not parsed again.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._place = 0
        self._opened = ""
        self._joint = ""
        self._counted = self._last = 0
        self._head = self._ahead = ""

    @property
    def elements(self) -> int:
        """How many elements the trees so far had, or more than `ENOUGH`."""
        return self._counted

    @property
    def may_hide(self) -> bool:
        """Whether some of the page may be hidden."""
        return may_hide(self._source)

    @property
    def ended(self) -> bool:
        """Whether there is no more to come."""
        return self._place >= len(self._source)

    def __iter__(self) -> Iterator[tuple[str, Document | None]]:
        """What stands between a tree and the one before it (white space, or `CODE`), and the tree.

        There is no tree where it would be the same as the one before. Each must be let go before
        the next is asked for.
        """
        while not self.ended:
            joint = self._joint
            document = self._next()
            if document is not None and self._counted <= ENOUGH:
                self._last = int(document.xpath("count(//*)"))  # type: ignore[arg-type]
            self._counted += self._last
            yield joint, document
            del document

    def _next(self) -> Document | None:
        from turbohtml import parse

        size = OTHERS if self._place else FIRST
        cut = self._cut(self._place + size)
        if cut:
            head = f"{self._opened}{self._source[self._place : cut]}<!--{_MARK}-->"
            ahead = self._source[cut : cut + _LOOKED_AT]
            if head == self._head and ahead == self._ahead:
                # What is open after it and how the next one follows is the same too.
                self._place = cut
                return None
            document = parse(head, positions=False)
            mark = document.xpath_one(_ENDED)
            if mark is not None and self._reopen(mark, cut):
                self._place, self._head, self._ahead = cut, head, ahead
                return document
            del document, mark
        rest = f"{self._opened}{self._source[self._place :]}"
        self._place = len(self._source)
        return parse(rest, positions=False)

    def _cut(self, wanted: int) -> int:
        """A place to cut after another; 0 where little or nothing would follow it."""
        source = self._source
        if len(source) - wanted < OTHERS // 2:
            return 0
        end = wanted + _SEARCHED
        if found := _BLOCK.search(source, wanted, end):
            return found.start()
        if found := _BETWEEN.search(source, wanted, end):
            return found.end()
        if found := _ANY.search(source, wanted, end):
            return found.start()
        if found := _LONE.search(source, wanted, end):
            return found.end()
        if source.find("<", wanted, end) >= 0 or not self._in_text(wanted):
            return 0
        found = _LINE.search(source, wanted, end) or _SPACE.search(source, wanted, end)
        return found.end() if found else wanted

    def _in_text(self, place: int) -> bool:
        """Whether a place is outside of every tag."""
        return self._source.rfind("<", 0, place) < self._source.rfind(">", 0, place)

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
        if self._is_text(cut):
            self._joint = CODE if "pre" in [one.tag for one in chain] else self._gap(cut)
        else:
            block = _BLOCK.match(self._source, cut) is not None
            while block and chain and chain[0].tag in _ENTRIES:
                del chain[0]
            self._joint = "\n" if chain and chain[0].tag in ("ul", "ol") else "\n\n"
        self._opened = "<body>" + "".join(map(_start_tag, reversed(chain)))
        return True

    def _is_text(self, cut: int) -> bool:
        """Whether a text goes on at a place, and no tag stands there."""
        before, after = self._source[cut - 1], self._source[cut]
        return after != "<" or (before == "<" and _ANY.match(self._source, cut) is None)

    def _gap(self, cut: int) -> str:
        """What stands between two pieces of one text."""
        return " " if self._source[cut - 1].isspace() else ""


def is_long(source: str, marks: int) -> bool:
    """Whether a page is read in pieces; `marks` is how many `<` it has."""
    if len(source) <= MIN_CHARS:
        return marks > MANY_MARKS
    return marks > MIN_MARKS or has_long_text(source)


def has_long_text(source: str) -> bool:
    """Whether texts of more than `LONG` characters make much of a page."""
    total, start = 0, source.find("<")
    while start >= 0 and total <= MIN_CHARS:
        end = source.find("<", start + 1)
        end = end if end >= 0 else len(source)
        if end - start > LONG and ">" in source[start : start + _MAX_TAG]:
            total += 0 if _NO_TEXT.match(source, start) else end - start
        start = end if end < len(source) else -1
    return total > MIN_CHARS


def _start_tag(element: Any) -> str:
    given = {name: element.attr(name) for name in _KEPT if element.attr(name) is not None}
    if element.tag == "ol":
        start = (element.attr("start") or "1").strip()[:9]
        first = int(start) if start.isascii() and start.isdigit() else 1
        given["start"] = str(first + int(element.xpath("count(li)")))
    attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in given.items())
    return f"<{element.tag}{attributes}>"
