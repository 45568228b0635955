"""Lines that stand for text which a model did not write out: "... rest of file unchanged"."""

from __future__ import annotations

import re

LONGEST = 120
_DOTS = ("...", "\u2026")
_WORDS = re.compile(r"[a-z]+")
_SENTENCE = re.compile(r"[\W_]*(?:[A-Za-z]+[ ,'/]*){2,12}[\W_]*")
_LEFT_OUT = frozenset(
    [
        "unchanged",
        "existing",
        "rest",
        "remaining",
        "remainder",
        "omitted",
        "same",
        "previous",
        "snip",
        "truncated",
    ]
)
_OF_WHAT = frozenset(
    [
        "code",
        "file",
        "content",
        "contents",
        "lines",
        "function",
        "functions",
        "method",
        "methods",
        "class",
        "implementation",
        "imports",
        "unchanged",
        "same",
        "before",
        "above",
        "here",
        "stays",
        "stay",
        "remains",
        "remain",
        "document",
        "text",
    ]
)


def placeholder(new: str, before: str) -> str:
    """The first line of a text that stands for what was left out; "" for none.

    Args:
        new: what shall be written.
        before: what is there now: a line of it is no placeholder.
    """
    if not any(dots in new for dots in _DOTS):
        return ""
    for line in new.split("\n"):
        if len(line) <= LONGEST and _stands_for_more(line) and line.strip() not in before:
            return line.strip()
    return ""


def _stands_for_more(line: str) -> bool:
    text = line.lower()
    if not any(dots in text for dots in _DOTS) or not _SENTENCE.fullmatch(text):
        return False
    words = set(_WORDS.findall(text))
    left_out = words & _LEFT_OUT
    return bool(left_out) and len((words & _OF_WHAT) | left_out) > 1
