"""What is asked of one file, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toolcrib.core.call import Image
from toolcrib.core.errors import BadInput
from toolcrib.files.content.lines import MAX_COUNTED_BYTES, TextFile

MAX_LINES = 2000


@dataclass(frozen=True, slots=True)
class Request:
    """Which part of a file; None where nothing was said."""

    start: int | None = None
    end: int | None = None
    lines: int | None = None
    column: int = 0
    focus: str = ""
    numbers: bool = False
    anchors: bool = False

    @property
    def ranged(self) -> bool:
        """Whether a part was asked for, and not just the file."""
        return bool(self.column) or (self.start, self.end, self.lines) != (None, None, None)

    def span(self, text: TextFile, display: str) -> tuple[int, int]:
        """The first line and how many.

        Raises:
            BadInput: the end is before the start.
        """
        start, most = self.start or 1, self.lines or MAX_LINES
        if self.end is None:
            return start, most
        end = self.end
        if (start < 0) != (end < 0) and text.size <= MAX_COUNTED_BYTES:
            total = text.count()
            start = max(total + start + 1, 1) if start < 0 else start
            end = total + end + 1 if end < 0 else end
        if (start < 0) != (end < 0):
            raise BadInput(f"{display} is too large to count its lines from both ends.")
        if end < start:
            raise BadInput(f"The last line, {self.end:,}, is before the first, {start:,}.")
        return start, min(end - start + 1, most)

    def going_on(self, path: str, start: int, column: int) -> dict[str, Any]:
        """The arguments that read on where a page ends."""
        arguments: dict[str, Any] = {"path": path, "start": start}
        if self.end is not None and self.end >= start:
            arguments["end"] = self.end
        if self.lines is not None and self.lines != MAX_LINES:
            arguments["lines"] = self.lines
        if column:
            arguments["column"] = column
        if self.numbers:
            arguments["numbers"] = True
        if self.anchors:
            arguments["anchors"] = True
        return arguments


@dataclass(frozen=True, slots=True)
class Part:
    """What comes of one file.

    Attributes:
        text: what a model reads.
        data: the same for programs.
        next: arguments of the call that reads on; None where nothing more was asked for.
        image: a picture.
        document: the bytes of a document that is still to be converted.
        seen: the absolute path and the fingerprint, for the stale-edit check.
        source: where text came from that the user has not written.
    """

    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    next: dict[str, Any] | None = None
    image: Image | None = None
    document: bytes | None = None
    seen: tuple[str, str] | None = None
    source: str = ""
