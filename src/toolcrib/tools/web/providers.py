"""The old path of `toolcrib.web.providers`."""

from __future__ import annotations

from toolcrib.web.deprecated_paths import forward

__getattr__ = forward(__name__, "toolcrib.web.providers", {"Providers": "Providers"})
