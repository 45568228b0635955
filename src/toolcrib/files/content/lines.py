"""Pages of a text file: some lines of it, read without the rest, however large it is."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from toolcrib.core.errors import BadInput, TooLarge
from toolcrib.files.content.kinds import Encoding, Eol, detect, eol_of
from toolcrib.text.display import counted

BLOCK_BYTES = 1 << 20
SAMPLE_BYTES = 1 << 16
"""Bytes at the start that tell encoding and line ends."""
MAX_COUNTED_BYTES = 64 * BLOCK_BYTES
"""Files up to this size are counted whole, so that a page can say of how many."""
MAX_WIDE_BYTES = 64 * BLOCK_BYTES
"""UTF-16 and UTF-32 files are converted in memory, up to this size."""

MAX_SKIPPED_BYTES = 512 * BLOCK_BYTES
"""Bytes that are read at most to get to a line or column far inside a file."""
MAX_TAIL_BYTES = 64 * BLOCK_BYTES
"""Bytes at the end of a file among which its last lines are looked for."""
MAX_LINE_CHARS = 4 * BLOCK_BYTES
"""Characters of a line that `each_line` gives at most."""

Check = Callable[[], None]
FittingChars = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class LinePage:
    """A run of lines.

    Attributes:
        text: the lines, each line end a line feed; the last one only if `whole`.
        first: the number of the first line, from 1; None where nobody counted.
        lines: how many, the last one perhaps only in part.
        start: where the page starts as it was asked for, for a page without a number.
        more: whether something follows in the file.
        column: characters of the last line that have been read, where it is cut.
        total: lines in the file, or None where it is too large to count.
        whole: whether this is the entire file.
    """

    text: str
    first: int | None
    lines: int
    start: int
    more: bool
    column: int
    total: int | None
    whole: bool

    def next_start(self) -> tuple[int, int]:
        """Line and column at which the next page starts."""
        done = self.lines - 1 if self.column else self.lines
        return (self.start if self.first is None else self.first) + done, self.column


class TextFile:
    """A text file that is open for reading.

    Args:
        file: at any position; it must be seekable.
        name: how to call it in an error.
        check: called between blocks, to stop by raising.
    """

    def __init__(self, file: BinaryIO, name: str, check: Check) -> None:
        self.name = name
        self._check = check
        file = _sized(file)
        head = file.read(SAMPLE_BYTES)
        self.encoding: Encoding = detect(head, complete=len(head) < SAMPLE_BYTES)
        if self.encoding.wide:
            file, head = self._converted(file)
        self.eol: Eol = eol_of(head)
        self._codec = "utf-8" if self.encoding.wide else self.encoding.name
        self._newline = b"\r" if self.eol == "cr" else b"\n"
        self._file = file
        self._base = 0 if self.encoding.wide else len(self.encoding.mark)

    def _converted(self, file: BinaryIO) -> tuple[BinaryIO, bytes]:
        file.seek(len(self.encoding.mark))
        data = file.read(MAX_WIDE_BYTES + 1)
        if len(data) > MAX_WIDE_BYTES:
            raise TooLarge(
                f"{self.name} is {self.encoding.name} text of more than {MAX_WIDE_BYTES:,} bytes."
            )
        text = data.decode(self.encoding.name, "replace").encode("utf-8", "replace")
        return io.BytesIO(text), text[:SAMPLE_BYTES]

    def page(
        self, start: int, lines: int, column: int, max_chars: int, fits: FittingChars
    ) -> LinePage:
        """Some lines.

        Args:
            start: the first line, from 1; negative counts from the end, -1 is the last.
            lines: how many at most.
            column: characters of the first line to skip.
            max_chars: the most to read.
            fits: tells how many first characters of a text the answer has room for.

        Raises:
            BadInput: the file has fewer lines, or the line fewer characters.
        """
        total = self.count() if self.size <= MAX_COUNTED_BYTES else None
        first = self._number(start, total)
        offset = self._tail(-start) if first is None else self._offset(first)
        text, more, partial = self._read(offset, column, lines, max_chars)
        if column and not text:
            raise self._too_short(column)
        text_part, stop = self._cut(text, column, partial, fits)
        more = more or len(text_part) < len(text)
        whole = first == 1 and not column and not more
        text_part = text_part.replace("\r\n" if self._newline == b"\n" else "\r", "\n")
        count = line_count(text_part)
        if not whole:
            text_part = text_part.removesuffix("\n")
        return LinePage(text_part, first, count, start, more, stop, total, whole)

    def _number(self, start: int, total: int | None) -> int | None:
        if start < 0:
            return None if total is None else max(1, total + start + 1)
        first = max(1, start)
        if total is not None and first > max(total, 1):
            raise self._too_far(total)
        return first

    def _too_far(self, total: int) -> BadInput:
        return BadInput(
            f"{self.name} has {counted(total, 'line')}.",
            hint="A negative start counts from the end.",
        )

    def each_line(self, max_bytes: int) -> Iterator[str]:
        """The lines from the first on, without their ends, while a file has so many bytes."""
        decoder = codecs.getincrementaldecoder(self._codec)("replace")
        newline = self._newline.decode()
        self._file.seek(self._base)
        begun: list[str] = []
        length, remaining = 0, max_bytes
        while block := self._file.read(min(BLOCK_BYTES, remaining)):
            self._check()
            remaining -= len(block)
            first, *others = decoder.decode(block).split(newline)
            if length < MAX_LINE_CHARS:
                begun.append(first)
                length += len(first)
            if others:
                yield "".join(begun)[:MAX_LINE_CHARS].removesuffix("\r")
                *whole, rest = others
                for line in whole:
                    yield line.removesuffix("\r")
                begun, length = [rest], len(rest)
        if length:
            yield "".join(begun)[:MAX_LINE_CHARS].removesuffix("\r")

    @property
    def size(self) -> int:
        """Bytes that there are now, of UTF-16 and UTF-32 as UTF-8."""
        return self._file.seek(0, os.SEEK_END)

    @property
    def ended(self) -> bool:
        """Whether the last line has an end."""
        if self.size <= self._base:
            return False
        self._file.seek(-1, os.SEEK_END)
        return self._file.read(1) == self._newline

    def count(self) -> int:
        """How many lines there are; what follows the last line end is one too."""
        self._file.seek(self._base)
        found, last = 0, self._newline
        for block in self._blocks():
            found += block.count(self._newline)
            last = block[-1:]
        return found + (last != self._newline)

    def _blocks(self) -> Iterator[bytes]:
        while block := self._file.read(BLOCK_BYTES):
            self._check()
            yield block

    def _offset(self, line: int) -> int:
        """Where a line starts, in bytes."""
        needed, offset, passed = line - 1, self._base, 0
        self._file.seek(self._base)
        if not needed:
            return offset
        for block in self._blocks():
            found = block.count(self._newline)
            if found < needed:
                needed -= found
                passed += found
                offset += len(block)
                self._refuse_far(offset)
                continue
            at = -1
            for _ in range(needed):
                at = block.find(self._newline, at + 1)
            return offset + at + 1
        raise self._too_far(passed + 1)

    def _tail(self, lines: int) -> int:
        """Where the last lines start, in bytes, read from the end."""
        end = self.size
        needed, at = lines, end
        while at > self._base:
            self._check()
            if end - at >= MAX_TAIL_BYTES:
                raise TooLarge(
                    f"The last {lines:,} lines of {self.name} have more than "
                    f"{MAX_TAIL_BYTES:,} bytes."
                )
            start = max(self._base, at - BLOCK_BYTES)
            self._file.seek(start)
            block = self._file.read(at - start)
            if at == end and block.endswith(self._newline):
                needed += 1
            found = block.count(self._newline)
            if found >= needed:
                place = len(block)
                for _ in range(needed):
                    place = block.rfind(self._newline, 0, place)
                return start + place + 1
            needed -= found
            at = start
        return self._base

    def _read(self, offset: int, column: int, lines: int, max_chars: int) -> tuple[str, bool, bool]:
        """Lines from a place, whether more follows, and whether the last one is cut."""
        decoder = codecs.getincrementaldecoder(self._codec)("replace")
        newline = self._newline.decode()
        self._file.seek(offset)
        text, to_skip, ended, passed = "", column, False, 0
        while not ended and len(text) <= max_chars and text.count(newline) < lines:
            self._check()
            block = self._file.read(SAMPLE_BYTES)
            ended = not block
            part = decoder.decode(block, final=ended)
            if to_skip:
                passed += len(block)
                self._refuse_far(passed)
                if 0 <= part.find(newline) < to_skip:
                    raise self._too_short(column)
                part, to_skip = part[to_skip:], max(0, to_skip - len(part))
            text += part
        end = _end_of_lines(text, lines, newline)
        taken = text[: min(end, max_chars)]
        more = len(taken) < len(text) or (not ended and bool(self._file.read(1)))
        return taken, more, len(taken) < end and not taken.endswith(newline)

    def _refuse_far(self, passed: int) -> None:
        if passed > MAX_SKIPPED_BYTES:
            raise TooLarge(
                f"That place of {self.name} is further in than {MAX_SKIPPED_BYTES:,} bytes.",
                hint="A negative start reads from the end.",
            )

    def _too_short(self, column: int) -> BadInput:
        return BadInput(f"That line of {self.name} ends before column {column:,}.")

    def _cut(self, text: str, column: int, partial: bool, fits: FittingChars) -> tuple[str, int]:
        """What there is room for: whole lines, or else a part of the first."""
        room = fits(text)
        if room >= len(text) and not partial:
            return text, 0
        end = text.rfind(self._newline.decode(), 0, room) + 1
        if end:
            return text[:end], 0
        room = max(min(room, len(text)), 1)
        if room > 1 and text[room - 1] == "\r":
            room -= 1  # keep a pair together
        return text[:room], column + room


def line_count(text: str) -> int:
    """How many lines a text has; what follows the last line end is one too."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _end_of_lines(text: str, lines: int, newline: str) -> int:
    """The length of the first lines of a text."""
    at = -1
    for _ in range(lines):
        at = text.find(newline, at + 1)
        if at < 0:
            return len(text)
    return at + 1


def _sized(file: BinaryIO) -> BinaryIO:
    """The file at its start; what the system makes up while it is read, copied to memory."""
    try:
        size = file.seek(0, os.SEEK_END)
    except OSError:
        size = 0
    file.seek(0)
    if size:
        return file
    return io.BytesIO(file.read(MAX_WIDE_BYTES))
