"""Marks of our own between texts of others: what looks like one inside a text is told apart."""

from __future__ import annotations

import re

_MARK = re.compile(
    r"^(?=[ \t]*(?:=+[ \t]*page[ \t]+\d|\[\d+\][ \t]|to go on:))", re.IGNORECASE | re.MULTILINE
)
SIGN = "| "


def unforged(text: str) -> str:
    """The text with a sign before each line that could pass for a mark of ours.

    Marks are `=== Page 1 of 2 ===`, `[1] Title` and `To go on:`.
    """
    return _MARK.sub(SIGN, text)
