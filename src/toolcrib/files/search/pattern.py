"""Search patterns, of one meaning for RE2 and for ripgrep, and the lines that match them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from toolcrib.core.errors import BadInput

MAX_PATTERN_CHARS = 1000
# Within a line, and the same characters for both engines.
_CLASSES = {
    "w": "\\pL\\pM\\pN_",
    "d": "\\p{Nd}",
    "s": " \\t\\r\\f\\x{0b}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{202f}\\x{205f}\\x{3000}",
}
_SIGNS = "\\.+*?()|[]{}^$"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that is ready.

    Attributes:
        text: as it was given.
        literal: whether it is taken as plain text.
        reason: why, where an expression was asked for; "" otherwise.
        ignore_case: whether the case of letters does not matter.
        engine: the compiled RE2 expression over bytes.
        rust: the same for ripgrep; None where that has no words for it.
        bare: the bytes to look for, where that says it all.
    """

    text: str
    literal: bool
    reason: str
    ignore_case: bool
    engine: Any
    rust: str | None
    bare: bytes | None


def pattern_of(text: str, *, literal: bool, case_sensitive: bool) -> Pattern:
    """Make a pattern; what is no expression of the linear-time engine is taken as plain text.

    Raises:
        BadInput: it is empty, too long, or goes over lines.
    """
    import re2  # type: ignore[import-untyped]

    if not text:
        raise BadInput("The pattern is empty.")
    if len(text) > MAX_PATTERN_CHARS:
        raise BadInput(
            f"'pattern' has at most {MAX_PATTERN_CHARS:,} characters, not {len(text):,}."
        )
    if "\n" in text or "\r" in text:
        raise BadInput(
            "The pattern goes over several lines.", hint="Search for one line of it, then read."
        )
    reason = ""
    if not literal:
        try:
            plain, rust = _translated(text)
            ignore = not case_sensitive and not _has_capital(text)
            engine = _line_engine(plain, ignore)
        except (re2.error, ValueError) as error:
            reason = reason_of(error)
        else:
            simple = not ignore and not set(_SIGNS) & set(text)
            return Pattern(text, False, "", ignore, engine, rust, text.encode() if simple else None)
    ignore = not case_sensitive and text == text.lower()
    quoted = "".join(f"\\{c}" if c in _SIGNS else c for c in text)
    engine = _line_engine(quoted, ignore)
    bare = None if ignore else text.encode()
    return Pattern(text, True, reason, ignore, engine, quoted, bare)


def reason_of(error: Exception) -> str:
    """Why RE2 refuses an expression, in one line."""
    raw = error.args[0] if error.args else error
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    return " ".join(text.split())[:120]


def _line_engine(expression: str, ignore_case: bool) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.never_nl = True
    options.case_sensitive = not ignore_case
    return re2.compile(f"(?m){expression}", options)


def _has_capital(text: str) -> bool:
    """Whether a letter that stands for itself is a capital."""
    at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 2
            if text[at - 1 : at] in ("p", "P", "x") and text[at : at + 1] == "{":
                at = text.find("}", at) + 1 or len(text)
            continue
        if text[at] == "(" and text[at : at + 3] in ("(?P", "(?<"):
            at = text.find(">", at) + 1 or len(text)
            continue
        if text[at].isupper():
            return True
        at += 1
    return False


def _translated(text: str) -> tuple[str, str]:
    """The expression for RE2 and for Rust, with classes and anchors written out.

    Raises:
        ValueError: it names what cannot be within a line.
    """
    plain: list[str] = []
    rust: list[str] = []
    at, inside = 0, False
    while at < len(text):
        char = text[at]
        if char == "\\":
            ours, theirs, at = _escape(text, at, inside=inside)
            plain.append(ours)
            rust.append(theirs)
            continue
        at += 1
        ours = theirs = char
        if inside:
            if char == "[" and text[at : at + 1] == ":" and ":]" in text[at:]:
                end = text.index(":]", at) + 2
                ours = theirs = text[at - 1 : end]
                at = end
            elif char == "]":
                inside = False
            elif char in "[&~":
                theirs = f"\\{char}"
        elif char == "[":
            inside = True
            start = at
            at += text[at : at + 1] == "^"
            if text[at : at + 1] == "]":
                at += 1
                ours = theirs = f"[{text[start : at - 1]}\\]"
            else:
                ours = theirs = text[start - 1 : at]
        elif char == "$":
            ours = theirs = "(?:\\r?$)"
        plain.append(ours)
        rust.append(theirs)
    return "".join(plain), "".join(rust)


def _escape(text: str, at: int, *, inside: bool) -> tuple[str, str, int]:
    """One escape in both dialects, and where it ends."""
    sign = text[at + 1 : at + 2]
    end = at + 2
    if sign in ("w", "d", "s"):
        written = _CLASSES[sign] if inside else f"[{_CLASSES[sign]}]"
        return written, written, end
    if sign in ("W", "D", "S"):
        if inside:
            raise ValueError(f"\\{sign} within brackets")
        written = f"[^{_CLASSES[sign.lower()]}\\n]"
        return written, written, end
    if not inside and sign in ("b", "B"):
        return f"\\{sign}", f"(?-u:\\{sign})", end
    if not inside and sign in ("A", "z", "Z"):
        written = "^" if sign == "A" else "(?:\\r?$)"
        return written, written, end
    if sign in ("<", ">") and not inside:
        return "\\b", "(?-u:\\b)", end
    if sign in ("n", "C", "Q", "E", ""):
        raise ValueError(f"\\{sign} is not to be had within a line")
    if sign and not sign.isalnum():
        # Both know these; older ones of ripgrep refuse what need not be escaped.
        return f"\\{sign}", f"\\{sign}" if sign in f"{_SIGNS}-#&~" else sign, end
    return f"\\{sign}", f"\\{sign}", end


# The lines of a file's bytes that a pattern fits.

MAX_SEARCHED_BYTES = 10_000_000
"""Larger files are not searched."""
LINE_CHARS = 300
"""Characters shown of a line: those around the first place that fits."""
CHARS_BEFORE_MATCH = 60
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


@dataclass(frozen=True, slots=True)
class Hit:
    """A line. `number` counts from 1; with `fits` it is one that was searched for."""

    number: int
    text: str
    fits: bool = True


def text_of(data: bytes) -> bytes | None:
    """The file as UTF-8 without its mark; None where it is binary."""
    codec = _WIDE.get(data[:2])
    if codec is not None:
        data = data[2:].decode(codec, "replace").encode("utf-8", "replace")
    elif data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    return None if b"\0" in data else data


def spans(text: bytes, pattern: Pattern) -> Iterator[tuple[int, int, int]]:
    """Each line that fits: where it starts and ends, and where in it the first place is."""
    match: Any = pattern.engine.search
    at, size = 0, len(text)
    while at < size:
        found = match(text, at)
        if found is None:
            return
        place = found.start()
        if place >= size and text.endswith(b"\n"):
            return  # behind the last line end there is no line
        start = text.rfind(b"\n", 0, place) + 1
        end = text.find(b"\n", place)
        end = size if end < 0 else end
        yield start, end, place
        at = end + 1


def hits(text: bytes, pattern: Pattern, skip: int, limit: int, context: int) -> list[Hit]:
    """Some lines that fit, with those around them, in order and each once.

    Args:
        text: from `text_of`.
        pattern: what to look for.
        skip: how many that fit are left out first.
        limit: how many that fit are given.
        context: lines before and after each.
    """
    chosen = []
    for number, span in enumerate(spans(text, pattern)):
        if number >= skip + limit:
            break
        if number >= skip:
            chosen.append(span)
    if not chosen:
        return []
    starts = _line_starts(text)
    places = {bisect_right(starts, start): place for start, _, place in chosen}
    wanted: dict[int, None] = {}
    for line in places:
        for near in range(max(1, line - context), min(len(starts), line + context) + 1):
            wanted[near] = None
    return [_excerpt(text, starts, line, places.get(line)) for line in sorted(wanted)]


def _line_starts(text: bytes) -> list[int]:
    starts, at = [0], text.find(b"\n")
    while at >= 0 and at + 1 < len(text):
        starts.append(at + 1)
        at = text.find(b"\n", at + 1)
    return starts


def _excerpt(text: bytes, starts: list[int], line: int, place: int | None) -> Hit:
    start = starts[line - 1]
    end = text.find(b"\n", start)
    end = len(text) if end < 0 else end
    low = max(start, (start if place is None else place) - 4 * LINE_CHARS)
    high = min(end, (start if place is None else place) + 4 * LINE_CHARS)
    before = text[low:place].decode("utf-8", "replace") if place is not None else ""
    whole = text[low:high].decode("utf-8", "replace").rstrip("\r")
    cut = max(0, len(before) - CHARS_BEFORE_MATCH) if len(whole) > LINE_CHARS else 0
    excerpt = whole[cut : cut + LINE_CHARS]
    head = "…" if low > start or cut else ""
    tail = "…" if high < end or cut + LINE_CHARS < len(whole) else ""
    return Hit(line, f"{head}{excerpt}{tail}", place is not None)
