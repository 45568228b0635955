"""The fence around untrusted text, and making sure that nothing inside can close it."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from toolcrib.text.cleaner import clean

# Marks of our own between texts of others: what looks like one inside a text is told apart.

_MARK = re.compile(
    r"^(?=[ \t]*(?:=+[ \t]*page[ \t]+\d|\[\d+\][ \t]|to go on:))", re.IGNORECASE | re.MULTILINE
)
SIGN = "| "


def escape_fence(text: str) -> str:
    """The text with a sign before each line that could pass for a mark of ours.

    Marks are `=== Page 1 of 2 ===`, `[1] Title` and `To go on:`.
    """
    return _MARK.sub(SIGN, text)


WORD = "untrusted"
MAX_SOURCE = 500

_BRACKETS = (
    "<\u00ab\u02c2\u1438\u2039\u226a\u227a\u22d6\u2329\u276c\u276e\u2770\u27e8\u3008\u300a"
    "\ufe3f\ufe64\uff1c"
)
_LOOKALIKES = {
    "u": "υսцᴜ",
    "n": "пղոηɴ",
    "t": "тτᴛ",
    "r": "гᴦʀ",
    "s": "ѕꜱʂ",
    "e": "еєҽεᴇ\u212e",
    "d": "ԁɗᴅ",
}
# One thing that may stand between two letters without hiding the word from a reader. None
# of them begins with a letter of the word, so a search never has to go back.
_ENTITY_GAP = (
    r"&(?:nbsp|shy|zwn?j|[lr]rm|thinsp|nobreak|zerowidthspace|i[ct]|#(?:8203|x200b|173|xad))"
)
# Each can be read in one way only, so greedy matching stays linear. A possessive group would
# say so, but goes wrong in Python before 3.11.5.
_GAP = (
    r"(?:[^\w<&%\\]|[_\u115f\u1160\u3164\uffa0]"
    rf"|{_ENTITY_GAP}|<[^<>]{{0,20}}>){{0,16}}"
)
_GAP_CHAR = re.compile(r"[^\w<&%\\]|[_\u115f\u1160\u3164\uffa0]")
_GAP_BEFORE = re.compile(rf"{_ENTITY_GAP}\Z", re.IGNORECASE)
_LESS_BEFORE = re.compile(
    r"(?:<|&(?:amp;|\#0{0,8}38;|\#x0{0,8}26;){0,8}(?:lt|\#0{0,8}60|\#x0{0,8}3c)"
    r"|%(?:25){0,8}3c|\\(?:u00|x)3c)\Z",
    re.IGNORECASE,
)
_WINDOW = 96


def fence(text: str, source: str) -> str:
    """Wrap text that comes from outside, so that a reader knows where it begins and ends.

    The fence is fixed: `<untrusted source="…">`, the text, `</untrusted>`. Anything in
    the text that reads like one of its two lines, in any case, spacing, width or
    encoding, loses its opening bracket to `[`. The time is linear in the text.
    """
    label = html.escape(" ".join(clean(source).text.split())[:MAX_SOURCE], quote=True)
    inside = _neutralized(text)
    end = "" if inside.endswith("\n") or not inside else "\n"
    return f'<{WORD} source="{label}">\n{inside}{end}</{WORD}>'


def _neutralized(text: str) -> str:
    parts, done = [], 0
    for start, end in _openings(text):
        parts += [text[done:start], "["]
        done = end
    return "".join([*parts, text[done:]])


def _openings(text: str) -> Iterator[tuple[int, int]]:
    """Where a bracket stands before the word, however either is written."""
    # One character for one, so places stay the same. A search for one case is far faster.
    ascii_only = text.isascii()
    folded = text.lower() if ascii_only else text.translate(_folding())
    word = _word(re.NOFLAG) if ascii_only else _word(re.IGNORECASE)
    last = 0
    for match in word.finditer(folded):
        at = match.start()
        while at > last:
            if _GAP_CHAR.match(folded, at - 1):
                at -= 1
                continue
            before = folded[max(last, at - _WINDOW) : at]
            hidden = _GAP_BEFORE.search(before)
            if hidden is None:
                less = _LESS_BEFORE.search(before)
                if less is not None:
                    yield at - len(less[0]), at
                break
            at -= len(hidden[0])
        last = match.start()


@cache
def _word(case: re.RegexFlag) -> re.Pattern[str]:
    return re.compile(_GAP.join(map(_letter, WORD)), case)


def _letter(char: str) -> str:
    code, upper = ord(char), ord(char.upper())
    return rf"(?:{char}|&\#(?:0{{0,8}}(?:{code}|{upper})|x0{{0,8}}(?:{code:x}|{upper:x})))"


@cache
def _folding() -> dict[int, str]:
    """Every form of a letter of the word to that letter, every such bracket to `<`."""
    table = dict.fromkeys(map(ord, _BRACKETS), "<")
    for char in set(WORD):
        table |= dict.fromkeys(map(ord, _forms(char)), char)
    return table


def _forms(char: str) -> set[str]:
    index = ord(char) - ord("a")
    styled = [0xFF21, 0xFF41, 0x24B6, 0x24D0, 0x249C, 0x1F110, 0x1F130, 0x1F150, 0x1F170, 0x1F1E6]
    styled += range(0x1D400, 0x1D6A4, 26)
    forms = {char.upper(), *_LOOKALIKES[char], *(chr(start + index) for start in styled)}
    forms |= {form.upper() for form in _LOOKALIKES[char] if len(form.upper()) == 1}
    forms.update(
        chr(code)
        for start, end in ((0xC0, 0x250), (0x1D2C, 0x1D6B), (0x1E00, 0x1F00), (0x2070, 0x209D))
        for code in range(start, end)
        if unicodedata.normalize("NFKD", chr(code))[0].lower() == char
    )
    return forms
