"""Import paths of the version before: they go on working, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def forward(old: str, new: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a module that has moved.

    Args:
        old: its name.
        new: the module that has what it had.
        names: what it had, each with the name that it has now.
    """

    def attribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        warnings.warn(f"{old}.{name} is {new}.{names[name]} now.", DeprecationWarning, stacklevel=2)
        return getattr(import_module(new), names[name])

    return attribute
