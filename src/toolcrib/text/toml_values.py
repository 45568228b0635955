"""TOML in texts that others wrote, read only where that costs little memory."""

from __future__ import annotations

import re
import tomllib
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
