"""TOML: read in texts that others wrote where that costs little memory, and values written."""

from __future__ import annotations

import datetime as dt
import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

MAX_CHARS = 5_000_000
MAX_KEY_NAMES = 50
"""Names in one dotted key: what `tomllib` needs grows with the square of their number."""

_NOT_KEYS = re.compile(
    r'#[^\n]*|"""(?:[^"\\]+|\\.|"(?!""))*(?:"{3,5})?|'
    r"'''(?:[^']+|'(?!''))*(?:'{3,5})?|"
    r""""(?:[^"\\\n]+|\\[^\n])*"?|'[^'\n]*'?""",
    re.DOTALL,
)
"""Comments and strings; one that is open to the end counts, so that each is read once."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){{{MAX_KEY_NAMES}}}")


def toml_value(text: str) -> dict[str, Any]:
    """The value of a TOML text.

    Raises:
        tomllib.TOMLDecodeError: it is no TOML.
        ValueError: it is too large, too deep, or a key has too many names.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"it has more than {MAX_CHARS:,} characters")
    # A quoted name is a name, and a string that is a value stands behind no dot.
    if _LONG_KEY.search(_NOT_KEYS.sub("s", text)):
        raise ValueError(f"a key has more than {MAX_KEY_NAMES} names")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def inline_toml(value: Any) -> str:
    """A value on one line; what is null in it is left out, as TOML has none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(inline_toml(item) for item in value if item is not None)}]"
    if isinstance(value, Mapping):
        pairs = [
            f"{toml_key(str(k))} = {inline_toml(v)}" for k, v in value.items() if v is not None
        ]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    # TOML escapes like JSON, and wants DEL escaped too.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A key as TOML writes it: quoted where it is not bare."""
    return name if _BARE_KEY.fullmatch(name) else inline_toml(name)
