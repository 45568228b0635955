"""How many tokens a text takes, estimated without a tokenizer.

A text is first reduced to its shape (every lower-case Latin letter becomes `a`,
every Cyrillic letter `я`, every Han character `一` …), split into the pieces that
byte-pair tokenizers split at, and each piece is priced by its script and length.
A text has few distinct shapes, so pricing is a look-up, of whole words where single
spaces part them. The prices are calibrated against the o200k vocabulary
(`bench/tokens.py` prints how well they fit).
Special tokens such as <|endoftext|> are plain text here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import accumulate

BLOCK = 1 << 12
TOKEN = 100  # prices are in hundredths of a token, so that sums are exact

_SCRIPTS = (
    (0x0370, 0x03FF, "λ"),
    (0x0400, 0x052F, "я"),
    (0x0590, 0x05FF, "ש"),
    (0x0600, 0x06FF, "ع"),
    (0x0900, 0x0DFF, "क"),
    (0x0E00, 0x0EFF, "ก"),
    (0x10A0, 0x10FF, "ა"),
    (0x1100, 0x11FF, "가"),
    (0x1F00, 0x1FFF, "λ"),
    (0x2000, 0x206F, "‰"),
    (0x2070, 0x2FFF, "→"),
    (0x3000, 0x3040, "、"),
    (0x3041, 0x30FF, "あ"),
    (0x3400, 0x9FFF, "一"),
    (0xAC00, 0xD7AF, "가"),
    (0xF900, 0xFAFF, "一"),
    (0xFF00, 0xFFEF, "、"),
    (0x1F000, 0x1FAFF, "★"),
)
_LATIN = ((0x00B5, 0x024F), (0x1E00, 0x1EFF))
OTHER, ASTRAL, SIGN = "?", "‽", "§"

# Price of one piece of a script: once a run, then for each character.
_RUNS = {
    "λ": (0, 41),
    "я": (84, 16),
    "ש": (50, 36),
    "ع": (89, 19),
    "क": (4, 38),
    "ก": (68, 39),
    "ა": (54, 32),
    "가": (100, 39),
    "あ": (0, 65),
    "一": (0, 86),
}
_SINGLES = {"‰": 90, "→": 60, "、": 140, "★": 200, "؟": 245, ASTRAL: 300, SIGN: 85}
_DEAR = {sign for sign, price in _SINGLES.items() if price >= 200}

# Latin words: the first letter, then what each further one adds up to a length.
# Glued words follow a letter or digit at once, as in camelCase and base64.
_Steps = tuple[tuple[int | None, int], ...]
_LOWER: tuple[int, _Steps] = (60, ((3, 0), (6, 23), (10, 7), (None, 45)))
_LOWER_GLUED: tuple[int, _Steps] = (110, ((3, 0), (6, 6), (10, 40), (None, 25)))
_UPPER: tuple[int, _Steps] = (60, ((3, 19), (None, 54)))
_UPPER_GLUED: tuple[int, _Steps] = (164, ((3, 10), (None, 60)))
_MIXED: tuple[int, _Steps] = (217, ((3, 8), (None, 55)))
_MIXED_GLUED: tuple[int, _Steps] = (207, ((3, 50), (None, 30)))
_ACCENT, _PREFIX = 87, 48

_LETTERS = "aAàÀ" + "".join(_RUNS)
_PIECE = re.compile(
    rf"[^\r\n0{_LETTERS}]?(?:[AÀ]++[aà]*+|[aà]++|λ++|я++|ש++|ع++|क++|ก++|ა++|가++|[あ一]++)"
    r"|0{1,3}+"
    r"| ?[!-/:->@\[-`{-~]++[\r\n]*+"
    r"|[ \t\r\n]*[\r\n]|[ \t]+(?=[ \t])"
    r"|.",
    re.DOTALL,
)

# Lists of words, names and files hold rarer words than running text, which byte-pair
# tokenizers split further. A block is taken for one where few words repeat and few are short.
_ALL_WORDS = re.compile(r"[a-z]+")
_LONG_AT_START = re.compile(r"^[a-z]{4,}", re.MULTILINE)
_UNSPEAKABLE = re.compile(r"[bcdfghjklmnpqrstvwxz]{4,}")
_LONG_LETTERS = 4
_MIN_LIST_WORDS = 40
_FORMAT_WORDS = 4
"""The most frequent words are the form of the lines, as `txt` and `bytes`, and do not count."""
_MIN_LONG_SHARE, _MIN_DISTINCT_SHARE = 0.85, 0.95
_RARE, _RARE_AT_START, _RARE_UNSPEAKABLE = 100, 35, 280
"""What such a word takes beyond its price, in hundredths of a token."""

_NO_WORDS = ("   ", "\t", " \n", " \r")
"""Where one of these is, a piece can reach from one word into the next."""
_STRETCHES = re.compile(r"[\x00-\xff]+|[^\x00-\xff]+")


class _Shapes(dict[int, str]):
    """Code point to shape, worked out once for each."""

    def __missing__(self, code: int) -> str:
        shape = _shape_of(code)
        if code < 0x20000:
            self[code] = shape
        return shape


def _shape_of(code: int) -> str:
    char = chr(code)
    if code < 0x80:
        if char.isalpha():
            return "a" if char.islower() else "A"
        return "0" if char.isdigit() else char if char in "\n\r\t" or code >= 0x20 else OTHER
    if any(low <= code <= high for low, high in _LATIN):
        return SIGN if not char.isalpha() else "À" if char.isupper() else "à"
    for low, high, shape in _SCRIPTS:
        if low <= code <= high:
            return shape
    return SIGN if code < 0x250 else "؟" if code < 0x10000 else ASTRAL


_SHAPES = _Shapes()
# The shapes of the first 256 characters are all among them.
_WESTERN = "".join(_SHAPES[code] for code in range(256)).encode("latin-1")


def estimate(text: str) -> int:
    """About how many tokens a text takes; 0 only for the empty text."""
    blocks = range(0, len(text), BLOCK)
    return -(-sum(sum(_priced(text[start : start + BLOCK])[1]) for start in blocks) // TOKEN)


def longest_head(text: str, max_tokens: int) -> int:
    """How many characters from the start fit into a budget of tokens."""
    return heads(text, max_tokens)[0]


def heads(text: str, *budgets: int) -> list[int]:
    """How many characters from the start fit into each of some budgets, smallest first."""
    ends: list[int] = []
    wanted = [budget * TOKEN for budget in budgets]
    start = spent = 0
    while start < len(text) and wanted:
        words, prices = _priced(text[start : start + BLOCK])
        before, spent = spent, spent + sum(prices)
        # Most blocks hold no end, and need no running totals.
        if spent > wanted[0]:
            totals = list(accumulate(prices, initial=before))
        while wanted and spent > wanted[0]:
            at = bisect_right(totals, wanted[0]) - 1
            passed = len(" ".join(words[:at]))
            word = f" {words[at]}" if at else words[at]
            left = (wanted.pop(0) - totals[at]) * _units(word) // max(prices[at], 1)
            ends.append(start + passed + _fitting(word, left))
        start += BLOCK
    return [*ends, *([len(text)] * len(wanted))]


def lines_within(lines: Iterable[str], max_tokens: int) -> list[str]:
    """The first of some lines that fit into a budget together, and at least one."""
    taken: list[str] = []
    spent = 0
    for line in lines:
        spent += estimate(line) + 1
        if taken and spent > max_tokens:
            break
        taken.append(line)
    low = _largest(len(taken), lambda count: estimate("\n".join(taken[:count])) <= max_tokens)
    return taken[: max(low, 1)]


def longest_tail(text: str, max_tokens: int) -> int:
    """How many characters from the end fit into a budget of tokens."""
    low, high = 0, 16
    while high < len(text) and estimate(text[-high:]) <= max_tokens:
        low, high = high, high * 4
    return _largest(
        min(high, len(text)), lambda size: estimate(text[len(text) - size :]) <= max_tokens, low
    )


def _shape(text: str) -> str:
    """The shape of a text; stretches of Western letters go byte by byte, far quicker."""
    try:
        return _western(text)
    except UnicodeEncodeError:
        parts = _STRETCHES.findall(text)
    return "".join([_western(p) if p[0] <= "\xff" else p.translate(_SHAPES) for p in parts])


def _western(text: str) -> str:
    return text.encode("latin-1").translate(_WESTERN).decode("latin-1")


@lru_cache(maxsize=32)
def _priced(block: str) -> tuple[list[str], list[int]]:
    """The words of a block and their prices. One text is often measured several times.

    A word comes without the space before it, and is priced with it, but for the first.
    """
    shape = _shape(block)
    if any(run in shape for run in _NO_WORDS):
        words, prices = [shape], [_units(shape)]
    else:
        words = shape.split(" ")
        prices = [_units(words[0]), *map(_WORDS.__getitem__, words[1:])]
    more = _rare_words(block)
    if more:
        factor = 1 + more / max(sum(prices), 1)
        prices = [round(price * factor) for price in prices]
    return words, prices


def _rare_words(block: str) -> int:
    """What a list of words takes beyond the prices of their shapes; 0 for anything else."""
    counts = Counter(_ALL_WORDS.findall(block))
    for word, _ in counts.most_common(_FORMAT_WORDS):
        del counts[word]
    all_words = sum(counts.values())
    longer = [word for word in counts if len(word) >= _LONG_LETTERS]
    occurrences = sum(map(counts.__getitem__, longer))
    if (
        len(longer) < _MIN_LIST_WORDS
        or occurrences < _MIN_LONG_SHARE * all_words
        or len(longer) < _MIN_DISTINCT_SHARE * occurrences
    ):
        return 0
    starts = len(_LONG_AT_START.findall(block))
    unspeakable = sum(map(len, map(_UNSPEAKABLE.findall, longer)))
    rare = max(len(longer) - starts, 0) * _RARE + starts * _RARE_AT_START
    return rare + unspeakable * _RARE_UNSPEAKABLE


def _units(shape: str) -> int:
    return sum(map(_PRICES.__getitem__, _PIECE.findall(shape)))


def _fitting(shape: str, budget: int) -> int:
    """How much of a shape fits that does not fit as a whole."""
    pieces = _PIECE.findall(shape)
    totals = list(accumulate(map(_PRICES.__getitem__, pieces), initial=0))
    at = bisect_right(totals, budget) - 1
    if at == len(pieces):
        return len(shape)
    size = sum(map(len, pieces[:at])) + _part(pieces[at], budget - totals[at])
    # A run of blanks that is cut splits in another way than before more of them.
    without_blanks = len(shape[:size].rstrip(" \t"))
    return _largest(size, lambda end: _units(shape[:end]) <= budget, without_blanks)


def _part(piece: str, budget: int) -> int:
    """How much of one piece fits; its start may be split in another way than the whole."""
    return _largest(len(piece) - 1, lambda size: _units(piece[:size]) <= budget)


def _largest(high: int, fits: Callable[[int], bool], low: int = 0) -> int:
    """The largest size up to `high` that fits, where `low` does."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _new_price(piece: str) -> int:
    first, body, prefix = piece[0], piece, ""
    if len(piece) > 1 and first not in _LETTERS and piece[1] in _LETTERS:
        prefix, body, first = first, piece[1:], piece[1]
    price = 0 if prefix in ("", " ") else _SINGLES[prefix] if prefix in _DEAR else _PREFIX
    if first in "aAàÀ":
        return price + _latin(body, glued=not prefix)
    if first in _RUNS:
        return price + _RUNS[first][0] + sum(_RUNS[char][1] for char in body)
    if first == "0":
        return 110
    if first in _SINGLES and len(piece) == 1:
        return _SINGLES[first]
    return _blank(piece) if piece.isspace() else _signs(piece.strip())


def _latin(word: str, *, glued: bool) -> int:
    capitals = word.count("A") + word.count("À")
    if capitals == len(word) > 1:
        price, steps = _UPPER_GLUED if glued else _UPPER
    elif capitals > 1:
        price, steps = _MIXED_GLUED if glued else _MIXED
    else:
        price, steps = _LOWER_GLUED if glued else _LOWER
    low = 1
    for high, step in steps:
        reached = len(word) if high is None else min(high, len(word))
        price += max(0, reached - low) * step
        low = high or low
    return price + _ACCENT * (word.count("à") + word.count("À"))


def _blank(run: str) -> int:
    """White space: one token up to a length that depends on how mixed it is."""
    lines = run.count("\n") + run.count("\r")
    if not lines:
        free, step = (3, 45) if len(set(run)) > 1 else (16, 6 if "\t" in run else 1)
        return 91 + max(0, len(run) - free) * step
    free, step = (16, 6) if lines == len(run) else (3, 45)
    return 115 + max(0, lines - free) * step


def _signs(run: str) -> int:
    """Punctuation: rules of one sign are cheap, mixed signs are not."""
    if len(set(run)) == 1 and run[0] in "-=#*_./~":
        return 87 + 2 * max(0, len(run) - 16)
    return 87 + (25 if len(set(run)) == 1 else 31) * max(0, len(run) - 4)


_known_price = lru_cache(maxsize=1 << 14)(_new_price)


class _Prices(dict[str, int]):
    """Piece to price, worked out once for each of the short ones."""

    def __missing__(self, piece: str) -> int:
        if len(piece) > 32:
            return _new_price(piece)
        if len(self) >= 1 << 14:
            self.clear()
        price = self[piece] = _known_price(piece)
        return price


_PRICES = _Prices()


class _Words(dict[str, int]):
    """Word to the price of it and of the space before it; of the short ones, worked out once."""

    def __missing__(self, word: str) -> int:
        price = _units(f" {word}")
        if len(word) <= 64:
            if len(self) >= 1 << 14:
                self.clear()
            self[word] = price
        return price


_WORDS = _Words()
