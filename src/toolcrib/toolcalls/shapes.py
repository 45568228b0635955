"""Shapes of calls in JSON, as models and servers write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcrib.toolcalls.offers import NAME, OBJECT, Offers
from toolcrib.toolcalls.values import NotJson, decode

NAMES = ("name", "tool_name", "function_name", "tool", "function", "recipient_name", "action")
ARGUMENTS = (
    "arguments", "parameters", "args", "input", "params", "tool_input", "action_input", "kwargs",
)  # fmt: skip
IDS = ("id", "call_id", "tool_call_id")
LISTS = ("tool_calls", "tool_uses", "calls", "function_calls")
BESIDE = {"type", "index", "reasoning", "thought", "explanation", *IDS}
"""What may stand beside the name and the arguments."""


@dataclass(slots=True)
class RawCall:
    """A call as the text has it: the name as written, an id where the model gave one."""

    name: str
    arguments: dict[str, Any]
    id: str = ""


def calls_of(value: Any, offers: Offers) -> list[RawCall | None]:
    """The calls of a value that stands where a call stands; None for each that is broken."""
    found: list[RawCall | None] = []
    _collect(value, offers, 4, found)
    return found


def _collect(value: Any, offers: Offers, depth: int, found: list[RawCall | None]) -> None:
    if isinstance(value, list) and depth:
        for item in value:
            _collect(item, offers, depth - 1, found)
    elif not isinstance(value, OBJECT):
        found.append(None)
    else:
        for key in LISTS:
            if isinstance(value.get(key), list):
                _collect(value[key], offers, depth - 1, found)
                return
        found.append(_call(value, offers, depth))


def _call(value: Mapping[str, Any], offers: Offers, depth: int) -> RawCall | None:
    given = ""
    for key in IDS:
        if isinstance(value.get(key), str | int):
            given = str(value[key])
            break
    for key in ("function", "function_call"):
        inner = value.get(key)
        if inner is not None and isinstance(inner, OBJECT) and depth:
            found = _call(inner, offers, depth - 1)
            return RawCall(found.name, found.arguments, found.id or given) if found else None
    for key in NAMES:
        name = value.get(key)
        if isinstance(name, str) and NAME.fullmatch(name.strip()):
            arguments = _arguments(value, key)
            return None if arguments is None else RawCall(name.strip(), arguments, given)
    return _keyed(value, offers)


def _arguments(value: Mapping[str, Any], name_key: str) -> dict[str, Any] | None:
    for key in ARGUMENTS:
        if key in value:
            return as_arguments(value[key])
    # Some models write the arguments beside the name.
    return {k: v for k, v in value.items() if k != name_key and k not in BESIDE}


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


def _keyed(value: Mapping[str, Any], offers: Offers) -> RawCall | None:
    """`{"NAME": {arguments}}`, as Apertus writes."""
    if len(value) != 1:
        return None
    ((name, given),) = value.items()
    if not NAME.fullmatch(name) or (offers and offers.resolve(name) is None):
        return None
    arguments = as_arguments(given)
    return None if arguments is None else RawCall(name, arguments)


def is_plain_call(value: Any, offers: Offers) -> bool:
    """Whether a value without any mark around it can only be meant as a call.

    An offered tool under a name of its own, its arguments, and nothing else that it would
    not have.
    """
    if isinstance(value, list):
        return 0 < len(value) <= 64 and all(is_plain_call(item, offers) for item in value)
    if not isinstance(value, OBJECT):
        return False
    if set(value) <= {*LISTS, "content"} and any(key in value for key in LISTS):
        listed = next(value[key] for key in LISTS if key in value)
        return isinstance(listed, list) and is_plain_call(listed, offers)
    for key in ("function", "function_call"):
        if isinstance(value.get(key), OBJECT):
            return set(value) <= BESIDE | {key} and is_plain_call(value[key], offers)
    named = [key for key in NAMES if isinstance(value.get(key), str)]
    given = [key for key in ARGUMENTS if key in value]
    if len(given) != 1 or not named or not set(value) <= BESIDE | {named[0], given[0]}:
        return False
    name = offers.resolve(value[named[0]])
    arguments = as_arguments(value[given[0]])
    return name is not None and arguments is not None
