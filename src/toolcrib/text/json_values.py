"""Values of JSON in texts that others wrote: what is none is left out, and no failure."""

from __future__ import annotations

import json
from typing import Any


def json_value(text: str | bytes) -> Any:
    """The JSON value of a text; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def json_object(text: str | bytes) -> dict[str, Any] | None:
    """The JSON object that a text is; None where it is none."""
    value = json_value(text)
    return value if isinstance(value, dict) else None


def objects_in(value: Any) -> list[dict[str, Any]]:
    """The JSON objects of a list; anything else is left out."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
