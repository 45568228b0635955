"""What a provider of your own imports; docs/web.md shows one."""

from __future__ import annotations

from toolcrib.tools.web.asking.provider import (
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
from toolcrib.tools.web.asking.reach import Reach

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
