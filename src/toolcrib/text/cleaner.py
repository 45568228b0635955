"""Cleaning of text: characters that a reader cannot see, and what a terminal would overwrite.

Instructions can be smuggled into text as tag characters, variation selectors and
zero-width runs. What has a visible use stays: variation selectors and joiners inside
emoji, (non-)joiners inside Arabic and Indic words, direction marks beside
right-to-left letters, line ends.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf"
    "\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_RTL = "\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
_JOINED = "\u0600-\u061b\u061d-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u180a"
_JOINED += "\u1820-\u18aa\ufb50-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc"
_VIRAMA = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"
_FLAGS = "(?:gbeng|gbsct|gbwls)"

_PRESERVED = "|".join(
    (
        rf"(?<=[{_EMOJI}])[\ufe0e\ufe0f]",
        r"(?<=[0-9#*])\ufe0f(?=\u20e3)",
        rf"(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])",
        rf"(?<=[{_JOINED}])[\u200c\u200d](?=[{_JOINED}])",
        rf"(?<=[{_VIRAMA}])[\u200c\u200d]",
        rf"(?<=[{_RTL}])[\u200e\u200f\u061c]|[\u200e\u200f\u061c](?=[{_RTL}])",
        r"(?<=[\u1820-\u18aa])[\u180b-\u180d\u180f]",
        "(?<=\U0001f3f4)"
        + _FLAGS.translate({ord(c): 0xE0000 + ord(c) for c in "abcdefghijklmnopqrstuvwxyz"})
        + "\U000e007f",
    )
)

# Removed wherever they stand.
_ALWAYS = {
    "control": "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f",
    "soft_hyphen": "\u00ad",
    "filler": "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0",
    "format": "\u206a-\u206f\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0080-\U000e00ff\U000e01f0-\U000e0fff",
    "noncharacter": "\ufdd0-\ufdef\ufffe\uffff",
}
# Removed unless `_PRESERVED` knows their place.
_MOSTLY = {
    "tag": "\U000e0000-\U000e007f",
    "variation_selector": "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef",
    "zero_width": "\u180e\u200b-\u200d\u2060-\u2065\ufeff",
    "bidi_control": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
}
_REPLACED = {
    "line_separator": ("\x0b\x0c\x85\u2028\u2029", "\n"),
    "surrogate": ("\ud800-\udfff", "\ufffd"),
}
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U0010ffff"

_ESCAPE = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]P^_X][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)"


# Compiled on first use: together they take longer than all else at the start of a server.
@cache
def _suspect() -> re.Pattern[str]:
    replaced = (chars for chars, _ in _REPLACED.values())
    return re.compile(f"[{''.join((*_ALWAYS.values(), *_MOSTLY.values(), *replaced, _PRIVATE))}]")


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(
        "|".join(
            (
                f"(?P<escape>{_ESCAPE})",
                *(f"(?P<{name}>[{chars}]+)" for name, chars in _ALWAYS.items()),
                *(f"(?P<{name}>[{chars}])" for name, (chars, _) in _REPLACED.items()),
                f"(?P<private_use>[{_PRIVATE}]+)",
                f"(?P<kept>{_PRESERVED})",
                *(f"(?P<{name}>[{chars}])" for name, chars in _MOSTLY.items()),
            )
        )
    )


_LONG = 500
"""Characters from which on what is plain is taken out before a text is searched."""


@cache
def _plain() -> bytes:
    """The characters of ASCII that stay as they are."""
    return bytes(code for code in range(128) if not _suspect().search(chr(code)))


def _is_suspect(text: str) -> bool:
    """Whether a text holds a character that may have to go."""
    if len(text) > _LONG:
        # Ten times faster than a search through all of it.
        rest = text.encode("utf-8", "surrogatepass").translate(None, _plain())
        text = rest.decode("utf-8", "surrogatepass")
    return _suspect().search(text) is not None


_LONE_RETURN = re.compile(r"\r(?!\n)")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A cleaned text.

    `removed` counts what was taken out or replaced, by kind (`tag`, `zero_width`,
    `bidi_control` …). `flagged` counts what stayed and has no agreed meaning
    (`private_use`).
    """

    text: str
    removed: dict[str, int] = field(default_factory=dict)
    flagged: dict[str, int] = field(default_factory=dict)


def clean(text: str) -> Cleaned:
    """The text without invisible characters, and a count of what was removed.

    Carriage returns, form feeds and Unicode line separators become line feeds,
    except in CRLF; terminal escape sequences go as a whole; lone surrogates become
    U+FFFD. Cleaning twice changes nothing more.
    """
    if text.isascii() and text.isprintable():
        return Cleaned(text)
    found: Counter[str] = Counter()
    if text.count("\r") > text.count("\r\n"):
        text, found["line_separator"] = _LONE_RETURN.subn("\n", text)
    if not _is_suspect(text):
        return Cleaned(text, dict(found))
    parts: list[str] = []
    start = seen = 0
    for hit in _suspect().finditer(text):
        match = _pattern().match(text, hit.start()) if hit.start() >= seen else None
        if match is None:
            continue
        kind, seen = str(match.lastgroup), match.end()
        if kind == "kept":
            continue
        found[kind] += 1 if kind == "escape" else match.end() - match.start()
        if kind != "private_use":
            parts += text[start : match.start()], _REPLACED.get(kind, ("", ""))[1]
            start = match.end()
    parts.append(text[start:])
    flagged = {"private_use": found.pop("private_use")} if "private_use" in found else {}
    return Cleaned("".join(parts), dict(sorted(found.items())), flagged)


def one_line(value: Any, limit: int = 0) -> str:
    """Text in one line and without invisible characters; anything else is empty.

    Args:
        value: what stands where a text should.
        limit: the most characters; 0 is any number.
    """
    if not isinstance(value, str):
        return ""
    # Four times as many leave room for what is taken out, and bound the work.
    text = " ".join(clean(value[: 4 * limit] if limit else value).text.split())
    return text[:limit].rstrip() if limit else text


# What a program wrote, as text to read: no colours, no overwritten lines.

_COLOURS = re.compile(
    r"\x1b\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|\x1b[()][A-Z0-9]|\x1b[=>78cDEHM]"
)
_BACK = re.compile(r"[^\b\n]\x08")
MAX_BACKSPACES = 200


def printed(text: str) -> str:
    """Output as a terminal would leave it, line by line.

    Escape sequences go, and of a line that was written over and over (a bar that shows how
    far something is) only the last state stays.
    """
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    if "\r" in text:
        lines = text.replace("\r\n", "\n").split("\n")
        text = "\n".join(_last(line) if "\r" in line else line for line in lines)
    for _ in range(MAX_BACKSPACES):
        if "\b" not in text:
            break
        text, count = _BACK.subn("", text)
        if not count:
            break
    return clean(text).text


def _last(line: str) -> str:
    """The last state of a line that a carriage return started again and again."""
    states = [state for state in line.split("\r") if state.strip()]
    return states[-1] if states else ""
