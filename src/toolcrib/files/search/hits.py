"""The lines of files that a pattern fits, found block by block in files of any size."""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from toolcrib.core.errors import TooLarge, UnsupportedContent
from toolcrib.files.content.kinds import SAMPLE_BYTES, decodes, detect, kind_of
from toolcrib.files.search.pattern import Pattern

BLOCK_BYTES = 10_000_000
"""Bytes that are searched at once; a smaller file is one block."""
MAX_LINE_BYTES = 64_000_000
"""Bytes of a line: a file with a longer one is not searched."""
LINE_CHARS = 300
"""Characters shown of a line: those around the first place that fits."""
CHARS_BEFORE_MATCH = 60
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


@dataclass(frozen=True, slots=True)
class Hit:
    """A line. `number` counts from 1; with `fits` it is one that was searched for."""

    number: int
    text: str
    fits: bool = True


def text_of(data: bytes) -> bytes | None:
    """The file as UTF-8 without its mark; None where it is binary."""
    codec = _WIDE.get(data[:2])
    if codec is not None:
        data = data[2:].decode(codec, "replace").encode("utf-8", "replace")
    elif data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    return None if b"\0" in data else data


def other_codec(data: bytes) -> str:
    """The encoding in which reading takes a text that is not UTF-8; "" for any other file.

    Args:
        data: its start; only what tells a reader the encoding is looked at.
    """
    head = data[:SAMPLE_BYTES]
    complete = len(head) < SAMPLE_BYTES
    if head.isascii() and b"\x1b" not in head:
        return ""
    if decodes(head, "utf-8", complete=complete) and b"\x1b" not in head:
        return ""
    if b"\0" in head or kind_of(head) is not None:
        return ""
    found = detect(head, complete=complete)
    return "" if found.mark or found.name == "utf-8" else found.name


def utf8_lines(data: bytes, codec: str) -> bytes:
    """Whole lines as UTF-8: those that are it stay, in a file whose other lines are not."""
    return b"".join(_as_utf8(line, codec) for line in data.splitlines(keepends=True))


def _as_utf8(line: bytes, codec: str) -> bytes:
    if line.isascii() and b"\x1b" not in line:
        return line
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode(codec, "replace").encode("utf-8", "replace")
    return line if b"\x1b" not in line else line.decode(codec, "replace").encode()


def spans(text: bytes, pattern: Pattern) -> Iterator[tuple[int, int, int]]:
    """Each line that fits: where it starts and ends, and where in it the first place is."""
    match: Any = pattern.engine.search
    at, size = 0, len(text)
    while at < size:
        found = match(text, at)
        if found is None:
            return
        place = found.start()
        if place >= size and text.endswith(b"\n"):
            return  # behind the last line end there is no line
        start = text.rfind(b"\n", 0, place) + 1
        end = text.find(b"\n", place)
        end = size if end < 0 else end
        yield start, end, place
        at = end + 1


def text_blocks(file: BinaryIO) -> Iterator[bytes]:
    """A file as UTF-8 without its mark, in blocks that end where a line ends.

    Raises:
        UnsupportedContent: a block is binary.
        TooLarge: it has a line of more than MAX_LINE_BYTES.
        OSError: it cannot be read.
    """
    data = file.read(BLOCK_BYTES)
    mark = data[:2] if data[:2] in _WIDE else b""
    codec = "" if mark else other_codec(data)
    decoder = codecs.getincrementaldecoder(_WIDE[mark])("replace") if mark else None
    data = data[2:] if mark else data.removeprefix(codecs.BOM_UTF8)
    unfinished = b""
    while True:
        following = file.read(BLOCK_BYTES) if data else b""
        if decoder is not None:
            data = decoder.decode(data, final=not following).encode("utf-8", "replace")
        if b"\0" in data:
            raise UnsupportedContent("It is binary.")
        end = data.rfind(b"\n") + 1 if following else len(data)
        if end or not following:
            block = unfinished + data[:end] if unfinished else data[:end]
            unfinished = data[end:]
            if block:
                yield utf8_lines(block, codec) if codec else block
        else:
            unfinished += data
            if len(unfinished) > MAX_LINE_BYTES:
                raise TooLarge(f"It has a line of more than {MAX_LINE_BYTES:,} bytes.")
        if not following:
            return
        data = following


def hits(
    blocks: Iterable[bytes],
    pattern: Pattern,
    skip: int,
    limit: int,
    context: int,
    line_chars: int = LINE_CHARS,
) -> list[Hit]:
    """Some lines that fit, with those around them, in order and each once.

    Args:
        blocks: from `text_blocks`.
        pattern: what to look for.
        skip: how many that fit are left out first.
        limit: how many that fit are given.
        context: lines before and after each.
        line_chars: characters shown of a line.
    """
    found: dict[int, Hit] = {}
    rest = iter(blocks)
    block, above, number = next(rest, b""), b"", 1
    while block and limit > 0:
        following = next(rest, b"")
        text = above + block + _first_lines(following, context)
        chosen = []
        for start, _, place in spans(block, pattern):
            if skip:
                skip -= 1
                continue
            chosen.append((start + len(above), place + len(above)))
            limit -= 1
            if not limit:
                break
        before = number - above.count(b"\n")
        for hit in _excerpts(text, chosen, context, line_chars):
            placed = replace(hit, number=hit.number + before - 1)
            if placed.fits or placed.number not in found:
                found[placed.number] = placed
        number += block.count(b"\n")
        above, block = _last_lines(block, context), following
    return [found[line] for line in sorted(found)]


def _first_lines(text: bytes, count: int) -> bytes:
    end = 0
    for _ in range(count):
        end = text.find(b"\n", end) + 1
        if not end:
            return text
    return text[:end]


def _last_lines(text: bytes, count: int) -> bytes:
    start = len(text)
    for _ in range(count):
        start = text.rfind(b"\n", 0, max(start - 1, 0)) + 1
        if not start:
            return text
    return text[start:]


def _excerpts(
    text: bytes, chosen: list[tuple[int, int]], context: int, line_chars: int
) -> list[Hit]:
    """Lines of a text, counted from its start.

    Args:
        text: what holds them.
        chosen: where a line that fits starts, and where in it the first place is.
        context: lines before and after each.
        line_chars: characters shown of a line.
    """
    if not chosen:
        return []
    starts = _line_starts(text)
    places = {bisect_right(starts, start): place for start, place in chosen}
    wanted: dict[int, None] = {}
    for line in places:
        for near in range(max(1, line - context), min(len(starts), line + context) + 1):
            wanted[near] = None
    return [_excerpt(text, starts, line, places.get(line), line_chars) for line in sorted(wanted)]


def _line_starts(text: bytes) -> list[int]:
    starts, at = [0], text.find(b"\n")
    while at >= 0 and at + 1 < len(text):
        starts.append(at + 1)
        at = text.find(b"\n", at + 1)
    return starts


def _excerpt(text: bytes, starts: list[int], line: int, place: int | None, line_chars: int) -> Hit:
    start = starts[line - 1]
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    low = max(start, (start if place is None else place) - 4 * line_chars)
    high = min(end, (start if place is None else place) + 4 * line_chars)
    before = text[low:place].decode("utf-8", "replace") if place is not None else ""
    whole = text[low:high].decode("utf-8", "replace").rstrip("\r")
    cut = (
        max(0, len(before) - min(CHARS_BEFORE_MATCH, line_chars // 5))
        if len(whole) > line_chars
        else 0
    )
    excerpt = whole[cut : cut + line_chars]
    head = "…" if low > start or cut else ""
    tail = "…" if high < end or cut + line_chars < len(whole) else ""
    return Hit(line, f"{head}{excerpt}{tail}", place is not None)
