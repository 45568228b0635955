"""A page's Markdown as passages: a few paragraphs each, under their headings, with places.

A passage is a slice of the page, so its offsets lead back to it. It never crosses a
heading. Tables and code stay whole where they fit; a table that does not is continued
under its header row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from toolcrib.text.tokens import estimate
from toolcrib.text.truncation import cut

MAX_PASSAGE_TOKENS = 160
"""Tokens of a passage, but for what belongs together."""
WHOLE = 400
"""Tokens up to which a table or a piece of code is kept in one."""
TARGET = 80
LONG = 40
"""A passage of so many tokens ends before a paragraph of more than so many."""
_WINDOW = 6000
_USUAL = 1500
"""Characters in which a passage usually ends; longer windows are tried only then."""
_LEAD = 1000
"""Characters up to which a table's header is said again."""
MAX_HEADINGS = 5000
MAX_TITLE = 120
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.{0,1000})")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_MARKED = re.compile(r"\n((?:[ \t]*(?:`{3}|~{3})|#{1,6}[ \t])[^\n]*)")
"""Lines that may be headings, or begin or end code; far quicker by the line end before them."""
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)")
_MARKS = re.compile(r"(?<!\w)[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)")

_WITHOUT = frozenset({"json", "csv", "xml", "image"})
_PLAIN_MARKDOWN = re.compile(r"(?:/|\.md|\.markdown|\.mdx|\.txt|/[^/.]*)$", re.IGNORECASE)

Kind: TypeAlias = Literal["heading", "text", "table", "code"]


@dataclass(frozen=True, slots=True)
class Passage:
    """Some of a page: `page[start:end]`, under `headings` from the outermost in.

    `lead` is the header of a table that began before; it stands before `text` when the
    passage is shown.
    """

    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()
    lead: str = ""

    @property
    def text_with_headings(self) -> str:
        """The text as a reader should see it."""
        return f"{self.lead}\n{self.text}" if self.lead else self.text


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a page: its words, its level from 1 and where its line starts."""

    text: str
    level: int
    start: int


@dataclass(frozen=True, slots=True)
class _Block:
    kind: Kind
    start: int
    end: int
    level: int = 0
    title: str = ""
    lead: str = ""


def split(page: str, check: Callable[[], None] = lambda: None) -> list[Passage]:
    """The passages of a page, in its order. All but headings and blank lines is in one.

    Args:
        page: Markdown.
        check: called now and then; what it raises passes through.
    """
    found: list[Passage] = []
    path: list[tuple[int, str]] = []
    group: list[_Block] = []

    def close() -> None:
        if group:
            found.append(_passage(page, group, path))
            group.clear()

    size = 0
    for block in _bodies(_blocks(page)):
        check()
        if block.kind == "heading":
            close()
            path[:] = [above for above in path if above[0] < block.level]
            path.append((block.level, block.title))
            continue
        for piece in _pieces(page, block):
            check()
            more = estimate(page[piece.start : piece.end]) + 1
            if group and not _fits(page, group[-1], size, piece, more):
                close()
            size = size + more if group else more
            group.append(piece)
    close()
    return found


def has_headings(kind: str, content_type: str, url: str) -> bool:
    """Whether `#` begins a heading in a page, and not a comment, say.

    Args:
        kind: what the page was converted from, as in `html`, `json` or `text`.
        content_type: what its server called it.
        url: where it was found.
    """
    if kind in _WITHOUT:
        return False
    if kind != "text" or "markdown" in content_type:
        return True
    path = url.partition("?")[0].partition("#")[0]
    return content_type in ("", "text/plain") and _PLAIN_MARKDOWN.search(path) is not None


def outline(page: str) -> list[Heading]:
    """The headings of Markdown in their order, without what is in fenced code."""
    found: list[Heading] = []
    fence = ""
    for match in _MARKED.finditer(f"\n{page}"):
        line = match[1]
        if fence:
            fence = "" if _closes(line, fence) else fence
            continue
        opened = _FENCE.match(line)
        if opened:
            fence = opened[1]
            continue
        heading = _heading(line)
        if heading is not None:
            found.append(Heading(heading[1][:MAX_TITLE], heading[0], match.start()))
        if len(found) == MAX_HEADINGS:
            break
    return found


def _heading(line: str) -> tuple[int, str] | None:
    """The level and the words of a heading."""
    match = _HEADING.match(line)
    if match is None:
        return None
    title = match[2].rstrip()
    text = title.rstrip("#")
    # Marks at the end close the heading, but not those of `C#`.
    title = text if text.endswith((" ", "\t")) else title
    words = " ".join(bare(title).split())
    return (len(match[1]), words) if words.strip("#") else None


def _closes(line: str, fence: str) -> bool:
    line = line.lstrip(" \t").rstrip()
    return line.startswith(fence) and not line.strip(fence[0])


def bare(text: str) -> str:
    """Markdown without its marks and without the targets of links, for matching."""
    return _MARKS.sub("", _LINK.sub(r"\1", text))


def _passage(page: str, group: list[_Block], path: list[tuple[int, str]]) -> Passage:
    start, end = group[0].start, group[-1].end
    headings = tuple(title for _, title in path)
    return Passage(page[start:end], start, end, headings, group[0].lead)


def _fits(page: str, last: _Block, size: int, piece: _Block, more: int) -> bool:
    """Whether a piece still belongs to the passage begun, given the tokens of both."""
    if piece.lead:
        return False
    announced = page[last.start : last.end].endswith((":", "\uff1a"))
    if announced and piece.kind != "text":
        return size + more <= WHOLE
    if size >= TARGET and piece.kind == "text" and more > LONG:
        return False
    return size + more <= MAX_PASSAGE_TOKENS


def _bodies(blocks: Iterator[_Block]) -> Iterator[_Block]:
    """The blocks, with headings that have nothing below them as text, so that none is lost."""
    before: _Block | None = None
    for block in blocks:
        if before is not None:
            empty = block.kind == "heading" and block.level <= before.level
            yield _Block("text", before.start, before.end) if empty else before
            before = None
        if block.kind == "heading":
            before = block
        else:
            yield block
    if before is not None:
        yield _Block("text", before.start, before.end)


def _blocks(page: str) -> Iterator[_Block]:
    kind: Kind | None = None
    start = end = at = 0
    fence = ""
    for line in page.removesuffix("\n").split("\n"):
        here, bare_line = at, line.strip()
        at += len(line) + 1
        stop = here + len(line.rstrip())
        if fence:
            end = max(stop, here)
            if _closes(line, fence):
                yield _Block("code", start, end)
                fence, kind = "", None
            continue
        opened = _FENCE.match(line)
        heading = None if opened else _heading(line)
        wanted: Kind = "table" if bare_line.startswith("|") else "text"
        if kind and (opened or heading or not bare_line or kind != wanted):
            yield _Block(kind, start, end)
            kind = None
        if opened:
            fence, start, end = opened[1], here, stop
        elif heading:
            yield _Block("heading", here, stop, *heading)
        elif bare_line:
            start = here if kind is None else start
            kind, end = wanted, stop
    if fence:
        yield _Block("code", start, max(end, start))
    elif kind:
        yield _Block(kind, start, end)


def _pieces(page: str, block: _Block) -> Iterator[_Block]:
    """A block as it is, or what is too long cut at lines, sentences or words."""
    text = page[block.start : block.end]
    whole = MAX_PASSAGE_TOKENS if block.kind == "text" else WHOLE
    if len(text) <= whole or (len(text) <= _WINDOW and estimate(text) <= whole):
        yield block
        return
    lead = "\n".join(text.split("\n", 2)[:2]) if block.kind == "table" else ""
    lead = lead if len(lead) <= _LEAD else ""
    at = 0
    while at < len(text):
        window = text[at : at + _USUAL]
        head, used = cut(window, MAX_PASSAGE_TOKENS)
        if used >= len(window):
            window = text[at : at + _WINDOW]
            head, used = cut(window, MAX_PASSAGE_TOKENS)
        if block.kind != "text":
            used = _whole_lines(window, used)
            head = window[:used]
        start = block.start + at + len(head) - len(head.lstrip())
        end = block.start + at + len(head.rstrip())
        if end > start:
            yield _Block(block.kind, start, end, lead=lead if at else "")
        at += used


def _whole_lines(window: str, used: int) -> int:
    """Where the last line ends that fits; a line longer than that is cut."""
    if used >= len(window):
        return used
    return window.rfind("\n", 0, used) + 1 or used
