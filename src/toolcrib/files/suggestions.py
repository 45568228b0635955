"""What was probably meant by a path that does not exist."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from toolcrib.files.generated_folders import BULK
from toolcrib.files.path_rules import fold

if TYPE_CHECKING:
    from toolcrib.files.paths import SafePath

LIKE = 0.6
"""How like a name must be that stands where the other was looked for."""
ALIKE = 0.75
"""How like a name must be that stands elsewhere."""
HERE = 0.05
"""What standing in the right folder counts."""
FOLDER_ONLY = 0.5
"""What a guess counts that names the folder alone."""
MOST_FOLDERS = 400
MOST_NAMES = 10_000
SECONDS = 0.3
"""How much of the tree is looked through, those near the root first."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A name in a folder, and whether it is a folder itself."""

    name: str
    is_folder: bool


LookInto = Callable[["SafePath"], list[Listed] | None]


def guesses(path: SafePath, look_into: LookInto, count: int = 3) -> list[SafePath]:
    """Up to `count` paths that exist and are like one that does not, best first.

    A slip in any of its names, another case, another extension, or the right name in
    another folder.

    Args:
        path: what was asked for.
        look_into: what a folder holds; None where it does not exist.
        count: how many at most.
    """
    scored: dict[tuple[str, ...], float] = {}
    for parts, score in _mended(path, look_into):
        scored[parts] = max(score, scored.get(parts, 0.0))
    if not any(score >= 1.0 for score in scored.values()):
        for parts, score in _elsewhere(path, look_into):
            scored[parts] = max(score, scored.get(parts, 0.0))
    best = max(scored.values(), default=0.0)
    # Beside the very name in another folder, names that are merely like it only distract.
    kept = [parts for parts, score in scored.items() if best < 1.0 or score >= 0.9]
    order = sorted(kept, key=lambda p: (-scored[p], -_shared(p, path.parts), len(p), p))
    return [_at(path, parts) for parts in order[:count]]


def nearest(wanted: str, names: Iterable[str], count: int = 3) -> list[str]:
    """Up to `count` names, best first; an equal stem counts as near as a small typo."""
    scored = [(-score, name) for name, score in _alike(wanted, names, LIKE)]
    return [name for _, name in sorted(scored)[:count]]


def _mended(path: SafePath, look_into: LookInto) -> Iterator[tuple[tuple[str, ...], float]]:
    """The path with its first wrong name, and perhaps later ones, put right."""
    for depth in range(len(path.parts) - 1, -1, -1):
        names = look_into(path.ancestor(depth))
        if names is not None:
            yield from _put_right(path, depth, names, look_into, 1.0)
            return


def _put_right(
    path: SafePath, depth: int, names: list[Listed], look_into: LookInto, so_far: float
) -> Iterator[tuple[tuple[str, ...], float]]:
    last = depth == len(path.parts) - 1
    known = {listed.name: listed for listed in names}
    found = sorted(_alike(path.parts[depth], known, LIKE), key=lambda item: (-item[1], item[0]))
    for name, score in found[:3]:
        parts, total = (*path.parts[:depth], name), so_far * score
        if last:
            yield parts, total + HERE
            continue
        inside = look_into(_at(path, parts)) if known[name].is_folder else None
        mended = _at(path, (*parts, *path.parts[depth + 1 :]))
        yield from _put_right(mended, depth + 1, inside or [], look_into, total)
        yield parts, total * FOLDER_ONLY


def _elsewhere(path: SafePath, look_into: LookInto) -> Iterator[tuple[tuple[str, ...], float]]:
    """Where in the tree the last name, or one like it, stands."""
    folders: deque[tuple[str, ...]] = deque([()])
    names, opened, stop = 0, 0, time.monotonic() + SECONDS
    while folders and names < MOST_NAMES and opened < MOST_FOLDERS and time.monotonic() < stop:
        above = folders.popleft()
        listed = look_into(_at(path, above)) or []
        opened += 1
        names += len(listed)
        for name, score in _alike(path.parts[-1], (item.name for item in listed), ALIKE):
            yield (*above, name), score
        below = sorted(item.name for item in listed if item.is_folder)
        folders += ((*above, name) for name in below if name.casefold() not in BULK)


def _at(path: SafePath, parts: tuple[str, ...]) -> SafePath:
    here = path.base if path.base >= 0 and parts[: path.base] == path.parts[: path.base] else -1
    return type(path)(path.root, parts, path.gate, here)


def _shared(parts: tuple[str, ...], wanted: tuple[str, ...]) -> float:
    return SequenceMatcher(None, parts, wanted).ratio()


def _alike(wanted: str, names: Iterable[str], least: float) -> Iterator[tuple[str, float]]:
    folded = fold(wanted)
    matcher = SequenceMatcher(None, b=folded)
    for name in names:
        score = _likeness(matcher, folded, fold(name), least)
        if score >= least and name.isprintable():
            yield name, score


def _likeness(matcher: SequenceMatcher[str], wanted: str, name: str, least: float) -> float:
    if name == wanted:
        return 1.0
    if _stem(name) == _stem(wanted):
        return 0.9
    matcher.set_seq1(name)
    if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
        return 0.0
    return min(matcher.ratio(), 0.89)


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name
