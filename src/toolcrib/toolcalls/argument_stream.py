"""The arguments of one call as a server streams them: passed on as they come, mended where wrong.

What is right goes through byte for byte, and at once. Mended are, in form: single quotes, bare
keys, line breaks and unknown escapes in strings, Python's words, commas too many, brackets too
many at the end, an object within a string; and, by the schema, the types of the arguments
themselves. What cannot be read goes through as it came, and nothing is made up for what is
missing at the end.
"""

from __future__ import annotations

import json
import re
from typing import Any

from toolcrib.toolcalls.tool_schemas import ToolSchemas, json_kind
from toolcrib.toolcalls.values import WORDS, NotJson, decode, typed_value

SPACE = re.compile(r"[ \t\r\n]+")
PLAIN = {'"': re.compile(r'[^"\\\x00-\x1f]+'), "'": re.compile(r"[^'\"\\\x00-\x1f]+")}
WORD = re.compile(r"[A-Za-z_$][\w$\-]*")
NUMBER = re.compile(r"[0-9+\-.eE]+")
HEX = re.compile(r"[0-9a-fA-F]{0,4}")
VALID_ESCAPES = set('"\\/bfnrt')
EXCESS = re.compile(r"[}\]) \t\r\n;`]*")
CLOSER = {"{": "}", "[": "]"}
MAX_VALUE_CHARS = 8_000_000
"""Of a value whose type is to be changed; a longer one goes through as it came."""
KIND_OF_FIRST = {'"': "string", "'": "string", "{": "object", "[": "array"}


class ArgumentStream:
    """Mends the JSON text of one call's arguments, piece by piece.

    The pieces that `feed` and `close` give are those of the mended text; joined they are the
    text that came, where nothing was wrong with it.

    Args:
        schemas: the tools that were offered.
        name: the tool that is called, as offered; some servers send it late.
    """

    def __init__(self, schemas: ToolSchemas, name: str) -> None:
        self._schemas = schemas
        self.name = name
        self._text = ""
        self._out: list[str] = []
        self._stack: list[str] = []
        self._step = self._start
        self._quote = ""
        self._in_key = False
        self._key: list[str] = []
        self._kinds: frozenset[str] = frozenset()
        self._comma = ""
        self._ended = False
        self._was_verbatim = False

    @property
    def is_whole(self) -> bool:
        """Whether the object is closed, so that nothing is missing."""
        return self._step == self._after_all

    def feed(self, text: str) -> str:
        """Take the next piece; what can be passed on of all so far."""
        self._text += text
        while self._text and self._step():
            pass
        out, self._out = "".join(self._out), []
        return out

    def close(self) -> str:
        """The rest, once nothing follows."""
        self._ended = True
        while self._text and self._step():
            pass
        if self._step == self._start and not self._was_verbatim and not self._text.strip():
            self._out.append("{}")
        elif self._comma or self._text:
            self._out += [self._comma, self._text]
        self._text = self._comma = ""
        out, self._out = "".join(self._out), []
        return out

    # Each step reads from the start of the text; it gives False where more must come first.

    def _take(self, count: int) -> str:
        taken, self._text = self._text[:count], self._text[count:]
        return taken

    def _emit(self, count: int) -> None:
        self._out.append(self._take(count))

    def _give_up(self) -> bool:
        """From here on everything goes through as it comes."""
        self._out.append(self._comma)
        self._comma = ""
        self._was_verbatim = True
        self._step = self._verbatim
        return True

    def _verbatim(self) -> bool:
        self._emit(len(self._text))
        return True

    def _space(self) -> None:
        found = SPACE.match(self._text)
        if found:
            self._emit(found.end())

    def _start(self) -> bool:
        stripped = self._text.lstrip(" \t\r\n")
        first = stripped[:1]
        if first == "{":
            self._space()
            self._emit(1)
            self._stack.append("{")
            self._step = self._key_or_end
            return True
        if first in ('"', ""):
            return self._within_string() if first and self._ended else False
        if "null".startswith(stripped.strip().lower()) or stripped.strip() == "None":
            if self._ended and stripped.strip().lower() in ("null", "none"):
                self._text = ""
                return True
            if not self._ended:
                return False
        return self._give_up()

    def _within_string(self) -> bool:
        """An object in a string: encoded once too often."""
        try:
            inner = decode(self._text)
        except NotJson:
            return self._give_up()
        if not isinstance(inner, str) or inner.lstrip()[:1] not in ("{", ""):
            return self._give_up()
        stream = ArgumentStream(self._schemas, self.name)
        mended = stream.feed(inner) + stream.close()
        if not stream.is_whole and inner.strip():
            return self._give_up()
        self._text = ""
        self._out.append(mended)
        self._step = self._after_all
        return True

    def _key_or_end(self) -> bool:
        self._space()
        first = self._text[:1]
        if not first:
            return True
        if first == "}":
            return self._close()
        self._key = []
        if first in ('"', "'"):
            self._in_key = True
            return self._open_string(first)
        word = WORD.match(self._text)
        if word is None:
            return self._give_up()
        if word.end() == len(self._text) and not self._ended:
            return False
        self._key = [word[0]]
        self._out.append(json.dumps(self._take(word.end()), ensure_ascii=False))
        self._step = self._colon
        return True

    def _open_string(self, quote: str) -> bool:
        self._take(1)
        self._out.append('"')
        self._quote = quote
        self._step = self._string
        return True

    def _string(self) -> bool:
        plain = PLAIN[self._quote].match(self._text)
        if plain:
            if self._in_key:
                self._key.append(plain[0])
            self._emit(plain.end())
            return True
        first = self._text[0]
        if first == self._quote:
            self._take(1)
            self._out.append('"')
            self._step = self._colon if self._in_key else self._after_value
            self._in_key = False
            return True
        if first != "\\":
            self._take(1)
            self._out.append(json.dumps(first)[1:-1])
            return True
        return self._escape()

    def _escape(self) -> bool:
        if len(self._text) < 2:
            return False
        what = self._text[1]
        if what == "u":
            digits = HEX.match(self._text, 2)
            end = digits.end() if digits else 2
            if end < 6 and end == len(self._text) and not self._ended:
                return False
            if end < 6:
                self._take(1)
                self._out.append("\\\\")
            else:
                self._emit(6)
            return True
        if what in VALID_ESCAPES:
            if self._in_key:
                self._key.append(json.loads(f'"{self._text[:2]}"'))
            self._emit(2)
        elif what == "'":
            self._take(2)
            self._out.append("'")
        elif what == "\n":
            self._take(2)
        else:
            self._take(1)
            self._out.append("\\\\")
        return True

    def _colon(self) -> bool:
        self._space()
        first = self._text[:1]
        if first == ":":
            self._emit(1)
            self._step = self._value
            return True
        return self._give_up() if first else True

    def _value(self) -> bool:
        self._space()
        first = self._text[:1]
        if not first:
            return True
        if first == "]" and self._stack[-1] == "[":
            return self._close()
        self._kinds = frozenset()
        if len(self._stack) == 1:
            self._kinds = self._schemas.kinds(self.name, "".join(self._key))
        kind = KIND_OF_FIRST.get(first)
        if kind and self._kinds and kind not in self._kinds:
            self._step = self._whole_value
            return True
        if kind == "string":
            return self._open_string(first)
        if kind:
            self._emit(1)
            self._stack.append(first)
            self._step = self._key_or_end if first == "{" else self._value
            return True
        if first.isdigit() or first in "+-.":
            if self._kinds and self._kinds.isdisjoint({"integer", "number"}):
                self._step = self._whole_value
                return True
            self._step = self._number
            return True
        self._step = self._word
        return True

    def _number(self) -> bool:
        number = NUMBER.match(self._text)
        if number:
            self._emit(number.end())
        if self._text:
            self._step = self._after_value
        return True

    def _word(self) -> bool:
        word = WORD.match(self._text)
        if word is None or (word.end() < len(self._text) and word[0] not in WORDS):
            return self._give_up()
        if word.end() == len(self._text) and not self._ended:
            return False
        if word[0] not in WORDS:
            return self._give_up()
        value = WORDS[word[0]]
        self._take(word.end())
        self._out.append(json.dumps(self._fitting(value) if self._kinds else value))
        self._step = self._after_value
        return True

    def _whole_value(self) -> bool:
        """A value of a type that the schema does not allow: read whole, and made to fit."""
        end = _end_of_value(self._text)
        if end < 0 or (end == len(self._text) and self._text[0] not in KIND_OF_FIRST):
            return self._give_up() if self._ended or len(self._text) > MAX_VALUE_CHARS else False
        raw = self._take(end)
        try:
            value = decode(raw)
            fitting = self._fitting(value)
        except NotJson:
            self._out.append(raw)
        else:
            is_same = type(fitting) is type(value) and fitting == value
            self._out.append(raw if is_same else json.dumps(fitting, ensure_ascii=False))
        self._step = self._after_value
        return True

    def _fitting(self, value: Any) -> Any:
        """The value as one of the wanted types, where that is beyond doubt."""
        kinds = self._kinds
        kind = json_kind(value)
        if not kinds or kind in kinds or (kind == "integer" and "number" in kinds):
            return value
        if isinstance(value, str):
            found = typed_value(value, kinds)
            if not isinstance(found, str):
                return found
        if kind in ("integer", "number") and "boolean" in kinds and value in (0, 1):
            return bool(value)
        if kind == "number" and "integer" in kinds and value == int(value):
            return int(value)
        if "string" in kinds and kind != "null":
            return json.dumps(value, ensure_ascii=False)
        if "array" in kinds and kind != "null":
            return [value]
        return value

    def _after_value(self) -> bool:
        if self._comma:
            return self._after_comma()
        self._space()
        first = self._text[:1]
        if not first:
            return True
        if first == ",":
            self._comma = self._take(1)
            return True
        if first == CLOSER[self._stack[-1]]:
            return self._close()
        return self._give_up()

    def _after_comma(self) -> bool:
        space = SPACE.match(self._text)
        if space:
            self._comma += self._take(space.end())
        first = self._text[:1]
        if not first:
            return True
        comma, self._comma = self._comma, ""
        if first == ",":
            self._comma = comma
            self._take(1)
            return True
        if first == CLOSER[self._stack[-1]]:
            self._out.append(comma[1:])
            return self._close()
        self._out.append(comma)
        self._step = self._key_or_end if self._stack[-1] == "{" else self._value
        return True

    def _close(self) -> bool:
        self._emit(1)
        self._stack.pop()
        self._step = self._after_value if self._stack else self._after_all
        return True

    def _after_all(self) -> bool:
        """Brackets too many are left out."""
        self._space()
        excess = EXCESS.match(self._text)
        if excess:
            self._take(excess.end())
        if self._text:
            # Something else; it is not for us to judge.
            return self._give_up()
        return True


def mended_arguments(text: str, schemas: ToolSchemas, name: str) -> str:
    """Arguments that are all there, mended; the same text where nothing is wrong."""
    stream = ArgumentStream(schemas, name)
    return stream.feed(text) + stream.close()


_SCALAR = re.compile(r"[^\s,}\]]*")
_PART = re.compile(r"""[^"'\\{}\[\]]+|\\.?|["'{}\[\]]""", re.DOTALL)


def _end_of_value(text: str) -> int:
    """Where the value ends that begins here; -1 where it does not yet."""
    if text[0] not in KIND_OF_FIRST:
        found = _SCALAR.match(text)
        return found.end() if found else -1
    depth, quote = 0, ""
    for part in _PART.finditer(text):
        sign = part[0]
        if quote:
            if sign != quote:
                continue
            quote = ""
        elif sign in "\"'":
            quote = sign
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
        if not depth and not quote and part.end() > 0:
            return part.end()
    return -1
