"""Tokens of families of models, estimated from those of o200k by what sets their tables apart."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from math import ceil

from toolcrib.core.package_data import package_table
from toolcrib.text.tokens import estimate

DIGIT_BY_DIGIT = ("qwen", "qwq", "qvq")
"""Models for which each digit is a token, and words of Chinese are cheaper."""
LLAMA3_MODELS = ("llama-3", "llama3", "meta-llama-3")
O200K, LLAMA3, QWEN = range(3)
MIN_LANGUAGE_SHARE = 0.08
"""Of all words, so many are frequent ones of a language in a text of that language."""
O200K_DIGITS = 3
HAN_DISCOUNT = 0.15
"""Tokens by which a Han character is cheaper there; by bench/token_counts.py."""
OLDER = ("r50k", "gpt2", "p50k")
"""Encodings with a smaller table, in which code and other languages than English cost more."""
OLDER_SHARE = 1.1
OLDER_SPACE = {"r50k": 1.0, "gpt2": 1.0, "p50k": 0.0}
"""For each space of an indentation after the second; p50k has tokens for those."""
OLDER_LINE_END = 1.8
"""For a line that ends with a sign, which newer tables join with the line end."""
OLDER_EAST_ASIAN = 1.0
OLDER_NON_ASCII = 1.5
OLDER_DIGIT = -0.25
"""By bench/token_counts.py, as the others."""
_INDENTATION = re.compile(" {3,}")
_SIGN_AT_END = re.compile(r"[^\w\s]\n")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_DIGITS = re.compile("[0-9]+")
_WORD = re.compile(r"[^\W\d_]+")
_HAN = re.compile("[\u3400-\u9fff]")


def estimate_for(text: str, model: str) -> int:
    """The tokens of a text for a model or an encoding, by its name, about.

    The figures are those of bench/token_counts.py.
    """
    count = estimate(text)
    older = model.strip().lower().replace("_base", "").replace("-", "")
    if older in OLDER:
        return _estimated_older(text, older, count)
    family = model.strip().lower().rpartition("/")[2]
    by_digit = family.startswith(DIGIT_BY_DIGIT)
    table = QWEN if by_digit else LLAMA3 if family.startswith(LLAMA3_MODELS) else O200K
    count = round(count * _language_factors(text)[table])
    if by_digit:
        count += sum(len(run) - ceil(len(run) / O200K_DIGITS) for run in _DIGITS.findall(text))
        count -= round(HAN_DISCOUNT * len(_HAN.findall(text)))
    return count


@cache
def _languages() -> dict[str, tuple[tuple[float, ...], frozenset[str]]]:
    """The factors by table and the frequent words of each language."""
    found = {}
    for language, row in package_table("text/token_families.toml").items():
        *factors, words = row.split(maxsplit=3)
        found[language] = tuple(map(float, factors)), frozenset(words.split())
    return found


def _language_factors(text: str) -> tuple[float, ...]:
    """What a text costs beside the estimate as it is in another language than English, by table."""
    words = Counter(_WORD.findall(text.lower()))
    best = 0.0
    factors: tuple[float, ...] = (1.0, 1.0, 1.0)
    for row, frequent in _languages().values():
        share = sum(words[word] for word in frequent) / max(words.total(), 1)
        if share > best:
            best, factors = share, row
    return factors if best >= MIN_LANGUAGE_SHARE else (1.0, 1.0, 1.0)


def _estimated_older(text: str, name: str, count: int) -> int:
    """The same for the tables of GPT-2 and GPT-3."""
    indented = sum(len(run) - 2 for run in _INDENTATION.findall(text))
    east_asian = len(_EAST_ASIAN.findall(text))
    other = len(_NON_ASCII.findall(text)) - east_asian
    tokens = (
        OLDER_SHARE * count
        + OLDER_SPACE[name] * indented
        + OLDER_LINE_END * len(_SIGN_AT_END.findall(text))
        + OLDER_EAST_ASIAN * east_asian
        + OLDER_NON_ASCII * other
        + OLDER_DIGIT * sum(map(len, _DIGITS.findall(text)))
    )
    return max(round(tokens), min(count, 1))
