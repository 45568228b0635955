"""Contents that are not held in memory, read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from toolcrib.core.errors import ToolError
from toolcrib.state.blobs import digest_of

MAX_SMALL_BYTES = 65_536


class Source(Protocol):
    """Content that is not held in memory: it is read once, while it is put in place."""

    def chunks(self) -> Iterator[bytes]:
        """All of it, in chunks; what it raises fails the whole step."""
        ...


@dataclass(frozen=True, slots=True)
class BytesSource:
    """A content in memory: what was checked is what is written."""

    data: bytes

    def chunks(self) -> Iterator[bytes]:
        """See `Source`."""
        yield self.data


def whole_content(source: Source, max_bytes: int) -> bytes | None:
    """All of a content; None where there is more of it.

    Raises:
        ToolError, OSError: it cannot be had.
    """
    data = bytearray()
    for chunk in source.chunks():
        data += chunk
        if len(data) > max_bytes:
            return None
    return bytes(data)


def read_content(
    source: Source | None, digest: str = "", max_bytes: int = MAX_SMALL_BYTES
) -> bytes | None:
    """A small content; None where it cannot be had, or is not the one of that digest."""
    if source is None:
        return None
    with suppress(ToolError, OSError):
        data = whole_content(source, max_bytes)
        is_other = bool(digest and data is not None and digest_of(data).hexdigest() != digest)
        return None if is_other else data
    return None
