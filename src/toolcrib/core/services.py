"""The mechanics a toolbox has open: each kind is opened on first use and closed once."""

from __future__ import annotations

import inspect
from typing import Any, Protocol, Self, TypeVar, cast

from toolcrib.core.config import Config


class Service(Protocol):
    """A shared mechanic (store, egress, workspace …).

    `open` builds it from the configuration and from other services. A `close`
    method, sync or async, is called when the toolbox closes.
    """

    @classmethod
    def open(cls, services: Services) -> Self:
        """Build the service; must be quick and must not touch the network."""
        ...


S = TypeVar("S", bound=Service)


class Services:
    """Opens each service on first use, and closes all in reverse order."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._open: dict[type[Any], Any] = {}

    def use(self, kind: type[S]) -> S:
        """The one instance of this kind in this toolbox."""
        found = self._open.get(kind)
        if found is None:
            found = self._open[kind] = kind.open(self)
        return cast("S", found)

    async def close(self) -> None:
        """Close what was opened, last opened first."""
        while self._open:
            _, service = self._open.popitem()
            close = getattr(service, "close", None)
            if close is not None:
                done = close()
                if inspect.isawaitable(done):
                    await done
