"""Finding in a page: words that may be misspelt, exact phrases, regular expressions.

A page is looked at in chunks: its paragraphs, long ones in pieces. Each term ranks the
chunks; a chunk counts by the best of its terms.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from toolcrib.core.errors import BadInput
from toolcrib.text.bm25 import stem

TermKind: TypeAlias = Literal["words", "phrase", "pattern"]
MAX_TERMS = 10
MAX_TERM_CHARS = 300
MAX_CHUNK_CHARS = 1200
"""Characters of a chunk at most."""
MIN_SHARE = 0.7
"""Share of a term that a chunk has to meet: three in ten letters or words may be wrong."""
EXACT_SHARE = 0.94
"""What more than this is met of a term that stands there, be it in the plural."""
MAX_LIKE_EXACT = 3
"""Chunks with words that are like a term, beside those that have it as it stands."""
MIN_PARTIAL_SHARE = 0.4
"""The share that is shown where no chunk meets enough."""
MAX_MATCH_BYTES = 8_000_000
_GAP = re.compile(r"\n[ \t\r]*\n\s*")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_SPACELESS = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
_MARKS = re.compile(
    r"[*`]+|(?<!\w)_+|_+(?!\w)|\]\([^()\s]*\)|!?\[|\]|^#+ |\\(?=[\W_])", re.MULTILINE
)
_QUOTED = re.compile(
    r"([\"'\u201c\u201e\u00ab\u2018])(.+)([\"'\u201d\u201c\u00bb\u2019])", re.DOTALL
)
_PATTERN = re.compile(r"/(.+)/([a-z]{0,6})", re.DOTALL)
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "\u2026": "...",
    }
)
_SPACES = re.compile(r"\s+")
# The engine knows these for ASCII only.
_UNICODE = {
    "w": r"\pL\pM\pN_",
    "d": r"\p{Nd}",
    "s": r"\s\x{0b}\x{85}\x{a0}\x{2000}-\x{200a}\x{3000}",
}


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to find. `text` is what is compared, `query` what was asked for."""

    kind: TermKind
    text: str
    query: str
    pattern: Any = None

    @property
    def named(self) -> str:
        """What was asked for, in quotes where it is words that would run into others."""
        return f"'{self.query}'" if self.kind == "words" and " " in self.query else self.query


@dataclass(frozen=True, slots=True)
class PageChunk:
    """`text[start:end]` of a page."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PageMatches:
    """What was found. `ranked` are numbers of chunks, best first, all terms taking turns.

    `counts` has the chunks that each term met, in the order of the terms, and `exact` those of
    them that have it as it stands, or its words in another form. `partly` says
    that no chunk met enough of any term, so those are given that meet some.
    """

    chunks: tuple[PageChunk, ...]
    ranked: tuple[int, ...]
    counts: tuple[int, ...]
    exact: tuple[int, ...]
    partly: bool = False


@dataclass(slots=True)
class _PageIndex:
    """The chunks in the forms in which terms are compared."""

    text: str
    chunks: list[PageChunk]
    plain: list[str] = field(default_factory=list)
    holders: dict[str, list[int]] = field(default_factory=dict)

    def prepare(self, check: Callable[[], None]) -> None:
        """Fold the chunks, and note which words stand where."""
        holders: defaultdict[str, list[int]] = defaultdict(list)
        for number, chunk in enumerate(self.chunks):
            if not number % 200:
                check()
            plain = folded(_MARKS.sub("", self.text[chunk.start : chunk.end]))
            self.plain.append(plain)
            for word in dict.fromkeys(_WORD.findall(plain)):
                holders[word].append(number)
        self.holders = dict(holders)


def terms_of(queries: Sequence[str]) -> list[Term]:
    """What is to be found: "in quotes" exactly, /between slashes/ an expression, else words.

    Raises:
        BadInput: too many or too long, or an expression that is none.
    """
    found = [_term(text.strip()) for text in dict.fromkeys(queries) if text.strip()]
    if len(found) > MAX_TERMS:
        raise BadInput(f"At most {MAX_TERMS} terms to find in one call, not {len(found)}.")
    return found


def find(
    text: str, start: int, end: int, terms: Sequence[Term], check: Callable[[], None]
) -> PageMatches:
    """The chunks of `text[start:end]` that meet the terms."""
    page = _PageIndex(text, chunks_of(text, start, end))
    if any(term.kind != "pattern" for term in terms):
        page.prepare(check)
    scores = []
    for term in terms:
        check()
        scores.append(_scores(page, term, check))
    least = MIN_SHARE
    if not any(score >= MIN_SHARE for scored in scores for score in scored.values()):
        least = MIN_PARTIAL_SHARE
    lists = [
        sorted((n for n, s in scored.items() if s >= least), key=lambda n: (-scored[n], n))
        for scored in scores
    ]
    exact = tuple(sum(s > EXACT_SHARE for s in scored.values()) for scored in scores)
    counts = tuple(map(len, lists))
    # Beside what was asked for itself, much that is like it only takes room.
    lists = [r[: listed_count(len(r), n)] for r, n in zip(lists, exact, strict=True)]
    ranked = _in_turns(lists)
    partly = least == MIN_PARTIAL_SHARE and bool(ranked)
    return PageMatches(tuple(page.chunks), tuple(ranked), counts, exact, partly)


def listed_count(count: int, exact: int) -> int:
    """How many of the chunks that a term met are listed, by how many have it as it stands."""
    return min(count, exact + MAX_LIKE_EXACT) if exact else count


def chunks_of(text: str, start: int, end: int) -> list[PageChunk]:
    """The paragraphs of a part of a text, long ones in pieces; together they are all of it."""
    chunks: list[PageChunk] = []
    at = start
    for gap in _GAP.finditer(text, start, end):
        _add(chunks, text, at, gap.end())
        at = gap.end()
    _add(chunks, text, at, end)
    return chunks


def first_place(text: str, chunk: PageChunk, terms: Sequence[Term]) -> int:
    """Where in a chunk that is too long to be shown the best place begins."""
    body = text[chunk.start : chunk.end]
    places = []
    for term in terms:
        if term.pattern is not None:
            match = term.pattern.search(body)
            places += [match.start()] if match else []
            continue
        words = [term.text, *sorted(_WORD.findall(term.text), key=len, reverse=True)]
        hit = next((i for w in words if (i := body.casefold().find(w)) >= 0), -1)
        places += [hit] if hit >= 0 else []
    return chunk.start + min(places, default=0)


def _add(chunks: list[PageChunk], text: str, start: int, end: int) -> None:
    while end - start > MAX_CHUNK_CHARS:
        stop = start + MAX_CHUNK_CHARS
        low = start + MAX_CHUNK_CHARS // 2
        cut = max(text.rfind("\n", low, stop), text.rfind(". ", low, stop) + 1)
        cut = cut if cut > low else text.rfind(" ", low, stop)
        cut = cut + 1 if cut > low else stop
        chunks.append(PageChunk(start, cut))
        start = cut
    if end > start:
        chunks.append(PageChunk(start, end))


def _term(text: str) -> Term:
    if len(text) > MAX_TERM_CHARS:
        raise BadInput(f"A term to find may have {MAX_TERM_CHARS} characters, not {len(text)}.")
    match = _PATTERN.fullmatch(text)
    if match:
        return Term("pattern", match[1], text, _compiled(match[1], match[2]))
    match = _QUOTED.fullmatch(text)
    phrase = folded(_MARKS.sub("", match[2])).strip() if match else ""
    if phrase:
        return Term("phrase", phrase, text)
    return Term("words", folded(text).strip(), text)


def _compiled(pattern: str, flags: str) -> Any:
    """The expression in an engine whose time is linear, so that no page can make it hang.

    Raises:
        BadInput: it is wrong, or wants look-around or back references.
    """
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MATCH_BYTES
    wanted = "".join(flag for flag in "ism" if flag in flags or flag in "im")
    try:
        return re2.compile(f"(?{wanted}){_with_unicode(pattern)}", options)
    except re2.error as error:
        message = error.args[0] if error.args else ""
        why = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
        raise BadInput(
            f"The expression /{pattern[:80]}/ cannot be used: {why[:120]}.",
            hint="Look-around, back references and counts over 1,000 are not supported; "
            "plain words need no slashes.",
        ) from None


def _with_unicode(pattern: str) -> str:
    r"""The pattern with `\w`, `\d` and `\s` for all scripts; `\b` beside other scripts goes."""
    parts: list[str] = []
    inside = False
    for match in re.finditer(r"\\[\s\S]|[\s\S]", pattern):
        piece = match[0]
        name = piece[1:] if piece[0] == "\\" else ""
        if name in _UNICODE:
            parts.append(_UNICODE[name] if inside else f"[{_UNICODE[name]}]")
        elif name in ("W", "D", "S") and not inside:
            parts.append(f"[^{_UNICODE[name.lower()]}]")
        elif name == "b" and not inside and _is_foreign(pattern, match.start(), match.end()):
            continue
        else:
            inside = piece == "[" or (inside and piece != "]")
            parts.append(piece)
    return "".join(parts)


def _is_foreign(pattern: str, start: int, end: int) -> bool:
    return not (pattern[end : end + 1] + pattern[max(start - 1, 0) : start]).isascii()


def _scores(page: _PageIndex, term: Term, check: Callable[[], None]) -> dict[int, float]:
    if term.kind == "pattern":
        found = {}
        for number, chunk in enumerate(page.chunks):
            if not number % 200:
                check()
            if term.pattern.search(page.text[chunk.start : chunk.end]):
                found[number] = 1.0
        return found
    if not term.text:
        return {}
    exact = {n: 1.0 for n, plain in enumerate(page.plain) if term.text in plain}
    if term.kind == "phrase":
        return exact
    scores = _word_scores(page, term, check)
    for number in exact:
        heading = page.text.startswith("#", page.chunks[number].start)
        scores[number] = 1.6 if heading else 1.5
    return scores


def _word_scores(page: _PageIndex, term: Term, check: Callable[[], None]) -> dict[int, float]:
    words = [(word, _weight(word, term.query)) for word in dict.fromkeys(_WORD.findall(term.text))]
    total = sum(weight for _, weight in words)
    scores: defaultdict[int, float] = defaultdict(float)
    for word, weight in words:
        check()
        spaceless = _SPACELESS.search(word)
        matches = _spaceless(page, word) if spaceless else _matching_chunks(page, word)
        for number, quality in matches.items():
            scores[number] += quality * weight / total
    return dict(scores)


def _matching_chunks(page: _PageIndex, word: str) -> dict[int, float]:
    """The chunks that have a word, or one like it, and how alike the best is."""
    scores: dict[int, float] = {}
    root = stem(word)
    for other, numbers in page.holders.items():
        quality = _likeness(word, root, other)
        if quality:
            for number in numbers:
                scores[number] = max(quality, scores.get(number, 0.0))
    return scores


def _likeness(word: str, root: str, other: str) -> float:
    if word == other:
        return 1.0
    length, gap = len(word), len(other) - len(word)
    if -3 <= gap <= 3 and word[:2] == other[:2] and stem(other) == root:
        return 0.95
    if length >= 4 and gap > 0 and word in other:
        return 0.9 if other.startswith(word) else 0.8
    allowed = min(int(length * (1 - MIN_SHARE)), 3)
    if not allowed or abs(gap) > allowed or word.isdigit():
        return 0.0
    # Most words differ in more letters than may be wrong: those need no closer look.
    if len(set(word) - set(other)) > allowed or len(set(other) - set(word)) > allowed:
        return 0.0
    wrong = distance(word, other, allowed)
    return 1 - wrong / length if wrong <= allowed else 0.0


def distance(a: str, b: str, max_distance: int) -> int:
    """Letters to change, add, drop or swap with the next; more than `max_distance` is one more."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, last, row = row, before, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > max_distance:
            return max_distance + 1
    return row[-1]


def _spaceless(page: _PageIndex, word: str) -> dict[int, float]:
    """Words of scripts without spaces: by their pairs of signs."""
    pairs = [word[i : i + 2] for i in range(len(word) - 1)] or [word]
    scores = {}
    for number, plain in enumerate(page.plain):
        share = sum(pair in plain for pair in pairs) / len(pairs)
        if share >= MIN_PARTIAL_SHARE:
            scores[number] = share
    return scores


def _weight(word: str, folded: str) -> float:
    """Short words are mostly articles and the like, unless they are names or numbers."""
    if len(word) >= 5 or any(c.isdigit() for c in word) or _SPACELESS.search(word):
        return 1.0
    if word.upper() in folded and not folded.isupper():
        return 1.0
    return {1: 0.2, 2: 0.25, 3: 0.4, 4: 0.8}[len(word)]


def _in_turns(lists: Sequence[Sequence[int]]) -> list[int]:
    """The best of each list, then the second of each, and so on; none twice."""
    longest = max(map(len, lists), default=0)
    turns = (ranked[n] for n in range(longest) for ranked in lists if n < len(ranked))
    return list(dict.fromkeys(turns))


def folded(text: str) -> str:
    """The text in lower case, without accents, with plain signs and single spaces."""
    if not text.isascii():
        text = text.translate(_SIGNS)
        decomposed = unicodedata.normalize("NFKD", text)
        bare = "".join(c for c in decomposed if not unicodedata.combining(c) or c in "\u3099\u309a")
        text = unicodedata.normalize("NFC", bare)
    return _SPACES.sub(" ", text.casefold())
