"""Code as models hand it over: in a fence of Markdown, with a line of prose around it."""

from __future__ import annotations

import re

WHOLE = re.compile(r"\s*(?:```|~~~)[\w+-]*[ \t]*\n(.*?)\n?(?:```|~~~)\s*", re.DOTALL)
OPENED = re.compile(
    r"(?P<before>(?:[^\n]*\n){0,4}?)[ \t]*```[\w+-]*[ \t]*\n(?P<code>.*?)"
    r"(?:^[ \t]*```[ \t]*$(?P<after>.*)|\Z)",
    re.DOTALL | re.MULTILINE,
)
CODE = re.compile(r"[=(){}\[\]\"`#;<>|$\\]|'''")
"""What a line of prose before a fence has none of."""
MOST = 200_000
"""Characters up to which a fence in the middle is looked for."""


def unfenced(text: str) -> str:
    """The code of a text, with the line ends of Unix."""
    text = text.replace("\r\n", "\n")
    whole = WHOLE.fullmatch(text)
    if whole:
        return whole[1]
    if "```" not in text or len(text) > MOST:
        return text
    opened = OPENED.match(text)
    if opened is None or CODE.search(opened["before"]):
        return text
    return opened["code"]
