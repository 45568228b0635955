"""What the sizes of letters and the lines of a page say that its Markdown does not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

MAX_HEADING = 150
"""Characters of what can be a heading."""
LARGER = 1.15
"""A heading's letters are so many times those of the running text."""
LEVELS = ((1.8, "#"), (1.35, "##"), (0.0, "###"))
MARK = r"(?:[-\u2013\u2014•*▪◦‣·●○■]|\(?\d{1,3}[.)]|\(?[a-z][.)])"
MAX_ITEMS = 300
_ITEM = re.compile(rf"\s*({MARK})\s+(\S.*)")
_BULLET = re.compile(r"[\u2013\u2014•*▪◦‣·●○■]")
_STARS = re.compile(r"\*{1,3}|_{1,3}(?=\b)|\\")


class Layout:
    """The letters of a document. `add` spans of some pages first."""

    def __init__(self) -> None:
        self._sizes: Counter[float] = Counter()

    def add(self, spans: Iterable[Any]) -> None:
        """Count the letters of a page by their size."""
        for span in spans:
            self._sizes[round(span.font_size, 1)] += len(span.text.strip())

    @property
    def body(self) -> float:
        """The size of the running text; 0 where there is none."""
        return self._sizes.most_common(1)[0][0] if self._sizes else 0.0

    def mended(self, markdown: str, spans: Sequence[Any], text: str) -> str:
        """A page whose large lines are headings, and whose list items stand on lines of their own.

        Args:
            markdown: the page as it was converted.
            spans: its pieces of text, with `text`, `font_size` and `bbox`.
            text: the page as plain lines.
        """
        large = self._large(spans)
        items = [m for m in map(_ITEM.fullmatch, text.split("\n")) if m][:MAX_ITEMS]
        lines: list[str] = []
        for line in markdown.split("\n"):
            if not line or line.startswith(("|", "#", "```")):
                lines.append(line)
                continue
            size = large.get(_bare(line))
            if size is not None and len(line) <= MAX_HEADING:
                lines.append(f"{_level(size / self.body)} {_STARS.sub('', line).strip()}")
            else:
                lines += _parted(line, items)
        return "\n".join(lines)

    def _large(self, spans: Sequence[Any]) -> dict[str, float]:
        """The lines of a page whose letters are large, by what they say."""
        if not self.body:
            return {}
        lines: dict[tuple[int, float], list[str]] = {}
        for span in spans:
            size = round(span.font_size, 1)
            if size >= self.body * LARGER and span.text.strip():
                lines.setdefault((round(span.bbox[1]), size), []).append(span.text)
        found = {_bare("".join(parts)): size for (_, size), parts in lines.items()}
        found.pop("", None)
        # One word of digits is a page number or a figure, not a heading.
        return {text: size for text, size in found.items() if not text.isdigit()}


def _bare(text: str) -> str:
    return "".join(_STARS.sub("", text).split()).lower()


def _level(ratio: float) -> str:
    return next(mark for least, mark in LEVELS if ratio >= least)


def _parted(line: str, items: Sequence[re.Match[str]]) -> list[str]:
    """The items of a list that were run together, apart again."""
    if not items or not _ITEM.fullmatch(line):
        return [line]
    cuts = set()
    for item in items:
        start = " ".join(item[2].split())[:40]
        for found in re.finditer(rf"(?<=\s){MARK}\s+(?={re.escape(start)})", line):
            cuts.add(found.start())
    edges = [0, *sorted(cuts - {0}), len(line)]
    parts = [line[a:b].strip() for a, b in pairwise(edges)]
    return [_BULLET.sub("-", part, count=1) if _BULLET.match(part) else part for part in parts]
