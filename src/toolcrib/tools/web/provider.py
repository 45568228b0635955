"""What a provider of your own imports; docs/web.md shows one."""

from __future__ import annotations

from toolcrib.web.provider_api.client import Reach
from toolcrib.web.provider_api.provider import (
    Ask,
    Found,
    Kind,
    Page,
    Provider,
    SafeSearch,
    is_web,
    joined,
    records,
)

__all__ = [
    "Ask",
    "Found",
    "Kind",
    "Page",
    "Provider",
    "Reach",
    "SafeSearch",
    "is_web",
    "joined",
    "records",
]
