"""Markdown as blocks: headings, paragraphs, lists, tables, code, quotes, pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import unquote

if TYPE_CHECKING:
    from markdown_it.token import Token

BlockKind = Literal["heading", "text", "list", "table", "code", "quote", "rule"]
MAX_DEPTH = 20
SAFE_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
# The smallest picture, by which libraries load what they need for others.
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c636000000002000148afa4710000000049454e44ae426082"
)
# What XML cannot hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Run:
    """Text with one formatting. `link` is a web or mail address, or empty.

    A picture has what it is called as its text, where Markdown has it, and its bytes; none for
    one that is not at hand.
    """

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    strike: bool = False
    link: str = ""
    target: str = ""
    picture: bytes = b""


Runs = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """One block.

    Attributes:
        kind: what it is.
        level: of a heading, 1 to 6.
        runs: the text of a heading or paragraph; of code one run.
        ordered: whether a list is numbered.
        start: the first number of such a list.
        items: the blocks of each item of a list; those of a quote are one item.
        rows: the cells of a table, its header first.
    """

    kind: BlockKind
    level: int = 0
    runs: Runs = ()
    ordered: bool = False
    start: int = 1
    items: tuple[tuple[MarkdownBlock, ...], ...] = ()
    rows: tuple[tuple[Runs, ...], ...] = ()

    @property
    def text(self) -> str:
        """Its text without looks."""
        return plain(self.runs)

    def to_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return asdict(self)


def plain(runs: Sequence[Run]) -> str:
    """The text of runs without looks."""
    return "".join(run.text for run in runs)


def title_of(blocks: Sequence[MarkdownBlock]) -> str:
    """The text of the first heading; empty where there is none."""
    return next((block.text for block in blocks if block.kind == "heading"), "")


def sent(request: Mapping[str, Any], data: bytes) -> tuple[str, dict[str, bytes]]:
    """The text that a writer is sent, and the pictures behind it, by where Markdown has them.

    Args:
        request: `pictures`, a list of targets and sizes; may be missing.
        data: the text, and the pictures one after the other.
    """
    pictures = {}
    end = len(data)
    for target, size in reversed(request.get("pictures", ())):
        pictures[target] = data[end - size : end]
        end -= size
    return data[:end].decode(), pictures


def missing_pictures(blocks: Iterable[MarkdownBlock]) -> list[str]:
    """Where the pictures are that the text has and that are not at hand."""
    found: dict[str, None] = {}
    for block in blocks:
        texts = [block.runs, *(cell for row in block.rows for cell in row)]
        found |= {run.target: None for runs in texts for run in runs if not run.picture}
        for item in block.items:
            found |= dict.fromkeys(missing_pictures(item))
    found.pop("", None)
    return list(found)


def blocks_of(markdown: str, pictures: Mapping[str, bytes] | None = None) -> list[MarkdownBlock]:
    """The blocks of a Markdown text (CommonMark with tables and strikethrough).

    Args:
        markdown: the text.
        pictures: by their targets; of others their descriptions stand as text.
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_DEPTH})
    parser.enable(["table", "strikethrough"])
    text = _CONTROL.sub("", markdown.replace("\r\n", "\n"))
    return list(_Reader(parser.parse(text), pictures or {}).blocks())


class _Reader:
    """Goes through the tokens of a text once."""

    def __init__(self, tokens: Sequence[Token], pictures: Mapping[str, bytes]) -> None:
        self._tokens = tokens
        self._pictures = pictures
        self._at = 0

    def blocks(self, until: str = "") -> Iterator[MarkdownBlock]:
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token.type == until:
                return
            block = self._block(token)
            if block is not None:
                yield block

    def _block(self, token: Token) -> MarkdownBlock | None:
        """The block that a token opens; None for one without text."""
        if token.type == "heading_open":
            return MarkdownBlock("heading", level=int(token.tag[1:]), runs=self._inline())
        if token.type == "paragraph_open":
            runs = self._inline()
            return MarkdownBlock("text", runs=runs) if runs else None
        if token.type in ("fence", "code_block"):
            return MarkdownBlock("code", runs=(Run(token.content.rstrip("\n"), code=True),))
        if token.type == "blockquote_open":
            return MarkdownBlock("quote", items=(tuple(self.blocks("blockquote_close")),))
        if token.type in ("bullet_list_open", "ordered_list_open"):
            return self._list(token)
        if token.type == "table_open":
            return MarkdownBlock("table", rows=tuple(self._rows()))
        return MarkdownBlock("rule") if token.type == "hr" else None

    def _inline(self) -> Runs:
        """The text of the block whose opening was read; its end is read too."""
        token = self._tokens[self._at]
        self._at += 2
        return runs_of(token.children or [], self._pictures)

    def _list(self, opened: Token) -> MarkdownBlock:
        ordered = opened.type == "ordered_list_open"
        closing = "ordered_list_close" if ordered else "bullet_list_close"
        items: list[tuple[MarkdownBlock, ...]] = []
        while self._tokens[self._at].type != closing:
            self._at += 1
            items.append(tuple(self.blocks("list_item_close")))
        self._at += 1
        start = int(opened.attrGet("start") or 1) if ordered else 1
        return MarkdownBlock("list", ordered=ordered, start=start, items=tuple(items))

    def _rows(self) -> Iterator[tuple[Runs, ...]]:
        row: list[Runs] = []
        while self._tokens[self._at].type != "table_close":
            token = self._tokens[self._at]
            self._at += 1
            if token.type == "tr_open":
                row = []
            elif token.type in ("th_open", "td_open"):
                row.append(self._inline())
            elif token.type == "tr_close":
                yield tuple(row)
        self._at += 1


@dataclass(slots=True)
class _Look:
    bold: int = 0
    italic: int = 0
    strike: int = 0
    link: str = ""
    runs: list[Run] = field(default_factory=list)

    def add(self, text: str, *, code: bool = False, target: str = "", picture: bytes = b"") -> None:
        if text or target:
            look = (self.bold > 0, self.italic > 0, code, self.strike > 0, self.link)
            self.runs.append(Run(text, *look, target, picture))


def runs_of(tokens: Sequence[Token], pictures: Mapping[str, bytes]) -> Runs:
    """The runs of an inline text; line ends within it are blanks, hard ones line feeds."""
    look = _Look()
    steps = {
        "strong_open": ("bold", 1), "strong_close": ("bold", -1),
        "em_open": ("italic", 1), "em_close": ("italic", -1),
        "s_open": ("strike", 1), "s_close": ("strike", -1),
    }  # fmt: skip
    for token in tokens:
        if token.type in steps:
            name, step = steps[token.type]
            setattr(look, name, getattr(look, name) + step)
        elif token.type == "link_open":
            target = str(token.attrGet("href") or "")
            look.link = target if SAFE_LINK.match(target) else ""
        elif token.type == "link_close":
            look.link = ""
        elif token.type == "code_inline":
            look.add(token.content, code=True)
        elif token.type in ("softbreak", "hardbreak"):
            look.add("\n" if token.type == "hardbreak" else " ")
        elif token.type == "image":
            target = unquote(str(token.attrGet("src") or ""))
            look.add(token.content, target=target, picture=pictures.get(target, b""))
        else:
            look.add(token.content)
    return tuple(look.runs)
