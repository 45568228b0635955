"""Which passages of some pages answer a question: ranked by words, chosen for a budget.

The score of a passage is BM25 over its headings, its text, its neighbours and the title
of its page, raised where the words of the question stand together and where more of them
are met. Everything is deterministic.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from itertools import pairwise

from toolcrib.core.package_data import package_table
from toolcrib.text.bm25 import Bm25, terms
from toolcrib.text.passages import Passage, bare, split
from toolcrib.text.synonyms import synonyms
from toolcrib.text.tokens import estimate

# What a question is about: its words without those that any question has.

_WORD = re.compile(r"[^\W_]+(?:[._+#/&-]+[^\W_]+)*(?:\+\+|#)?")
_CJK = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA_OR_HAN = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
# What joins and asks in Chinese and Japanese, where no space stands between words.
_JOINTS = re.compile(
    "为什么|什么时候|什么|怎么样|怎么|怎样|如何|哪里|哪个|哪些|哪儿|是谁|谁|多少|几个|可以|"
    "為什麼|什麼時候|什麼|怎麼樣|怎麼|哪裡|哪個|請問|请问|"
    "吗|嗎|呢|吧|的|是|"
    "について|ください|下さい|教えて|何ですか|でしょうか|ですか|ますか|とは|"
    "どのように|どうやって|どうすれば|"
    "どのくらい|どれくらい|いくつ|いくら|どこ|どの|どう|なぜ|いつ|だれ|なに|誰|何|"
    "する|して|した|します|である|です|ます|から|まで|より|には|では|への|での|"
    "は|が|を|に|の|と|で|へ|も|や|か"
)
_POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|please|kindly|okay|ok|so|and|bitte|hallo)\b[\s,!.]*)*"
    r"(?:(?:can|could|would|will) you (?:please )?(?:tell me|explain|find out|find|look up|"
    r"search for|research|check|help me (?:find|understand))\s+|"
    r"(?:i (?:want|need|would like|'d like) to (?:know|find out|understand|learn)|"
    r"i(?:'d| would) like to know|tell me|find out|do you know)\s+)?"
    r"(?:please\s+)?",
    re.IGNORECASE,
)
_HOW = re.compile(r"\bhow (?:long|often|far|come)\b", re.IGNORECASE)
_OPERATOR = re.compile(r'"|\b\w+:\S|(?:^|\s)-\w')
ENOUGH_WORDS = 14
MAX_WORDS = 20
MAX_CHARS = 300


@cache
def _lists() -> dict[str, frozenset[str]]:
    table = package_table("text/stop_words.toml")
    return {language: frozenset(words.split()) for language, words in table.items()}


def _stop_words(words: list[str]) -> frozenset[str]:
    """Those of the language that most of the words could be of; of equals the first.

    Not of all languages at once: the German "war" and "die" are English words too.
    """
    lists = _lists().values()
    return max(lists, key=lambda known: sum(word.casefold() in known for word in words))


def content_words(question: str) -> list[str]:
    """The words that a question is about, in its order and as they are written.

    An acronym that looks like a common word ("WHO", "IT") stays, unless all is written
    in capitals. Where nothing else is left, all words are given.
    """
    loud = question.upper() == question
    question = _HOW.sub(" ", question)
    spaced = _KANA_OR_HAN.sub(_cut_at_joints, question) if _CJK.search(question) else question
    words = _WORD.findall(spaced)
    stop = _stop_words(words)

    def counts(word: str) -> bool:
        acronym = word.isupper() and len(word) > 1 and not loud
        return acronym or word.casefold().removesuffix("'s") not in stop

    return [word for word in words if counts(word)] or words or question.split()


def search_query(question: str) -> str:
    """What to ask a search engine: the question in one line, without what is said to a person.

    A short question goes as it is, since engines understand it; a long one gives its
    first distinct content words. Quotes and operators (`site:`, `-word`) are left alone.
    """
    line = " ".join(question.split())
    line = _POLITE.sub("", line).rstrip("?\uff1f!. ") or line
    if len(line.split()) <= ENOUGH_WORDS or _OPERATOR.search(line):
        chosen = line.split()
    else:
        chosen = list(dict.fromkeys(content_words(line)))[:MAX_WORDS]
    return " ".join(chosen[:40])[:MAX_CHARS].strip()


def _cut_at_joints(match: re.Match[str]) -> str:
    """A run of Chinese or Japanese with spaces for what only joins; all of it if that is all."""
    cut = " ".join(_JOINTS.sub(" ", match.group()).split())
    return f" {cut} " if len(cut.replace(" ", "")) > 1 else f" {match.group()} "


WEIGHTS = {"heading": 1.5, "text": 1.0, "title": 0.5}
AROUND = 0.2
"""What a passage gains of the scores of its neighbours."""
MAX_MATCHES = 300
ENOUGH = 0.3
"""Share of the question's words that a passage has to meet to count as an answer."""
NAMED = 2.5
"""What a name or a figure counts in that, beside other words."""
NEAR = 0.5
"""How much words that stand together can raise a score."""
ALL_MET = 0.5
"""How much of a score depends on the share of the question's words that are met."""
RELATED = 0.4
"""What a word of the pages counts that is only like one of the question's."""
ALIKE = 0.35
"""What a word counts that says much the same as one of the question's."""
ALIKE_MET = 0.45
"""What such a word counts of whether a passage answers."""
AGAIN = 0.9
"""What each passage chosen already leaves of the score of another of the same page."""
WEAK = 0.3
"""A passage that scores below this share of the best one is left out."""
SAME = 0.7
"""Share of word pairs from which a passage repeats one that is there already."""
RANK = 0.02
"""What each place further down the results takes from a page's scores."""
MIN_PASSAGE_TOKENS = 30
"""Tokens below which no passage is looked for any more."""
MARK = 20
"""Tokens that the place and the headings of a passage take."""


@dataclass(frozen=True, slots=True)
class Match:
    """A passage with its score, the number of its page, and what it meets of the question.

    `share` is from 0 to 1; a rare word counts more than a common one. `alike` are the words
    that are met only by others that say much the same.
    """

    page: int
    passage: Passage
    score: float
    met: frozenset[str]
    share: float
    alike: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages, best first. `missing` are those of the question's words that no page has."""

    matches: tuple[Match, ...] = ()
    missing: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether some passage meets enough of the question to be worth reading."""
        all_of_it = sum(map(_telling, self.words))
        best = max((_met(match) for match in self.matches[:20]), default=0.0)
        return best > 0 and best >= ENOUGH * all_of_it


def _met(match: Match) -> float:
    return sum(_telling(w) * (ALIKE_MET if w in match.alike else 1.0) for w in match.met)


def _telling(word: str) -> float:
    """What a word says of whether a page is about the question: names and figures most."""
    return NAMED if word[:1].isupper() or word[:1].isdigit() else 1.0


def rank(
    question: str,
    pages: Sequence[tuple[str, str]],
    check: Callable[[], None] = lambda: None,
) -> Ranking:
    """Rank the passages of pages, given as title and Markdown, best page first.

    Args:
        question: in any language; words that any question has are left out.
        pages: what is looked at.
        check: called between the steps; what it raises passes through.
    """
    candidates: list[tuple[int, Passage]] = []
    for number, (_, text) in enumerate(pages):
        check()
        candidates += [(number, passage) for passage in split(text, check)]
    index = Bm25(_documents(candidates, pages, check), WEIGHTS)
    check()
    words = list(dict.fromkeys(content_words(question)))
    alike = synonyms(question)
    by_word = {word: _weights(word, index.vocabulary) for word in words}
    for word, weights in by_word.items():
        for like in alike.get(word, ()):
            if like in index.vocabulary:
                weights.setdefault(like, ALIKE)
    wanted: dict[str, float] = {}
    for weights in by_word.values():
        for term, weight in weights.items():
            wanted[term] = max(weight, wanted.get(term, 0.0))
    scored = _with_neighbours(candidates, dict(index.weigh(wanted, len(candidates))))
    check()
    unseen = index.rarity("")
    rarity = {w: max((index.rarity(t) for t in ts), default=unseen) for w, ts in by_word.items()}
    matches = [_match(*candidates[n], score, by_word, rarity) for n, score in scored]
    matches.sort(key=lambda m: (-m.score, m.page, m.passage.start))
    missing = tuple(word for word, weights in by_word.items() if not weights)
    return Ranking(tuple(matches), missing, tuple(words))


def choose(ranking: Ranking, room: int, heads: Mapping[int, int] | None = None) -> list[Match]:
    """The matches to show within a budget of tokens, best first.

    Passages that repeat one chosen, and those far weaker than the best, are left out, and
    each passage of a page makes the next one of that page count a little less.

    Args:
        ranking: what `rank` gave.
        room: tokens for all of it.
        heads: what naming a page costs, by its number, when its first passage is chosen.
    """
    left = list(ranking.matches)
    chosen: list[Match] = []
    seen: list[set[tuple[str, ...]]] = []
    counts: Counter[int] = Counter()
    least = left[0].score * WEAK if left else 0.0
    while left and room >= MIN_PASSAGE_TOKENS:
        worth = [match.score * AGAIN ** counts[match.page] for match in left]
        match = left.pop(max(range(len(worth)), key=worth.__getitem__))
        if match.score < least:
            break
        head = 0 if counts[match.page] else (heads or {}).get(match.page, 0)
        price = estimate(match.passage.text_with_headings) + MARK + head
        pairs = _pairs(match.passage)
        if price > room or any(_repeats(pairs, other) for other in seen):
            continue
        room -= price
        chosen.append(match)
        seen.append(pairs)
        counts[match.page] += 1
    return chosen


def _documents(
    candidates: Sequence[tuple[int, Passage]],
    pages: Sequence[tuple[str, str]],
    check: Callable[[], None],
) -> Iterator[tuple[int, Mapping[str, str]]]:
    for number, (page, passage) in enumerate(candidates):
        check()
        yield (
            number,
            {
                "heading": " ".join(passage.headings),
                "text": bare(passage.text_with_headings),
                "title": pages[page][0],
            },
        )


def _with_neighbours(
    candidates: Sequence[tuple[int, Passage]], scores: Mapping[int, float]
) -> list[tuple[int, float]]:
    """The best candidates, each with a share of what stands next to it on its page."""
    raised = []
    for number, score in scores.items():
        page = candidates[number][0]
        around = sum(
            scores.get(n, 0.0)
            for n in (number - 1, number + 1)
            if 0 <= n < len(candidates) and candidates[n][0] == page
        )
        raised.append((number, score + AROUND * around))
    return sorted(raised, key=lambda item: (-item[1], item[0]))[:MAX_MATCHES]


def _weights(word: str, vocabulary: Collection[str]) -> dict[str, float]:
    """The terms of a word with what they count: itself, its other forms, else slips of it."""
    own = list(dict.fromkeys(terms(word, query=True)))
    weights = {term: 1.0 for term in own if term in vocabulary}
    for term in own:
        for like in _forms(term, vocabulary):
            weights.setdefault(like, RELATED)
    if not weights:
        weights = {like: RELATED for term in own for like in _slips(term, vocabulary)}
    return weights


def _forms(term: str, vocabulary: Collection[str]) -> list[str]:
    """Other forms of a word: the same beginning."""
    if len(term) < 5 or not term.isalpha():
        return []
    stem = term[: max(5, math.ceil(len(term) * 0.7))]
    forms = sorted(
        (w for w in vocabulary if w.startswith(stem) and w != term and len(w) <= len(term) + 6),
        key=lambda w: (abs(len(w) - len(term)), w),
    )
    return forms[:3]


def _slips(term: str, vocabulary: Collection[str]) -> list[str]:
    """Words that differ by a letter or two."""
    if len(term) < 6 or not term.isalpha():
        return []
    like = [w for w in vocabulary if abs(len(w) - len(term)) <= 2 and w[:1] == term[:1]]
    return get_close_matches(term, sorted(like), 2, 0.84)


def _match(
    page: int,
    passage: Passage,
    score: float,
    by_word: Mapping[str, Mapping[str, float]],
    rarity: Mapping[str, float],
) -> Match:
    places: dict[str, list[int]] = {}
    for at, term in enumerate(terms(bare(passage.text_with_headings))):
        places.setdefault(term, []).append(at)
    known = places.keys() | set(terms(" ".join(passage.headings)))
    met = frozenset(word for word, weights in by_word.items() if known & weights.keys())
    alike = frozenset(
        word
        for word in met
        if all(weight == ALIKE for term, weight in by_word[word].items() if term in known)
    )
    share = sum(rarity[word] for word in met) / (sum(rarity.values()) or 1.0)
    near = _nearness([[p for t in ts for p in places.get(t, ())] for ts in by_word.values()])
    raised = score * (1 - ALL_MET + ALL_MET * share) * (1 + NEAR * near) * (1 - RANK) ** page
    return Match(page, passage, raised, met, share, alike)


def _nearness(places: Sequence[Sequence[int]]) -> float:
    """How close neighbouring words of the question stand, from 0 to 1."""
    if len(places) < 2:
        return 0.0
    total = 0.0
    for here, there in pairwise(places):
        distance = min((abs(b - a) for a in here[:20] for b in there[:20] if a != b), default=0)
        total += 1 / distance if 0 < distance <= 8 else 0.0
    return total / (len(places) - 1)


def _pairs(passage: Passage) -> set[tuple[str, ...]]:
    found = terms(bare(passage.text))
    return set(pairwise(found)) or {tuple(found)}


def _repeats(pairs: set[tuple[str, ...]], other: set[tuple[str, ...]]) -> bool:
    smaller = min(len(pairs), len(other))
    return len(pairs & other) >= SAME * smaller
