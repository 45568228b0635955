"""A fence of Markdown around text that is written to a file of another kind."""

from __future__ import annotations

import re

from toolcrib.files.content.outline import is_prose

_FENCED = re.compile(
    r"\s*^(?P<mark>`{3,}|~{3,})[\w+#.-]*[ \t]*\n(?P<inner>.*)\n(?P=mark)\s*",
    re.DOTALL | re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)
TAKEN_OFF = "Note: the Markdown fence around the text was taken off."


def unfenced(text: str) -> str | None:
    """What one fence around all of a text holds, without its last line end; None without one."""
    if not text.rstrip().endswith(("```", "~~~")):
        return None
    match = _FENCED.fullmatch(text.replace("\r\n", "\n"))
    if match is None or not match["inner"].strip():
        return None
    again = re.search(rf"^[ \t]*{match['mark']}", match["inner"], re.MULTILINE)
    return None if again else match["inner"]


def has_fence(text: str) -> bool:
    """Whether a line of a text begins a fence or ends one."""
    return _FENCE.search(text) is not None


def file_text(content: str, before: str, name: str) -> tuple[str, str]:
    """What a file shall hold without a fence around it, and a note that there was one.

    Args:
        content: what was sent.
        before: what is in the file; a fence in it says that fences are of its text.
        name: the file name; prose keeps its fences.
    """
    inner = None if is_prose(name) or has_fence(before) else unfenced(content)
    return (content, "") if inner is None else (f"{inner}\n", TAKEN_OFF)
