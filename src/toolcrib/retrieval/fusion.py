"""One ranking of two: by words and by vectors, weighted, never equally."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

RANK_OFFSET = 10
"""How much the first places are worth over the later ones: less, the larger it is."""
WEIGHT = 0.5
"""What vectors count beside words where nothing was measured."""
MAX_WEIGHT = 0.75
SAMPLE_WORDS = 4
_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s*|\n+")
_WORD = re.compile(r"[^\W\d_]{4,}")


def reciprocal_rank_fusion(
    words: Sequence[int], vectors: Sequence[int], weight: float
) -> list[int]:
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


def measured_weight(samples: Sequence[tuple[int, Sequence[int], Sequence[int]]]) -> float:
    """What vectors count: the share that they find of what words find, below one.

    What words and vectors find best together would tell less: the questions are made of words
    of their chunks, while those of people are often put in other words.

    Args:
        samples: for each the chunk it was taken from, and both rankings.
    """
    words = sum(_reciprocal(number, ranked) for number, ranked, _ in samples)
    vectors = sum(_reciprocal(number, ranked) for number, _, ranked in samples)
    return round(min(vectors / words, MAX_WEIGHT), 2) if words else WEIGHT


def _reciprocal(number: int, ranked: Sequence[int]) -> float:
    return 1 / (ranked.index(number) + 1) if number in ranked else 0.0
