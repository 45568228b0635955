"""The fence around untrusted text, and making sure that nothing inside can close it."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache

from toolcrib.kit.text.cleaning import clean

WORD = "untrusted"
MAX_SOURCE = 500

_LESS = (
    r"(?:[<\u02c2\u1438\u2039\u2329\u276c\u276e\u2770\u27e8\u3008\ufe3f\ufe64\uff1c]"
    r"|&(?:amp;|#0*38;|\#x0*26;)*(?:lt;?|\#0*60;?|\#x0*3c;?)"
    r"|%(?:25)*3c|\\(?:u00|x)3c)"
)
# What may stand before and between the letters without hiding the word from a reader.
_GAP = (
    r"(?:[^\w<&%\\\u249c-\u24e9\U0001f110-\U0001f1ff]|[_\u115f\u1160\u3164\uffa0]"
    r"|&(?:nbsp|shy|zwn?j|[lr]rm|thinsp);)*?"
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


def fence(text: str, source: str) -> str:
    """Wrap text that comes from outside, so that a reader knows where it begins and ends.

    The fence is fixed: `<untrusted source="…">`, the text, `</untrusted>`. Anything in
    the text that reads like one of its two lines, in any case, spacing, width or
    encoding, loses its opening bracket to `[`.
    """
    label = html.escape(" ".join(clean(source).text.split())[:MAX_SOURCE], quote=True)
    inside = _lookalike().sub("[", text)
    end = "" if inside.endswith("\n") or not inside else "\n"
    return f'<{WORD} source="{label}">\n{inside}{end}</{WORD}>'


@cache
def _lookalike() -> re.Pattern[str]:
    """The opening bracket of anything that looks like the fence."""
    letters = _GAP.join(_letter(char) for char in WORD)
    return re.compile(rf"{_LESS}(?={_GAP}{letters})", re.IGNORECASE)


def _letter(char: str) -> str:
    index = ord(char) - ord("a")
    styled = [0xFF21, 0xFF41, 0x24B6, 0x24D0, 0x249C, 0x1F110, 0x1F130, 0x1F150, 0x1F170, 0x1F1E6]
    styled += range(0x1D400, 0x1D6A4, 26)
    forms = {char, *_LOOKALIKES[char], *(chr(start + index) for start in styled)}
    forms.update(
        chr(code)
        for start, end in ((0xC0, 0x250), (0x1E00, 0x1F00))
        for code in range(start, end)
        if unicodedata.normalize("NFD", chr(code))[0].lower() == char
    )
    code, upper = ord(char), ord(char.upper())
    entity = rf"&\#(?:0*(?:{code}|{upper})|x0*(?:{code:x}|{upper:x}));?"
    return f"(?:[{''.join(sorted(forms))}]|{entity})"
