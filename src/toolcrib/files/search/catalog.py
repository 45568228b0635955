"""The paths of a folder, kept in memory and checked before they are used again."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Self

from toolcrib.core.services import Services
from toolcrib.files.search.gitignore import NAME
from toolcrib.files.search.scope import Scope, suspects, walk
from toolcrib.files.trees import modified_at
from toolcrib.system.threads import Checkpoint

FRESH = 3.0
"""Seconds for which a list is used as it is."""
KEPT = 4
MAX_PATHS = 1_000_000


@dataclass(slots=True)
class Catalog:
    """What a folder holds: paths from it, those of folders with a `/` at the end.

    Attributes:
        paths: files and folders, in the order of the walk.
        folders: each folder's path, and when a name in it last changed.
        rules: the same of its .gitignore files.
        protected: which of the paths may not be read.
        complete: whether nothing was left out for the number of paths.
    """

    paths: list[str] = field(default_factory=list)
    folders: dict[str, int | None] = field(default_factory=dict)
    rules: dict[str, int | None] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    complete: bool = True
    checked: float = 0.0
    index: Any = None
    """What the fuzzy matcher made of the paths."""
    joined: str = ""
    """All paths, one a line."""
    folded: str = ""
    """The same in lower case, of the same length; empty where that cannot be."""


class Catalogs:
    """A service: the lists of the last folders that were asked for, for all sessions."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Any, ...], Catalog] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is listed yet."""
        del services
        return cls()

    def of(self, scope: Scope, check: Checkpoint, *, anew: bool = False) -> Catalog:
        """The list of a scope. It blocks.

        Args:
            scope: the folder, and what of it is left out; its globs are not looked at.
            check: called now and then.
            anew: look at the tree even if that was done a moment ago.
        """
        root = scope.real.root.real
        key = (root, scope.real.parts, scope.named, scope.above, id(scope.real.gate))
        kept = self._kept.get(key)
        now = time.monotonic()
        if kept is not None and not anew and now - kept.checked < FRESH:
            return kept
        if kept is not None and not _changed(kept, scope, check):
            kept.checked = now
            return kept
        made = _made(scope, check)
        self._kept[key] = made
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT or (len(self._kept) > 1 and self._size() > MAX_PATHS):
            self._kept.popitem(last=False)
        return made

    def _size(self) -> int:
        return sum(len(kept.paths) for kept in self._kept.values())


def _changed(kept: Catalog, scope: Scope, check: Checkpoint) -> bool:
    with scope.real.open() as top:
        for number, (path, when) in enumerate((*kept.folders.items(), *kept.rules.items())):
            if not number % 1000:
                check()
            if modified_at(top, path) != when:
                return True
    return False


def _made(scope: Scope, check: Checkpoint) -> Catalog:
    made = Catalog(checked=time.monotonic())
    with scope.real.open() as top:
        for level in walk(scope, top, check, marked=True):
            if len(made.paths) > MAX_PATHS:
                made.complete = False
                break
            prefix = level.prefix
            made.folders[prefix] = level.modified
            if prefix:
                made.paths.append(prefix)
            if NAME in level.files:
                made.rules[prefix + NAME] = modified_at(top, prefix + NAME)
            made.paths += [prefix + name for name in level.files]
    made.protected = suspects(scope, made.paths)
    made.joined = "\n".join(made.paths)
    lower = made.joined.lower()
    made.folded = lower if len(lower) == len(made.joined) else ""
    return made
