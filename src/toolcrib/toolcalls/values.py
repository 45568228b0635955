"""Values as models write them: lenient JSON, text whose type the schema gives, calls in JSON.

JSON is forgiving in form, never in meaning. Forgiven, where the value is complete: line breaks
within strings, single quotes, Python's True, False and None, a comma too many, bare keys,
backslashes before other characters, and a missing bracket at the very end of what an end marker
closes. Everything else is no JSON.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.core.result import well_formed
from toolcrib.toolcalls.growing_text import QUOTED
from toolcrib.toolcalls.tool_schemas import NAME, OBJECT, ToolSchemas, unescaped_name

MAX_DEPTH = 100
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


def value_at(text: str, at: int) -> tuple[int, Any] | None:
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
        if depth > MAX_DEPTH:
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


WHOLE = re.compile(r"[+-]?\d{1,4000}")
DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
NULLS = {"null", "none", "nil"}
TRUTHS = {"true": True, "1": True, "false": False, "0": False}


def typed_value(raw: str, kinds: frozenset[str], *, unknown: str = "string") -> Any:
    """The value that a text stands for.

    Args:
        raw: the text between the marks.
        kinds: the JSON types that the schema allows; empty where nothing is known.
        unknown: what to do then: `string` keeps the text, `json` reads it where it is JSON.
    """
    bare = raw.strip()
    if not kinds:
        return _unknown(raw, bare, unknown)
    if kinds == {"string"}:
        return raw
    if bare.lower() in NULLS and ("null" in kinds or "string" not in kinds):
        return None
    if "string" in kinds:
        return raw
    for kind in ("boolean", "integer", "number", "object", "array"):
        if kind in kinds:
            value = READERS[kind](bare)
            if value is not None:
                return value
    return raw


def _unknown(raw: str, bare: str, unknown: str) -> Any:
    if unknown == "json":
        try:
            return decode(bare)
        except NotJson:
            value = literal(bare)
            return raw if value is None or isinstance(value, str) else value
    return None if bare == "null" else raw


def _boolean(bare: str) -> bool | None:
    return TRUTHS.get(bare.lower())


def _integer(bare: str) -> int | None:
    if WHOLE.fullmatch(bare):
        return int(bare)
    number = _number(bare)
    return int(number) if number is not None and number == int(number) else None


def _number(bare: str) -> int | float | None:
    if WHOLE.fullmatch(bare):
        return int(bare)
    if len(bare) > 400 or not DECIMAL.fullmatch(bare):
        return None
    number = float(bare)
    return number if math.isfinite(number) else None


def _structure(bare: str) -> Any:
    try:
        return decode(bare)
    except NotJson:
        return literal(bare)


READERS: dict[str, Callable[[str], Any]] = {
    "boolean": _boolean,
    "integer": _integer,
    "number": _number,
    "object": _structure,
    "array": _structure,
}


def literal(text: str) -> Any:
    """The JSON value of a Python literal, or None."""
    if len(text) > 1_000_000:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # unknown escapes
            value = ast.literal_eval(text)
        return as_json(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def as_json(value: Any) -> Any:
    """A Python value as JSON values.

    Raises:
        ValueError: where JSON has nothing like it.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not a finite number")
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {_key(key): as_json(item) for key, item in value.items()}
    raise ValueError("not a JSON value")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, int | float):
        return json.dumps(key)
    raise ValueError("not a JSON key")


# Calls in JSON: the shapes in which models and servers write them.

NAMES = ("name", "tool_name", "function_name", "tool", "function", "recipient_name", "action")
ARGUMENTS = (
    "arguments", "parameters", "args", "input", "params", "tool_input", "action_input", "kwargs",
)  # fmt: skip
IDS = ("id", "call_id", "tool_call_id")
LISTS = ("tool_calls", "tool_uses", "calls", "function_calls")
EXTRA_KEYS = {"type", "index", "reasoning", "thought", "explanation", *IDS}
"""What may stand beside the name and the arguments."""


@dataclass(slots=True)
class RawCall:
    """A call as the text has it: the name as written, an id where the model gave one."""

    name: str
    arguments: dict[str, Any]
    id: str = ""


def calls_of(value: Any, schemas: ToolSchemas) -> list[RawCall | None]:
    """The calls of a value in the place of a call; None for each that is broken."""
    found: list[RawCall | None] = []
    _collect(value, schemas, 4, found)
    return found


def _collect(value: Any, schemas: ToolSchemas, depth: int, found: list[RawCall | None]) -> None:
    if isinstance(value, list) and depth:
        for item in value:
            _collect(item, schemas, depth - 1, found)
    elif not isinstance(value, OBJECT):
        found.append(None)
    else:
        for key in LISTS:
            if isinstance(value.get(key), list):
                _collect(value[key], schemas, depth - 1, found)
                return
        found.append(_call(value, schemas, depth))


def _call(value: Mapping[str, Any], schemas: ToolSchemas, depth: int) -> RawCall | None:
    given = ""
    for key in IDS:
        if isinstance(value.get(key), str | int):
            given = str(value[key])
            break
    for key in ("function", "function_call"):
        inner = value.get(key)
        if inner is not None and isinstance(inner, OBJECT) and depth:
            found = _call(inner, schemas, depth - 1)
            return RawCall(found.name, found.arguments, found.id or given) if found else None
    for key in NAMES:
        name = value.get(key)
        name = unescaped_name(name).strip() if isinstance(name, str) else ""
        if NAME.fullmatch(name):
            arguments = _arguments(value, key)
            return None if arguments is None else RawCall(name, arguments, given)
    return _keyed(value, schemas)


def _arguments(value: Mapping[str, Any], name_key: str) -> dict[str, Any] | None:
    for key in ARGUMENTS:
        if key in value:
            return as_arguments(value[key])
    # Some models write the arguments beside the name.
    return {k: v for k, v in value.items() if k != name_key and k not in EXTRA_KEYS}


def as_arguments(given: Any) -> dict[str, Any] | None:
    """Arguments as an object, whether given as one, as JSON text, or not at all."""
    if given is None:
        return {}
    if isinstance(given, str):
        if not given.strip():
            return {}
        try:
            given = decode(given)
        except NotJson:
            return None
    if given == []:
        return {}
    return dict(given) if isinstance(given, OBJECT) else None


def _keyed(value: Mapping[str, Any], schemas: ToolSchemas) -> RawCall | None:
    """`{"NAME": {arguments}}`, as Apertus writes."""
    if len(value) != 1:
        return None
    ((name, given),) = value.items()
    if not NAME.fullmatch(name) or (schemas and schemas.resolve(name) is None):
        return None
    arguments = as_arguments(given)
    return None if arguments is None else RawCall(name, arguments)


def is_plain_call(value: Any, schemas: ToolSchemas) -> bool:
    """Whether a value without any mark around it can only be meant as a call.

    An offered tool under a name of its own, its arguments, and nothing else that it would
    not have.
    """
    if isinstance(value, list):
        return 0 < len(value) <= 64 and all(is_plain_call(item, schemas) for item in value)
    if not isinstance(value, OBJECT):
        return False
    if set(value) <= {*LISTS, "content"} and any(key in value for key in LISTS):
        listed = next(value[key] for key in LISTS if key in value)
        return isinstance(listed, list) and is_plain_call(listed, schemas)
    for key in ("function", "function_call"):
        if isinstance(value.get(key), OBJECT):
            return set(value) <= EXTRA_KEYS | {key} and is_plain_call(value[key], schemas)
    named = [key for key in NAMES if isinstance(value.get(key), str)]
    given = [key for key in ARGUMENTS if key in value]
    if len(given) != 1 or not named or not set(value) <= EXTRA_KEYS | {named[0], given[0]}:
        return False
    name = schemas.resolve(value[named[0]])
    arguments = as_arguments(value[given[0]])
    return name is not None and arguments is not None
