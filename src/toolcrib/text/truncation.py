"""Cutting text to a budget of tokens at the best boundary that is not too early."""

from __future__ import annotations

import re
import unicodedata

from toolcrib.text.tokens import estimate, heads, longest_head, longest_tail

_PARAGRAPH = re.compile(r"\n[ \t\r]*\n+")
_SENTENCE = re.compile(
    r"\n|[.!?\u2026][\"'\u201d\u2019)\]]*\s+|[\u3002\uff01\uff1f][\u201d\u2019\u300d\u300f\uff09]*"
)
_WORD = re.compile(r"\s+|[\u3001\uff0c\uff1b\uff1a]")
EDGE = 8
"""Tokens kept free, since a head can cost more at its end than in the longer text."""
GLUE = "\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def cut(text: str, max_tokens: int) -> tuple[str, int]:
    """The start of a text that fits into a budget, and how many characters it took.

    The cut falls behind a paragraph, else a line or sentence, else a word, else where
    the budget ends; never beyond the budget, and never before half of it while more
    text exists. `head + text[used:]` is the text again.
    """
    half = (max_tokens + 1) // 2
    spare = EDGE if max_tokens >= 16 * EDGE else 0
    least, limit, whole = heads(text, half - 1, max_tokens - spare, max_tokens)
    if whole >= len(text):
        return text, len(text)
    least = min(least + 1, limit)
    late = least + (limit - least) // 5
    end = (
        _last_end(_PARAGRAPH, text, late, limit)
        or _last_end(_SENTENCE, text, late, limit)
        or _last_end(_WORD, text, least, limit)
        or _whole_character(text, least, limit)
    )
    if not spare and estimate(text[:end]) > max_tokens:
        end = _affordable(text, limit, max_tokens)
    return text[:end], end


SHORT_CHARS = 100
"""Characters of an end that is measured again by itself."""


def head_and_tail(
    text: str, max_tokens: int, head_share: float = 0.7
) -> tuple[str, str, tuple[int, int]]:
    """The start and the end of a text within a budget, and the range dropped between.

    Args:
        text: any text.
        max_tokens: for both parts together.
        head_share: how much of the budget the start may take.

    Returns:
        head, tail, and the character range `(start, end)` that neither holds; a text
        that fits comes back as head with an empty range at its end.
    """
    if longest_head(text, max_tokens) >= len(text):
        return text, "", (len(text), len(text))
    head, used = cut(text, int(max_tokens * head_share))
    rest = text[used:]
    room = max(0, max_tokens - estimate(head))
    size = longest_tail(rest, room)
    start = len(text) - size
    latest = start + size // 2
    match = _SENTENCE.search(text, start, latest) or _WORD.search(text, start, latest)
    if match:
        start = match.end()
    while used < start < len(text) and _joins(text, start):
        start += 1
    # By itself the end of a text can cost a token more than within it.
    while start < len(text) and len(text) - start <= SHORT_CHARS and estimate(text[start:]) > room:
        start += 1
    return head, text[start:], (used, start)


def _last_end(boundary: re.Pattern[str], text: str, low: int, high: int) -> int:
    """Where the last boundary between two offsets ends; 0 when there is none."""
    end = 0
    for match in boundary.finditer(text, low, high):
        end = match.end()
    return end


def _affordable(text: str, high: int, max_tokens: int) -> int:
    """The end moved back until the head, measured by itself, is within a small budget."""
    end = high
    while end and estimate(text[:end]) > max_tokens:
        end -= 1
    return end


def _whole_character(text: str, low: int, high: int) -> int:
    """The end moved back, so that no combined character is torn."""
    end = high
    while end > low and high - end < 32 and _joins(text, end):
        end -= 1
    return high if _joins(text, end) else end


def _joins(text: str, at: int) -> bool:
    """Whether the characters before and behind an offset belong together."""
    behind, before = text[at : at + 1], text[at - 1 : at]
    return bool(behind) and (
        behind in GLUE
        or before == "\u200d"
        or (before == "\r" and behind == "\n")
        or unicodedata.combining(behind) != 0
    )
