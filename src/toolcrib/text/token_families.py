"""Tokens of families of models, estimated from those of o200k by what sets their tables apart."""

from __future__ import annotations

import re
from collections import Counter
from math import ceil

from toolcrib.text.tokens import estimate

DIGIT_BY_DIGIT = ("qwen", "qwq", "qvq")
"""Models for which each digit is a token, and words of Chinese are cheaper."""
ENGLISH_TABLES = (*DIGIT_BY_DIGIT, "llama-3", "llama3", "meta-llama-3")
"""Models whose tables hold shorter words of other languages than those of o200k."""
LANGUAGES = {
    "de": ("der die und ist nicht mit den das ein eine zu von für auf sich werden", 0.23),
    "es": ("el los las del para con una por que se como más la es en su al", 0.15),
    "fr": ("les des une est pour dans que pas sur avec du ce le la et par", 0.12),
    "it": ("il di che per non una del della con sono le un si gli alla nel", 0.27),
    "nl": ("de het een van en niet voor op te dat zijn met wordt aan bij", 0.4),
    "pl": ("nie się na jest że dla od są przez lub tego to po jak", 0.42),
    "pt": ("os não para uma com da em são mais por que um na dos ao", 0.12),
    "sv": ("och att det som för på är inte med av den till ett kan", 0.27),
    "fi": ("ja ei on että se kun tai voi ovat joka sen olla ole myös", 0.45),
    "hu": ("az és nem egy hogy van meg ez vagy csak kell ha lesz", 0.39),
}
"""Frequent words of languages, and the share by which their texts cost more there."""
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
    if family.startswith(ENGLISH_TABLES):
        count += round(count * _language_share(text))
    if family.startswith(DIGIT_BY_DIGIT):
        count += sum(len(run) - ceil(len(run) / O200K_DIGITS) for run in _DIGITS.findall(text))
        count -= round(HAN_DISCOUNT * len(_HAN.findall(text)))
    return count


def _language_share(text: str) -> float:
    """The share by which a text costs more as it is in another language than English."""
    words = Counter(_WORD.findall(text.lower()))
    shares = {
        language: sum(words[word] for word in {*frequent.split()}) / max(words.total(), 1)
        for language, (frequent, _) in LANGUAGES.items()
    }
    language = max(shares, key=lambda name: shares[name])
    return LANGUAGES[language][1] if shares[language] >= MIN_LANGUAGE_SHARE else 0.0


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
