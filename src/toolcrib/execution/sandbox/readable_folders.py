"""Where the folders lie that the user lets runs read besides."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Self

from toolcrib.core.context import Services
from toolcrib.core.errors import ConfigError
from toolcrib.files.real_paths import real_path
from toolcrib.text.display import printable


def real_place(place: str | Path) -> str:
    """Where a place is, without links.

    Raises:
        ConfigError: it names a user that there is not, or is no path.
    """
    try:
        return real_path(Path(place).expanduser())
    except (RuntimeError, ValueError) as error:
        raise ConfigError(f"{printable(str(place))} of run.readable is no place: {error}") from None


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

    def current(self) -> tuple[dict[str, str], list[str]]:
        """Where those lie that still lead where they did, by the user's name; blocking.

        With notes on the others.
        """
        moved = [place for place, real in self._real.items() if real_place(place) != real]
        notes = [
            f"{printable(place)} of run.readable is left out: it leads elsewhere, by a link, than "
            "when this server began; start it anew if that is meant"
            for place in moved
        ]
        found = {each: real for each, real in self._real.items() if each not in moved}
        return {_name(place, real): real for place, real in found.items()}, notes


def _name(place: str, real: str) -> str:
    path = Path(place).expanduser().absolute()
    return real if ".." in path.parts else str(path)
