"""A path that does not exist, with guesses that are made when somebody reads them.

Half of what is not found was not expected to exist, and a guess goes through the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolcrib.core.errors import NotFound

Look = Callable[[], tuple[str, list[str]]]
"""Gives the hint, and the nearest paths that exist."""


class Missing(NotFound):
    """The path does not exist; the hint names the nearest ones."""

    code = "not_found"

    def __init__(self, message: str, look: Look) -> None:
        self._look: Look | None = look
        self._hint = ""
        self._details: dict[str, Any] = {}
        super().__init__(message)

    @property
    def hint(self) -> str:
        """What to do about it. The first look at it takes a while."""
        self._guess()
        return self._hint

    @hint.setter
    def hint(self, text: str) -> None:
        self._hint = text

    @property
    def details(self) -> dict[str, Any]:
        """`near`: the paths."""
        self._guess()
        return self._details

    @details.setter
    def details(self, values: dict[str, Any]) -> None:
        self._details = values

    def _guess(self) -> None:
        look, self._look = self._look, None
        if look is not None:
            self._hint, near = look()
            self._details = {"near": near}
