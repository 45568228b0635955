"""The import path of the version before for the reader of documents; it warns."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

_MOVED = {
    "Documents": ("documents", "Documents"),
    "DocumentText": ("text", "DocumentText"),
    "Page": ("text", "DocumentPage"),
    "is_document": ("kinds", "is_document"),
    "kind_of_document": ("kinds", "kind_of_document"),
}


def __getattr__(name: str) -> Any:
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, new = f"toolcrib.documents.{_MOVED[name][0]}", _MOVED[name][1]
    warnings.warn(f"{__name__}.{name} is {module}.{new} now.", DeprecationWarning, stacklevel=2)
    return getattr(import_module(module), new)
