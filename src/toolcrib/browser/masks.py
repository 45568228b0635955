"""Secrets that were typed into pages: texts without them, in whatever spelling they come back."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field

from toolcrib.browser.snapshots import MASK


@dataclass(slots=True)
class SecretMasks:
    """The secrets of one conversation: what one tab was given, another may show.

    Attributes:
        secrets: as they were typed.
    """

    secrets: set[str] = field(default_factory=set)
    _pattern: re.Pattern[str] | None = None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def add(self, secret: str) -> None:
        """Hide one from now on."""
        if secret.strip():
            self.secrets.add(secret)
            ordered = sorted(self.secrets, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(_spellings, ordered)), re.IGNORECASE)

    def __call__(self, text: str) -> str:
        """A text without them: as they are, in a URL, or escaped as in JSON, HTML or Markdown."""
        return text if self._pattern is None else self._pattern.sub(MASK, text)


def _spellings(secret: str) -> str:
    """A pattern of all ways to write a secret, letter by letter."""
    parts = [_letter(char) for char in " ".join(secret.split())]
    return "".join(parts)


def _letter(char: str) -> str:
    # Every repetition has an end: a page of backslashes must not be searched again from each.
    if char == " ":
        return r"(?:\s|\+|%(?:25){0,3}20|&nbsp;){1,8}"
    percent = "".join(f"%(?:25){{0,3}}{b:02x}" for b in char.encode("utf-8", "surrogatepass"))
    literal = r"\\{1,8}" if char == "\\" else rf"\\{{0,8}}{re.escape(char)}"
    code = ord(char)
    ways = [literal, percent, rf"\\{{1,8}}(?:u{code:04x}|x{code:02x})"]
    ways += [f"&#0{{0,5}}{code};", f"&#x0{{0,5}}{code:x};"]
    if (named := html.escape(char)) != char:
        ways.append(re.escape(named))
    return f"(?:{'|'.join(ways)})"
