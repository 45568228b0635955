"""Suggestions for a path that does not exist, and the error that carries them.

They are searched when somebody reads them: half of what is not found was not expected to
exist, and a search goes through the tree.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from toolcrib.core.errors import NotFound
from toolcrib.files.path_rules import GENERATED_FOLDERS, fold

MIN_LOCAL_LIKENESS = 0.6
"""How like a name must be that stands where the other was looked for."""
MIN_DISTANT_LIKENESS = 0.75
"""How like a name must be that stands elsewhere."""
SAME_FOLDER_BONUS = 0.05
"""What standing in the right folder counts."""
FOLDER_FACTOR = 0.5
"""What a guess counts that names the folder alone."""
MAX_GUESSES = 3
MAX_FOLDERS = 400
MAX_NAMES = 10_000
SEARCH_SECONDS = 0.3
"""How much of the tree is looked through, those near the root first."""


@dataclass(frozen=True, slots=True)
class FolderName:
    """A name in a folder, and whether it is a folder itself."""

    name: str
    is_folder: bool


Names = tuple[str, ...]
ListNames = Callable[[Names], list[FolderName] | None]


def guesses(path: Names, list_names: ListNames) -> list[Names]:
    """A few paths that exist and are like one that does not, best first.

    A slip in any of its names, another case, another extension, or the right name in
    another folder.

    Args:
        path: what was asked for.
        list_names: what a folder holds; None where it does not exist.
    """
    scored: dict[Names, float] = {}
    for parts, score in _mended(path, list_names):
        scored[parts] = max(score, scored.get(parts, 0.0))
    if not any(score >= 1.0 for score in scored.values()):
        for parts, score in _elsewhere(path, list_names):
            scored[parts] = max(score, scored.get(parts, 0.0))
    best = max(scored.values(), default=0.0)
    # Beside the very name in another folder, names that are merely like it only distract.
    candidates = [parts for parts, score in scored.items() if best < 1.0 or score >= 0.9]
    order = sorted(
        candidates, key=lambda p: (-scored[p], -SequenceMatcher(None, p, path).ratio(), len(p), p)
    )
    return order[:MAX_GUESSES]


def _mended(path: Names, list_names: ListNames) -> Iterator[tuple[Names, float]]:
    """The path with its first wrong name, and perhaps later ones, put right."""
    for depth in range(len(path) - 1, -1, -1):
        names = list_names(path[:depth])
        if names is not None:
            yield from _put_right(path, depth, names, list_names, 1.0)
            return


def _put_right(
    path: Names, depth: int, names: list[FolderName], list_names: ListNames, so_far: float
) -> Iterator[tuple[Names, float]]:
    last = depth == len(path) - 1
    known = {e.name: e for e in names if not last or _is_of_kind(path[-1], e)}
    found = sorted(
        _alike(path[depth], known, MIN_LOCAL_LIKENESS), key=lambda item: (-item[1], item[0])
    )
    for name, score in found[:MAX_GUESSES]:
        parts, total = (*path[:depth], name), so_far * score
        if last:
            yield parts, total + SAME_FOLDER_BONUS
            continue
        inside = list_names(parts) if known[name].is_folder else None
        mended = (*parts, *path[depth + 1 :])
        yield from _put_right(mended, depth + 1, inside or [], list_names, total)
        if not _has_ending(path[-1]):
            yield parts, total * FOLDER_FACTOR


def _elsewhere(path: Names, list_names: ListNames) -> Iterator[tuple[Names, float]]:
    """Where in the tree the last name, or one like it, stands."""
    folders: deque[Names] = deque([()])
    names, opened, stop = 0, 0, time.monotonic() + SEARCH_SECONDS
    while folders and names < MAX_NAMES and opened < MAX_FOLDERS and time.monotonic() < stop:
        above = folders.popleft()
        listed = list_names(above) or []
        opened += 1
        names += len(listed)
        fitting = (item.name for item in listed if _is_of_kind(path[-1], item))
        for name, score in _alike(path[-1], fitting, MIN_DISTANT_LIKENESS):
            yield (*above, name), score
        below = sorted(item.name for item in listed if item.is_folder)
        folders += ((*above, name) for name in below if name.casefold() not in GENERATED_FOLDERS)


def _has_ending(name: str) -> bool:
    return "." in name.strip(".")


def _is_of_kind(wanted: str, listed: FolderName) -> bool:
    """Whether a name can be meant: that of a file with an ending is no folder without one."""
    return not (listed.is_folder and _has_ending(wanted)) or _has_ending(listed.name)


def _alike(wanted: str, names: Iterable[str], minimum: float) -> Iterator[tuple[str, float]]:
    folded = fold(wanted)
    matcher = SequenceMatcher(None, b=folded)
    for name in names:
        score = _likeness(matcher, folded, fold(name), minimum)
        if score >= minimum and name.isprintable():
            yield name, score


def _likeness(matcher: SequenceMatcher[str], wanted: str, name: str, minimum: float) -> float:
    if name == wanted:
        return 1.0
    if _stem(name) == _stem(wanted):
        return 0.9
    matcher.set_seq1(name)
    if matcher.real_quick_ratio() < minimum or matcher.quick_ratio() < minimum:
        return 0.0
    return min(matcher.ratio(), 0.89)


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


FindSuggestions = Callable[[], tuple[str, list[str]]]
"""Gives the hint, and the nearest paths that exist."""


class MissingPath(NotFound):
    """The path does not exist; the hint names the nearest ones."""

    code = "not_found"

    def __init__(self, message: str, find: FindSuggestions) -> None:
        self._find: FindSuggestions | None = None  # most are caught, and nobody reads the hint
        self._hint = ""
        self._details: dict[str, Any] = {}
        self._notes: list[str] = []
        super().__init__(message)
        self._find = find

    @property
    def __notes__(self) -> list[str]:  # type: ignore[override]  # nobody sets it
        """What a traceback shows beneath the message: the hint."""
        self._guess()
        return self._notes

    @property
    def hint(self) -> str:
        """What to do about it. Reading it first takes a while."""
        self._guess()
        return self._hint

    @hint.setter
    def hint(self, text: str) -> None:
        self._hint = text

    @property
    def details(self) -> dict[str, Any]:
        """`near`: the paths."""
        self._guess()
        return self._details

    @details.setter
    def details(self, values: dict[str, Any]) -> None:
        self._details = values

    def _guess(self) -> None:
        find, self._find = self._find, None
        if find is not None:
            self._hint, near = find()
            self._details = {"near": near}
            self._notes.append(self._hint)
