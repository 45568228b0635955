"""How likely each block of a page is main content, and of what type the page is."""

from __future__ import annotations

import json
import pkgutil
import zlib
from functools import cache
from typing import Any

from toolcrib.documents.reader import features
from toolcrib.documents.reader import second_pass as second
from toolcrib.documents.reader.lexicon import Lexicon
from toolcrib.documents.reader.signals import PAGE_TYPES
from toolcrib.documents.reader.tree import Page
from toolcrib.documents.reader.trees import Kinds, Trees

MODEL = "model.json.z"
"""The learned tables; scripts/train_reader.py makes them."""

RUNNING = (PAGE_TYPES.index("article"), PAGE_TYPES.index("documentation"))
"""Types with one running text: there the second look helps, elsewhere it does harm."""


class Scorer:
    """The learned tables, ready to use.

    Args:
        table: what `scripts/train_reader.py` writes.
    """

    def __init__(self, table: dict[str, Any]) -> None:
        self.lexicon = Lexicon(table["names"], table["texts"])
        self._types = Kinds(table["types"])
        self._first = Trees(table["first"], len(features.NAMES))
        self._second = Trees(table["second"], len(second.NAMES) + len(features.TEXT_NAMES))

    @staticmethod
    @cache
    def shared() -> Scorer:
        """The scorer of this package."""
        data = pkgutil.get_data(__package__ or "", MODEL)
        assert data is not None
        return Scorer(json.loads(zlib.decompress(data)))

    def read(self, page: Page, title: str, signals: list[float]) -> tuple[list[float], list[float]]:
        """Chances of the blocks, and of the page types in the order of PAGE_TYPES."""
        sheet = features.Sheet(page, title, self.lexicon)
        figures = sheet.page_row()
        types = self._types.chances(figures + signals)
        chances = self._first.chances(sheet.columns(), types + figures)
        if sum(types[number] for number in RUNNING) > 0.5:
            columns, shared = second.second_columns(page, sheet.chains, chances)
            chances = self._second.chances(columns + sheet.texts, shared + types)
        return chances, types
