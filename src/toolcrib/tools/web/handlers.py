"""The old path of `toolcrib.web.handlers`."""

from __future__ import annotations

from toolcrib.web.deprecated_paths import forward

__getattr__ = forward(__name__, "toolcrib.web.handlers", {"Handlers": "Handlers"})
