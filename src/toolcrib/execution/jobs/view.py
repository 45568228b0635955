"""What a reader sees of a job."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from toolcrib.core.call import ErrorInfo, Image, Next, Result
from toolcrib.system.ring_buffer import Segment

State = Literal["running", "done", "failed", "stopped", "lost"]

MOST_RESULT = 4_000_000
"""Characters of a final result that are kept as JSON."""
UNSHOWN = ("source", "fenced", "private", "max_tokens")
"""What a result has beside what `to_json` shows."""


@dataclass(frozen=True, slots=True)
class Record:
    """A job as a row. Times are UTC in seconds since 1970.

    `beat` is when the owner last gave a sign of life, `written` when the last output
    came, `total` the bytes of output in all, `source` where untrusted output came from,
    `rights` those of the tool by name, `result` the final result as JSON.
    """

    id: str
    kind: str
    title: str
    tool: str
    session: str
    owner: str
    started: float
    ended: float | None
    beat: float
    written: float
    state: State
    exit_code: int | None
    total: int
    source: str
    rights: str
    result: str

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self.state != "running"

    @property
    def untrusted(self) -> str:
        """Where its text comes from, if that is outside."""
        return self.source or (self.tool if "net" in self.rights.split() else "")

    @property
    def private(self) -> bool:
        """Whether something of the user's own may be in its text."""
        return "read" in self.rights.split()


@dataclass(frozen=True, slots=True)
class Piece:
    """Output that stands together: its byte offset and its text."""

    start: int
    text: str

    @classmethod
    def of(cls, segment: Segment) -> Piece:
        """Decode; a character cut in two at an edge is left out."""
        data, start = segment.data, segment.start
        while data and start and data[0] & 0xC0 == 0x80:
            data, start = data[1:], start + 1
        return cls(start, data.decode("utf-8", "ignore"))

    @property
    def end(self) -> int:
        """The byte offset behind it."""
        return self.start + len(self.text.encode())


@dataclass(frozen=True, slots=True)
class JobView:
    """A job and its output from an offset on.

    `offset` is where the reading began, `record.total` where the next one goes on.
    """

    record: Record
    result: Result | None
    offset: int
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, record: Record, offset: int, segments: list[Segment]) -> JobView:
        """A view of a row and of the output that was asked for."""
        pieces = tuple(Piece.of(segment) for segment in segments)
        return cls(record, unpack(record.result), offset, pieces)

    @property
    def dropped(self) -> int:
        """Bytes after `offset` that were not kept."""
        return max(self.record.total - self.offset - self.size, 0)

    @property
    def size(self) -> int:
        """Bytes of output that are here."""
        return sum(piece.end - piece.start for piece in self.pieces)

    @property
    def text(self) -> str:
        """The output, with a line in the place of what was dropped."""
        return "".join(f"{gap}{piece.text}" for gap, piece in self._parts())

    def offset_at(self, chars: int) -> int:
        """The byte offset of the output that follows so many characters of `text`."""
        for gap, piece in self._parts():
            chars -= len(gap)
            if chars <= len(piece.text):
                return piece.start + len(piece.text[: max(chars, 0)].encode())
            chars -= len(piece.text)
        return self.record.total

    def _parts(self) -> Iterator[tuple[str, Piece]]:
        end = self.offset
        for piece in self.pieces:
            missing = piece.start - end
            # Less than a character is the edge of one that was cut in two.
            yield (f"\n[{missing:,} bytes were not kept]\n" if missing > 3 else "", piece)
            end = piece.end


def pack(result: Result | None) -> str:
    """A result as JSON, without what is too large to keep."""
    if result is None:
        return ""
    kept = result.to_json() | {name: getattr(result, name) for name in UNSHOWN}
    for spare in ("", "images", "data"):
        if spare:
            kept[spare] = [] if spare == "images" else None
        packed = json.dumps(kept, ensure_ascii=False, default=str)
        if len(packed) <= MOST_RESULT:
            return packed
    kept["text"] = f"{result.text[: MOST_RESULT // 2]}\n[the rest was not kept]"
    return json.dumps(kept, ensure_ascii=False, default=str)


def unpack(packed: str) -> Result | None:
    """The inverse of `pack`."""
    if not packed:
        return None
    kept: dict[str, Any] = json.loads(packed)
    return Result(
        text=kept["text"],
        data=kept["data"],
        images=tuple(Image(b64decode(i["data"]), i["mime_type"]) for i in kept["images"]),
        truncated=kept["truncated"],
        next=Next(**kept["next"]) if kept["next"] else None,
        error=ErrorInfo(**kept["error"]) if kept["error"] else None,
        **{name: kept[name] for name in UNSHOWN if name in kept},
    )
