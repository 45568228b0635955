"""The mechanics a toolbox has open: each kind is opened on first use and closed once."""

from __future__ import annotations

import inspect
from typing import Any, Protocol, Self, TypeVar, cast

from toolcrib.core.config import Config


class Service(Protocol):
    """A shared mechanic (store, egress, workspace …).

    `open` builds it from the configuration and from other services. A `close`
    method, sync or async, is called when the toolbox closes. One with things to be written
    at the end may have `end_soon`, sync and quick, which is called before, and `ending`.
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
        self._told: dict[type[Any], int] = {}

    def use(self, kind: type[S]) -> S:
        """The one instance of this kind in this toolbox."""
        found = self._open.get(kind)
        if found is None:
            found = self._open[kind] = kind.open(self)
        return cast("S", found)

    def news(self) -> list[str]:
        """Warnings of the open services that nobody was told yet; what lasts is told once.

        A service warns by `warnings`, a list that grows, or by `warning`, a text that is
        empty while all is well.
        """
        fresh: list[str] = []
        for kind, service in self._open.items():
            told = self._told.get(kind, 0)
            listed: list[str] = list(getattr(service, "warnings", ()))
            current: str = getattr(service, "warning", "")
            fresh += listed[told:] if listed else [current] if current and not told else []
            self._told[kind] = len(listed) or int(bool(current))
        return fresh

    def end_soon(self) -> None:
        """Tell what is open that the end has come, while calls may still be in flight."""
        for service in tuple(self._open.values()):
            getattr(service, "end_soon", _nothing)()

    @property
    def ending(self) -> bool:
        """Whether something that was told so has still to be written; from any thread."""
        return any(getattr(service, "ending", False) for service in tuple(self._open.values()))

    async def close(self) -> None:
        """Close what was opened, last opened first; one that fails keeps none open.

        Raises:
            Exception: the first failure, after all were closed.
        """
        failed: Exception | None = None
        while self._open:
            _, service = self._open.popitem()
            close = getattr(service, "close", None)
            try:
                done = close() if close is not None else None
                if inspect.isawaitable(done):
                    await done
            except Exception as error:  # noqa: BLE001 - raised below, after the others
                failed = failed or error
        if failed is not None:
            raise failed


def _nothing() -> None:
    return None
