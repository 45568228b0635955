"""Text, tables and diffs drawn as a picture. Runs in a worker's child."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from math import ceil
from typing import Any

from PIL import Image, ImageDraw

from toolcrib.documents.writers.blocks import MarkdownBlock, blocks_of, plain
from toolcrib.files.content.pixels import load_codecs
from toolcrib.images import fonts

WIDTH, MARGIN = 960, 28
TEXT_SIZE, HEAD_SIZES = 17, (28, 24, 21, 19, 18, 17)
LINE = 1.35
"""Height of a line in sizes of its letters."""
MAX_HEIGHT = 4000
MAX_CHARS = 60_000
MAX_COLUMN = 340
MAX_ROWS = 120
PADDING = 8
INK, PAPER, GRAY, SHADE = "#1a1a1a", "#ffffff", "#6a6a6a", "#f2f2f2"
DIFF = {"+": ("#0b5d1e", "#e2f7e5"), "-": ("#8b1a1a", "#fde7e7"), "@": ("#5a3e99", "#f2eefb")}
MISSING = "?"
"""Stands for characters that no font of the machine has."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line on the picture: where it begins, how large, in which colours."""

    text: str
    size: int = TEXT_SIZE
    left: int = MARGIN
    ink: str = INK
    paper: str = ""
    gap: int = 0


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: its cells, and the widths of all columns."""

    cells: Sequence[str]
    widths: Sequence[int]
    is_head: bool = False


def prepare() -> None:
    """Load the fonts of the machine."""
    load_codecs()
    fonts.load()
    draw({"kind": "markdown", "title": "a"}, b"# one\n\n- two")


def draw(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """A picture as PNG; `cut` says that not all of it is there.

    Args:
        request: `kind` is markdown, diff or table, `title` stands above; a table brings its
            `columns` and `rows` of text.
        data: the text of the others.
    """
    text = data.decode("utf-8", "replace")
    cut = len(text) > MAX_CHARS
    text = text[:MAX_CHARS]
    parts: list[TextLine | TableRow] = []
    if request["title"]:
        parts += _wrapped(request["title"], HEAD_SIZES[0], gap=10)
    if request["kind"] == "table":
        cut = cut or len(request["rows"]) > MAX_ROWS
        parts += _table([request["columns"], *request["rows"][:MAX_ROWS]])
    elif request["kind"] == "diff":
        parts += _diff(text)
    else:
        parts += _blocks(blocks_of(text))
    picture, whole = _painted(parts)
    stream = BytesIO()
    picture.save(stream, "PNG", optimize=True)
    return {"cut": cut or not whole}, stream.getvalue()


@lru_cache(20_000)
def _advance(char: str, size: int) -> float:
    return sum(font.getlength(part) for part, font in fonts.stretches(char, size, MISSING))


def _length(text: str, size: int) -> float:
    """The width of a text, without the little that neighbours take from each other."""
    return sum(_advance(char, size) for char in text)


def _wrapped(
    text: str, size: int = TEXT_SIZE, *, left: int = MARGIN, gap: int = 0, ink: str = INK,
    paper: str = "",
) -> Iterator[TextLine]:  # fmt: skip
    """A text in lines that fit; a word that is too long for one is broken."""
    room = WIDTH - MARGIN - left
    lines: list[str] = []
    for given in text.expandtabs(4).split("\n"):
        line, used = "", 0.0
        for number, word in enumerate(given.split(" ")):
            part = f" {word}" if number else word
            wide = _length(part, size)
            if line and used + wide > room:
                lines.append(line)
                line, used, part, wide = "", 0.0, word, _length(word, size)
            line, used = line + part, used + wide
            while used > room and len(line) > 1:
                fitting = _fitting(line, size, room)
                used -= _length(line[:fitting], size)
                lines.append(line[:fitting])
                line = line[fitting:]
        lines.append(line)
    for number, line in enumerate(lines, 1):
        yield TextLine(line, size, left, ink, paper, gap if number == len(lines) else 0)


def _fitting(text: str, size: int, room: float) -> int:
    """How many characters fit: one at least."""
    used = 0.0
    for number, char in enumerate(text):
        used += _advance(char, size)
        if used > room:
            return max(number, 1)
    return len(text)


def _diff(text: str) -> Iterator[TextLine]:
    for line in text.splitlines():
        ink, paper = DIFF.get(line[:1], (INK, ""))
        if line.startswith(("+++", "---")):
            ink, paper = GRAY, ""
        yield from _wrapped(line, ink=ink, paper=paper)


def _blocks(blocks: Iterable[MarkdownBlock], left: int = MARGIN) -> Iterator[TextLine | TableRow]:
    for block in blocks:
        if block.kind == "heading":
            yield from _wrapped(block.text, HEAD_SIZES[block.level - 1], left=left, gap=8)
        elif block.kind == "code":
            yield from _wrapped(block.text.rstrip("\n"), left=left + 8, gap=10, paper=SHADE)
        elif block.kind == "table":
            yield from _table([[plain(cell) for cell in row] for row in block.rows])
        elif block.kind == "list":
            for number, item in enumerate(block.items, block.start):
                yield from _item(f"{number}." if block.ordered else "\u2022", item, left)
        elif block.kind == "quote":
            yield from _blocks(block.items[0], left + 24)
        elif block.kind == "rule":
            yield TextLine("", gap=6)
        else:
            yield from _wrapped(block.text, left=left, gap=10)


def _item(mark: str, blocks: Sequence[MarkdownBlock], left: int) -> Iterator[TextLine | TableRow]:
    if blocks and blocks[0].kind == "text":
        yield from _wrapped(f"{mark} {blocks[0].text}", left=left + 12, gap=4)
        yield from _blocks(blocks[1:], min(left + 28, WIDTH // 2))
    else:
        yield TextLine(mark, left=left + 12)
        yield from _blocks(blocks, min(left + 28, WIDTH // 2))


def _table(rows: Sequence[Sequence[str]]) -> Iterator[TextLine | TableRow]:
    """Rows with columns as wide as their texts; what has no room is cut with a sign."""
    count = max(map(len, rows), default=0)
    if not count:
        return
    widest_column = max(40, min(MAX_COLUMN, (WIDTH - 2 * MARGIN) // min(count, 8)))
    even = [[" ".join(cell.split())[:200] for cell in row] for row in rows]
    widths = []
    for column in range(count):
        texts = [row[column] for row in even if column < len(row)]
        widest = max((_length(text, TEXT_SIZE) for text in texts), default=0.0)
        widths.append(ceil(min(widest, widest_column)) + 2 * PADDING)
    for number, row in enumerate(even):
        cells = [_shortened(cell, w - 2 * PADDING) for cell, w in zip(row, widths, strict=False)]
        yield TableRow(cells, widths, is_head=not number)
    yield TextLine("", size=8)


def _shortened(text: str, room: int) -> str:
    if _length(text, TEXT_SIZE) <= room:
        return text
    return text[: max(1, _fitting(text, TEXT_SIZE, room) - 2)] + "\u2026"


def _height(part: TextLine | TableRow) -> int:
    if isinstance(part, TextLine):
        return round(part.size * LINE) + part.gap
    return round(TEXT_SIZE * LINE) + PADDING


def _painted(parts: Sequence[TextLine | TableRow]) -> tuple[Image.Image, bool]:
    """The picture, and whether all of it is there."""
    widest = max((sum(p.widths) for p in parts if isinstance(p, TableRow)), default=0)
    heights = [_height(part) for part in parts]
    height = min(max(sum(heights), TEXT_SIZE) + 2 * MARGIN, MAX_HEIGHT)
    picture = Image.new("RGB", (min(max(WIDTH, widest + 2 * MARGIN), 4 * WIDTH), height), PAPER)
    pen = ImageDraw.Draw(picture)
    top = MARGIN
    for part, high in zip(parts, heights, strict=True):
        if top + high > height - MARGIN // 2:
            _write(pen, TextLine("\u2026", ink=GRAY), top - MARGIN // 2)
            return picture, False
        if isinstance(part, TextLine):
            if part.paper:
                box = (part.left - 6, top - 2, WIDTH - MARGIN + 6, top + high - part.gap - 3)
                pen.rectangle(box, part.paper)
            _write(pen, part, top)
        else:
            left = MARGIN
            for cell, width in zip(part.cells, part.widths, strict=False):
                pen.rectangle(
                    (left, top, left + width, top + high), SHADE if part.is_head else PAPER, GRAY
                )
                _write(pen, TextLine(cell, left=left + PADDING), top + PADDING // 2)
                left += width
        top += high
    return picture, True


def _write(pen: ImageDraw.ImageDraw, line: TextLine, top: int) -> None:
    left = float(line.left)
    for part, font in fonts.stretches(line.text, line.size, MISSING):
        pen.text((left, top), part, line.ink, font)
        left += font.getlength(part)
