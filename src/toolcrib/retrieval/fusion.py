"""One ranking of two: by words and by vectors, weighted, never equally."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

RANK_OFFSET = 10
"""How much the first places are worth over the later ones: less, the larger it is."""
WEIGHT = 0.5
"""What vectors count beside words where nothing was measured."""
WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75)
"""What is tried when an index is calibrated."""
SAMPLE_WORDS = 4
_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s*|\n+")
_WORD = re.compile(r"[^\W\d_]{4,}")


def fused(words: Sequence[int], vectors: Sequence[int], weight: float) -> list[int]:
    """Chunks by reciprocal rank in both lists, where vectors count `weight` and words one."""
    scores: dict[int, float] = {}
    for ranked, counts in ((words, 1.0), (vectors, weight)):
        for place, number in enumerate(ranked):
            scores[number] = scores.get(number, 0.0) + counts / (RANK_OFFSET + place + 1)
    return sorted(scores, key=lambda number: -scores[number])


def sample_question(text: str, seed: int) -> str:
    """A few words of one sentence of a text, as somebody might remember it; may be empty."""
    choice = random.Random(seed)  # noqa: S311 - no secret
    sentences = [s for s in _SENTENCE.split(text) if s and len(_WORD.findall(s)) > SAMPLE_WORDS]
    if not sentences:
        return ""
    words = _WORD.findall(choice.choice(sentences))
    chosen = sorted(choice.sample(range(len(words)), SAMPLE_WORDS))
    return " ".join(words[place] for place in chosen)


def best_weight(samples: Sequence[tuple[int, Sequence[int], Sequence[int]]]) -> float:
    """The weight by which sampled chunks are found best.

    Args:
        samples: for each the chunk it was taken from, and both rankings.
    """
    found: Mapping[float, float] = {
        weight: sum(_reciprocal(number, fused(words, vectors, weight))
                    for number, words, vectors in samples)
        for weight in WEIGHTS
    }  # fmt: skip
    best = max(found.values())
    # Of those that are as good, the one nearest to the usual.
    good = [weight for weight, sum_ in found.items() if sum_ >= best - 0.005 * len(samples)]
    return min(good, key=lambda weight: (abs(weight - WEIGHT), weight))


def _reciprocal(number: int, ranked: Sequence[int]) -> float:
    return 1 / (ranked.index(number) + 1) if number in ranked else 0.0
