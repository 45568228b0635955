# ruff: noqa: RUF001 - marks of several scripts
"""A text as words in the forms of its languages: what documents and questions are made of.

A form is a term of the index: an English stem as it is, a German or Spanish one behind
`de:` or `es:`, a Chinese word behind `zh:`, a shape such as `<url>`.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from toolcrib.text.stems import PARTICLES, bare, english, german, spanish

# What is known of the words of a language: data files beside this module, one a language.
#
# A file has sections. `[stop]`: words that say nothing. `[weak]`: words that say little.
# `[glossary]`: `english words = their words, …`. `[idioms]`: the same for turns of phrase whose
# words are in `[stop]` or `[weak]`. `[tools]`: `tool = phrases, …`; a tool may come again.
# `[fold]`, of Chinese: pairs of a traditional and a simplified character. `#` begins a comment.

LANGUAGES = ("en", "de", "es", "zh")


@dataclass(frozen=True, slots=True)
class ToolLexicon:
    """The words of one language. `glossary` and `idioms` lead from English to its words."""

    language: str
    stop: frozenset[str]
    weak: frozenset[str]
    glossary: Mapping[str, tuple[str, ...]]
    idioms: Mapping[str, tuple[str, ...]]
    tools: Mapping[str, tuple[str, ...]]
    fold: dict[int, str]


@cache
def lexicon(language: str) -> ToolLexicon:
    """The words of a language, read once."""
    data = pkgutil.get_data(__package__, f"{language}.txt") or b""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for raw in data.decode().splitlines():
        line = raw.partition("#")[0].strip()
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line:
            current.append(line)
    pairs = " ".join(sections.get("fold", ())).split()
    return ToolLexicon(
        language,
        _words(sections.get("stop", ())),
        _words(sections.get("weak", ())),
        _entries(sections.get("glossary", ())),
        _entries(sections.get("idioms", ())),
        _entries(sections.get("tools", ())),
        {ord(pair[0]): pair[1] for pair in pairs},
    )


def _words(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


def _entries(lines: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Lines `head = phrase, …`; a head that comes again is continued."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        head, _, rest = line.partition("=")
        phrases = tuple(phrase.strip() for phrase in rest.split(",") if phrase.strip())
        found[head.strip()] = found.get(head.strip(), ()) + phrases
    return found


# Turns of phrase made of words that alone say nothing: "where am I", "wer ruft", "有哪些".

Heads = tuple[str, ...]
"""English stems that a turn of phrase means."""


def idioms(listed: Sequence[str]) -> dict[int, list[Heads]]:
    """What turns of phrase mean, by the place of the piece that they begin in."""
    words, runs = _table()
    plain = ["" if is_han(piece) else bare(piece.casefold()) for piece in listed]
    found: dict[int, list[Heads]] = {}
    for at, piece in enumerate(listed):
        if is_han(piece):
            met = [
                heads
                for i, first in enumerate(piece)
                for phrase, heads in runs.get(first, ())
                if piece.startswith(phrase, i)
            ]
        else:
            met = [
                heads
                for phrase, heads in words.get(plain[at], ())
                if tuple(plain[at : at + len(phrase)]) == phrase
            ]
        if met:
            found[at] = met
    return found


_Words = dict[str, list[tuple[tuple[str, ...], Heads]]]
_Runs = dict[str, list[tuple[str, Heads]]]


@cache
def _table() -> tuple[_Words, _Runs]:
    """The phrases of all languages by their first word, and those of Chinese by character."""
    words: _Words = {}
    runs: _Runs = {}
    for language in LANGUAGES:
        for head, phrases in lexicon(language).idioms.items():
            heads = tuple(english(word) for word in head.split())
            for phrase in phrases:
                listed = pieces(phrase)
                if is_han(listed[0]):
                    runs.setdefault(phrase[0], []).append((phrase, heads))
                else:
                    parts = tuple(bare(piece.casefold()) for piece in listed)
                    words.setdefault(parts[0], []).append((parts, heads))
    return words, runs


HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_PIECE = re.compile(rf"<\w+>|[{HAN}]+|[^\W_{HAN}]+(?:'[^\W\d_{HAN}]+)?")
_HUMP = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_LINKS = ("", "s", "n", "en", "es", "e", "er")
_LONGEST = 6
LONGEST_COMPOUND = 60
"""Characters of the longest Chinese word that is looked for."""
_LETTERS = {"de": frozenset("äöüß"), "es": frozenset("ñ¿¡áéíóú")}

STEMMERS: Mapping[str, Callable[[str], str]] = {"en": english, "de": german, "es": spanish}


@lru_cache(maxsize=1 << 13)
def pieces(text: str) -> tuple[str, ...]:
    """Words, runs of Chinese and shapes, in order; simplified characters."""
    if not text.isascii():
        text = text.translate(lexicon("zh").fold).replace("’", "'")
    found = _PIECE.findall(text)
    if "'" in text:
        found = [p.removesuffix("'s").removesuffix("'S").replace("'", "") for p in found]
    return tuple(found)


def is_han(piece: str) -> bool:
    """Whether a piece is of Chinese characters."""
    return "\u3400" <= piece[:1] <= "\u9fff"


class Vocabulary:
    """The words of one language that the data files know, and how others are made of them."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.lexicon: ToolLexicon = lexicon(language)
        self.prefix = "" if language == "en" else f"{language}:"

    @cached_property
    def known(self) -> frozenset[str]:
        """Every word as it is written in the data, without accents."""
        entries = (*self.lexicon.tools.values(), *self.lexicon.glossary.values())
        texts = [text for phrases in entries for text in phrases]
        if self.language == "en":
            texts += self.lexicon.glossary
        return frozenset(bare(p.casefold()) for text in texts for p in pieces(text))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the words that are known."""
        return frozenset(map(STEMMERS[self.language], self.known))

    @cached_property
    def english(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        """English stems by the forms of a word or a phrase."""
        found: dict[tuple[str, ...], dict[str, None]] = {}
        for head, phrases in self.lexicon.glossary.items():
            heads = [english(p.casefold()) for p in pieces(head)]
            for phrase in (*phrases, *((head,) if self.language == "en" else ())):
                target = found.setdefault(tuple(self.forms(phrase)), {})
                target.update(dict.fromkeys(heads))
                if self.language == "en":
                    others = [p for p in (head, *phrases) if p != phrase]
                    target.update(dict.fromkeys(f for o in others for f in self.forms(o)))
        return {forms: tuple(heads) for forms, heads in found.items() if forms}

    def forms(self, text: str) -> list[str]:
        """The forms of a text of this language, without its stop words."""
        found: list[str] = []
        for piece in pieces(text):
            if piece.startswith("<"):
                found.append(piece)
            else:
                found += self._of_piece(piece)
        return found

    @lru_cache(maxsize=1 << 13)  # noqa: B019 - there is one vocabulary a language, for good
    def form(self, word: str) -> str:
        """The form of one word; nothing for a stop word."""
        word = word.casefold()
        if word in self.lexicon.stop:
            return ""
        return self.prefix + STEMMERS.get(self.language, english)(word)

    @lru_cache(maxsize=1 << 13)  # noqa: B019 - there is one vocabulary a language, for good
    def _of_piece(self, piece: str) -> list[str]:
        if is_han(piece):
            return [f"zh:{word}" for word in words_of_han(piece)]
        if self.language in {"en", "zh"}:
            parts = _HUMP.findall(piece) or [piece]
            return [form for part in parts if (form := self.form(part))]
        form = self.form(piece)
        parts = self.parts(piece) if self.language == "de" else []
        return [form, *parts] if form else []

    @lru_cache(maxsize=1 << 13)  # noqa: B019 - there is one vocabulary a language, for good
    def parts(self, word: str) -> list[str]:
        """The forms of what a German compound is made of; none for a plain word."""
        word = bare(word.casefold())
        if len(word) > LONGEST_COMPOUND:
            return []
        found = self._split(word) or self._ending(word)
        return [f"de:{german(part)}" for part in found if part not in PARTICLES]

    @lru_cache(maxsize=1 << 13)  # noqa: B019 - as above; without it each end is split again
    def _split(self, word: str) -> tuple[str, ...]:
        for at in range(len(word) - 3, 2, -1):
            head, tail = self._head(word[:at]), word[at:]
            if not head:
                continue
            is_word = len(tail) > 3 and german(tail) in self.stems
            if rest := (tail,) if is_word else self._split(tail):
                return (*(self._split(head) or (head,)), *rest)
        return ()

    def _ending(self, word: str) -> tuple[str, ...]:
        """The known word that one ends in, whatever comes before."""
        tails = (word[at:] for at in range(3, len(word) - 5))
        return next(((tail,) for tail in tails if german(tail) in self.stems), ())

    def _head(self, start: str) -> str:
        """A word that is known, without what links it to the next one."""
        heads = (start.removesuffix(link) for link in _LINKS if start.endswith(link))
        return next((head for head in heads if len(head) > 2 and head in self.known), "")

    def rejoined(self, words: Sequence[str]) -> Iterator[tuple[int, str]]:
        """German verbs with the particle that stands later, by the place of the verb."""
        for at, particle in enumerate(words):
            for full in _PARTICLES.get(particle, ()):
                for place in range(max(0, at - 10), at):
                    if german(full + words[place]) in self.stems:
                        yield place, f"de:{german(full + words[place])}"


_PARTICLES = {bare(p): (bare(p),) for p in PARTICLES} | {
    "dran": ("an", "dran"),
    "ruber": ("ruber", "hinuber"),
    "rein": ("ein", "rein", "hinein"),
    "raus": ("aus", "raus", "heraus"),
    "runter": ("herunter", "runter"),
    "rauf": ("hinauf", "rauf"),
    "dazu": ("hinzu", "dazu"),
}


@cache
def vocabulary(language: str) -> Vocabulary:
    """The vocabulary of a language, made once."""
    return Vocabulary(language)


@cache
def _han_words() -> frozenset[str]:
    zh = lexicon("zh")
    phrases = [p for entries in (zh.tools, zh.glossary) for ps in entries.values() for p in ps]
    tokens = (piece for phrase in phrases for piece in pieces(phrase))
    return frozenset(token for token in tokens if is_han(token)) | zh.stop | zh.weak


_INFIX = re.compile("(?<=(.))(?:一个|一下|个|了|一)(?=(.))")
"""What may stand inside a Chinese verb: "改个名" is "改名"."""


def words_of_han(run: str) -> list[str]:
    """A run of Chinese cut by the longest words known; what is unknown gives its pairs."""
    known, stop = _han_words(), lexicon("zh").stop
    run = _INFIX.sub(lambda m: "" if m[1] + m[2] in known else m[0], run)
    found: list[str] = []
    unknown = ""
    at = 0
    while at < len(run):
        word = next(
            (run[at : at + n] for n in range(_LONGEST, 0, -1) if run[at : at + n] in known), ""
        )
        if not word:
            unknown += run[at]
            at += 1
            continue
        found += _pairs(unknown)
        unknown = ""
        found += [word] if word not in stop else []
        at += len(word)
    return found + _pairs(unknown)


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def languages_of(text: str, words: Sequence[str]) -> tuple[str, ...]:
    """The languages that a text can be in; English always, for its many words elsewhere."""
    if any(is_han(piece) for piece in words):
        return ("en", "zh")
    lowered = [word.casefold() for word in words]
    scores: dict[str, float] = {}
    for language in LANGUAGES[:-1]:
        known = vocabulary(language)
        stop = known.lexicon.stop | known.lexicon.weak
        hits = sum(1.0 if w in stop else 0.5 * (bare(w) in known.known) for w in lowered)
        scores[language] = hits + (0.9 if _LETTERS.get(language, frozenset()) & set(text) else 0)
    best = max(scores.values())
    return tuple(dict.fromkeys(("en", *(lang for lang, s in scores.items() if s >= best - 0.4))))
