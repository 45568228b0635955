"""Edits of a text file in which every line that is not changed keeps its very bytes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Self

from toolcrib.core.errors import BadInput, UnsupportedContent
from toolcrib.files.content.difference import common_ends
from toolcrib.files.content.kinds import BYTE_ORDER_MARKS, Encoding, decodes, detect

SAMPLE_BYTES = 1 << 16
"""Bytes that tell the encoding, as many as a reader looks at."""
MAX_COMPARED_PAIRS = 4_000_000
"""Pairs of lines that are compared at most to find the unchanged ones of a region."""
_ASCII_COMPATIBLE = frozenset(["utf-8", "ascii", "latin-1", "iso8859-1", "cp1252"])
"""Encodings in which the bytes of a line end are nothing else, not even in broken text."""
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_CR_LINE = re.compile(rb"[^\r]*\r|[^\r]+")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Splice:
    """Characters of a text, and what stands there instead."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    end: str
    raw: bytes

    def body(self, codec: str) -> bytes:
        """The bytes without the line end."""
        return self.raw[: len(self.raw) - len(self.end.encode(codec))]


class FaithfulText:
    """The text of a file, and the way back to its bytes.

    Attributes:
        text: all of it, each line end a line feed, without the byte order mark. A byte
            that has no meaning in the encoding is a lone surrogate.
        encoding: as found; `guessed` where only the look of the bytes speaks for it.
        ends: the line end of each line, "" for a last line without one.
        eol: the line end that most lines have.
    """

    def __init__(
        self, encoding: Encoding, raws: Sequence[bytes], texts: list[str], ends: list[str]
    ) -> None:
        self.encoding = encoding
        self._raws = raws
        self._texts = texts
        self.ends = ends
        self.eol = max(("\n", "\r\n", "\r"), key=ends.count)
        self.text = "\n".join(texts) + ("\n" if ends and ends[-1] else "")
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
        if ends and not ends[-1]:
            self._starts[-1] -= 1

    @classmethod
    def of(cls, data: bytes, name: str) -> Self:
        """Read a whole file.

        Args:
            data: its bytes.
            name: how to call it in an error.

        Raises:
            UnsupportedContent: UTF-16 or UTF-32 that is broken.
        """
        encoding = encoding_of(data)
        body = data[len(encoding.mark) :]
        if encoding.wide:
            try:
                text = body.decode(encoding.name, "surrogatepass")
            except UnicodeDecodeError as error:
                raise UnsupportedContent(
                    f"{name} is broken {encoding.name}: {error.reason}.",
                    hint="Only a program that knows the format can change it.",
                ) from None
            pattern = _CR_TEXT if "\r" in text and "\n" not in text else _TEXT
            lines: list[str] = pattern(text)
            raws = [line.encode(encoding.name, "surrogatepass") for line in lines]
        else:
            pattern_of_bytes = _CR_LINE if b"\r" in body and b"\n" not in body else _LINE
            raws = pattern_of_bytes.findall(body)
            lines = _decoded(body, raws, encoding.name)
        ends = [_end_of(line) for line in lines]
        texts = [p[: len(p) - len(e)] if e else p for p, e in zip(lines, ends, strict=True)]
        if len(set(ends)) > 1 and ends[-1] == "\r":
            # Where lines end otherwise, a carriage return at the very end is a character.
            texts[-1], ends[-1] = f"{texts[-1]}\r", ""
        return cls(encoding, raws, texts, ends)

    @classmethod
    def new(cls) -> Self:
        """An empty file."""
        return cls(Encoding("utf-8", label="utf-8"), [], [], [])

    def line_of(self, position: int) -> int:
        """The index of the line that holds a position of the text."""
        return min(bisect_right(self._starts, position) - 1, len(self._texts))

    def spliced_text(self, splices: Sequence[Splice]) -> str:
        """The text after changes; they stand in order and do not overlap."""
        return _spliced(self.text, splices, 0)

    def spliced(self, splices: Sequence[Splice]) -> bytes:
        """The bytes after changes; they stand in order and do not overlap.

        New lines end as those that they replace, or as the line before.

        Raises:
            BadInput: a new character does not exist in the encoding of the file.
            UnsupportedContent: a line that is changed in part is not what its encoding says.
        """
        parts, done = [self.encoding.mark], 0
        for first, last, inside in self._regions(splices):
            parts += self._raws[done:first]
            parts.append(self._region(first, last, inside))
            done = last + 1
        parts += self._raws[done:]
        return b"".join(parts)

    def _regions(self, splices: Sequence[Splice]) -> list[tuple[int, int, list[Splice]]]:
        """Runs of lines, each with the changes in it; the last line may be one past the end."""
        regions: list[tuple[int, int, list[Splice]]] = []
        for splice in splices:
            first, last = self.line_of(splice.start), self.line_of(splice.end)
            last_is_real = last < len(self._texts)
            last = last if last_is_real else max(first, len(self._texts) - 1)
            if first == len(self._texts) and first and not self.ends[-1]:
                first = last = len(self._texts) - 1
            if regions and first <= regions[-1][1]:
                before = regions.pop()
                regions.append((before[0], max(last, before[1]), [*before[2], splice]))
            else:
                regions.append((first, last, [splice]))
        return regions

    def _region(self, first: int, last: int, splices: list[Splice]) -> bytes:
        stop = min(last + 1, len(self._texts))
        old = [self._line(index) for index in range(first, stop)]
        for splice in splices:
            self._need_faithful(splice)
        start = self._starts[min(first, len(self._starts) - 1)]
        text = _spliced(self.text[start : self._starts[stop]], splices, start)
        rows = text.split("\n")
        new = [(row, True) for row in rows[:-1]] + ([(rows[-1], False)] if rows[-1] else [])
        return b"".join(self._merged(first, old, new))

    def _line(self, index: int) -> _Line:
        return _Line(self._texts[index], self.ends[index], self._raws[index])

    def _need_faithful(self, splice: Splice) -> None:
        """Refuse to write a line anew whose bytes its text does not give back."""
        for position in (splice.start, splice.end):
            index = self.line_of(position)
            if index >= len(self._texts) or position == self._starts[index]:
                continue
            line = self._line(index)
            try:
                same = self._encoded(line.text) == line.body(self.encoding.name)
            except BadInput:
                same = False
            if not same:
                raise UnsupportedContent(
                    f"Line {index + 1} cannot be changed in part: it has bytes that are not "
                    f"{self.encoding.name}.",
                    hint="Replace the whole line, or leave it out.",
                )

    def _merged(self, first: int, old: Sequence[_Line], new: list[tuple[str, bool]]) -> list[bytes]:
        """The bytes of new lines: those that stood there before as they were."""
        head, tail = common_ends([(line.text, bool(line.end)) for line in old], new)
        parts = [line.raw for line in old[:head]]
        middle, fresh = old[head : len(old) - tail], new[head : len(new) - tail]
        for tag, i1, i2, j1, j2 in _opcodes(middle, fresh):
            for offset, (text, ended) in enumerate(fresh[j1:j2]):
                index = i1 + offset
                known = middle[index] if index < i2 else None
                near = first + head + (index if known else i2 - 1)
                end = self._end(near) if ended else ""
                same = known is not None and tag == "equal"
                body = known.body(self.encoding.name) if known and same else self._encoded(text)
                parts.append(body + end.encode(self.encoding.name))
        return parts + [line.raw for line in old[len(old) - tail :]]

    def _end(self, index: int) -> str:
        """How a line ends that stands where line `index` stood, or after it."""
        if 0 <= index < len(self.ends) and self.ends[index]:
            return self.ends[index]
        before = self.ends[index - 1] if 0 < index <= len(self.ends) else ""
        return before or self.eol

    def _encoded(self, text: str) -> bytes:
        try:
            return text.encode(self.encoding.name, _errors(self.encoding.name))
        except UnicodeEncodeError as error:
            char = text[error.start]
            raise BadInput(
                f"The file is {self.encoding.name}, which has no '{char}' (U+{ord(char):04X}).",
                hint="Use other characters, or rewrite the whole file with write_file.",
            ) from None


def encoding_of(data: bytes) -> Encoding:
    """The encoding of a whole file, as a reader finds it by the first part."""
    marked = any(data.startswith(mark) for mark, _ in BYTE_ORDER_MARKS)
    if not marked and b"\x1b" not in data[:SAMPLE_BYTES] and decodes(data, "utf-8", complete=True):
        return Encoding("utf-8", label="utf-8")
    head = data[:SAMPLE_BYTES]
    strange = _BEYOND_ASCII.search(data)
    if not marked and strange is not None and strange.start() >= SAMPLE_BYTES:
        head = data[strange.start() : strange.start() + SAMPLE_BYTES]
    found = detect(head, complete=len(head) < SAMPLE_BYTES)
    if found.guessed and _mostly_utf8(data):
        return Encoding("utf-8", label="utf-8")
    return found


def _mostly_utf8(data: bytes) -> bool:
    """Whether some bytes are broken in what is UTF-8 otherwise."""
    text = data.decode("utf-8", "surrogateescape")
    beyond = [char for char in text if char > "\x7f"]
    broken = sum("\udc80" <= char <= "\udcff" for char in beyond)
    return len(beyond) > 2 * broken


def _errors(codec: str) -> str:
    return "surrogatepass" if codec.startswith(("utf-16", "utf-32")) else "surrogateescape"


def _decoded(body: bytes, raws: Sequence[bytes], codec: str) -> list[str]:
    """The text of each line, its end included."""
    if codec in _ASCII_COMPATIBLE:
        text = body.decode(codec, "surrogateescape")
        ended_by_cr = "\r" in text and "\n" not in text
        found: list[str] = (_CR_TEXT if ended_by_cr else _TEXT)(text)
        return found
    return [_decoded_line(raw, codec) for raw in raws]


def _decoded_line(raw: bytes, codec: str) -> str:
    try:
        return raw.decode(codec, "surrogateescape")
    except UnicodeDecodeError:
        return raw.decode(codec, "replace")


def _end_of(line: str) -> str:
    if line.endswith("\n"):
        return "\r\n" if line.endswith("\r\n") else "\n"
    return "\r" if line.endswith("\r") and "\n" not in line else ""


_TEXT = re.compile(r"[^\n]*\n|[^\n]+").findall
_CR_TEXT = re.compile(r"[^\r]*\r|[^\r]+").findall


def _spliced(text: str, splices: Sequence[Splice], base: int) -> str:
    parts, done = [], 0
    for splice in splices:
        parts += [text[done : splice.start - base], splice.new]
        done = splice.end - base
    return "".join([*parts, text[done:]])


def _opcodes(
    old: Sequence[_Line], new: Sequence[tuple[str, bool]]
) -> list[tuple[str, int, int, int, int]]:
    if len(old) * len(new) > MAX_COMPARED_PAIRS:
        return [("replace", 0, len(old), 0, len(new))]
    matcher = SequenceMatcher(None, [o.text for o in old], [n[0] for n in new], autojunk=False)
    return list(matcher.get_opcodes())
