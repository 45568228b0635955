"""Catalogs of the paths of folders, cached in memory, and the search in them by name."""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from heapq import nlargest
from importlib.util import find_spec
from typing import Any, Self

from toolcrib.core.context import Services
from toolcrib.files.search.globs import GITIGNORE, Globs
from toolcrib.files.search.scope import SearchScope, suspects, walk
from toolcrib.files.trees import modified_at
from toolcrib.system.threads import Checkpoint

FRESH_SECONDS = 3.0
"""Seconds for which a list is used as it is."""
MAX_CATALOGS = 4
MAX_PATHS = 1_000_000


@dataclass(slots=True)
class Catalog:
    """What a folder holds: paths from it, those of folders with a `/` at the end.

    Attributes:
        paths: files, links and folders, in the order of the walk.
        links: those of them that are symbolic links.
        unread: those that are folders which could not be looked into.
        folders: each folder's path, and when a name in it last changed.
        rules: the same of its .gitignore files.
        protected: which of the paths may not be read.
        complete: whether nothing was left out for the number of paths.
    """

    paths: list[str] = field(default_factory=list)
    folders: dict[str, int | None] = field(default_factory=dict)
    rules: dict[str, int | None] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)
    complete: bool = True
    checked: float = 0.0
    index: Any = None
    """What the fuzzy matcher made of the paths."""
    joined: str = ""
    """All paths, one a line."""
    folded: str = ""
    """The same in lower case, of the same length; empty where that cannot be."""
    linked: frozenset[str] | None = None
    """Files with several names (hard links); None before somebody asked."""
    unsearched: frozenset[str] | None = None
    """Files that are no text to search, or cannot be read; None before they were looked at."""
    unsearched_at: float = 0.0
    _files: frozenset[str] | None = None

    @property
    def files(self) -> frozenset[str]:
        """The paths of plain files, protected ones too."""
        if self._files is None:
            files = (path for path in self.paths if path[-1] != "/")
            self._files = frozenset(files) - self.links
        return self._files


class Catalogs:
    """A service: the lists of the last folders that were asked for, for all sessions."""

    def __init__(self) -> None:
        self._cached: OrderedDict[tuple[Any, ...], Catalog] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is listed yet."""
        del services
        return cls()

    def of(self, scope: SearchScope, check: Checkpoint, *, anew: bool = False) -> Catalog:
        """The list of a scope. It blocks.

        Args:
            scope: the folder, and what of it is left out; its globs are not looked at.
            check: called now and then.
            anew: look at the tree even if that was done a moment ago.
        """
        key = _key(scope)
        cached = self._cached.get(key)
        now = time.monotonic()
        if cached is not None and not anew and now - cached.checked < FRESH_SECONDS:
            return cached
        if cached is not None and not _changed(cached, scope, check):
            cached.checked = now
            return cached
        catalog = _new_catalog(scope, check)
        self._cached[key] = catalog
        self._cached.move_to_end(key)
        while len(self._cached) > MAX_CATALOGS or (
            len(self._cached) > 1 and self._size() > MAX_PATHS
        ):
            self._cached.popitem(last=False)
        return catalog

    def unchanged(self, scope: SearchScope, check: Checkpoint) -> Catalog | None:
        """The list of a scope if there is one, and no folder of it changed since. It blocks."""
        cached = self._cached.get(_key(scope))
        return None if cached is None or _changed(cached, scope, check) else cached

    def _size(self) -> int:
        return sum(len(cached.paths) for cached in self._cached.values())


def _key(scope: SearchScope) -> tuple[Any, ...]:
    root = scope.real.root.real
    return root, scope.real.parts, scope.named, scope.above, id(scope.real.gate)


def _changed(cached: Catalog, scope: SearchScope, check: Checkpoint) -> bool:
    with scope.real.open() as top:
        for number, (path, when) in enumerate((*cached.folders.items(), *cached.rules.items())):
            if not number % 1000:
                check()
            if modified_at(top, path) != when:
                return True
    return False


def _new_catalog(scope: SearchScope, check: Checkpoint) -> Catalog:
    catalog = Catalog(checked=time.monotonic())
    with scope.real.open() as top:
        for level in walk(scope, top, check, marked=True, unread=catalog.unread):
            if len(catalog.paths) > MAX_PATHS:
                catalog.complete = False
                break
            prefix = level.prefix
            catalog.folders[prefix] = level.modified
            if prefix:
                catalog.paths.append(prefix)
            if GITIGNORE in level.files:
                catalog.rules[prefix + GITIGNORE] = modified_at(top, prefix + GITIGNORE)
            catalog.paths += [prefix + name for name in level.files]
            if level.links:
                links = [prefix + name for name in level.links]
                catalog.links.update(links)
                catalog.paths += links
            catalog.paths += [prefix + name for name in level.barred]
    catalog.protected = suspects(scope, catalog.paths)
    catalog.joined = "\n".join(catalog.paths)
    lower = catalog.joined.lower()
    catalog.folded = lower if len(lower) == len(catalog.joined) else ""
    return catalog


# Finding paths by name: globs, parts of names, and names with typos.

MAX_QUERY_CHARS = 200
MIN_SIMILARITY = 0.6
THREADS = 2
MIN_TYPO_CHARS = 4
"""Letters of a word in which no typo is forgiven."""


def by_glob(catalog: Catalog, glob: str) -> list[str]:
    """The paths that fit, in the order of the list."""
    globs = Globs([glob.rstrip("/")])
    if not globs.wanted:
        return []
    bare = (path.rstrip("/") for path in catalog.paths)
    if glob.endswith("/"):
        bare = (prefix.rstrip("/") for prefix in catalog.folders if prefix)
    raw = "\n".join(bare).encode("utf-8", "surrogateescape")
    found = (path.decode("utf-8", "surrogateescape") for path in globs.among(raw))
    return [f"{path}/" if f"{path}/" in catalog.folders else path for path in found]


def by_part(catalog: Catalog, query: str) -> list[str]:
    """The paths with all words of a query in them, best first."""
    lower = query.lower()
    found = _holding(catalog, lower.split())
    return sorted(found, key=lambda path: _rank(path, lower))


def _holding(catalog: Catalog, words: list[str]) -> list[str]:
    joined, folded = catalog.joined, catalog.folded
    if not folded or not words:
        return [p for p in catalog.paths if words and all(w in p.lower() for w in words)]
    longest_word = max(words, key=len)
    found, at = [], folded.find(longest_word)
    while at >= 0:
        start, end = folded.rfind("\n", 0, at) + 1, folded.find("\n", at)
        end = len(folded) if end < 0 else end
        if all(word in folded[start:end] for word in words):
            found.append(joined[start:end])
        at = folded.find(longest_word, end)
    return found


def _rank(path: str, query: str) -> tuple[int, int, str]:
    """Equal names first, then equal stems, beginnings, parts of the name, parts of the path."""
    name = path.rstrip("/").rpartition("/")[2].casefold()
    if name == query:
        order = 0
    elif name.rpartition(".")[0] == query:
        order = 1
    elif name.startswith(query):
        order = 2
    else:
        order = 3 if query in name else 4
    return order, len(path), path


def by_likeness(catalog: Catalog, query: str, limit: int) -> list[str]:
    """The paths most like a query, best first: its letters in order, some of them wrong."""
    words = query.split()
    if not words:
        return []
    if find_spec("frizbee") is not None:
        found = _by_frizbee(catalog, words, limit)
    else:
        found = _by_python(catalog.paths, query, limit)
    return found[:limit]


def _by_frizbee(catalog: Catalog, words: list[str], limit: int) -> list[str]:
    import frizbee

    if catalog.index is None:
        catalog.index = frizbee.Haystacks(_encodable(catalog.paths))
    longest_word = frizbee.max_needle_len()
    patterns = [
        frizbee.Pattern(
            word[:longest_word], matching="fuzzy", max_typos=_typos(word), casing="ignore"
        )
        for word in words
    ]
    matcher = frizbee.Matcher.from_patterns(patterns, max_typos=2, max_items=limit, casing="ignore")
    found = matcher.match_list_parallel(catalog.index, THREADS)
    paths = [(catalog.paths[match.index], match.score) for match in found]
    query = " ".join(words).casefold()
    return [path for path, _ in sorted(paths, key=lambda item: _merit(item[0], item[1], query))]


def _encodable(paths: Sequence[str]) -> list[str]:
    """Names that are not text are compared by what of them is."""
    try:
        "\n".join(paths).encode()
    except UnicodeEncodeError:
        return [path.encode("utf-8", "replace").decode() for path in paths]
    return list(paths)


def _typos(word: str) -> int:
    return 0 if len(word) < MIN_TYPO_CHARS else 1 if len(word) < 2 * MIN_TYPO_CHARS else 2


def _merit(path: str, score: int, query: str) -> tuple[float, int, str]:
    """By score, where letters in the name itself count more than those in its folders."""
    name = path.rstrip("/").rpartition("/")[2].casefold()
    stem = name.rpartition(".")[0] or name
    likeness = _ratio(name if "." in query else stem, query)
    return -(score * (1.0 + likeness)), len(path), path


def _ratio(name: str, query: str) -> float:
    matcher = SequenceMatcher(None, name, query, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() > MIN_SIMILARITY else 0.0


def _by_python(paths: Sequence[str], query: str, limit: int) -> list[str]:
    """Without the package: by the letters that names share."""
    wanted = query.casefold()
    pairs = {wanted[i : i + 2] for i in range(len(wanted) - 1)} or {wanted}
    rough = nlargest(20 * limit, paths, key=lambda path: _shared(pairs, path))
    scored = [(_closeness(path, wanted), path) for path in rough]
    scored = [(score, path) for score, path in scored if score >= MIN_SIMILARITY]
    return [path for _, path in sorted(scored, key=lambda item: (-item[0], len(item[1]), item[1]))]


def _shared(pairs: set[str], path: str) -> float:
    name = path.rstrip("/").rpartition("/")[2].casefold()
    return sum(pair in name for pair in pairs) - len(name) / 1000


def _closeness(path: str, wanted: str) -> float:
    lower = path.rstrip("/").casefold()
    name = lower.rpartition("/")[2]
    return max(_ratio(part, wanted) for part in (lower, name, name.rpartition(".")[0] or name))


_WORD = re.compile(r"[\w.-]+")


def names_in(query: str) -> list[str]:
    """The plain names in a query, for folders that are skipped unless they are named."""
    return _WORD.findall(query.replace("/", " "))
