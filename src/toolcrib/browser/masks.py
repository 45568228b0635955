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
    if char == " ":
        return r"(?:\s|\+|%(?:25)*20|&nbsp;)+"
    percent = "".join(f"%(?:25)*{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
    ways = [rf"\\*{re.escape(char)}", percent, rf"\\+u{ord(char):04x}", rf"\\+x{ord(char):02x}"]
    ways += [f"&#0*{ord(char)};", f"&#x0*{ord(char):x};"]
    if (named := html.escape(char)) != char:
        ways.append(re.escape(named))
    if char == "\\":
        ways[0] = r"\\+"
    return f"(?:{'|'.join(ways)})"
