"""What conversations did last, as the pipeline sees it go by."""

from __future__ import annotations

from collections import OrderedDict
from typing import Self

from toolcrib.core.context import Services

MAX_SESSIONS = 500


class Activity:
    """A service: where each conversation last read text from outside."""

    def __init__(self) -> None:
        self._sources: OrderedDict[str, str] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing was seen yet."""
        del services
        return cls()

    def read_outside(self, session: str, source: str) -> None:
        """Note where outside text came from."""
        self._sources.pop(session, None)
        self._sources[session] = source
        while len(self._sources) > MAX_SESSIONS:
            self._sources.popitem(last=False)

    def last_source(self, session: str) -> str:
        """Where it came from last; empty where that is not known."""
        return self._sources.get(session, "")
