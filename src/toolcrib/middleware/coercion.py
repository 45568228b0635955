"""Values as callers write them, turned into those that a parameter takes, or refused."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from typing import Any, Literal, get_origin, is_typeddict

from toolcrib.core.errors import BadInput
from toolcrib.core.names import plain
from toolcrib.core.result import well_formed
from toolcrib.core.tool import Parameter, record_fields
from toolcrib.text.json_values import json_value, objects_in

MAX_ITEMS = 1000
LARGEST = 2**53
"""Beyond this, JSON numbers are not the same everywhere."""
GROUPED = re.compile(r"-?[0-9]{1,3}(,[0-9]{3})+")
"""A number as results show it."""
COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")
"""A decimal comma, where it parts no group of thousands."""
JSON_TEXTS = {"content", "context", "input"}
"""Texts that often are JSON: an object there means its text."""
PART_OF_MESSAGE = frozenset({"type", "text"})
"""Fields of an object that wraps a text, which is no JSON that somebody wants."""
_MEASURED = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z%\u00b0]+)\.?")
_NUMBERED = re.compile(r"#[0-9]+")
SECONDS = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
}
DURATIONS = {"delay", "time_limit", "timeout", "wait"}
"""Parameters that are seconds."""
UNITS = {
    "rotate": ("deg", "degree", "degrees", "\u00b0"),
    "quality": ("%", "percent"),
    "max_kb": ("kb", "k"),
    **dict.fromkeys(("width", "height", "x", "y"), ("px", "pixel", "pixels")),
}
"""Units that a parameter has anyway."""
TRUE = {"true", "yes", "on", "1"}
FALSE = {"false", "no", "off", "0"}


def wrong(parameter: Parameter, wanted: str, value: Any) -> BadInput:
    """The error for a value that a parameter does not take."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = "that"
    text = text if len(text) <= 80 else f"{text[:77]}..."
    return BadInput(f"'{parameter.name}' must be {wanted}, not {text}.")


def coerce(parameter: Parameter, value: Any) -> Any:
    """A value as its parameter takes it.

    Raises:
        BadInput: it means nothing there.
    """
    kind = parameter.type
    if parameter.meta.kind == "any":
        return value
    if parameter.meta.kind == "json":
        return _as_object(parameter, value)
    if parameter.is_list:
        item = parameter.item
        values = _as_list(value, item, parted=parameter.meta.parted)
        if len(values) > MAX_ITEMS:
            raise BadInput(f"'{parameter.name}' may have {MAX_ITEMS:,} items, not {len(values):,}.")
        return [_element(parameter, number, given) for number, given in enumerate(values)]
    if isinstance(value, list) and len(value) == 1 and not _is_json(parameter, value):
        value = value[0]
    if parameter.choices:
        return _as_choice(parameter, value)
    if is_typeddict(kind):
        return _as_record(parameter, value)
    if kind is bool:
        return _as_bool(parameter, value)
    if kind in (int, float):
        return as_number(parameter, value)
    return _as_text(parameter, value)


def _element(parameter: Parameter, number: int, value: Any) -> Any:
    """An element of a list; an error says which one it is about."""
    try:
        return coerce(parameter.item, value)
    except BadInput:
        return coerce(replace(parameter.item, name=f"{parameter.name}[{number}]"), value)


def _is_json(parameter: Parameter, value: Any) -> bool:
    """Whether an object, or a list of objects, stands for its JSON text."""
    objects = [value] if isinstance(value, dict) else value
    return (
        parameter.name in JSON_TEXTS
        and parameter.type is str
        and isinstance(objects, list)
        and any(objects)
        and not any(PART_OF_MESSAGE.issuperset(one) for one in objects if isinstance(one, dict))
        and objects_in(objects) == objects
    )


def _as_text(parameter: Parameter, value: Any) -> str:
    if _is_json(parameter, value):
        return json.dumps(value, ensure_ascii=False, indent=2)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise wrong(parameter, "a string", value)
    try:
        return well_formed(str(value))
    except ValueError:
        raise wrong(parameter, "a string", "a number of that size") from None


def _as_bool(parameter: Parameter, value: Any) -> bool:
    word = str(value).strip().lower()
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    raise wrong(parameter, "true or false", value)


def as_number(parameter: Parameter, value: Any, *, limited: bool = True) -> int | float:
    """A number, or a text that is one; `limited` by the range of the parameter."""
    wanted = "a whole number" if parameter.type is int else "a number"
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise wrong(parameter, wanted, value)
    if isinstance(value, str):
        value = _without_commas(_without_unit(value.strip(), parameter), parameter.type)
    try:
        number = value if isinstance(value, int) else float(value)
    except ValueError:
        raise wrong(parameter, wanted, value) from None
    if isinstance(number, float) and not math.isfinite(number):
        raise wrong(parameter, wanted, str(value))
    if parameter.type is int:
        if number != int(number):
            raise wrong(parameter, wanted, value)
        number = int(number)
    if abs(number) > LARGEST:
        raise wrong(parameter, "smaller", "a number of that size")
    if not limited:
        return number
    low, high = parameter.meta.minimum, parameter.meta.maximum
    if (low is not None and number < low) or (high is not None and number > high):
        raise wrong(parameter, _range(low, high), value)
    return number


def _without_commas(text: str, kind: Any) -> str:
    if GROUPED.fullmatch(text):
        return text.replace(",", "")
    return text.replace(",", ".") if kind is float and COMMA.fullmatch(text) else text


def _without_unit(text: str, parameter: Parameter) -> str:
    """A number with its unit, where what the parameter counts leaves no doubt about it."""
    found = _MEASURED.fullmatch(text)
    if found is None:
        return text[1:] if _NUMBERED.fullmatch(text) else text
    number, unit, name = found[1], found[2].lower(), parameter.name
    if unit in UNITS.get(name, ()):
        return number
    if name in DURATIONS and parameter.type is float and unit in SECONDS:
        return f"{float(number) * SECONDS[unit]:.15g}"
    return text


def _range(low: float | None, high: float | None) -> str:
    if low is None:
        return f"at most {high:.15g}"
    if high is None:
        return f"at least {low:.15g}"
    return f"from {low:.15g} to {high:.15g}"


def _as_choice(parameter: Parameter, value: Any) -> Any:
    choices = parameter.choices
    is_literal = get_origin(parameter.type) is Literal
    value = value.value if isinstance(value, Enum) else value
    for written in (lambda one: str(one).strip().lower(), plain):
        for choice in choices:
            if written(value) == written(choice):
                return choice if is_literal else parameter.type(choice)
    near = [choice for choice in choices if _is_short_for(plain(value), choice)]
    if len(near) == 1 and isinstance(value, str):
        return near[0] if is_literal else parameter.type(near[0])
    raise wrong(parameter, one_of(choices), value)


def _is_short_for(word: str, choice: Any) -> bool:
    """Whether a word is the beginning of a choice's one word."""
    text = str(choice).lower()
    return len(word) >= MIN_SHORT and text.isalpha() and text.startswith(word)


def one_of(choices: Iterable[Any]) -> str:
    """The choices in words; the empty one is that of leaving it out."""
    return f"one of {', '.join(str(choice) for choice in choices if choice != '')}"


MIN_SHORT = 3
"""Letters of the shortest beginning of a word that stands for it."""
_FENCE = re.compile(r"\s*```\w*\s*(.*?)\s*```\s*", re.DOTALL)
_COMMAS = re.compile(r"[,\n](?![^(\n]*\))")
"""Not those within brackets, as in `rgb(1, 2, 3)`."""
_NEXT_URL = re.compile(r"[\s,]+(?=https?://)")


def _as_list(value: Any, item: Parameter, *, parted: bool) -> list[Any]:
    if isinstance(value, str):
        decoded = json_inside(value)
        if isinstance(decoded, list):
            return decoded
        if item.meta.kind == "url":
            return _NEXT_URL.split(value.strip())
        if parted:
            return [part.strip() for part in _COMMAS.split(value) if part.strip()]
        is_parted = item.type in (int, float) or bool(item.choices)
        return [part.strip() for part in value.split(",")] if is_parted else [value]
    if isinstance(value, list | tuple):
        return list(value)
    return [value]


def _as_object(parameter: Parameter, value: Any) -> Any:
    if isinstance(value, str):
        value = _decoded(parameter, value)
    if not isinstance(value, dict):
        raise wrong(parameter, "a JSON object", value)
    inner = parameter.value
    if inner is None:
        return value
    named = {key: replace(inner, name=f"{parameter.name}.{key}"[:80]) for key in value}
    return {key: coerce(named[key], item) for key, item in value.items()}


def _decoded(parameter: Parameter, text: str) -> Any:
    """The JSON of a text, also in a fence of Markdown or as Python writes it."""
    fenced = _FENCE.fullmatch(text)
    text = fenced[1] if fenced else text
    found = json_inside(text)
    if isinstance(found, dict):
        with suppress(ValueError, TypeError, RecursionError):
            return json.loads(json.dumps(found))
    try:
        return json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BadInput(
            f"'{parameter.name}' is not valid JSON at {place}.",
            hint='Send an object like {"name": "value"}.',
        ) from None
    except (ValueError, RecursionError):
        raise BadInput(f"'{parameter.name}' is not valid JSON.") from None


def _as_record(parameter: Parameter, value: Any) -> dict[str, Any]:
    value = json_inside(value) if isinstance(value, str) else value
    if not isinstance(value, dict):
        fields = (f.name if f.required else f"{f.name}?" for f in record_fields(parameter.type))
        raise wrong(parameter, f"an object with {', '.join(fields)}", value)
    known = {f.name: f for f in record_fields(parameter.type)}
    names = {plain(a): f.name for f in known.values() for a in (*f.meta.aliases, f.name)}
    record: dict[str, Any] = {}
    for given, item in value.items():
        name = names.get(plain(given))
        if name is None:
            raise BadInput(
                f"'{parameter.name}' has no field '{given}'.", hint=f"Fields: {', '.join(known)}."
            )
        if item is not None or known[name].required:
            value_of_field = coerce(known[name], item)
            if record.setdefault(name, value_of_field) != value_of_field:
                raise BadInput(f"'{parameter.name}' has two values for '{name}'.", hint="Send one.")
    for name, field in known.items():
        if field.required and name not in record:
            raise BadInput(f"'{parameter.name}' needs the field '{name}'.")
    return record


def json_inside(text: str) -> Any:
    """The list or object that a text holds as JSON, or as Python writes it; else the text."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    found = json_value(text)
    if found is None:
        with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            found = ast.literal_eval(text.strip())
    return found if isinstance(found, list | dict) else text
