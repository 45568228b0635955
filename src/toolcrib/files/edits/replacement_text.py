"""What takes the place of a match: literal text, line ends, and what groups matched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SIGN = re.compile(
    r"\\(?P<kept>\\|\$(?=[\d&{<]))"
    r"|(?P<line>(?:\\r)?\\n)|(?P<tab>\\t)|(?P<whole>\$&)"
    r"|[\\$](?P<number>\d\d?)"
    r"|(?:\\g<|\$<)(?P<angled>\w+)>|\$\{(?P<braced>\w+)\}|\$(?P<bare>[^\W\d]\w*)"
    r"|\\[^\W\d_]"
)


class ReplacementText:
    r"""The replacement of an expression, read once.

    `$1`, `\1`, `${name}`, `$<name>`, `\g<name>` and `$name` are groups, `$0`, `$&` and `\0` the
    whole match, `\n` and `\t` a line end and a tab, `\\` a backslash, `\$1` a dollar and a digit.
    What names no group of the expression stands as written.

    Args:
        text: as it was given.
        groups: how many groups the expression has.
        names: the numbers of those with a name.
    """

    def __init__(self, text: str, groups: int, names: Mapping[str, int]) -> None:
        self._groups, self._names = groups, names
        self._parts: list[str | int] = []
        self._unknown: dict[str, None] = {}
        done = 0
        for sign in _SIGN.finditer(text):
            self._parts += [text[done : sign.start()], *self._meaning(sign)]
            done = sign.end()
        self._parts.append(text[done:])

    @property
    def note(self) -> str:
        """What looks like a group or a sign and is none, as a sentence; "" where nothing does."""
        signs = list(self._unknown)[:5]
        if len(signs) == 1:
            return f"Note: {signs[0]} is no group of the pattern and stands as written."
        listed = ", ".join(signs)
        return listed and f"Note: {listed} are no groups of the pattern and stand as written."

    def expanded(self, match: Any) -> str:
        """The text for one match of the expression over UTF-8."""
        return "".join(
            part
            if isinstance(part, str)
            else (match.group(part) or b"").decode("utf-8", "surrogatepass")
            for part in self._parts
        )

    def _meaning(self, sign: re.Match[str]) -> list[str | int]:
        match sign.lastgroup:
            case "kept":
                return [sign["kept"]]
            case "line":
                return ["\n"]
            case "tab":
                return ["\t"]
            case "whole":
                return [0]
            case "bare":  # mostly a variable of a shell, of which nothing is to be said
                return [self._names.get(sign["bare"], sign[0])]
        return self._group(sign)

    def _group(self, sign: re.Match[str]) -> list[str | int]:
        """The group that a sign names; of two digits the second may be a text of its own."""
        name = sign["number"] or sign["angled"] or sign["braced"] or ""
        if name in self._names:
            return [self._names[name]]
        if name.isdecimal() and int(name) <= self._groups:
            return [int(name)]
        if sign["number"] and int(name[0]) <= self._groups:
            return [int(name[0]), name[1:]]
        self._unknown[sign[0]] = None
        return [sign[0]]
