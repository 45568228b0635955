"""Files of variables (`.env`): where the value of a key stands, and how a value is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from toolcrib.core.errors import BadInput

KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
MAX_VALUE_CHARS = 32_768
_ENTRY = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*", re.ASCII)
_PLAIN = re.compile(r"[\w./:@%+,=~-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class EnvEntry:
    """A key and where its value stands: the characters from `start` to `end`, quotes included."""

    key: str
    start: int
    end: int
    line: int


def entries(text: str) -> Iterator[EnvEntry]:
    """The entries of a file; a value in quotes may go on over several lines.

    Raises:
        BadInput: a quotation mark is never closed, so nobody knows what belongs to what.
    """
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        found = _ENTRY.match(text, at, end)
        if found is None:
            at = end + 1
            continue
        line = text.count("\n", 0, at) + 1
        stop = _value_end(text, found.end(), end, line)
        yield EnvEntry(found[1], found.end(), stop, line)
        after = text.find("\n", stop)
        at = len(text) if after < 0 else after + 1


def _value_end(text: str, start: int, line_end: int, line: int) -> int:
    quote = text[start : start + 1]
    if quote not in ('"', "'", "`") or start >= line_end:
        bare = text[start:line_end]
        comment = re.search(r"(?:^|[ \t])#", bare)
        return start + len((bare[: comment.start()] if comment else bare).rstrip(" \t\r"))
    at = start + 1
    while at < len(text):
        if text[at] == "\\" and quote == '"':
            at += 2
        elif text[at] == quote:
            return at + 1
        else:
            at += 1
    raise BadInput(
        f"The quotation mark in line {line} is never closed.", hint="Mend the file first."
    )


def written(value: str, before: str = "") -> str:
    """A value as it stands in a file, in the quotes that `before` had where they do.

    Raises:
        BadInput: however it is written, programs read it differently.
    """
    if len(value) > MAX_VALUE_CHARS:
        raise BadInput(f"The value has more than {MAX_VALUE_CHARS:,} characters.")
    if any(ord(sign) < 32 and sign not in "\t\n" for sign in value) or "\x7f" in value:
        raise BadInput("The value holds control characters.", hint="Send it as plain text.")
    quote = before[:1]
    if _PLAIN.fullmatch(value) and quote not in ('"', "'"):
        return value
    if "\n" not in value and "'" not in value and quote != '"':
        return f"'{value}'"
    if quote == "'" and "'" not in value and "\n" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + escaped.replace("$", "\\$").replace("`", "\\`") + '"'
