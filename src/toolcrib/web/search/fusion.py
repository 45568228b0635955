"""Several providers' results as one list, by reciprocal rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolcrib.web.provider_api.provider import Found
from toolcrib.web.search.canonical import identity

K = 60
"""How little a place at the very top counts more; the usual value."""
BLOCK = 10
"""Ranks that are fused at a time, so that a page never changes what came before it."""


@dataclass(slots=True)
class _Merged:
    found: Found
    best: tuple[int, int]
    score: float
    providers: list[str]


def fuse(lists: Mapping[str, Sequence[Found]]) -> list[Found]:
    """One list of all results, those first that several providers have near the top.

    Each result's score is the sum of 1 / (60 + rank) over the providers that have it;
    equal scores go by the best rank, then by the order of the providers. Ranks are
    fused ten by ten: asking the providers for more only adds to the end. A result keeps
    the URL and title of its best place, takes what it lacks there from the others, and
    lists them all in `extra["providers"]`.

    Args:
        lists: the results by provider, best first.
    """
    fused: list[Found] = []
    seen: set[str] = set()
    longest = max(map(len, lists.values()), default=0)
    for start in range(0, longest, BLOCK):
        merged = _block(lists, start, seen)
        seen |= merged.keys()
        ranked = sorted(merged.values(), key=lambda m: (-m.score, m.best))
        fused += [_labelled(m) for m in ranked]
    return fused


def _block(lists: Mapping[str, Sequence[Found]], start: int, seen: set[str]) -> dict[str, _Merged]:
    merged: dict[str, _Merged] = {}
    for place, (name, results) in enumerate(lists.items()):
        for rank, found in enumerate(results[start : start + BLOCK], start + 1):
            key = identity(found.url)
            if key in seen:
                continue
            score, best = 1 / (K + rank), (rank, place)
            same = merged.get(key)
            if same is None:
                merged[key] = _Merged(found, best, score, [name])
            elif name not in same.providers:
                same.providers.append(name)
                same.score += score
                first, second = (found, same.found) if best < same.best else (same.found, found)
                same.found, same.best = _joined(first, second), min(best, same.best)
    return merged


def _joined(first: Found, second: Found) -> Found:
    return replace(
        first,
        snippet=first.snippet or second.snippet,
        published=first.published or second.published,
        content=first.content or second.content,
        extra={**second.extra, **first.extra},
    )


def _labelled(merged: _Merged) -> Found:
    return replace(merged.found, extra={**merged.found.extra, "providers": merged.providers})
