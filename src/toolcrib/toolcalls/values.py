"""Values that a format writes without their type: the schema says what they are."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Callable
from typing import Any

from toolcrib.toolcalls.jsontext import NotJson, decode

WHOLE = re.compile(r"[+-]?\d{1,4000}")
DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
NULLS = {"null", "none", "nil"}
TRUTHS = {"true": True, "1": True, "false": False, "0": False}


def typed(raw: str, kinds: frozenset[str], *, unknown: str = "string") -> Any:
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
