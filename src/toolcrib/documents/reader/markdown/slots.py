"""Ready-made Markdown that a converter must carry through untouched."""

from __future__ import annotations

import re

OPEN, CLOSE = "\ue000", "\ue001"
"""Private characters around the number of a slot; texts of a page never keep them."""
_SLOT = re.compile(f"{OPEN}(\\d+){CLOSE}")


class Slots:
    """Pieces of Markdown by number, each standing in the tree as a short mark."""

    def __init__(self, *, tags: bool = True) -> None:
        """Without `tags` for plain text, which knows no raised letters."""
        self.tags = tags
        self._pieces: list[str] = []

    def put(self, markdown: str) -> str:
        """The mark that stands for a piece until `fill`."""
        self._pieces.append(markdown)
        return f"{OPEN}{len(self._pieces) - 1}{CLOSE}"

    def fill(self, text: str) -> str:
        """The text with every mark replaced by what it stands for."""
        if OPEN not in text:
            return text
        if not self._pieces:
            return _SLOT.sub("", text).replace(OPEN, "").replace(CLOSE, "")
        return _SLOT.sub(self._piece, text).replace(OPEN, "").replace(CLOSE, "")

    def _piece(self, match: re.Match[str]) -> str:
        number = int(match[1]) if len(match[1]) < 10 else len(self._pieces)
        return self._pieces[number] if number < len(self._pieces) else ""
