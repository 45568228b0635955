"""What the .gitignore files of a tree leave out, bounded whatever they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from toolcrib.files.search.globs import compiled, translate

NAME = ".gitignore"
MAX_BYTES = 256 * 1024
MAX_PATTERNS = 2000
MAX_CHARS = 500


@dataclass(frozen=True, slots=True)
class Line:
    """One pattern: its names, and what stands around them.

    `anchored` counts from the folder of the file, `folders` speaks of folders alone.
    """

    names: tuple[str, ...]
    negated: bool
    anchored: bool
    folders: bool

    @classmethod
    def of(cls, text: str) -> Line | None:
        """Read one line; None for comments and what says nothing."""
        text = text.rstrip("\r\n")
        while text.endswith(" ") and not text.endswith("\\ "):
            text = text[:-1]
        if not text or text.startswith("#") or len(text) > MAX_CHARS:
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

    def beneath(self, name: str) -> list[Line]:
        """What the pattern says of the things in a folder of this name."""
        if not self.anchored:
            return [self]
        left = []
        first, rest = self.names[0], self.names[1:]
        if first == "**":
            left.append(self)
            if rest and rest[0] != "**" and len(rest) > 1 and fnmatchcase(name, rest[0]):
                left.append(Line(rest[1:], self.negated, True, self.folders))
        elif rest and fnmatchcase(name, first):
            left.append(Line(rest, self.negated, True, self.folders))
        return left

    def __str__(self) -> str:
        body = "/".join(self.names)
        head = "!" if self.negated else ""
        return f"{head}{'/' if self.anchored else ''}{body}{'/' if self.folders else ''}"


def lines_of(data: bytes | None) -> list[Line]:
    """The patterns of a file; none of one that is larger than any that a person writes."""
    if not data or len(data) > MAX_BYTES:
        return []
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    found = [line for raw in text.split("\n") if (line := Line.of(raw)) is not None]
    return found if len(found) <= MAX_PATTERNS else []


class Rules:
    """The patterns of one file, ready to be asked.

    Args:
        lines: in the order of the file; the last one that fits decides.
        base: the way from the top of the walk to the folder of the file, ending in "/".
    """

    def __init__(self, lines: Sequence[Line], base: str) -> None:
        self.base = base
        self._lines: list[tuple[Line, Any]] = []
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
    import re2  # type: ignore[import-untyped]

    try:
        return compiled(expression, many_lines=many_lines)
    except re2.error:
        return None


def _set_of(expressions: Sequence[str]) -> Any:
    """All at once; None where that is too large."""
    import re2

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

    def __init__(self, above: Sequence[Line] = ()) -> None:
        self._chain: list[Rules] = [Rules(above, "")] if above else []

    def enter(self, prefix: str, data: bytes | None) -> None:
        """Go into a folder that has a .gitignore file, or none."""
        self._chain = [rules for rules in self._chain if prefix.startswith(rules.base)]
        lines = lines_of(data)
        if lines:
            self._chain.append(Rules(lines, prefix))

    def kept(self, prefix: str, names: list[str], tail: str = "") -> list[str]:
        """The names of a folder that no rule leaves out.

        Args:
            prefix: the way to the folder from the top.
            names: what it holds.
            tail: "/" where they are folders.
        """
        if not self._chain or not names:
            return names
        out: set[str] = set()
        open_names = names
        for rules in reversed(self._chain):
            below = prefix[len(rules.base) :]
            raw = "\n".join(f"{below}{name}{tail}" for name in open_names)
            if not rules.touches(raw.encode("utf-8", "surrogateescape")):
                continue
            undecided = []
            for name in open_names:
                path = f"{below}{name}{tail}".encode("utf-8", "surrogateescape")
                verdict = rules.verdict(path)
                if verdict is None:
                    undecided.append(name)
                elif verdict:
                    out.add(name)
            open_names = undecided
        return [name for name in names if name not in out] if out else names
