"""What several of these tests need."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import brotli

from toolcrib.core.config import Config
from toolcrib.core.context import Caller, Ctx, Services, Session
from toolcrib.core.registry import Registry
from toolcrib.core.result import Result

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["PACKED", "context"]


def _brotli(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=4))


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": _brotli,
    "zstd": zstd.compress,
}


async def refuse(tool: str, arguments: Mapping[str, Any]) -> Result:
    raise AssertionError(f"{tool} was called")


def context(config: Config | None = None, deadline: float | None = None) -> Ctx:
    """A call's view of a toolbox without tools."""
    services = Services(config or Config())
    return Ctx(
        "id", Caller("test"), Session("s"), services, Registry([]), refuse, deadline=deadline
    )
