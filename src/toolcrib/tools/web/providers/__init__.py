"""The search providers: a module here declares one or two. A new one is a new file.

Packages add theirs with an entry point of the group `toolcrib.providers` that names a
subclass of `Provider`; a program adds one with `box.use(Providers).add(...)`. One of the
same name as one of these takes its place.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract
from typing import Self

from toolcrib.core import names
from toolcrib.core.errors import BadInput, Unavailable
from toolcrib.core.services import Services
from toolcrib.tools.web.provider import Kind, Provider

GROUP = "toolcrib.providers"


class Providers:
    """A service: the providers by name, those of other packages included.

    `broken` says of each entry point that does not load why; it keeps none of the others.
    """

    def __init__(self) -> None:
        found, broken = _installed()
        self._found = dict(found)
        self.broken = dict(broken)

    @classmethod
    def open(cls, services: Services) -> Self:  # noqa: ARG003 - what a service is opened with
        """Those that are installed."""
        return cls()

    def add(self, provider: Provider | type[Provider]) -> None:
        """Add one, in place of any of the same name."""
        made = provider() if isinstance(provider, type) else provider
        self._found[made.name] = made

    def of_kind(self, kind: Kind) -> Mapping[str, Provider]:
        """All that find pages, news or images, by name."""
        return {name: p for name, p in sorted(self._found.items()) if p.kind == kind}

    def named(self, name: str) -> Provider:
        """The provider of this name, however its words are joined.

        Raises:
            BadInput: there is none.
            Unavailable: the package that brings it does not load.
        """
        wanted = names.plain(name)
        for known, provider in self._found.items():
            if names.plain(known) == wanted:
                return provider
        for known, why in self.broken.items():
            if names.plain(known) == wanted:
                raise Unavailable(
                    f"The search provider '{known}' does not load: {why}.",
                    hint="Mend or remove the package that brings it, or name another provider.",
                )
        like = names.nearest(name, self._found, 1, 0.6)
        meant = f"Did you mean {like[0]}? " if like else ""
        raise BadInput(
            f"There is no search provider '{name[:60]}'.",
            hint=f"{meant}Providers: {', '.join(sorted(self._found))}.",
        )


@cache
def _installed() -> tuple[Mapping[str, Provider], Mapping[str, str]]:
    """The declared ones and those of other packages, and why some of these do not load."""
    modules = [import_module(m.name) for m in pkgutil.iter_modules(__path__, f"{__name__}.")]
    own = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Provider)
        and value.__module__ == module.__name__
        and not value.__name__.startswith("_")
        and not isabstract(value)
    ]
    found = {kind.name: kind() for kind in own}
    broken: dict[str, str] = {}
    for point in entry_points(group=GROUP):
        try:
            provider = _loaded(point)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a package does wrong
            why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            package = point.dist.name if point.dist else point.module
            broken[point.name] = f"{why.rstrip('.')} (package {package})"
        else:
            found[provider.name] = provider
    return found, broken


def _loaded(point: EntryPoint) -> Provider:
    kind = point.load()
    if not isinstance(kind, type) or not issubclass(kind, Provider):
        raise TypeError(f"{point.value} is no subclass of Provider")
    provider = kind()
    if not isinstance(getattr(provider, "name", None), str) or not provider.name:
        raise TypeError(f"{point.value} has no name")
    return provider
