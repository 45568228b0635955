"""JSON as models write it: strict where it is JSON, forgiving in form, never in meaning.

Forgiven, where the value is complete: line breaks within strings, single quotes, Python's
True, False and None, a comma too many, bare keys, backslashes before other characters, and
a missing bracket at the very end of what an end marker closes. Everything else is no JSON.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from toolcrib.core.call import well_formed
from toolcrib.toolcalls.growing_text import QUOTED

DEEPEST = 100
SPACE = re.compile(r"[ \t\r\n]*")
WORD = re.compile(r"[A-Za-z_$][\w$\-]*")
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])")
ESCAPE = re.compile(
    r"\\(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
PLAIN = {'"', "'", "\\", "/"}
WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}


class NotJson(ValueError):
    """The text is no JSON value, however kindly it is read."""


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotJson("a number that JSON cannot hold")
    return number


def _constant(text: str) -> Any:
    raise NotJson(f"{text} is not JSON")


_STRICT = json.JSONDecoder(strict=False, parse_float=_finite, parse_constant=_constant)


def decode(text: str, *, closed: bool = False) -> Any:
    """The value of a text.

    Args:
        text: one value, and white space.
        closed: whether an end marker follows, so that the last brackets may be missing.

    Raises:
        NotJson: it is none.
    """
    try:
        try:
            value = _STRICT.decode(text)
        except json.JSONDecodeError:
            value = _Lenient(text, closed=closed).whole()
    except NotJson:
        raise
    except (ValueError, RecursionError):
        raise NotJson("no JSON") from None
    return _sound(value) if "\\u" in text else value


def begun_value(text: str, at: int) -> tuple[int, Any] | None:
    """The object or array that begins here, with the place after it, if it is plain JSON."""
    try:
        value, end = _STRICT.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return end, _sound(value) if "\\u" in text[at:end] else value


def _sound(value: Any) -> Any:
    """The value without halves of characters."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): _sound(item) for key, item in value.items()}
    return value


class _Lenient:
    def __init__(self, text: str, *, closed: bool) -> None:
        self.text = text
        self.at = 0
        self.closed = closed
        self.may_end = 0

    def whole(self) -> Any:
        first = self._peek()
        # An array of calls and the calls in it; or a call. Never what is within a call.
        self.may_end = (2 if first == "[" else 1) if self.closed else 0
        value = self._value(1)
        if self._peek():
            raise NotJson("something follows the value")
        return value

    def _peek(self) -> str:
        first = self.text[self.at : self.at + 1]
        if first and first in " \t\r\n":
            space = SPACE.match(self.text, self.at)
            self.at = space.end() if space else self.at
            first = self.text[self.at : self.at + 1]
        return first

    def _value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise NotJson("too deep")
        first = self._peek()
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._array(depth)
        if first and first in QUOTED:
            return self._string(first)
        return self._scalar()

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while not self._ends("}", depth):
            key = self._key()
            if self._peek() != ":":
                raise NotJson("no colon")
            self.at += 1
            found[key] = self._value(depth + 1)
            self._comma("}")
        return found

    def _array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while not self._ends("]", depth):
            found.append(self._value(depth + 1))
            self._comma("]")
        return found

    def _ends(self, bracket: str, depth: int) -> bool:
        first = self._peek()
        if not first and depth <= self.may_end and self.text[: self.at].rstrip()[-1] not in "{,:":
            return True
        if first == bracket:
            self.at += 1
            return True
        return False

    def _comma(self, bracket: str) -> None:
        first = self._peek()
        if first == ",":
            self.at += 1
        elif first and first != bracket:
            raise NotJson("no comma")

    def _key(self) -> str:
        first = self._peek()
        if first and first in QUOTED:
            return self._string(first)
        word = WORD.match(self.text, self.at)
        if word is None:
            raise NotJson("no key")
        self.at = word.end()
        return word[0]

    def _string(self, quote: str) -> str:
        body = QUOTED[quote].match(self.text, self.at + 1)
        if body is None or self.text[body.end() : body.end() + 1] != quote:
            raise NotJson("a string without end")
        self.at = body.end() + 1
        return ESCAPE.sub(_unescaped, body[0])

    def _scalar(self) -> Any:
        number = NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            whole = number[0].lstrip("+-").isdigit()
            return int(number[0]) if whole else _finite(number[0])
        word = WORD.match(self.text, self.at)
        if word is None or word[0] not in WORDS:
            raise NotJson("no value")
        self.at = word.end()
        return WORDS[word[0]]


def _unescaped(match: re.Match[str]) -> str:
    what = match[1]
    if what[0] == "u" and len(what) > 1:
        return str(json.loads(f'"{match[0]}"'))
    if what in PLAIN:
        return what
    return ESCAPES.get(what, match[0])
