"""Every mark there is, in one pattern, and which part of the reader takes it."""

from __future__ import annotations

import re
from typing import Literal

from toolcrib.toolcalls import families
from toolcrib.toolcalls.decoders.reading import trie
from toolcrib.toolcalls.families import AROUND, CALL_TAGS, ENDINGS, TAGS, THOUGHTS, TOKENS

Kind = Literal[
    "block", "tags", "thought", "orphan", "around", "ending", "closer", "harmony", "arrow"
]


def _kinds() -> dict[str, Kind]:
    kinds: dict[str, Kind] = {}
    for group in (TAGS, TOKENS, THOUGHTS):
        for closers in group.values():
            kinds |= dict.fromkeys(closers, "closer")
    kinds |= dict.fromkeys(("</function>", "</invoke>", "</tool_call>"), "closer")
    kinds |= dict.fromkeys(ENDINGS, "ending")
    kinds |= dict.fromkeys(families.ORPHANS, "orphan")
    kinds |= dict.fromkeys(AROUND, "around")
    kinds |= dict.fromkeys(THOUGHTS, "thought")
    kinds |= dict.fromkeys((*families.HARMONY, *families.HARMONY_ENDS), "harmony")
    kinds |= dict.fromkeys((*TAGS, *TOKENS), "block")
    kinds[">>>"] = "arrow"
    return kinds | dict.fromkeys((tags.opening for tags in CALL_TAGS), "tags")


KIND = _kinds()
IS_TAG = frozenset(mark for mark in KIND if re.fullmatch(r"</?[a-z_:\-A-Z]+[>=]?.*", mark))
"""Marks that look like tags of some document: people write about them."""
CLOSERS: dict[str, tuple[str, ...]] = {**TAGS, **TOKENS}

LINE = r"\n[ \t]{0,40}(?:```|~~~|Action:"
ANY = trie(KIND)
TRIGGER = re.compile(rf"{ANY}|{LINE}|[\[{{])")
LATER = re.compile(f"{ANY}|{LINE})")
"""After a long text no brackets at the beginning of a line are calls."""
LONGEST = max(map(len, KIND))
STARTS = frozenset(mark[:size] for mark in KIND for size in range(1, len(mark)))
"""What a mark can begin with: held back at the end of what has come so far."""
LINE_START = re.compile(r"\n[ \t]{0,40}(?:`{1,2}|~{1,2}|A(?:c(?:t(?:i(?:on?)?)?)?)?)\Z")


def held(text: str, at: int) -> int:
    """The place from which on the text may be the beginning of a mark."""
    size = len(text)
    for start in range(max(at, size - LONGEST + 1), size):
        if text[start:] in STARTS:
            return start
    line = text.rfind("\n", max(at, size - 64))
    return line if line >= 0 and LINE_START.match(text, line) else size
