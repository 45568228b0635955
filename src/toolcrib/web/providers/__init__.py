"""The search providers: a module here declares those of one service. A new one is a new file.

Packages add theirs with an entry point of the group `toolcrib.providers` that names a
subclass of `Provider`; a program adds one with `box.use(Providers).add(...)`. One of the
same name as one of these takes its place.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract

from toolcrib.core import names
from toolcrib.core.context import PlainService
from toolcrib.core.errors import BadInput, ConfigError, NotConfigured, ToolError, Unavailable
from toolcrib.web.provider import Kind, Provider

GROUP = "toolcrib.providers"
SETTING = "web.search.providers"
IMAGES = "web.images.providers"


class Providers(PlainService):
    """A service: the providers by name, those of other packages included.

    `broken` says of each entry point that does not load why; it keeps none of the others.
    """

    def __init__(self) -> None:
        found, broken = _installed()
        self._found = dict(found)
        self.broken = dict(broken)

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
        like = self.nearest(name)
        meant = f"Did you mean {' or '.join(like)}? " if like else ""
        raise BadInput(
            f"There is no search provider '{name[:60]}'.",
            hint=f"{meant}Providers: {', '.join(sorted(self._found))}.",
        )

    def listed(self, name: str, setting: str) -> Provider:
        """The provider that a setting names.

        Args:
            name: as the user wrote it.
            setting: `SETTING` or `IMAGES`.

        Raises:
            ConfigError: there is none.
            Unavailable: the package that brings it does not load.
        """
        try:
            return self.named(name)
        except BadInput:
            like = self.nearest(name, ("images",) if setting == IMAGES else ("web", "news"))
            meant = f" Did you mean {' or '.join(like)}?" if like else ""
            raise ConfigError(
                f"{setting} names '{name[:60]}', and there is no such search provider.{meant}",
                hint=f"The user corrects {setting} in the configuration.",
            ) from None

    def nearest(self, name: str, kinds: Sequence[Kind] = ()) -> list[str]:
        """The names most like a wrong one; none where nothing is like it.

        Args:
            name: what was written.
            kinds: only of these; empty is any.
        """
        known = [n for n, p in self._found.items() if not kinds or p.kind in kinds]
        return names.nearest(name, known, 2, 0.6)

    def check_kinds(self, listed: Iterable[str], setting: str) -> None:
        """Refuse images where pages are wanted, and pages where images are.

        Args:
            listed: names; one that there is not passes, since asking it has an error of its own.
            setting: where the user lists them, `SETTING` or `IMAGES`.

        Raises:
            NotConfigured: one of them finds something else.
        """
        for name in listed:
            try:
                provider = self.named(name)
            except ToolError:
                continue
            place = IMAGES if provider.kind == "images" else SETTING
            if place != setting:
                finds, wanted = ("pages", "images") if place == SETTING else ("images", "pages")
                raise NotConfigured(
                    f"{setting} lists {provider.name}, which finds {finds}, not {wanted}.",
                    hint=f"The user takes it out of {setting}; its place is {place}.",
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
