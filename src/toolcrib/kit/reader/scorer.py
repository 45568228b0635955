"""How likely each block of a page is main content, and of what type the page is."""

from __future__ import annotations

import json
import pkgutil
import zlib
from functools import cache
from typing import Any

from toolcrib.kit.reader.features import Sheet
from toolcrib.kit.reader.lexicon import Lexicon
from toolcrib.kit.reader.second import second_rows
from toolcrib.kit.reader.signals import PAGE_TYPES
from toolcrib.kit.reader.tree import Page
from toolcrib.kit.reader.trees import Trees

MODEL = "model.json.z"
"""The learned tables; scripts/train_reader.py makes them."""

RUNNING = (PAGE_TYPES.index("article"), PAGE_TYPES.index("documentation"))
"""Types with one running text: there the second look helps, elsewhere it does harm."""

_MENU = 0.01
"""The chance of a link in a menu."""


class Scorer:
    """The learned tables, ready to use.

    Args:
        table: what `scripts/train_reader.py` writes.
    """

    def __init__(self, table: dict[str, Any]) -> None:
        self.lexicon = Lexicon(table["names"], table["texts"])
        self._types = [Trees(one) for one in table["types"]]
        self._first = Trees(table["first"])
        self._second = Trees(table["second"])

    @staticmethod
    @cache
    def shared() -> Scorer:
        """The scorer of this package."""
        data = pkgutil.get_data(__package__ or "", MODEL)
        assert data is not None
        return Scorer(json.loads(zlib.decompress(data)))

    def read(self, page: Page, title: str, signals: list[float]) -> tuple[list[float], list[float]]:
        """Chances of the blocks, and of the page types in the order of PAGE_TYPES."""
        sheet = Sheet(page, title, self.lexicon)
        figures = sheet.page_row()
        types = self.types(figures + signals)
        first = spread(sheet, self._first.chances(sheet.rows(), types + figures))
        if sum(types[number] for number in RUNNING) <= 0.5:
            return first, types
        rows = second_rows(page, sheet.chains, first, sheet.open)
        joined = [row + sheet.texts[number] for row, number in zip(rows, sheet.open, strict=True)]
        return spread(sheet, self._second.chances(joined, types)), types

    def types(self, row: list[float]) -> list[float]:
        """The chances of the page types."""
        sums = [one.chance(row) for one in self._types]
        return [one / sum(sums) for one in sums]


def spread(sheet: Sheet, chances: list[float]) -> list[float]:
    """The chances of the open blocks as chances of all."""
    result = [_MENU] * len(sheet.page.blocks)
    for number, one in zip(sheet.open, chances, strict=True):
        result[number] = one
    return result
