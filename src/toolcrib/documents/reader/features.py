"""Features of the scorer: columns of bytes, one byte for each block of a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import exp, log
from operator import floordiv, itemgetter, mul, sub
from typing import Any, TypeVar

from toolcrib.documents.reader.lexicon import MAX_SHORT_WORDS, Lexicon, Summary
from toolcrib.documents.reader.tree import HIDDEN, MAIN, TAG_IDS, Block, PageTables

# Figures as bytes: each feature has to fit into one.

_LOG, _SIGNED_LOG = 22, 11.4
_LAST = [int(exp((code + 0.5) / _LOG) - 1) for code in range(256)]
LOGS = b"".join(
    bytes([code]) * (after - before) for code, (before, after) in enumerate(pairwise([-1, *_LAST]))
)
"""By number, its logarithm as a byte; small numbers stay apart."""
LIMIT = len(LOGS)
_REACH = 4096
SIGNED = [
    128 + round(_SIGNED_LOG * log(1 + abs(number))) * (1 if number > 0 else -1)
    for number in [*range(_REACH), *range(-_REACH, 0)]
]
"""By number, which may be negative, its logarithm with its sign."""
CLIPPED = [128 + max(-128, min(127, number)) for number in [*range(_REACH), *range(-_REACH, 0)]]
"""By number, which may be negative, itself within a byte."""
FULL_SHARE = 250
"""What stands for all of something."""
ROOTS: list[int] = [round(255 * (number / 1000) ** 0.5) for number in range(1001)]
"""By thousandths, a chance as a byte, finer where chances are small."""


def log_code(number: int) -> int:
    """LOGS, also for numbers that the table does not have."""
    return LOGS[number] if number < LIMIT else 255


def signed_code(number: int) -> int:
    """SIGNED, also for numbers that the table does not have."""
    if -_REACH <= number < _REACH:
        return SIGNED[number]
    return 255 if number > 0 else 0


def bit_columns(low: bytes) -> list[bytes]:
    """The bits of bytes as columns of their own, the lowest first."""
    return [low.translate(table) for table in _BITS]


_BITS = [bytes(value >> bit & 1 for value in range(256)) for bit in range(8)]


MIN_LONG_WORDS = 12
"""Words from which a block counts as running text."""
_DIGITS = re.compile("[0-9]+")
_NO_NAMES = (0, 0, 0)
_KIND_BITS = 20
_FARTHEST = 12
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


@dataclass(slots=True)
class Sums:
    """Running totals over the blocks, each one longer than the list of blocks.

    Those of links are words times the share of their characters that is linked.
    """

    words: list[int]
    links: list[int]
    long: list[int]
    heads: list[int]
    ends: list[int]


def block_sums(words: list[int], tags: Sequence[str], linked: bytes, ends: bytes) -> Sums:
    """The totals of a page, from which those of any element follow.

    Args:
        words: of each block.
        tags: of each block.
        linked: of each block, the share of its text in links.
        ends: of each block, whether it ends like a sentence.
    """
    running = [
        own >= MIN_LONG_WORDS and share < FULL_SHARE // 2
        for own, share in zip(words, linked, strict=True)
    ]
    figures = (
        words,
        map(mul, words, linked),
        map(mul, words, running),
        map(HEADINGS.__contains__, tags),
        map(mul, ends, running),
    )
    return Sums(*(list(accumulate(one, initial=0)) for one in figures))


def picker(places: Sequence[int]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives what stands at these places of a list or of bytes."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple([values[place] for place in places])


class Chains:
    """For each element its names, path, repetition and group; for each block its ancestors.

    All lists have one entry an element, unless noted otherwise. Entries of elements without
    blocks have no meaning.

    Attributes:
        at: gives by block the entry of its element in a list.
        above: by block, the parent of its element.
        starts, ends: the range of its blocks.
        names: log-odds of the element's own names: sum, least, greatest.
        inline: by block, the sum of the names of its first inline element.
        path_sums, path_min, path_max, path_far: the same over all ancestors, and how far
            away the least is.
        own, path_repeats, mean, level: siblings like it; the most along the path, with their
            words and distance.
        keys, groups: elements of one kind by block, and [blocks, words, link words] of each.
        wider: the next element up that holds more blocks.
        top: the element that holds the running text.
    """

    def __init__(self, page: PageTables, sums: Sums, lexicon: Lexicon) -> None:
        elements = page.elements
        self.sums = sums
        self.total = max(1, sums.words[-1])
        self.parents = [element.parent for element in elements]
        self.starts = [element.start for element in elements]
        self.ends = [element.end for element in elements]
        self.tags = [element.tag for element in elements]
        self._blocks = [block.element for block in page.blocks]
        self.at = picker(self._blocks)
        self.above = self.at(self.parents)
        inline = [block.inline_name for block in page.blocks]
        self._name_all([element.name for element in elements], inline, lexicon)
        self._walk_paths()
        self._walk_repeats()
        self._group()
        self.top = self._find_top()

    def _name_all(self, names: list[str], inline: list[str], lexicon: Lexicon) -> None:
        """A number for each tag with names without digits: what items of one list share."""
        known: dict[tuple[str, str], tuple[int, Summary]] = {}
        numbers: dict[tuple[str, str], int] = {}
        pairs = list(zip(self.tags, names, strict=True))
        for both in dict.fromkeys(pairs):
            tag, name = both
            plain = (tag, _DIGITS.sub("", name)[:60] if name else "")
            number = numbers.setdefault(plain, len(numbers) + 1)
            known[both] = (number, lexicon.name(name) if name else _NO_NAMES)
        found = [known[both] for both in pairs]
        self.kinds = [number for number, _ in found]
        self.names = [summary for _, summary in found]
        self.inline = [lexicon.name(name)[0] if name else 0 for name in inline]

    def _walk_paths(self) -> None:
        self.path_sums = sums = [0]
        self.path_min = lows = [0]
        self.path_max = highs = [0]
        self.path_far = far = [0]
        self.wider = wider = [0]
        sizes = list(map(sub, self.ends, self.starts))
        for up, size, (total, low, high) in zip(
            self.parents[1:], sizes[1:], self.names[1:], strict=True
        ):
            sums.append(sums[up] * 4 // 5 + total)
            above = lows[up]
            if above <= low:
                lows.append(above)
                far.append(far[up] + 1)
            else:
                lows.append(low)
                far.append(0)
            above = highs[up]
            highs.append(max(above, high))
            wider.append(wider[up] if size == sizes[up] else up)

    def _walk_repeats(self) -> None:
        words = self.sums.words
        pairs = [up << _KIND_BITS | kind for up, kind in zip(self.parents, self.kinds, strict=True)]
        counts = Counter(pairs)
        inside: dict[int, int] = {}
        for pair, start, end in zip(pairs, self.starts, self.ends, strict=True):
            if counts[pair] > 2:
                inside[pair] = inside.get(pair, 0) + words[end] - words[start]
        best = (1, 0)
        for pair, total in inside.items():
            number = counts[pair]
            mean = total // number
            if number * min(mean, 50) > best[0] * min(best[1], 50):
                best = (number, mean)
        self.best_repeat = best
        self.own = own = [counts[pair] for pair in pairs]
        self.path_repeats, self.mean, self.level = counted, means, levels = [1], [0], [1]
        for up, number, pair, tag in zip(
            self.parents[1:], own[1:], pairs[1:], self.tags[1:], strict=True
        ):
            if number > 2 and number >= counted[up] and tag != "p":
                counted.append(number)
                means.append(inside[pair] // number)
                levels.append(0)
            else:
                counted.append(counted[up])
                means.append(means[up])
                levels.append(levels[up] + 1)

    def _group(self) -> None:
        """Blocks whose element, and the two above, are of the same kinds."""
        kinds = [*self.kinds, 0]  # what is above the root has a kind too
        parents, sums = self.parents, self.sums
        self.keys = [
            (kind << _KIND_BITS | kinds[up]) << _KIND_BITS | kinds[parents[up]]
            for kind, up in zip(self.at(kinds), self.above, strict=True)
        ]
        self.groups: dict[int, list[int]] = {}
        known = self.groups.get
        for key, words, links in zip(
            self.keys, map(sub, sums.words[1:], sums.words), map(sub, sums.links[1:], sums.links),
            strict=False,
        ):  # fmt: skip
            entry = known(key)
            if entry is None:
                self.groups[key] = [1, words, links]
            else:
                entry[0] += 1
                entry[1] += words
                entry[2] += links

    def _find_top(self) -> int:
        """The element with the most running text near it, as reader modes look for it."""
        parents, long = self.parents, self.sums.long
        scores: dict[int, float] = {}
        for above, before, after in zip(self.above, long, long[1:], strict=False):
            if before == after:
                continue
            index = above
            gain = 1 + min(float(after - before), 100) / 20
            for share in (1.0, 0.6, 0.3, 0.15):
                if index < 0:
                    break
                scores[index] = scores.get(index, 0.0) + gain * share
                index = parents[index]
        return max(scores, key=scores.__getitem__, default=0)

    def top_depths(self) -> list[int]:
        """How far above an element its path meets the top element."""
        start, end = self.starts[self.top], self.ends[self.top]
        steps: list[int] = []
        for up, first, last in zip(self.parents, self.starts, self.ends, strict=True):
            steps.append(0 if first <= start and last >= end else steps[up] + 1)
        return [min(one, _FARTHEST) for one in steps]

    def rows(self) -> list[bytes]:
        """By block, the figures of the next four wider and wider elements."""
        first = self.first_wider()
        wider, single = self.wider, self._figures
        known: dict[int, bytes] = {}
        chains: dict[int, bytes] = {}
        for start in dict.fromkeys(first):
            index, figures = start, []
            for _ in range(4):
                if index not in known:
                    known[index] = single(index)
                figures.append(known[index])
                index = wider[index]
            chains[start] = b"".join(figures)
        return [chains[index] for index in first]

    def first_wider(self) -> list[int]:
        """By block, the next element that holds more blocks than it."""
        wider = self.wider
        return [
            index if last - first > 1 else wider[index]
            for index, first, last in zip(
                self._blocks, self.at(self.starts), self.at(self.ends), strict=True
            )
        ]

    def _figures(self, index: int) -> bytes:
        sums, start, end = self.sums, self.starts[index], self.ends[index]
        blocks = end - start or 1
        words = sums.words[end] - sums.words[start]
        some = words or 1
        dense = words * 8 // blocks
        return bytes((
            (sums.links[end] - sums.links[start]) // some,
            (sums.long[end] - sums.long[start]) * FULL_SHARE // some,
            LOGS[dense] if dense < LIMIT else 255,
            words * FULL_SHARE // self.total,
            (sums.heads[end] - sums.heads[start]) * FULL_SHARE // blocks,
            CLIPPED[self.names[index][0]],
            (sums.ends[end] - sums.ends[start]) * FULL_SHARE // blocks,
        ))  # fmt: skip


_ENDS = (".", "!", "?", "\u2026", "\u3002", "\uff01", "\uff1f", '."', ".\u201d", ".)")
_PRICED = "$€£¥"
_HEAD = 400
"""Characters of a block in which signs are looked for."""
_TITLE_WORDS = 30
_Number = TypeVar("_Number", int, float)

TEXT_NAMES = (
    "words", "chars", "link_density", "ends", "commas", "money", "lines", "question", "txt_mean",
    "txt_min", "dup",
)  # fmt: skip
_LINKED, _ENDING, _MONEY, _QUESTION, _MEAN = 2, 3, 5, 7, 8
PLACE_NAMES = (
    "tag", "depth", "siblings", "own_sum", "own_min", "inline_sum", "parent_sum",
    "path_sum", "path_min", "path_max", "path_low_far", "rep", "path_rep", "path_rep_words",
    "path_rep_level", "same", "same_words", "same_link", "index", "words_before", "from_h1",
    "title", "from_title", "from_end", "top_in", "top_depth", "flags", "more_flags",
)  # fmt: skip
CHAIN_NAMES = tuple(
    f"c{step}_{what}"
    for step in range(4)
    for what in ("link", "long", "mean", "share", "heads", "name", "ends")
)
FLAG_NAMES = (
    "f_nav", "f_header", "f_footer", "f_aside", "f_main", "f_article", "f_form", "f_table",
    "f_list", "f_dialog", "f_button", "f_figure", "f_quote", "f_pre", "f_hidden", "f_noscript",
)  # fmt: skip
AROUND_NAMES = (
    "level", "words_m1", "words_q1", "level_m1", "level_q1", "long10", "link3", "link10", "path5",
    "txt5", "since_head", "till_head",
)  # fmt: skip
NAMES = (*TEXT_NAMES, *PLACE_NAMES, *CHAIN_NAMES, *FLAG_NAMES, *AROUND_NAMES)
"""The columns."""

PAGE_NAMES = (
    "g_blocks", "g_words", "g_link", "g_long", "g_p", "g_li", "g_td", "g_heads", "g_articles",
    "g_rep", "g_rep_words", "g_forms", "g_images", "g_main", "g_hidden", "g_money", "g_pre",
    "g_question", "g_top", "g_buttons",
)  # fmt: skip

_PARAGRAPH, _ITEM, _CELL, _CODE, _BUTTON, _NO_LEVEL = 7, 6, 5, 3, 2, 8
LEVELS = {
    "h1": 14, "h2": 13, "h3": 12, "h4": 11, "h5": 10, "h6": 10, "summary": 9, "p": _PARAGRAPH,
    "li": _ITEM, "td": _CELL, "th": _CELL, "dt": 4, "dd": 4, "pre": _CODE, "button": _BUTTON,
    "figcaption": 1, "caption": 1,
}  # fmt: skip
"""Tags in an order in which neighbours are alike."""


def text_columns(blocks: list[Block], words: list[int], lexicon: Lexicon) -> list[bytes]:
    """What the texts of blocks are like, named by TEXT_NAMES."""
    texts = [block.text for block in blocks]
    sizes = list(map(len, texts))
    heads = [
        text if size <= _HEAD else text[:_HEAD] for text, size in zip(texts, sizes, strict=True)
    ]
    copies = Counter(texts)
    read = {
        text: lexicon.text(text[:_HEAD], own) if own <= MAX_SHORT_WORDS else (0, 0)
        for text, own in dict(zip(texts, words, strict=True)).items()
    }
    joined = "".join(heads)
    found = [read[text] for text in texts]
    return [
        bytes([LOGS[own] if own < LIMIT else 255 for own in words]),
        bytes([LOGS[size] if size < LIMIT else 255 for size in sizes]),
        bytes([
            (linked * FULL_SHARE // size if linked < size else FULL_SHARE) if linked else 0
            for linked, size in zip([block.link_chars for block in blocks], sizes, strict=True)
        ]),
        bytes([text.endswith(_ENDS) for text in texts]),
        bytes([log_code(text.count(",")) for text in texts]),
        bytes([
            "$" in head or "€" in head or "£" in head or "¥" in head for head in heads
        ]) if any(sign in joined for sign in _PRICED) else bytes(len(texts)),
        bytes([min(255, text.count("\n")) for text in texts]),
        bytes(["?" in head for head in heads]),
        bytes([CLIPPED[mean] for mean, _ in found]),
        bytes([CLIPPED[low] for _, low in found]),
        bytes([LOGS[copies[text]] for text in texts]),
    ]  # fmt: skip


class PageFeatures:
    """All columns of one page, and the page's own row."""

    def __init__(self, page: PageTables, title: str, lexicon: Lexicon) -> None:
        self.page = page
        self.title = frozenset(title.lower().split())
        self.lexicon = lexicon
        blocks, elements = page.blocks, page.elements
        self.words = [block.words for block in blocks]
        tags = [elements[block.element].tag for block in blocks]
        self.texts = text_columns(blocks, self.words, lexicon)
        self.sums = block_sums(self.words, tags, self.texts[_LINKED], self.texts[_ENDING])
        self.chains = Chains(page, self.sums, lexicon)
        self.levels = bytes([LEVELS.get(tag, _NO_LEVEL) for tag in tags])
        self.tag_ids = bytes([TAG_IDS.get(tag, 0) for tag in tags])

    def columns(self) -> list[bytes]:
        """The columns, named by NAMES."""
        flags = self.chains.at([element.flags for element in self.page.elements])
        low = bytes([one & 255 for one in flags])
        high = bytes([one >> 8 & 255 for one in flags])
        chains = strided(b"".join(self.chains.rows()), len(CHAIN_NAMES))
        split = bit_columns(low) + bit_columns(high)
        places = [*self._elements(), *self._groups(), *self._places(), low, high]
        return self.texts + places + chains + split + self._around()

    def _elements(self) -> list[bytes]:
        """What the elements of the blocks are like, the first of PLACE_NAMES."""
        chains, elements = self.chains, self.page.elements
        at = chains.at
        counted = Counter(chains.parents)
        children = [counted[number] for number in range(len(elements))] + [0]
        names = [*(total for total, _, _ in chains.names), 0]
        above = picker(chains.above)
        return [
            self.tag_ids,
            _bytes(at([element.depth for element in elements])),
            bytes([LOGS[one] for one in above(children)]),
            _clipped(at(names)),
            _clipped([low for _, low, _ in at(chains.names)]),
            _clipped(chains.inline),
            _clipped(above(names)),
            _clipped(at(chains.path_sums)),
            _clipped(at(chains.path_min)),
            _clipped(at(chains.path_max)),
            _bytes(at(chains.path_far)),
            bytes([LOGS[one] for one in at(chains.own)]),
            bytes([LOGS[one] for one in at(chains.path_repeats)]),
            bytes([log_code(one) for one in at(chains.mean)]),
            _bytes(at(chains.level)),
        ]

    def _groups(self) -> list[bytes]:
        """What blocks of one kind are like, the next of PLACE_NAMES."""
        coded = {
            key: bytes((LOGS[blocks], log_code(words // blocks), linked // (words or 1)))
            for key, (blocks, words, linked) in self.chains.groups.items()
        }
        return strided(b"".join([coded[key] for key in self.chains.keys]), 3)

    def _places(self) -> list[bytes]:
        """Where blocks stand on the page, the next of PLACE_NAMES."""
        chains, words = self.chains, self.sums.words
        total = len(self.words)
        words_total = max(1, words[-1])
        first_h1, title_at, fits = self._title_places()
        top = self.page.elements[chains.top]
        inside = top.end - top.start
        return [
            bytes([number * FULL_SHARE // total for number in range(total)]),
            bytes([before * FULL_SHARE // words_total for before in words[:-1]]),
            bytes([signed_code(number) for number in range(-first_h1, total - first_h1)]),
            bytes(fits),
            bytes([signed_code(number) for number in range(-title_at, total - title_at)]),
            bytes([LOGS[number] for number in range(total, 0, -1)]),
            bytes(top.start) + b"\x01" * inside + bytes(total - top.end),
            bytes(chains.at(chains.top_depths())),
        ]

    def _title_places(self) -> tuple[int, int, list[int]]:
        """The block of the first h1, that most like the title, and how alike each is."""
        title, blocks = self.title, self.page.blocks
        first = -1
        best, best_fit = 0, 60
        fits = []
        h1 = LEVELS["h1"]
        for number, (block, level) in enumerate(zip(blocks, self.levels, strict=True)):
            fit = 0
            if block.words <= _TITLE_WORDS and title:
                block_words = block.text.lower().split()
                if not title.isdisjoint(block_words):
                    own = set(block_words)
                    shared = len(own & title)
                    fit = 195 * shared // (len(own) + len(title) - shared)
            if level == h1:
                fit += 60
                if first < 0:
                    first = number
            if fit > best_fit:
                best, best_fit = number, fit
            fits.append(fit)
        return max(first, 0), best, fits

    def _around(self) -> list[bytes]:
        sums, words, levels = self.sums, self.texts[0], self.levels
        paths = list(accumulate(self.chains.at(self.chains.path_sums), initial=0))
        means = list(accumulate([one - 128 for one in self.texts[_MEAN]], initial=0))
        ones = list(range(len(words) + 1))
        return [
            levels,
            b"\x00" + words[:-1],
            words[1:] + b"\x00",
            b"\x00" + levels[:-1],
            levels[1:] + b"\x00",
            bytes([LOGS[one] if one < LIMIT else 255 for one in window_sums(sums.long, 10)]),
            bytes(_means(sums.links, sums.words, 3)),
            bytes(_means(sums.links, sums.words, 10)),
            _clipped(_means(paths, ones, 5)),
            _clipped(_means(means, ones, 5)),
            *self._heads(),
        ]

    def _heads(self) -> tuple[bytes, bytes]:
        """How many blocks since the last heading and until the next."""
        levels = self.levels
        since, till = bytearray(), bytearray()
        near = 20
        for level in levels:
            near = 0 if level > _NO_LEVEL else min(20, near + 1)
            since.append(near)
        near = 20
        for level in reversed(levels):
            till.append(near)
            near = 1 if level > _NO_LEVEL else min(20, near + 1)
        till.reverse()
        return bytes(since), bytes(till)

    def page_row(self) -> list[float]:
        """The figures of the whole page, named by PAGE_NAMES."""
        page, sums, levels = self.page, self.sums, self.levels
        count = max(1, len(page.blocks))
        words = max(1, sums.words[-1])
        flags = articles = 0
        for element in page.elements:
            flags |= element.flags
            articles += element.tag == "article"
        hidden = 0
        if flags & HIDDEN:
            elements = page.elements
            hidden = sum(b.words for b in page.blocks if elements[b.element].flags & HIDDEN)
        by_level = [0] * 16
        for block, level in zip(page.blocks, levels, strict=True):
            by_level[level] += block.words
        top = page.elements[self.chains.top]
        return [
            log(1 + count),
            log(1 + words),
            sums.links[-1] / (FULL_SHARE * words),
            sums.long[-1] / words,
            by_level[_PARAGRAPH] / words,
            by_level[_ITEM] / words,
            by_level[_CELL] / words,
            sums.heads[-1] / count,
            log(1 + articles),
            log(1 + self.chains.best_repeat[0]),
            log(1 + self.chains.best_repeat[1]),
            log(1 + page.inputs),
            log(1 + page.images),
            float(bool(flags & MAIN)),
            hidden / words,
            self.texts[_MONEY].count(1) / count,
            levels.count(_CODE) / count,
            self.texts[_QUESTION].count(1) / count,
            (sums.words[top.end] - sums.words[top.start]) / words,
            levels.count(_BUTTON) / count,
        ]


def _clipped(values: Iterable[int]) -> bytes:
    return bytes([CLIPPED[one] for one in values])


def _bytes(values: Iterable[int]) -> bytes:
    return bytes([one if one < 256 else 255 for one in values])


def strided(rows: bytes, width: int) -> list[bytes]:
    """Rows of so many bytes, one after another, as columns."""
    return [rows[column::width] for column in range(width)]


def window_sums(totals: list[_Number], reach: int) -> Iterator[_Number]:
    """By block, how much of a running total comes from those within reach of it."""
    count = len(totals) - 1
    low = totals[:1] * reach + totals[:count]
    high = totals[reach + 1 :] + totals[-1:] * reach
    return map(sub, high[:count], low)


def _means(totals: list[int], words: list[int], reach: int) -> list[int]:
    own = [size or 1 for size in window_sums(words, reach)]
    return list(map(floordiv, window_sums(totals, reach), own))


# The second pass scores each block beside the first pass's chances of the blocks around it.

SECOND_NAMES = (
    "chance", "m3", "m2", "m1", "q1", "q2", "q3", "rank", "w2", "w5", "w15", "before", "after",
    "a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3", "up_best", "group", "kin",
)  # fmt: skip
"""The columns."""
SHARED_NAMES = ("page", "most", "expected", "top", "mean")


def second_columns(
    page: PageTables, chains: Chains, chances: list[float]
) -> tuple[list[bytes], list[float]]:
    """Columns named by NAMES, and what all blocks share, named by SHARED_NAMES.

    Args:
        page: the page.
        chains: its elements.
        chances: of all blocks.
    """
    words = chains.sums.words
    sizes = [block.words for block in page.blocks]
    weights = list(map(mul, chances, sizes))
    hits = list(accumulate(weights, initial=0.0))
    rows = b"".join(_ancestor_columns(chains, hits))
    top = page.elements[chains.top]
    shared = [
        hits[-1] / max(1, words[-1]),
        max(chances),
        log(1 + hits[-1]),
        _mean(hits, words, top.start, top.end),
        sum(chances) / len(chances),
    ]
    columns = _neighbour_columns(chances, hits, words) + strided(rows, 9)
    alike = [_ratios(keys, weights, sizes) for keys in (chains.keys, chains.above)]
    return columns + alike, shared


def _neighbour_columns(chances: list[float], hits: list[float], words: list[int]) -> list[bytes]:
    """What was thought of a block and of those before and after it."""
    count = len(chances)
    own = bytes([ROOTS[int(1000 * chance)] for chance in chances])
    ranks = bytearray(count)
    for place, number in enumerate(sorted(range(count), key=chances.__getitem__)):
        ranks[number] = place * FULL_SHARE // count
    windows = [
        bytes([
            ROOTS[int(1000 * hit / size)]
            for hit, size in zip(window_sums(hits, reach), window_sums(words, reach), strict=True)
        ])
        for reach in (2, 5, 15)
    ]  # fmt: skip
    share = FULL_SHARE / max(hits[-1], 1e-6)
    before = bytes([int(one * share) for one in hits])
    back = [(b"\x00" * step + own)[:count] for step in (3, 2, 1)]
    on = [(own + b"\x00" * step)[step:] for step in (1, 2, 3)]
    return [own, *back, *on, bytes(ranks), *windows, before[:-1], before[1:]]


def _ancestor_columns(chains: Chains, hits: list[float]) -> list[bytes]:
    """By block, of the next four wider and wider elements: means, shares, the best product."""
    wider, words = chains.wider, chains.sums.words
    expected = max(hits[-1], 1e-6)
    first = chains.first_wider()
    known: dict[int, bytes] = {}
    figures: dict[int, tuple[float, float]] = {}
    for start in dict.fromkeys(first):
        index, found = start, []
        for _ in range(4):
            figure = figures.get(index)
            if figure is None:
                low, high = chains.starts[index], chains.ends[index]
                share = (hits[high] - hits[low]) / expected
                figure = figures[index] = (_mean(hits, words, low, high), share)
            found.append(figure)
            index = wider[index]
        best = max([mean * share for mean, share in found])
        (a, b), (c, d), (e, f), (g, h) = found
        known[start] = bytes([
            ROOTS[int(1000 * min(max(one, 0.0), 1.0))] for one in (a, c, e, g, b, d, f, h, best)
        ])  # fmt: skip
    return [known[index] for index in first]


def _ratios(keys: Sequence[int], weights: list[float], sizes: list[int]) -> bytes:
    """By block, what was thought of all blocks with its key."""
    hits: dict[int, float] = {}
    words: dict[int, int] = {}
    for key, weight, size in zip(keys, weights, sizes, strict=True):
        hits[key] = hits.get(key, 0.0) + weight
        words[key] = words.get(key, 0) + size
    coded = {key: ROOTS[int(1000 * total / words[key])] for key, total in hits.items()}
    return bytes([coded[key] for key in keys])


def _mean(hits: list[float], words: list[int], low: int, high: int) -> float:
    return (hits[high] - hits[low]) / max(1, words[high] - words[low])
