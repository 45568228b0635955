"""How alike two facts are: equal, nearly equal, or the same thing with another value."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from hashlib import blake2b
from zlib import crc32

SHINGLE_CHARS = 5
SKETCH_SIZE = 8
"""Hashes by which candidates are found."""
MIN_SHARED = 2
"""Hashes that candidates have in common: of facts that are 60 % alike, 99 of 100 have."""
MIN_LIKENESS = 0.5
MAX_VALUE_CHARS = 80
_GAP = re.compile(r"[\W_]+")
_ENDS = re.compile(r"^[\W_]+|[\W_]+$")
_VALUE = re.compile(
    r"\s*(?:[:=\uff1a]|(?<=\w)\s(?:is|are|was|were|ist|sind|war|lautet|hei\u00dft|es|son|est|sont)(?=\s)"
    r"|\u662f|\u53eb|\u70ba|\u4e3a)\s*"
)
_SINGLE = re.compile(
    r"\b(?:name|address|street|phone|number|e-?mail|birthday|age|job|employer|hometown|city|country"
    r"|favou?rite|language|time ?zone|deadline|budget|port|version|branch|path|folder|url|host"
    r"|colou?r|password manager|editor|diet|size|weight|height"
    r"|adresse|stra\u00dfe|telefon\w*|nummer|geburtstag|alter|beruf|arbeitgeber|wohnort|stadt|land"
    r"|lieblings\w*|sprache|zeitzone|frist|ordner|pfad|farbe|gr\u00f6\u00dfe|gewicht"
    r"|nombre|direcci\u00f3n|calle|tel\u00e9fono|n\u00famero|correo|cumplea\u00f1os|edad|trabajo|ciudad|pa\u00eds"
    r"|favorit[oa]|idioma|plazo|presupuesto|puerto|rama|ruta|carpeta|tama\u00f1o|peso"
    r"|nom|rue|t\u00e9l\u00e9phone|num\u00e9ro|courriel|anniversaire|\u00e2ge|m\u00e9tier|ville|pays|pr\u00e9f\u00e9r\u00e9e?"
    r"|langue|fuseau horaire|d\u00e9lai|dossier|chemin|couleur|taille|poids)\b"
    r"|\u540d\u5b57|\u59d3\u540d|\u5730\u5740|\u7535\u8bdd|\u96fb\u8a71|\u90ae\u7bb1|\u751f\u65e5|\u5e74\u9f84|\u804c\u4e1a|\u57ce\u5e02|\u6700\u559c\u6b22|\u8bed\u8a00|\u65f6\u533a"
    r"|\u622a\u6b62|\u9884\u7b97|\u7aef\u53e3|\u7248\u672c|\u5206\u652f|\u8def\u5f84|\u989c\u8272"
)
"""Things of which there is one at a time, in five languages."""
_NUMBER = re.compile(r"\d")


@lru_cache(maxsize=64)
def plain_text(fact: str) -> str:
    """A fact without case, blanks and signs that do not matter, for comparing."""
    folded = unicodedata.normalize("NFKC", fact).casefold()
    return " ".join(_ENDS.sub("", folded).split())


def digest(fact: str) -> bytes:
    """Equal for facts that differ in case, blanks and signs around them alone."""
    return blake2b(plain_text(fact).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def sketch(fact: str) -> list[int]:
    """The smallest hashes of all pieces of a text: texts that are much alike share some."""
    text = _GAP.sub(" ", plain_text(fact))
    last = max(len(text) - SHINGLE_CHARS, 0) + 1
    pieces = {text[at : at + SHINGLE_CHARS] for at in range(last)}
    return sorted({crc32(piece.encode("utf-8", "surrogatepass")) for piece in pieces})[:SKETCH_SIZE]


@lru_cache(maxsize=256)
def trigrams(fact: str) -> frozenset[str]:
    """The pieces of three characters of a fact."""
    text = _GAP.sub(" ", plain_text(fact))
    return frozenset(text[at : at + 3] for at in range(max(len(text) - 2, 1)))


def likeness(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of trigrams that two facts have in common, from 0 to 1."""
    shared = len(first & second)
    whole = len(first) + len(second) - shared
    return shared / whole if whole else 1.0


def same_subject(one: str, other: str) -> bool:
    """Whether two facts give one thing two values, as "Anna's street: Elm" and "...: Oak".

    Only for things of which there is one at a time: "Anna is 40" and "Anna is a doctor" are
    both true. A number never stands in the place of words, nor the other way round.
    """
    first, second = _parted(one), _parted(other)
    if first is None or second is None or first[0] != second[0] or first[1] == second[1]:
        return False
    return bool(_NUMBER.search(first[1])) == bool(_NUMBER.search(second[1]))


def _parted(fact: str) -> tuple[str, str] | None:
    """What a fact speaks of and what it says of it; None where that is not sure."""
    text = plain_text(fact)
    parts = _VALUE.split(text, maxsplit=1)
    if len(parts) != 2 or not all(parts):
        return None
    subject, value = parts
    if not _SINGLE.search(subject) or len(value) > MAX_VALUE_CHARS:
        return None
    return subject, value
