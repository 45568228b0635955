"""Globs as linear-time expressions: `*`, `?`, `[ab]`, `{a,b}` and `**`, as in .gitignore."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

MAX_CHARS = 1000
_SIGNS = frozenset("*?[{")
_NEVER = "[^\\x00-\\x{10FFFF}]"


def has_signs(text: str) -> bool:
    """Whether a text is a glob rather than a plain name."""
    return not _SIGNS.isdisjoint(text)


def compiled(pattern: str, *, ignore_case: bool = False, many_lines: bool = False) -> Any:
    """An RE2 expression over UTF-8 bytes, without groups and without complaints on stderr.

    Raises:
        re2.error: it is none, or too large.
    """
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = not ignore_case
    options.max_mem = 32 << 20
    return re2.compile(f"(?m){pattern}" if many_lines else pattern, options)


def translate(glob: str) -> str:
    """The expression of a glob over a whole path with `/` between names."""
    out: list[str] = []
    at = braces = 0
    while at < len(glob):
        char = glob[at]
        at += 1
        if char == "*":
            stars = at - 1
            while glob[at : at + 1] == "*":
                at += 1
            text, at = _stars(glob, stars, at)
            out.append(text)
        elif char == "?":
            out.append("[^/\\n]")
        elif char == "[":
            text, at = _class(glob, at)
            out.append(text)
        elif char == "{" and "}" in glob[at:]:
            out.append("(?:")
            braces += 1
        elif char == "}" and braces:
            out.append(")")
            braces -= 1
        elif char == "," and braces:
            out.append("|")
        elif char == "\\" and at < len(glob):
            out.append(_plain(glob[at]))
            at += 1
        else:
            out.append(_plain(char))
    return "".join(out) + ")" * braces


def _stars(glob: str, start: int, end: int) -> tuple[str, int]:
    """`*` stays within a name; `**` as a whole name is any number of folders.

    As a whole name it is one with letters: `src/*` does not speak of `src/` itself.
    """
    begins = start == 0 or glob[start - 1] == "/"
    if begins and end - start > 1 and glob[end : end + 1] == "/":
        return "(?:[^\\n]*/)?", end + 1
    if begins and end == len(glob):
        return ("[^\\n]+" if end - start > 1 else "[^/\\n]+"), end
    return ("[^/\\n]+" if begins and glob[end : end + 1] == "/" else "[^/\\n]*"), end


def _class(glob: str, at: int) -> tuple[str, int]:
    """`[abc]`, `[!a-z]`; a bracket that is not closed is one."""
    end = glob.find("]", at + 2 if glob[at : at + 1] in ("!", "^") else at + 1)
    if end < 0:
        return "\\[", at
    inside = glob[at:end]
    negated = inside[:1] in ("!", "^")
    parts: list[str] = []
    chars = inside[1:] if negated else inside
    place = 0
    while place < len(chars):
        if chars[place] == "\\" and place + 1 < len(chars):
            place += 1
        low = chars[place]
        if chars[place + 1 : place + 2] == "-" and place + 2 < len(chars):
            high = chars[place + 2]
            parts += [f"{_in_class(low)}-{_in_class(high)}"] if low <= high else []
            place += 3
        else:
            parts.append(_in_class(low))
            place += 1
    if negated:
        return f"[^/\\n{''.join(parts)}]", end + 1
    return (f"[{''.join(parts)}]" if parts else _NEVER), end + 1


def _plain(char: str) -> str:
    return f"\\{char}" if char.isascii() and not char.isalnum() and char not in "/_ " else char


def _in_class(char: str) -> str:
    return f"\\{char}" if char in "\\]^-[&~" else char


class Globs:
    """Globs on paths, some of them with `!` for what is not wanted. Case does not matter.

    A glob without `/` speaks of the last name; one with it of the path from the folder that is
    searched. Without any positive one everything is wanted.
    """

    def __init__(self, given: Iterable[str]) -> None:
        self.texts = tuple(text for part in given for text in _split(part))
        self.wanted = tuple(t for t in self.texts if not t.startswith("!"))
        self.unwanted = tuple(t[1:] for t in self.texts if t.startswith("!"))
        self._wanted = _any_of(self.wanted)
        self._unwanted = _any_of(self.unwanted)

    def __bool__(self) -> bool:
        return bool(self.texts)

    @property
    def names(self) -> frozenset[str]:
        """The plain names of folders that are written out in them, in lower case."""
        parts = (p for t in self.wanted for p in t.strip("/").split("/"))
        return frozenset(p.lower() for p in parts if p and not has_signs(p))

    def fits(self, path: str) -> bool:
        """Whether a path is wanted."""
        if not self.texts:
            return True
        raw = path.encode("utf-8", "surrogateescape")
        if self._unwanted is not None and self._unwanted.search(raw):
            return False
        return self._wanted is None or bool(self._wanted.search(raw))

    def among(self, lines: bytes) -> Iterator[bytes]:
        """Those of many paths, one a line, that are wanted."""
        found = _any_of(self.wanted, many_lines=True)
        at = 0
        while at < len(lines) and (match := found.search(lines, at)) is not None:
            start = lines.rfind(b"\n", 0, match.start() + 1) + 1
            end = lines.find(b"\n", max(match.end() - 1, start))
            end = len(lines) if end < 0 else end
            path = lines[start:end]
            if self._unwanted is None or not self._unwanted.search(path):
                yield path
            at = end + 1


def _split(text: str) -> list[str]:
    """Globs that are separated by commas, where the comma is not between braces."""
    parts = re.split(r",(?![^{]*\})", text)
    return [part.strip() for part in parts if part.strip().strip("!/")]


@lru_cache(maxsize=64)
def _any_of(globs: tuple[str, ...], *, many_lines: bool = False) -> Any:
    if not globs:
        return None
    joined = "|".join(f"(?:{_rooted(glob)})" for glob in globs)
    return compiled(f"(?:{joined})", ignore_case=True, many_lines=many_lines)


def _rooted(glob: str) -> str:
    plain = glob.removeprefix("./")
    inside = plain.rstrip("/")
    # A folder that is named means what is in it.
    tail = "/" if plain.endswith("/") else "(?:/|$)"
    if "/" in inside:
        return f"^{translate(inside.lstrip('/'))}{tail}"
    return f"(?:^|/){translate(inside)}{tail if plain.endswith('/') else '$'}"
