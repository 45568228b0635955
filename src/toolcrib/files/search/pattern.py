"""Search patterns, of one meaning for RE2 and for ripgrep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.files.search.expressions import compiled_expression

MAX_PATTERN_CHARS = 1000
# Within a line, and the same characters for both engines.
_CLASSES = {
    "w": "\\pL\\pM\\pN_",
    "d": "\\p{Nd}",
    "s": " \\t\\r\\f\\x{0b}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{202f}\\x{205f}\\x{3000}",
}
_ENCLOSED = re.compile(r"""^(?:(["'])(?=.+\1$)|/(?=.+/[gimsu]*$))(.+)(?:\1|/[gimsu]*)$""")
_ANY_CASE = re.compile(r"/.+/[gmsu]*i[gmsu]*")
_BASIC = re.compile(r"\\([|(){}+?])")
"""Signs that basic expressions of POSIX have with a backslash, as in grep."""
_SIGNS = "\\.+*?()|[]{}^$"


CAPITALS = "nothing has its capitals"
"""The reason of a search in any case."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that is ready.

    Attributes:
        text: as it was given.
        literal: whether it is taken as plain text.
        reason: why it is not taken as it was given; "" where it is.
        ignore_case: whether the case of letters does not matter.
        engine: the compiled RE2 expression over bytes.
        rust: the same for ripgrep; None where that has no words for it.
        bare: the bytes to look for, where that says it all.
    """

    text: str
    literal: bool = False
    reason: str = ""
    ignore_case: bool = False
    engine: Any = None
    rust: str | None = None
    bare: bytes | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether it names characters whose bytes are others in each encoding."""
        return not self.text.isascii()


def pattern_of(text: str, *, literal: bool, case_sensitive: bool | None = None) -> Pattern:
    """Make a pattern; what is no expression of the linear-time engine is taken as plain text.

    Args:
        text: the expression or text.
        literal: take it as plain text.
        case_sensitive: whether the case of letters matters; None: where the text has capitals.

    Raises:
        BadInput: it is empty, too long, or goes over lines.
    """
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
            ignore = not (_has_capital(text) if case_sensitive is None else case_sensitive)
            engine = _line_engine(plain, rust, ignore)
        except ValueError as error:
            reason = f"it is no RE2 expression: {reason_of(error)}"
        else:
            simple = not ignore and not set(_SIGNS) & set(text)
            return Pattern(text, False, "", ignore, engine, rust, text.encode() if simple else None)
    ignore = not (text != text.lower() if case_sensitive is None else case_sensitive)
    quoted = "".join(f"\\{c}" if c in _SIGNS else c for c in text)
    engine = _line_engine(quoted, quoted, ignore)
    bare = None if ignore else text.encode()
    return Pattern(text, True, reason, ignore, engine, quoted, bare)


def other_readings(pattern: Pattern, *, case_sensitive: bool | None) -> Iterator[Pattern]:
    r"""What else an expression that fits nothing may mean.

    One of grep (`a\|b`), one with doubled backslashes, within slashes or quotation marks, with OR
    for `|`, or plain text. And any, where nothing says that its capitals matter, in any case.

    Args:
        pattern: it.
        case_sensitive: see `pattern_of`.
    """
    if not pattern.literal:
        yield from _other_expressions(pattern, case_sensitive)
    if case_sensitive is None and not pattern.ignore_case:
        found = pattern_of(pattern.text, literal=pattern.literal, case_sensitive=False)
        yield replace(found, reason=CAPITALS)


def _other_expressions(pattern: Pattern, case_sensitive: bool | None) -> Iterator[Pattern]:
    if _BASIC.search(pattern.text):
        basic = _BASIC.sub(r"\1", pattern.text)
        found = pattern_of(basic, literal=False, case_sensitive=case_sensitive)
        if not found.literal:
            yield replace(found, reason="nothing fits it as RE2 has it")
    meant, any_case = unwrapped(pattern.text.replace("\\\\", "\\"))
    meant = meant.replace(" OR ", "|")
    if meant != pattern.text:
        sensitive = False if any_case else case_sensitive
        found = pattern_of(meant, literal=False, case_sensitive=sensitive)
        yield replace(found, reason="nothing fits it as it was sent")
    if set(_SIGNS) & set(pattern.text):
        found = pattern_of(pattern.text, literal=True, case_sensitive=case_sensitive)
        yield replace(found, reason="nothing fits it as an expression")


def unwrapped(text: str) -> tuple[str, bool]:
    """An expression without slashes or quotation marks around it, and whether it has an `i`."""
    return _ENCLOSED.sub(r"\2", text), bool(_ANY_CASE.fullmatch(text))


def reason_of(error: Exception) -> str:
    """Why an engine refuses an expression, in one line."""
    raw = error.args[0] if error.args else error
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    return " ".join(text.split())[:120]


def _line_engine(expression: str, rust: str, ignore_case: bool) -> Any:
    return compiled_expression(
        expression,
        ignore_case=ignore_case,
        many_lines=True,
        never_newline=True,
        for_rust=rust,
    )


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
