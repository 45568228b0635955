"""The names most like one that does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from toolcrib.kit.paths.rules import fold

LIKE = 0.6


def nearest(wanted: str, names: Iterable[str], count: int = 3) -> list[str]:
    """Up to `count` names, best first; an equal stem counts as near as a small typo."""
    folded = fold(wanted)
    matcher = SequenceMatcher(None, b=folded)
    scored = []
    for name in names:
        score = _likeness(matcher, folded, fold(name))
        if score >= LIKE and name.isprintable():
            scored.append((-score, name))
    return [name for _, name in sorted(scored)[:count]]


def _likeness(matcher: SequenceMatcher[str], wanted: str, name: str) -> float:
    if name == wanted:
        return 1.0
    if _stem(name) == _stem(wanted):
        return 0.9
    matcher.set_seq1(name)
    if matcher.real_quick_ratio() < LIKE or matcher.quick_ratio() < LIKE:
        return 0.0
    return matcher.ratio()


def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name
