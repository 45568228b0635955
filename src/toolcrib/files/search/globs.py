"""Globs and .gitignore rules as linear-time expressions: `*`, `?`, `[ab]`, `{a,b}` and `**`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from toolcrib.files.search.expressions import ExpressionError, compiled_expression

MAX_GLOB_CHARS = 1000
_SIGNS = frozenset("*?[{")
_NEVER = "[^\\x00-\\x{10FFFF}]"


def has_signs(text: str) -> bool:
    """Whether a text is a glob rather than a plain name."""
    return not _SIGNS.isdisjoint(text)


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
    return compiled_expression(f"(?:{joined})", ignore_case=True, many_lines=many_lines)


def _rooted(glob: str) -> str:
    plain = glob.removeprefix("./")
    inside = plain.rstrip("/")
    # A folder that is named means what is in it.
    tail = "/" if plain.endswith("/") else "(?:/|$)"
    if "/" in inside:
        return f"^{translate(inside.lstrip('/'))}{tail}"
    return f"(?:^|/){translate(inside)}{tail if plain.endswith('/') else '$'}"


# What the .gitignore files of a tree leave out, bounded whatever they say.

GITIGNORE = ".gitignore"
MAX_RULES_BYTES = 256 * 1024
MAX_RULES = 2000
MAX_RULE_CHARS = 500


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One pattern: its names, and what stands around them.

    `anchored` counts from the folder of the file, `folders` speaks of folders alone.
    """

    names: tuple[str, ...]
    negated: bool
    anchored: bool
    folders: bool

    @classmethod
    def of(cls, text: str) -> IgnoreRule | None:
        """Read one line; None for comments and what says nothing."""
        text = text.rstrip("\r\n")
        while text.endswith(" ") and not text.endswith("\\ "):
            text = text[:-1]
        if not text or text.startswith("#") or len(text) > MAX_RULE_CHARS:
            return None
        negated = text.startswith("!")
        body = text[1:] if negated else text
        folders = body.endswith("/")
        body = body.rstrip("/") if folders else body
        anchored = "/" in body
        names = tuple(name for name in body.split("/") if name)
        return cls(names, negated, anchored, folders) if names else None

    @property
    def expression(self) -> str:
        """Over the path from the folder of the file, folders written with a `/` at the end."""
        head = "^" if self.anchored else "(?:^|/)"
        return f"{head}{translate('/'.join(self.names))}{'/' if self.folders else '/?'}$"

    def beneath(self, name: str) -> list[IgnoreRule]:
        """What the pattern says of the things in a folder of this name."""
        if not self.anchored:
            return [self]
        left = []
        first, rest = self.names[0], self.names[1:]
        if first == "**":
            left.append(self)
            if rest and rest[0] != "**" and len(rest) > 1 and fnmatchcase(name, rest[0]):
                left.append(IgnoreRule(rest[1:], self.negated, True, self.folders))
        elif rest and fnmatchcase(name, first):
            left.append(IgnoreRule(rest, self.negated, True, self.folders))
        return left

    def __str__(self) -> str:
        body = "/".join(self.names)
        head = "!" if self.negated else ""
        return f"{head}{'/' if self.anchored else ''}{body}{'/' if self.folders else ''}"


def ignore_rules(data: bytes | None) -> list[IgnoreRule]:
    """The patterns of a file; none of one that is larger than any that a person writes."""
    if not data or len(data) > MAX_RULES_BYTES:
        return []
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    found = [line for raw in text.split("\n") if (line := IgnoreRule.of(raw)) is not None]
    return found if len(found) <= MAX_RULES else []


class IgnoreRules:
    """The patterns of one file, ready to be asked.

    Args:
        lines: in the order of the file; the last one that fits decides.
        base: the way from the top of the walk to the folder of the file, ending in "/".
    """

    def __init__(self, lines: Sequence[IgnoreRule], base: str) -> None:
        self.base = base
        self._lines: list[tuple[IgnoreRule, Any]] = []
        for line in lines:
            pattern = _compiled(line.expression)
            if pattern is not None:
                self._lines.append((line, pattern))
        joined = "|".join(line.expression for line, _ in self._lines)
        self._any = _compiled(joined, many_lines=True) if joined else None
        self._set = _set_of([line.expression for line, _ in self._lines])

    def touches(self, paths: bytes) -> bool:
        """Whether any of the paths, one a line, needs a closer look."""
        return self._any is None or bool(self._any.search(paths))

    def verdict(self, path: bytes) -> bool | None:
        """Whether a path is left out; None where no pattern speaks of it."""
        if self._set is not None:
            found = self._set.Match(path)
            return not self._lines[max(found)][0].negated if found else None
        for line, pattern in reversed(self._lines):
            if pattern.search(path):
                return not line.negated
        return None


def _compiled(expression: str, *, many_lines: bool = False) -> Any:
    try:
        return compiled_expression(expression, many_lines=many_lines)
    except ExpressionError:
        return None


def _set_of(expressions: Sequence[str]) -> Any:
    """All at once; None where that is too large, or RE2 is not there."""
    try:
        import re2  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        return None
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = 64 << 20
    found = re2.Set.SearchSet(options)
    try:
        for expression in expressions:
            found.Add(expression)
        found.Compile()
    except re2.error:
        return None
    return found


class Ignored:
    """The rules that hold where a walk is now.

    Args:
        above: the patterns of the folders above the top, as they speak of what is in it.
    """

    def __init__(self, above: Sequence[IgnoreRule] = ()) -> None:
        self._chain: list[IgnoreRules] = [IgnoreRules(above, "")] if above else []

    def enter(self, prefix: str, data: bytes | None) -> None:
        """Go into a folder that has a .gitignore file, or none."""
        self._chain = [rules for rules in self._chain if prefix.startswith(rules.base)]
        lines = ignore_rules(data)
        if lines:
            self._chain.append(IgnoreRules(lines, prefix))

    def unignored(self, prefix: str, names: list[str], tail: str = "") -> list[str]:
        """The names of a folder that no rule leaves out.

        Args:
            prefix: the way to the folder from the top.
            names: what it holds.
            tail: "/" where they are folders.
        """
        if not self._chain or not names:
            return names
        out: set[str] = set()
        undecided_names = names
        for rules in reversed(self._chain):
            below = prefix[len(rules.base) :]
            raw = "\n".join(f"{below}{name}{tail}" for name in undecided_names)
            if not rules.touches(raw.encode("utf-8", "surrogateescape")):
                continue
            undecided = []
            for name in undecided_names:
                path = f"{below}{name}{tail}".encode("utf-8", "surrogateescape")
                verdict = rules.verdict(path)
                if verdict is None:
                    undecided.append(name)
                elif verdict:
                    out.add(name)
            undecided_names = undecided
        return [name for name in names if name not in out] if out else names
