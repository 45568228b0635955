"""Words without their endings in English, German and Spanish, so that forms of a word meet.

Light on purpose: a stem is no word, only what the forms of one share. All take a word that
is casefolded; accents may be there or not.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from toolcrib.core.package_data import package_table
from toolcrib.text.bm25 import DOUBLED, stem

MIN_STEM_CHARS = 3
"""Letters that a stem keeps at least."""
PARTICLES = (
    "zurück", "herunter", "hinunter", "wieder", "zusammen", "heraus", "hinaus", "herein",
    "hinein", "durch", "rüber", "herum", "weiter", "nieder", "fest", "frei", "fort", "hoch",
    "über", "unter", "nach", "dran", "drauf", "rein", "raus", "runter", "rauf", "dazu", "auf",
    "aus", "ein", "mit", "her", "hin", "weg", "vor", "los", "um", "an", "ab", "zu", "bei",
)  # fmt: skip
"""What a German verb can leave at the end of the sentence, longer ones first."""

_UMLAUTS = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})
_GERMAN = re.compile(
    r"(?<=\w{3})(?:ungen|ung|heiten|heit|keiten|keit|end(?:e[nmrs]?)?|ern|est|em|en|er|et|es|st|e|n|s|t)$"
)
_INNER = re.compile(rf"^({'|'.join(p.translate(_UMLAUTS) for p in PARTICLES)})(?:ge|zu)(?=\w{{3}})")
_CLITICS = re.compile(r"(?:(?:me|te|se|nos|os)?(?:l[aoe]s?)|me|te|se|nos)$")
# What can stand before a pronoun that hangs on a verb: an infinitive, a gerund, an
# imperative; the last only where an accent or the length tells.
_HOST = re.compile(r"(?:[aeií]r|ár|ér|ndo)$")
_SPANISH = re.compile(
    r"(?<=\w{3})(?:aciones|iciones|acion|icion|amientos?|imientos?|adoras?|adores|ador|idores|idor|"
    r"ariamos|eriamos|irian|arian|abamos|ieramos|aremos|eremos|iremos|ieron|aron|"
    r"iendo|yendo|ando|iamos|aste|iste|arias?|erias?|irias?|aran?|eran?|iran?|are|ere|ire|"
    r"aba[ns]?|ada?s?|ado?s?|ida?s?|ido?s?|amos|emos|imos|ase|iese|"
    r"ian?|ias|iones|ion|mente|ar|er|ir|an|en|as|es|os|a|e|o|i|s)$"
)
_ENGLISH = re.compile(r"(?<=\w{3})(?:ations?|itions?|ators?|ments?|ions?|ors?|ers?|ly)$")


def _inverted(changed: dict[str, str]) -> dict[str, str]:
    return {form: stem for stem, forms in changed.items() for form in forms.split()}


_CHANGED = package_table("text/stems.toml")
_STRONG_EN, _STRONG_DE, _STRONG_ES = (
    _inverted(_CHANGED[language]) for language in ("english", "german", "spanish")
)
_PAST_DE = re.compile(rf"(?:{'|'.join(_STRONG_DE)})$")
_DIPHTHONG = re.compile(r"(?<=[bcdfghlmnprtvj])(?:(ue)|ie)(?=[^aeiou]{1,3}$)")


def bare(word: str) -> str:
    """A word without its accents; of German, umlauts become their vowel."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFKD", word.translate(_UMLAUTS))
    return "".join(c for c in apart if not unicodedata.combining(c))


@lru_cache(maxsize=1 << 14)
def english(word: str) -> str:
    """As `bm25.stem`, and without the endings that make nouns of verbs."""
    word = bare(word)
    word = _STRONG_EN.get(word, word)
    if word.endswith("ied") and len(word) > 4:
        word = word[:-3] + "y"
    word = stem(word)
    while (rest := _ENGLISH.sub("", word)) != word:
        word = DOUBLED.sub(r"\1", rest)
    return _last(word)


@lru_cache(maxsize=1 << 14)
def german(word: str) -> str:
    """A German word without its endings, and a participle without its "ge" or "zu"."""
    word = bare(word)
    word = _INNER.sub(r"\1", word)
    if word.startswith("ge") and word.endswith(("t", "en")) and len(word) > 6:
        word = word[2:]
    while (rest := _GERMAN.sub("", word)) != word:
        word = rest
    return _PAST_DE.sub(lambda m: _STRONG_DE[m[0]], word)


@lru_cache(maxsize=1 << 14)
def spanish(word: str) -> str:
    """A Spanish word without its endings and the pronouns that hang on it."""
    accented = any(c in "áéíóú" for c in word)
    plain = bare(word)
    host = _CLITICS.sub("", plain)
    if host != plain and len(host) > MIN_STEM_CHARS and (accented or _HOST.search(host)):
        plain = host
    plain = _SPANISH.sub("", plain)
    plain = _STRONG_ES.get(plain, plain)
    plain = _DIPHTHONG.sub(lambda m: "o" if m[1] else "e", plain)
    for soft, hard in (("qu", "c"), ("gu", "g"), ("z", "c"), ("j", "g")):
        if plain.endswith(soft):
            return plain.removesuffix(soft) + hard
    return plain


def _last(word: str) -> str:
    """The last letter of a stem without what changes in it: "modify", "modification"."""
    return word[:-1] if len(word) > MIN_STEM_CHARS + 1 and word.endswith(("y", "i", "e")) else word
