"""The nearest of many vectors, beside the bare matrix product in the same run; a whole search too.

    python bench/vectors.py [--many 100000] [--dims 384] [--questions 40]

The vectors lie about some thousand middles, as those of texts lie about their subjects, and all
point in much the same direction, as those of e5 do. Peers are numpy's product of all vectors
with the question, over 32-bit floats in memory and over the mapped 16-bit floats themselves, each
with the best 100 taken from it. Questions are asked by turns; figures are medians.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolcrib.retrieval.chunks import TextChunk
from toolcrib.retrieval.embedders import RestingEmbedder, Side
from toolcrib.retrieval.entries import IndexEntry
from toolcrib.retrieval.index import Index
from toolcrib.retrieval.vectors import VectorFile

NEAREST = 100
MIDDLES = 1000
WORDS = (
    *("harbour", "lamp", "river", "bridge", "tax", "letter", "winter"),
    *("engine", "garden", "flour", "salt", "paper", "mill"),
)


def made(count: int, dims: int, seed: int, middles: NDArray[Any]) -> NDArray[Any]:
    """Vectors of length one about the middles."""
    random = np.random.default_rng(seed)
    rows = middles[random.integers(0, len(middles), count)]
    rows = (rows + 0.7 * random.standard_normal((count, dims)) + 3.0).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def best_of(scores: NDArray[Any]) -> NDArray[Any]:
    """The slots of the greatest, best first."""
    near = np.argpartition(-scores, NEAREST)[:NEAREST]
    return near[np.argsort(-scores[near])]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The milliseconds of some work, and what it gave."""
    began = time.perf_counter()
    done = work()
    return (time.perf_counter() - began) * 1000, done


def nearest_figures(rows: NDArray[Any], questions: NDArray[Any], folder: Path) -> None:
    """The vectors alone."""
    count, dims = rows.shape
    file = VectorFile(folder / "vectors", dims)
    file.write(0, rows)
    mapped = np.memmap(folder / "vectors", "<f2", "r", shape=(count, dims))
    first, _ = timed(lambda: file.nearest(questions[0], count, NEAREST))
    ours, whole, half, met = [], [], [], 0
    for question in questions:
        small = question.astype(np.float16)
        spent, exact = timed(lambda q=question: best_of(rows @ q))
        whole.append(spent)
        half.append(timed(lambda q=small: best_of(mapped @ q))[0])
        spent, found = timed(lambda q=question: file.nearest(q, count, NEAREST))
        ours.append(spent)
        met += len(set(exact.tolist()) & {slot for slot, _ in found})
    file.close()
    own, in_memory, on_disk = map(statistics.median, (ours, whole, half))
    print(
        f"nearest {NEAREST} of {count:,} x {dims}: {own:.1f} ms (the first time {first:.0f});"
        f" product over fp32 in memory {in_memory:.1f} ms, {own / in_memory:.2f}x;"
        f" over the mapped fp16 {on_disk:.0f} ms, {own / on_disk:.2f}x"
    )
    print(f"the same ones as the product finds: {met / NEAREST / len(questions):.4f}")


class MadeEmbedder:
    """Gives the made vectors, in the order in which texts come; a question says which it wants."""

    model = "made"
    batch = 500

    def __init__(self, rows: NDArray[Any], questions: NDArray[Any]) -> None:
        self._rows, self._questions, self._next = rows, questions, 0

    async def embed(self, texts: Sequence[str], side: Side) -> list[list[float]]:
        """See `Embedder`."""
        if side == "query":
            numbers = [int(text.rpartition(" ")[2]) % len(self._questions) for text in texts]
            return [self._questions[number].tolist() for number in numbers]
        start, self._next = self._next, (self._next + len(texts)) % len(self._rows)
        return [self._rows[n % len(self._rows)].tolist() for n in range(start, start + len(texts))]

    async def close(self) -> None:
        """Nothing is open."""


async def search_figures(rows: NDArray[Any], questions: NDArray[Any], folder: Path) -> None:
    """A whole search, by words and vectors, over the product and over words alone."""
    count = len(rows)
    embedder = RestingEmbedder(MadeEmbedder(rows, questions))
    index, lexical = Index(folder / "both.db", embedder), Index(folder / "both.db")
    chunks = [
        TextChunk(f"{WORDS[n % 13]} {WORDS[n // 13 % 13]} {WORDS[n // 169 % 13]} {n}")
        for n in range(count)
    ]
    for start in range(0, count, 5000):
        await index.put(
            [IndexEntry(f"n{n}", chunks[n : n + 100]) for n in range(start, start + 5000, 100)]
        )
    await index.embed_missing()
    for which in (index, lexical):
        await which.search("warm up 0", 10)
    ours, words, whole = [], [], []
    for number, question in enumerate(questions):
        text = f"{WORDS[number % 13]} {WORDS[number // 3 % 13]} {number}"
        whole.append(timed(lambda q=question: best_of(rows @ q))[0])
        # Whoever asks first warms what the other reads, so that they take turns at that.
        for which in (index, lexical) if number % 2 else (lexical, index):
            began = time.perf_counter()
            found = await which.search(text, 10)
            (ours if which is index else words).append((time.perf_counter() - began) * 1000)
            assert found.method == ("words and vectors" if which is index else "words"), found
    await index.close()
    await lexical.close()
    own, bare, product = map(statistics.median, (ours, words, whole))
    print(
        f"a search by both: {own:.0f} ms; by words alone {bare:.0f} ms; product {product:.1f} ms:"
        f" the vectors add {(own - bare) / product:.2f}x the product"
    )


def main() -> None:
    """Print both figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--dims", type=int, default=384)
    parser.add_argument("--questions", type=int, default=40)
    given = parser.parse_args()
    middles = np.random.default_rng(1).standard_normal((MIDDLES, given.dims))
    rows = made(given.many, given.dims, 2, middles)
    questions = made(given.questions, given.dims, 3, middles)
    with tempfile.TemporaryDirectory() as folder:
        nearest_figures(rows, questions, Path(folder))
        asyncio.run(search_figures(rows, questions, Path(folder)))


if __name__ == "__main__":
    main()
