"""Where the folders lie that the user lets runs read besides."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from toolcrib.core.context import Services
from toolcrib.text.display import printable


def real_place(place: str | Path) -> str:
    """Where a place is, without links."""
    return os.path.realpath(Path(place).expanduser())


class ReadableFolders:
    """A service: the folders of `run.readable`, found when the toolbox is made.

    What a job of another server makes may put links on the way later.
    """

    def __init__(self, places: Iterable[str]) -> None:
        self._real = {place: real_place(place) for place in places}

    @classmethod
    def open(cls, services: Services) -> Self:
        """Find them."""
        return cls(services.config.run.readable)

    def current(self) -> tuple[list[str], list[str]]:
        """Those that still lead where they did, and notes on the others; blocking."""
        moved = [place for place, real in self._real.items() if real_place(place) != real]
        notes = [
            f"{printable(place)} of run.readable is left out: it leads elsewhere, by a link, than "
            "when this server began; start it anew if that is meant"
            for place in moved
        ]
        return [real for place, real in self._real.items() if place not in moved], notes
