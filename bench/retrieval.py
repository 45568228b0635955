"""How well passages are found, what indexing costs, and what vectors add.

    python -m bench.retrieval [scores] [chunks] [cost] [hybrid] [--megabytes 10] [--many 100000]

The sets stand in `bench/sets`. `dialogue.tsv` is the first act of Oscar Wilde's play The
Importance of Being Earnest (1895, in the public domain), a turn a line; its questions name the
turns that answer them. `abstracts.tsv` and its
graded questions were written for this bench. All questions were written before any was asked.
Plain FTS5 is its default tokenizer over one column, with all words of the question joined by OR.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import sqlite3
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolcrib.retrieval.chunks import TextChunk, split_text
from toolcrib.retrieval.embedders import LocalEmbedder, RestingEmbedder
from toolcrib.retrieval.entries import IndexEntry
from toolcrib.retrieval.index import Index

SETS = Path(__file__).parent / "sets"
PLACES = 10
Judged = Mapping[str, Mapping[str, int]]
"""Each question with what answers it, and how well."""


def rows_of(name: str) -> list[list[str]]:
    """The lines of a set, cut at their tabs."""
    return [line.split("\t") for line in (SETS / name).read_text("utf-8").splitlines()]


def dialogue() -> tuple[list[IndexEntry], Judged]:
    """The play as one entry of a chunk a turn; a turn is named by its number."""
    turns = [TextChunk(f"{speaker}: {text}") for _, speaker, text in rows_of("dialogue.tsv")]
    questions = {
        question: dict.fromkeys(answers.split(","), 1)
        for answers, question in rows_of("dialogue_questions.tsv")
    }
    return [IndexEntry("play", turns)], questions


def abstracts() -> tuple[list[IndexEntry], Judged]:
    """An entry for each abstract, with its title."""
    entries = [
        IndexEntry.note(key, text, title=title) for key, title, text in rows_of("abstracts.tsv")
    ]
    questions = {
        question: {name: int(grade) for name, grade in (a.split(":") for a in answers.split())}
        for question, answers in rows_of("abstract_questions.tsv")
    }
    return entries, questions


def name_of(key: str, number: int) -> str:
    """What the judgements call a passage."""
    return str(number + 1) if key == "play" else key


class PlainFts:
    """FTS5 as it comes, over title and text in one column."""

    def __init__(self, entries: Sequence[IndexEntry]) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE passage USING fts5(text)")
        self._names: list[str] = []
        for entry in entries:
            for number, chunk in enumerate(entry.chunks):
                self._names.append(name_of(entry.key, number))
                text = f"{entry.title}\n{chunk.text}"
                self._connection.execute("INSERT INTO passage (text) VALUES (?)", (text,))

    def search(self, question: str) -> list[str]:
        """The names of the best passages."""
        words = ["".join(c if c.isalnum() else " " for c in w) for w in question.split()]
        requested = " OR ".join(f'"{word}"' for word in words if word.strip())
        rows = self._connection.execute(
            "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT ?",
            (requested, PLACES),
        )
        return [self._names[row[0] - 1] for row in rows]


async def found_by(index: Index, question: str) -> list[str]:
    """The names of the best passages of an index."""
    ranking = await index.search(question, PLACES)
    return [name_of(p.entry.key, p.number) for p in ranking.passages]


def recall(found: Sequence[str], answers: Mapping[str, int]) -> float:
    """The share of what answers a question that was found."""
    return sum(name in found for name in answers) / len(answers)


def ndcg(found: Sequence[str], answers: Mapping[str, int]) -> float:
    """The discounted gain of a ranking over that of the best one."""
    gains = [2 ** answers.get(name, 0) - 1 for name in found[:PLACES]]
    best = sorted((2**grade - 1 for grade in answers.values()), reverse=True)[:PLACES]
    return _discounted(gains) / _discounted(best)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


SCORES = {"dialogue": (dialogue, recall, "R@10"), "abstracts": (abstracts, ndcg, "nDCG@10")}


async def score(name: str, index: Index) -> tuple[float, float]:
    """What an index scores on a set, which is put into it, and what plain FTS5 does."""
    load, measure, _ = SCORES[name]
    entries, questions = load()
    await index.put(entries)
    plain = PlainFts(entries)
    ours = [measure(await found_by(index, q), a) for q, a in questions.items()]
    theirs = [measure(plain.search(q), a) for q, a in questions.items()]
    return statistics.mean(ours), statistics.mean(theirs)


async def score_figures() -> None:
    """What words alone find in both sets."""
    for name, (_, _, unit) in SCORES.items():
        index = Index(None)
        ours, theirs = await score(name, index)
        await index.close()
        print(f"{name}, {unit}: {ours:.3f}, plain FTS5 {theirs:.3f}, {ours / theirs:.2f}x")


async def hybrid_figures() -> None:
    """What the model of the extra `embed` adds."""
    for name, (_, _, unit) in SCORES.items():
        with tempfile.TemporaryDirectory() as folder:
            lexical, _ = await score(name, Index(None))
            index = Index(Path(folder) / "index.db", RestingEmbedder(LocalEmbedder()))
            await score(name, index)
            began = time.process_time()
            await index.embed_missing()
            seconds = time.process_time() - began
            hybrid, _ = await score(name, index)
            status = await index.status()
            await index.close()
        print(
            f"{name}, {unit}: words {lexical:.3f}, with vectors {hybrid:.3f}, weight"
            f" {status.weight}, {status.chunks / seconds:.1f} passages a second of CPU"
        )


def library_texts(characters: int) -> list[tuple[str, str]]:
    """Sources of Python's own library, up to so many characters."""
    found, size = [], 0
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" in path.parts:
            continue
        text = path.read_text("utf-8", "replace")
        found.append((str(path), text))
        size += len(text)
        if size > characters:
            break
    return found


async def chunk_figures() -> None:
    """How much of texts is in chunks, and how much of a sentence is in the first five."""
    index, covered, whole = Index(None), 0, 0
    requested: list[tuple[str, int, str]] = []
    for path in sorted((Path(__file__).parents[1] / "docs").glob("*.md")):
        text = path.read_text("utf-8")
        chunks = split_text(text)
        inside = bytearray(len(text))
        for chunk in chunks:
            inside[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
        covered += sum(1 for c, there in zip(text, inside, strict=True) if there and c.strip())
        whole += sum(1 for c in text if c.strip())
        await index.put([IndexEntry(path.name, chunks)])
        sentences = [s for s in text.replace("\n", " ").split(". ") if 60 < len(s) < 300]
        requested += [(path.name, text.replace("\n", " ").find(s), s) for s in sentences[::15]]
    shares = []
    for name, start, sentence in requested:
        ranking = await index.search(" ".join(sentence.split()[::2]), 5)
        found = bytearray(len(sentence))
        for p in ranking.passages:
            if p.entry.key == name:
                first, last = max(p.chunk.start - start, 0), max(p.chunk.end - start, 0)
                found[first:last] = b"\1" * (min(last, len(sentence)) - min(first, len(sentence)))
        shares.append(sum(found) / len(sentence))
    await index.close()
    print(f"covered: {covered / whole:.2%} of characters that are not blank")
    recall = statistics.mean(shares)
    print(f"recall@5 of {len(requested)} sentences by every second word: {recall:.3f}")


async def cost_figures(megabytes: int, many: int) -> None:
    """CPU of indexing, and a search among many chunks over the bare query."""
    texts = library_texts(megabytes * 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        index = Index(Path(folder) / "index.db")
        began = time.process_time()
        entries = [IndexEntry(key, split_text(text), title=key) for key, text in texts]
        for start in range(0, len(entries), 50):
            await index.put(entries[start : start + 50])
        ours = time.process_time() - began
        await index.close()
    began = time.process_time()
    PlainFts(entries)
    theirs = time.process_time() - began
    size = sum(len(text) for _, text in texts) / 1e6
    print(f"indexing {size:.1f} MB: {ours:.2f} s of CPU; one bare column of FTS5 {theirs:.2f} s")
    turns = [turn for _, _, turn in rows_of("dialogue.tsv")]
    chunks = [TextChunk(f"{turns[n % len(turns)]} {n % 997} {n}") for n in range(many)]
    notes = [IndexEntry(f"n{n}", chunks[n : n + 100]) for n in range(0, many, 100)]
    with tempfile.TemporaryDirectory() as folder:
        index = Index(Path(folder) / "index.db")
        for start in range(0, len(notes), 100):
            await index.put(notes[start : start + 100])
        plain = PlainFts(notes)
        own, bare = [], []
        for _, question in rows_of("dialogue_questions.tsv"):
            began = time.perf_counter()
            plain.search(question)
            bare.append(time.perf_counter() - began)
            began = time.perf_counter()
            await index.search(question, PLACES)
            own.append(time.perf_counter() - began)
        await index.close()
    ratio = statistics.median(own) / statistics.median(bare)
    print(
        f"{many:,} chunks: {statistics.median(own) * 1000:.1f} ms, bare FTS5"
        f" {statistics.median(bare) * 1000:.1f} ms, {ratio:.2f}x"
    )


def main() -> None:
    """Print what was asked for; without words all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = ["scores", "chunks", "cost", "hybrid"]
    parser.add_argument("what", nargs="*", choices=[*names, []], default=[])
    parser.add_argument("--megabytes", type=int, default=10)
    parser.add_argument("--many", type=int, default=100_000)
    given = parser.parse_args()
    wanted = given.what or names
    if "scores" in wanted:
        asyncio.run(score_figures())
    if "chunks" in wanted:
        asyncio.run(chunk_figures())
    if "cost" in wanted:
        asyncio.run(cost_figures(given.megabytes, given.many))
    if "hybrid" in wanted:
        asyncio.run(hybrid_figures())


if __name__ == "__main__":
    main()
