# ruff: noqa: RUF001 - signs and words of other scripts
"""The index of the tools of a registry, and questions put to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from weakref import WeakKeyDictionary

from toolcrib.core.registry import Registry
from toolcrib.core.tool import Tool
from toolcrib.retrieval.tool_index.words import (
    LANGUAGES,
    idioms,
    is_han,
    languages_of,
    lexicon,
    pieces,
    vocabulary,
    words_of_han,
)
from toolcrib.text.bm25 import Bm25
from toolcrib.text.stems import bare

# What a question shows rather than says: addresses, file names, quotations, source code.

_KINDS = {
    "python": "py ipynb pyw",
    "javascript": "js mjs cjs ts jsx tsx",
    "source": "c h cc cpp hpp go rs java kt swift rb php cs scala lua sh sql vue "
    "py js mjs cjs ts jsx tsx",
    "document": "pdf docx doc pptx ppt xlsx xls odt ods odp epub eml msg rtf mobi",
    "picture": "png jpg jpeg gif webp svg bmp tif tiff heic",
    "archive": "zip tar gz tgz bz2 xz 7z rar zst",
    "patch": "patch diff",
    "text": "txt md log csv json toml yaml yml ini cfg conf xml html htm env rst tex",
}
_AT_URLS = frozenset({"picture", "document", "archive"})
"""Kinds that matter of an address: `.html` and `.com` say nothing."""
_BY_ENDING: dict[str, list[str]] = {}
for _kind, _endings in _KINDS.items():
    for _ending in _endings.split():
        _BY_ENDING.setdefault(_ending, []).append(_kind)

# A letter or digit of a name: none of those that stand without spaces between words.
_C = r"[^\W\u2e80-\ud7af]"
_ENDINGS = "|".join(sorted(_BY_ENDING, key=len, reverse=True))
_URL = re.compile(r"(?:https?://|www\.)[^\s,;。，；)）」』”\"'\u2e80-\ud7af]+", re.IGNORECASE)
_FILE = re.compile(
    rf"(?<!{_C})(?<![./-])(?:[~/]|\.\.?/)?(?:(?:{_C}|[.-])+/)*"
    rf"((?:{_C}|-)+(?:\.(?:{_C}|-)+)*)\.(?:{_ENDINGS})"
    r"(?![A-Za-z0-9_/])",
    re.IGNORECASE,
)
_ENDING = re.compile(rf"(?<![A-Za-z0-9/.])\*?\.({_ENDINGS})(?![A-Za-z0-9_])")
_FOLDER = re.compile(
    rf"(?<![A-Za-z0-9.<])(?:(?:\.\.?|~)/(?:{_C}|[./-])*|/(?:{_C}|[.-])+(?:/(?:{_C}|[.-])*)*"
    rf"|(?:{_C}|[.-])+/(?![A-Za-z0-9]))"
)
_SYMBOL = re.compile(
    r"(?<![A-Za-z0-9_])(?:[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+"
    r"|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|[A-Za-z_]\w*(?=\(\)))(?:\(\))?(?![A-Za-z0-9_])"
)
_QUOTED = re.compile(
    r"\"([^\"]{1,200})\"|“([^”]{1,200})”|「([^」]{1,200})」|『([^』]{1,200})』"
    r"|„([^“”]{1,200})[“”]|«([^»]{1,200})»|`([^`]{1,200})`|(?<!\w)'([^']{2,200})'(?!\w)"
    r"|(?<!\w)s/[^/]+/[^/]*/\w*"
)


def shapes(text: str) -> tuple[str, str]:
    """The text with a shape such as `<url>` for what it only shows; and what it quotes.

    A file name gives `<file>` and what kinds of file it can be; without its ending it
    stands with what is quoted.
    """
    quoted: list[str] = []

    def quotation(match: re.Match[str]) -> str:
        inner = next((group for group in match.groups() if group), "")
        if "<file>" in inner or "<url>" in inner:
            return f" {inner} "
        quoted.append(inner)
        return " <quote> "

    text = _URL.sub(lambda m: f" <url> {_kinds(m.group(), _AT_URLS)} ", text)
    named = [match[1] for match in _FILE.finditer(text)]
    for pattern in (_FILE, _ENDING):
        text = pattern.sub(lambda m: f" <file> {_kinds(m.group())} ", text)
    text = _QUOTED.sub(quotation, text)
    text = _FOLDER.sub(" <path> ", text)
    return _SYMBOL.sub(" <symbol> ", text), " ".join([*quoted, *named])


def _kinds(name: str, wanted: frozenset[str] = frozenset(_KINDS)) -> str:
    kinds = _BY_ENDING.get(name.rpartition(".")[2].lower(), ())
    return " ".join(f"<{kind}>" for kind in kinds if kind in wanted)


LONGEST_QUERY = 500
_NAME = re.compile(r"(?a:\b[A-Za-z]\w*(?:_|[a-z](?=[A-Z]))\w+)")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
WEIGHTS = {
    "name": 2.0,
    "aliases": 0.7,
    "keywords": 1.0,
    "description": 1.0,
    "guidance": 0.3,
    "shapes": 1.0,
    "en": 2.0,
    "de": 2.0,
    "es": 2.0,
    "zh": 2.0,
}
HELD_BACK = 0.15
WEAK = 0.45
"""What a word counts that says little."""
LIKE = 0.5
"""What an English word of the same meaning counts."""
GLOSSED = 0.7
"""What the English of a word counts."""
PART = 0.7
"""What a part of a compound counts."""
SHAPE_WEIGHT = 0.45
"""What a shape counts."""
IDIOM_WEIGHT = 0.6
"""What the English of a turn of phrase counts."""
QUOTED = 0.15
"""What a word in quotation marks counts."""
PAIR = 0.65
"""What two words together count beside each alone."""
APART = 6
"""Words that the two of a pair may stand apart in a question."""
NEAR = 3
"""The same for a text of a tool."""
UNKNOWN = 1.5
"""What a word counts against all tools that none of them knows."""
FITTING = 0.53
"""How well the best tool has to fit; from questions and wishes of the tests."""
WIDEST = 40
"""Words of a question that are looked at."""

Word = dict[str, float]
"""The forms of a word with what each counts."""


class Finder:
    """Finds those of some tools that fit a question.

    Args:
        tools: the tools.
        known: whether the words count that the data files have for each tool; without
            them a tool is found as one that nobody knows yet.
    """

    def __init__(self, tools: Iterable[Tool], *, known: bool = True) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._names = {name for t in self._tools.values() for name in (t.name, *t.all_aliases)}
        documents = ((tool.name, dict(_fields(tool, known))) for tool in self._tools.values())
        self._index = Bm25(documents, WEIGHTS, HELD_BACK)

    def find(self, query: str, limit: int) -> list[Tool]:
        """The tools that fit a question, best first."""
        words = question(_NAME.sub(self._named, query[:LONGEST_QUERY]))
        groups = [*words, *self._together(words)]
        found = [name for name, _ in self._index.weigh_words(groups, limit)]
        if (named := query.strip().casefold()) in self._tools and limit > 0:
            found = [named, *(name for name in found if name != named)][:limit]
        return [self._tools[name] for name in found]

    def fits(self, query: str) -> bool:
        """Whether the best tool is likely to be what a question asks for.

        It is not where few of the words speak of it, or hardly: what a wish names that no tool
        knows of counts against them all.
        """
        if query.strip().casefold() in self._names:
            return True
        words = question(_NAME.sub(self._named, query[:LONGEST_QUERY]))
        best = self._index.weigh_words([*words, *self._together(words)], 1)
        if not best:
            return False
        (name, score), unknown = best[0], self._index.rarity("")
        possible = met = 0.0
        for word in words:
            if word and not any(form.startswith("<") for form in word):
                given = self._given(word)
                possible += max(given.values(), default=UNKNOWN * unknown * max(word.values()))
                met += given.get(name, 0.0)
        return possible == 0 or score / unknown * met / possible >= FITTING

    def _given(self, word: Word) -> dict[str, float]:
        """What a word gives to each tool."""
        found: dict[str, float] = {}
        for form, weight in word.items():
            for name, score in self._index.parts(form):
                found[name] = max(found.get(name, 0.0), score * weight)
        return found

    def _named(self, match: re.Match[str]) -> str:
        """A name that somebody writes as source code does, in words if it is of a tool."""
        name, alone = match.group(), match.group() == match.string.strip()
        if name.lower() in self._index.vocabulary:
            return name.lower()
        if not alone and name not in self._names:
            return name
        parts = " ".join(_HUMP.findall(name))
        return f" {parts} " if alone else f" {parts} <tool> "

    def _together(self, words: list[Word]) -> Iterator[Word]:
        vocabulary = self._index.vocabulary
        met = [{form: w for form, w in word.items() if form in vocabulary} for word in words]
        for at, first in enumerate(met):
            for second in met[at + 1 : at + 1 + APART]:
                both = {
                    pair: a * b * PAIR
                    for one, a in first.items()
                    for other, b in second.items()
                    if one != other and (pair := _pair(one, other)) in vocabulary
                }
                if both:
                    yield both


_finders: WeakKeyDictionary[Registry, Finder] = WeakKeyDictionary()


def finder(registry: Registry) -> Finder:
    """The finder of a registry, made at the first question."""
    found = _finders.get(registry)
    if found is None:
        found = _finders[registry] = Finder(registry)
    return found


def question(query: str) -> list[Word]:
    """The words of a question, in order, each with its forms and theirs in English."""
    text, quoted = shapes(query)
    listed = list(pieces(text)[: WIDEST * 2])
    languages = languages_of(query, listed)
    words = [w for w in _words(listed, languages) if w]
    more = [w for w in _words(list(pieces(quoted)[:WIDEST]), languages) if w]
    return words[:WIDEST] + [{f: weight * QUOTED for f, weight in w.items()} for w in more]


def _words(listed: list[str], languages: tuple[str, ...]) -> Iterator[Word]:
    latin = [p.casefold() for p in listed]
    joined: dict[int, list[str]] = {}
    if "de" in languages:
        for place, form in vocabulary("de").rejoined([bare(p) for p in latin]):
            joined.setdefault(place, []).append(form)
    phrases = _phrases(latin, languages)
    found_idioms = idioms(listed)
    for at, piece in enumerate(listed):
        for heads in found_idioms.get(at, ()):
            yield dict.fromkeys(heads, IDIOM_WEIGHT)
        if piece.startswith("<"):
            yield {piece: SHAPE_WEIGHT}
        elif is_han(piece):
            yield from _han(piece)
        else:
            yield from _word(piece, languages, joined.get(at, ()), phrases.get(at, ()))


def _phrases(latin: list[str], languages: tuple[str, ...]) -> dict[int, list[str]]:
    """English of phrases of two or three words, by the place of their first."""
    found: dict[int, list[str]] = {}
    for language in languages:
        known = vocabulary(language)
        placed = [(i, f) for i, w in enumerate(latin) if (f := known.form(w))]
        for n in (2, 3):
            for k in range(len(placed) - n + 1):
                run = placed[k : k + n]
                if heads := known.english.get(tuple(f for _, f in run)):
                    found.setdefault(run[0][0], []).extend(heads)
    return found


def _word(
    piece: str, languages: tuple[str, ...], joined: Iterable[str], phrase: Iterable[str]
) -> Iterator[Word]:
    forms: Word = {}
    parts: list[Word] = []
    low = piece.casefold()
    weak = any(low in lexicon(language).weak for language in languages)
    stopped = any(low in lexicon(language).stop for language in languages)
    for language in languages:
        known = vocabulary(language)
        form = known.form(low)
        if form and not (stopped and language == "en"):
            _add(forms, form, 1.0)
            share = LIKE if language == "en" else GLOSSED
            for head in known.english.get((form,), ()):
                _add(forms, head, share)
                if language != "en":
                    for like in vocabulary("en").english.get((head,), ()):
                        _add(forms, like, GLOSSED * LIKE)
        if form and language == "de":
            parts += [_glossed(part, PART) for part in known.parts(low)]
    for form in joined:
        _add(forms, form, 1.0)
        for head in vocabulary("de").english.get((form,), ()):
            _add(forms, head, GLOSSED)
    for head in phrase:
        _add(forms, head, GLOSSED)
    yield {form: w * WEAK for form, w in forms.items()} if weak and not joined else forms
    yield from parts


def _glossed(form: str, share: float) -> Word:
    found = {form: share}
    for head in vocabulary("de").english.get((form,), ()):
        _add(found, head, share * GLOSSED)
        for like in vocabulary("en").english.get((head,), ()):
            _add(found, like, share * GLOSSED * LIKE)
    return found


def _han(run: str) -> Iterator[Word]:
    zh = vocabulary("zh")
    for word in words_of_han(run):
        form = f"zh:{word}"
        forms = {form: 1.0}
        for head in zh.english.get((form,), ()):
            _add(forms, head, GLOSSED)
            for like in vocabulary("en").english.get((head,), ()):
                _add(forms, like, GLOSSED * LIKE)
        yield {f: w * WEAK for f, w in forms.items()} if word in zh.lexicon.weak else forms


def _add(forms: Word, form: str, weight: float) -> None:
    forms[form] = max(weight, forms.get(form, 0.0))


REPOSITORY = "repo"


def _pair(one: str, other: str) -> str:
    return f"{one}+{other}" if one < other else f"{other}+{one}"


def _fields(tool: Tool, known: bool) -> Iterator[tuple[str, list[str]]]:
    english = vocabulary("en")
    yield "name", _terms([english.forms(tool.name)])
    yield "aliases", _terms([english.forms(name) for name in tool.all_aliases])
    yield "keywords", [f for word in tool.keywords for f in english.forms(word)]
    yield "description", _terms([english.forms(f"{tool.description} {tool.group}")])
    # Which repository is meant says nothing about what a tool of git does.
    texts = (f"{name} {text}" for name, text in tool.parameter_texts if name != REPOSITORY)
    parameters = " ".join(texts)
    yield "guidance", english.forms(f"{tool.guidance} {parameters}")
    yield "shapes", sorted({s for name, _ in tool.parameter_texts for s in _SHAPES.get(name, ())})
    for language in LANGUAGES if known else ():
        phrases = lexicon(language).tools.get(tool.name, ())
        yield language, _terms([vocabulary(language).forms(phrase) for phrase in phrases])


_SHAPES: Mapping[str, tuple[str, ...]] = {
    "url": ("<url>",),
    "urls": ("<url>",),
    "path": ("<file>", "<path>"),
    "paths": ("<file>", "<path>"),
    "source": ("<file>", "<path>"),
    "symbol": ("<symbol>",),
}


def _terms(phrases: Iterable[list[str]]) -> list[str]:
    """Forms, each once, and the pairs of those that stand near each other."""
    found: dict[str, None] = {}
    for forms in phrases:
        found.update(dict.fromkeys(forms))
        for at, one in enumerate(forms):
            for other in forms[at + 1 : at + 1 + NEAR]:
                if other != one:
                    found[f"{one}+{other}" if one < other else f"{other}+{one}"] = None
    return list(found)
