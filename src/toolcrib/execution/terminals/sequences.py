"""What a program sends to a terminal, taken apart: text, control characters, sequences."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["lines", "text", "control", "escape", "csi", "osc"]

MOST_PENDING = 65_536
"""Characters of an unfinished sequence that are held; a longer one is dropped."""

_TOKEN = re.compile(
    r"""
    (?P<lines>(?:[\x20-\x7e]*\r\n)+)
  | (?P<text>[^\x00-\x1f\x7f-\x9f]+)
  | \x1b\[(?P<csi>[0-?]*[\ -/]*[@-~])
  | \x1b\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\)
  | \x1b[PX^_](?:[^\x1b]|\x1b(?!\\))*\x1b\\
  | \x1b(?P<escape>[\ -/]*[0-OQ-WYZ\\`-~])
  | (?P<control>[\x00-\x1a\x1c-\x1f\x7f-\x9f])
    """,
    re.VERBOSE,
)
_UNFINISHED = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_](?:[^\x1b]|\x1b(?!\\))*|[ -/]*)\Z"
)
_IN_THE_WAY = re.compile(r"\x1b\[[0-?]*[ -/]*(?P<control>[\x00-\x1a\x1c-\x1f])")


class Token(NamedTuple):
    """One piece of a stream.

    `value` is whole lines of plain text with their ends, other text, the control
    character, or what stands behind `ESC`, `ESC [` or `ESC ]`, without the terminator of
    the last.
    """

    kind: Kind
    value: str


class Sequences:
    """Takes bytes in pieces of any size and gives tokens; the split does not matter."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._pending = ""

    def feed(self, data: bytes) -> Iterator[Token]:
        """The tokens that are complete now."""
        text = self._pending + self._decode(data)
        self._pending = ""
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is not None:
                at = found.end()
                kind = found.lastgroup
                if kind is not None:  # else a string for devices, which says nothing here
                    yield Token(kind, found[kind])  # type: ignore[arg-type]
                continue
            crossed = _IN_THE_WAY.match(text, at)
            if crossed is not None:  # a control character inside a sequence acts at once
                yield Token("control", crossed["control"])
                cut = crossed.start("control")
                text = text[at:cut] + text[cut + 1 :]
                at = 0
            elif _UNFINISHED.match(text, at) and len(text) - at <= MOST_PENDING:
                self._pending = text[at:]
                return
            else:
                at += 1
