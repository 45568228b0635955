"""What a program wrote, as text to read: no colours, no overwritten lines."""

from __future__ import annotations

import re

from toolcrib.text.cleaner import clean

_COLOURS = re.compile(
    r"\x1b\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|\x1b[()][A-Z0-9]|\x1b[=>78cDEHM]"
)
_BACK = re.compile(r"[^\b\n]\x08")
MAX_BACKSPACES = 200


def printed(text: str) -> str:
    """Output as a terminal would leave it, line by line.

    Escape sequences go, and of a line that was written over and over (a bar that shows how
    far something is) only the last state stays.
    """
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    if "\r" in text:
        lines = text.replace("\r\n", "\n").split("\n")
        text = "\n".join(_last(line) if "\r" in line else line for line in lines)
    for _ in range(MAX_BACKSPACES):
        if "\b" not in text:
            break
        text, count = _BACK.subn("", text)
        if not count:
            break
    return clean(text).text


def _last(line: str) -> str:
    """The last state of a line that a carriage return started again and again."""
    states = [state for state in line.split("\r") if state.strip()]
    return states[-1] if states else ""
