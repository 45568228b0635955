"""Memory of a process that indexes many chunks and searches them by words, beside bare FTS5.

    python bench/index_memory.py [--many 100000]

Each runs in a process of its own over the same chunks: turns of the play in `bench/sets`, each
with a number of its own. What is told is the most memory that was resident, and how much of it
was there before the first chunk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SETS = Path(__file__).parent / "sets"
MODES = ("toolcrib", "fts5")
BATCH = 1000


def turns() -> list[str]:
    """The turns of the play."""
    lines = (SETS / "dialogue.tsv").read_text("utf-8").splitlines()
    return [line.split("\t")[2] for line in lines]


def questions() -> list[str]:
    """The questions to it."""
    lines = (SETS / "dialogue_questions.tsv").read_text("utf-8").splitlines()
    return [line.split("\t")[1] for line in lines]


def texts(many: int) -> Iterator[tuple[int, list[str]]]:
    """The chunks, batch by batch."""
    spoken = turns()
    for start in range(0, many, BATCH):
        numbers = range(start, min(start + BATCH, many))
        yield start, [f"{spoken[n % len(spoken)]} {n % 997} {n}" for n in numbers]


def resident() -> float:
    """The most memory that was resident, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def ours(many: int, path: Path) -> float:
    """Index and search by toolcrib; the memory before the first chunk."""
    from toolcrib.retrieval.chunks import TextChunk
    from toolcrib.retrieval.entries import IndexEntry
    from toolcrib.retrieval.index import Index

    index = Index(path)
    await index.search("warm up")
    before = resident()
    for start, batch in texts(many):
        chunks = [TextChunk(text) for text in batch]
        await index.put(
            [IndexEntry(f"n{start + n}", chunks[n : n + 100]) for n in range(0, len(chunks), 100)]
        )
    for question in questions():
        await index.search(question, 10)
    await index.close()
    return before


def bare(many: int, path: Path) -> float:
    """The same by FTS5 as it comes, in one column."""
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIRTUAL TABLE passage USING fts5(text)")
    before = resident()
    for _, batch in texts(many):
        connection.executemany("INSERT INTO passage (text) VALUES (?)", [(t,) for t in batch])
        connection.commit()
    for question in questions():
        words = ["".join(c for c in word if c.isalnum()) for word in question.split()]
        wanted = " OR ".join(f'"{word}"' for word in words if word)
        sql = "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT 10"
        connection.execute(sql, (wanted,)).fetchall()
    connection.close()
    return before


def main() -> None:
    """Print both; with a mode, be the process that is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", nargs="?", choices=MODES)
    parser.add_argument("--many", type=int, default=100_000)
    given = parser.parse_args()
    if given.mode:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "index.db"
            measured = ours(given.many, path) if given.mode == "toolcrib" else None
            before = asyncio.run(measured) if measured is not None else bare(given.many, path)
        print(json.dumps([before, resident()]))
        return
    for mode in MODES:
        run = subprocess.run(
            [sys.executable, __file__, mode, "--many", str(given.many)],
            capture_output=True,
            text=True,
            check=True,
        )
        before, peak = json.loads(run.stdout)
        print(f"{mode}: {peak:.0f} MB at most, {before:.0f} MB before the first chunk")


if __name__ == "__main__":
    main()
