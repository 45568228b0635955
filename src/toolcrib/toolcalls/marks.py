"""Every mark there is, in one pattern, and which part of the reader takes it."""

from __future__ import annotations

import re
from typing import Literal

from toolcrib.toolcalls import families
from toolcrib.toolcalls.families import AROUND, CALL_TAGS, ENDINGS, TAGS, THOUGHTS, TOKENS
from toolcrib.toolcalls.markset import MarkSet, branches, joined

Kind = Literal[
    "block",
    "tags",
    "thought",
    "orphan",
    "around",
    "ending",
    "closer",
    "harmony",
    "arrow",
    "stripped",
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
    kinds |= dict.fromkeys(families.STRIPPED, "stripped")
    kinds[">>>"] = "arrow"
    return kinds | dict.fromkeys((tags.opening for tags in CALL_TAGS), "tags")


KIND = _kinds()
IS_TAG = frozenset(mark for mark in KIND if re.fullmatch(r"</?[a-z_:\-A-Z]+[>=]?.*", mark))
"""Marks that look like tags of some document: people write about them."""
CLOSERS = {mark: joined(*ends) for mark, ends in (TAGS | TOKENS).items()}

LINE = r"\n[ \t]{0,40}(?:```|~~~|Action:"
ANY = "|".join(branches(KIND))
TRIGGER = re.compile(rf"{ANY}|{LINE}|[\[{{])")
LATER = re.compile(f"{ANY}|{LINE})")
"""After a long text no brackets at the beginning of a line are calls."""
MARKS = MarkSet((*KIND, *(tags.close for tags in CALL_TAGS)))
"""All of them. Who looks for some looks for all and passes over the others: to make a pattern
of so many takes longer than to read a text."""
LINE_START = re.compile(r"\n[ \t]{0,40}(?:`{1,2}|~{1,2}|A(?:c(?:t(?:i(?:on?)?)?)?)?)?\Z")


def held(text: str, at: int) -> int:
    """The place from which on the text may be the beginning of a mark."""
    start, size = MARKS.begun(text, at), len(text)
    if start < size:
        return start
    line = text.rfind("\n", max(at, size - 64))
    return line if line >= 0 and LINE_START.match(text, line) else size
