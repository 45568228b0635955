"""Values of JSON, laid out for reading."""

from __future__ import annotations

import json
from typing import Any

MAX_DEPTH = 40


def laid_out(value: Any, most: int) -> tuple[str, bool] | None:
    """A value with two spaces a level; None for one so deep that this would multiply it.

    Args:
        value: what `json.loads` gave.
        most: characters that are wanted.

    Returns:
        The text up to there, and whether that is all of it.
    """
    if _is_deep(value):
        return None
    parts: list[str] = []
    size = 0
    for part in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(value):
        parts.append(part)
        size += len(part)
        if size > most:
            return "".join(parts)[:most], False
    return "".join(parts), True


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
