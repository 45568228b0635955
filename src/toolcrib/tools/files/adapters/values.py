"""Values as they come in unchecked arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

TRUE = {"true", "yes", "on", "1"}
FALSE = {"false", "no", "off", "0"}
RANGE = re.compile(r"\s*(-?\d+)\s*(?:-|:|,|\.\.|to)\s*(-?\d+)\s*")


def is_true(value: Any) -> bool:
    """Whether a flag was set."""
    return str(value).strip().lower() in TRUE


def is_flag(value: Any) -> bool:
    """Whether a value can only be a flag."""
    return isinstance(value, bool) or str(value).strip().lower() in TRUE | FALSE - {"0", "1"}


def drop(said: dict[str, Any], names: Iterable[str]) -> None:
    """Take out what changes nothing here."""
    for name in names:
        said.pop(name, None)


def taken(said: dict[str, Any], names: Iterable[str]) -> list[Any]:
    """Take out all of some names, and give the values that say something."""
    found = [said.pop(name) for name in names if name in said]
    return [value for value in found if value not in (None, "", [], {})]


def listed(value: Any) -> list[str]:
    """One text or a list of them, also as JSON text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            return [str(value)]
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def span(value: Any) -> tuple[int, int] | None:
    """First and last line of `[3, 9]`, `"3-9"` or `{"start": 3, "end": 9}`."""
    if isinstance(value, dict):
        value = list(value.values())
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value).strip("[]() ")
    found = RANGE.fullmatch(text)
    return (int(found[1]), int(found[2])) if found else None
