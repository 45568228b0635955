"""JSON Lines: each line a value, and errors with the number of the line."""

from __future__ import annotations

import json
from typing import Any


def json_or_lines(text: str) -> Any:
    """A value of JSON, or a list of those of JSON Lines.

    Raises:
        ValueError: it is neither.
        RecursionError: it is nested too deep.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        whole = error
    try:
        return json_lines(text)
    except ValueError as error:
        raise (error if _are_records(text) else whole) from None


def json_lines(text: str) -> list[Any]:
    """The values of JSON Lines.

    Raises:
        ValueError: a line is none.
        RecursionError: one is nested too deep.
    """
    values = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values.append(json.loads(line))
            except json.JSONDecodeError as error:
                place = f"line {number} column {error.colno}"
                raise ValueError(f"{error.msg}: {place}") from None
    return values


def _are_records(text: str) -> bool:
    """Whether most lines are an object or a list, as those of JSON in one piece are not."""
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and sum(map(_is_record, lines)) * 2 >= len(lines)


def _is_record(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False
