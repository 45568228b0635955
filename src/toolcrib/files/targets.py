"""Places of a workspace that something outside names, and the links on the way to them.

Who has such a link lead elsewhere, or is the first to make a place that is missing, has another
file found there.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from glob import escape, iglob
from itertools import islice

from toolcrib.files.real_paths import follow

MAX_PLACES = 50_000
_BREAKS = re.compile(r"[\s\"';|&()<>=!:,]+")
_HOME = re.compile(r"\$(?:HOME\b|\{HOME\})")
_DEFAULT = re.compile(r"\$\{\w+:?[-=+]([^${}]*)\}")
_EXPANSION = re.compile(
    r"(?P<in_word>(?<=[^\s\"';|&()<>=!:,]))?(?:\$\([^()]*\)|`[^`]*`|\$\w+|\$\{[^}]*\})"
)
_WILDCARD = re.compile(r"(\*+|\?|\[[^]/]+\]|\{[^{}/]*\})")
MAX_NESTED = 5
MAX_PATTERNS, MAX_MATCHES = 1_000, 200
"""Patterns that are noted, and what is looked up for each of what is there."""


@dataclass
class Targets:
    """What is named. Adding blocks; asking does not.

    Attributes:
        roots: those of the workspace, real; what lies outside is not noted.
        files: each by its path.
        folders: they count with all that they hold, there or not.
        patterns: the names of paths with wildcards of a shell, which count as folders do.
    """

    roots: Sequence[str] = ()
    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    patterns: set[tuple[str, ...]] = field(default_factory=set)
    _added: set[tuple[str, bool]] = field(default_factory=set)

    def add(self, place: str, *, is_folder: bool = False) -> None:
        """Add an absolute path and where it leads, by the system and as a shell shortens it."""
        if (place, is_folder) in self._added or len(self._added) > MAX_PLACES:
            return
        self._added.add((place, is_folder))
        with suppress(OSError, ValueError):
            plain = os.path.normpath(place)
            real, links = follow("/", place)
            if plain != place:
                self.add(plain, is_folder=is_folder)
                self.add_links(_before_ups(place))
            for path in {plain, real}:
                if self.is_inside(path) or (is_folder and path in self.roots):
                    (self.folders if is_folder else self.files).add(path)
            self.add_links(links)

    def add_pattern(self, place: str) -> None:
        """Add what an absolute path with wildcards stands for, now or later."""
        names = os.path.normpath(place).split("/")
        first = next((n for n, name in enumerate(names) if _WILDCARD.search(name)), len(names))
        folder, rest = "/".join(names[:first]), tuple(map(_simplified, names[first:]))
        if len(self.patterns) >= MAX_PATTERNS:
            return
        with suppress(OSError, ValueError):
            real, links = follow("/", folder or "/")
            self.add_links(links)
            self.patterns |= {(*map(escape, start.split("/")), *rest) for start in (folder, real)}
            if folder in self.roots or self.is_inside(folder):
                there = iglob("/".join((escape(folder), *rest)))  # noqa: PTH207
                for match in islice(there, MAX_MATCHES):
                    self.add(match, is_folder=True)

    def add_links(self, links: Iterable[str]) -> None:
        """Add links on the way to a place."""
        self.files.update(filter(self.is_inside, links))

    def is_inside(self, place: str) -> bool:
        """Whether an absolute path lies in the workspace, as it is spelt."""
        return any(place.startswith(f"{root.rstrip('/')}/") for root in self.roots)

    def has(self, path: str) -> bool:
        """Whether a path, absolute and without links, is one of them or lies in one."""
        if path in self.files or self._fits(path):
            return True
        return bool(self.folders) and not self.folders.isdisjoint((path, *folders_above(path)))

    def has_beneath(self, path: str) -> bool:
        """Whether a file or folder of them lies beneath a path, there or not."""
        return path in self._above or self._fits(path, above=True)

    def _fits(self, path: str, *, above: bool = False) -> bool:
        """Whether a path is what a pattern describes or lies in it, or is a folder above."""
        names = path.split("/") if self.patterns else []
        return any(
            (len(names) < len(pattern)) == above and all(map(fnmatchcase, names, pattern))
            for pattern in self.patterns
        )

    @cached_property
    def _above(self) -> frozenset[str]:
        named = (*self.files, *self.folders)
        return frozenset(each for place in named for each in folders_above(place))


def _simplified(name: str) -> str:
    """A name with wildcards, where a set of characters is any one, and of names any."""
    plain = _WILDCARD.split(name)
    plain[::2] = map(escape, plain[::2])
    plain[1::2] = ("?" if part[0] in "?[" else "*" for part in plain[1::2])
    return "".join(plain)


def is_pattern(word: str) -> bool:
    """Whether a shell would look for names that a word describes; not one that fits all names."""
    plain, *more = _WILDCARD.split(word)
    return bool(more) and re.search(r"\w", "".join((plain, *more[1::2]))) is not None


def _before_ups(place: str) -> Iterator[str]:
    """The folders from which `..` leads up: a link in their place has another file found."""
    names = place.split("/")
    for at, name in enumerate(names):
        if name == "..":
            yield os.path.normpath("/".join(names[:at]))


def folders_above(path: str) -> Iterator[str]:
    """The folders on the way to an absolute path, as it is spelt."""
    while path := path.rpartition("/")[0]:
        yield path


def words_of(value: str) -> Iterator[tuple[bool, str]]:
    """What may be paths in a value, which is one itself or a command; whether it stands first.

    What a shell would put in is taken for the folder where the path begins, or for any name.
    """
    text = _DEFAULT.sub(r"\1", _HOME.sub("~", value.lstrip("! \t")))
    for _ in range(MAX_NESTED):  # the innermost first
        text, count = _EXPANSION.subn(lambda found: "." if found["in_word"] is None else "*", text)
        if not count:
            break
    yield True, text
    with suppress(ValueError):  # quotes that are not closed
        yield from ((number == 0, word) for number, word in enumerate(shlex.split(text)))
    words = filter(None, _BREAKS.split(text))
    yield from ((number == 0, word) for number, word in enumerate(words))
