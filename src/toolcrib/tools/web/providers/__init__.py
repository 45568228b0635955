"""The search providers: every module here declares one. A new one is a new file."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module

from toolcrib.core.errors import BadInput
from toolcrib.tools.web.provider import Provider


@cache
def providers() -> Mapping[str, Provider]:
    """All of them by name."""
    found = (import_module(m.name) for m in pkgutil.iter_modules(__path__, f"{__name__}."))
    return {module.PROVIDER.name: module.PROVIDER for module in found}


def provider(name: str) -> Provider:
    """The provider of this name.

    Raises:
        BadInput: there is none.
    """
    found = providers().get(name.strip().lower())
    if found is None:
        raise BadInput(
            f"There is no search provider '{name[:60]}'.",
            hint=f"Providers: {', '.join(sorted(providers()))}.",
        )
    return found
