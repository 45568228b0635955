"""Pages too large for a choice of blocks: all their text, with as much structure as time allows.

No step here goes through a page node by node in Python: a page may have a million of them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urljoin, urlsplit

from toolcrib.documents.reader.markdown.inline import make_absolute
from toolcrib.documents.reader.markdown.writer import (
    MAX_LISTED,
    PageLink,
    PageMarkdown,
    drop_hidden,
    drop_unseen,
    headings_of,
    images_of,
    links_of,
    may_hide,
    unseen_tags,
)
from toolcrib.documents.reader.tree import MAX_ELEMENTS

if TYPE_CHECKING:
    from turbohtml import Document, Element


# Very long pages as several short trees, one after another: all at once they fill the memory.

MIN_CHARS = 2_000_000
"""Shorter pages are one tree."""
MIN_MARKS = 60_000
"""So are pages with fewer `<`, unless much of them is long texts."""
MANY_MARKS = 1_500_000
"""`<` from which on a page is read in pieces though it is shorter: each takes much memory."""
MIN_LONG_TEXT_CHARS = 500_000
"""Characters without a `<` that are such a text, if no tag or script is around them."""
MAX_COUNTED_ELEMENTS = 100_000
"""Elements after which no more are counted."""
FIRST_PIECE_CHARS = 500_000
"""Characters of the first piece, which holds the metadata."""
PIECE_CHARS = 1_000_000
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
_AHEAD_CHARS = 30
"""Characters after a cut that decide how the next piece follows: more than the tags above have."""
CODE_JOINT = "```"
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
_COPIED_ATTRIBUTES = ("style", "hidden", "aria-hidden")


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
        """How many elements the trees so far had, or more than `MAX_COUNTED_ELEMENTS`."""
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
        """Each tree, with what is between it and the one before: white space or `CODE_JOINT`.

        There is no tree where it would be the same as the one before. Each must be let go before
        the next is asked for.
        """
        while not self.ended:
            joint = self._joint
            document = self._next()
            if document is not None and self._counted <= MAX_COUNTED_ELEMENTS:
                self._last = int(document.xpath("count(//*)"))  # type: ignore[arg-type]
            self._counted += self._last
            yield joint, document
            del document

    def _next(self) -> Document | None:
        from turbohtml import parse

        size = PIECE_CHARS if self._place else FIRST_PIECE_CHARS
        cut = self._cut(self._place + size)
        if cut:
            head = f"{self._opened}{self._source[self._place : cut]}<!--{_MARK}-->"
            ahead = self._source[cut : cut + _AHEAD_CHARS]
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
        if len(source) - wanted < PIECE_CHARS // 2:
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
            gap = " " if self._source[cut - 1].isspace() else ""
            self._joint = CODE_JOINT if "pre" in [one.tag for one in chain] else gap
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


def is_long(source: str, marks: int) -> bool:
    """Whether a page is read in pieces; `marks` is how many `<` it has."""
    if len(source) <= MIN_CHARS:
        return marks > MANY_MARKS
    return marks > MIN_MARKS or has_long_text(source)


def has_long_text(source: str) -> bool:
    """Whether texts of more than `MIN_LONG_TEXT_CHARS` characters make much of a page."""
    total, start = 0, source.find("<")
    while start >= 0 and total <= MIN_CHARS:
        end = source.find("<", start + 1)
        end = end if end >= 0 else len(source)
        if end - start > MIN_LONG_TEXT_CHARS and ">" in source[start : start + _MAX_TAG]:
            total += 0 if _NO_TEXT.match(source, start) else end - start
        start = end if end < len(source) else -1
    return total > MIN_CHARS


def _start_tag(element: Any) -> str:
    given = {
        name: element.attr(name) for name in _COPIED_ATTRIBUTES if element.attr(name) is not None
    }
    if element.tag == "ol":
        start = (element.attr("start") or "1").strip()[:9]
        first = int(start) if start.isascii() and start.isdigit() else 1
        given["start"] = str(first + int(element.xpath("count(li)")))
    attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in given.items())
    return f"<{element.tag}{attributes}>"


MAX_BLOCKS = 4_000
"""Blocks of such a page; none had more than 2,700."""
MAX_TEXT = 1_500_000
"""Characters of its text, scripts not counted."""
_MIN_ELEMENT_CHARS = 3
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
    elements = (
        document.xpath("count(//*)") if len(source) > _MIN_ELEMENT_CHARS * MAX_ELEMENTS else 0
    )
    if int(elements) > MAX_ELEMENTS:  # type: ignore[arg-type]
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
) -> tuple[PageMarkdown, str, int]:
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
    links: dict[str, PageLink] = {}
    images: dict[str, PageLink] = {}
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
    return PageMarkdown(markdown, headings_of(markdown), *listed), text, hidden


def _add(pieces: list[str], joint: str, markdown: str) -> None:
    """Put the Markdown of one more tree after what stands between it and the one before."""
    if joint == CODE_JOINT:
        joint = "\n\n"
        fence = markdown[: markdown.find("\n")]
        if (
            len(fence) >= len(CODE_JOINT)
            and not fence.strip("`")
            and pieces[-1].endswith(f"\n{fence}")
        ):
            # One block of code goes on.
            pieces[-1] = pieces[-1][: -len(fence) - 1]
            joint, markdown = "", markdown[len(fence) :]
    pieces += [joint if pieces and markdown else "", markdown]


def _joint_of_text(joint: str) -> str:
    return "\n" if joint == CODE_JOINT else joint


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


def _absolute(links: tuple[PageLink, ...], base: str) -> tuple[PageLink, ...]:
    try:
        parts = urlsplit(base)
    except ValueError:
        return links
    return tuple(PageLink(_joined_to(base, parts, link.url), link.text) for link in links)


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
