"""The right memory and session, recall for a first turn, and what a save and a search cost.

Run: python bench/memory.py [recall] [vectors] [cost] [--many 100000]

The questions stand in bench/memory_questions.tsv: `stem` shares a word stem with its fact, `other`
has other words or another language. Every second line is kept aside: only counted, never tuned by.
`vectors` asks the same with the model of the extra `embed`, which takes some minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from toolcrib.core.config import Config
from toolcrib.core.context import Services
from toolcrib.memory.memories import Memories
from toolcrib.memory.memory_records import USER, MemoryDraft, Origin
from toolcrib.memory.recall import recall
from toolcrib.memory.session_records import SessionRecords
from toolcrib.retrieval.indexes import Indexes
from toolcrib.text.tokens import estimate

PAIRS = [
    line.split("\t")
    for line in (Path(__file__).parent / "memory_questions.tsv").read_text("utf-8").splitlines()
]
PEOPLE = [
    "Ada",
    "Boris",
    "Chen",
    "Dora",
    "Emil",
    "Fatima",
    "Gustav",
    "Hana",
    "Igor",
    "Jana",
    "Karim",
    "Lena",
    "Marco",
    "Nadia",
]
THINGS = [
    "bicycle",
    "lamp",
    "kettle",
    "camera",
    "tent",
    "boots",
    "guitar",
    "radio",
    "desk",
    "clock",
    "ladder",
    "mixer",
    "drill",
    "scarf",
]
PLACES = [
    "Oslo",
    "Porto",
    "Krakow",
    "Malmo",
    "Ghent",
    "Turin",
    "Basel",
    "Cork",
    "Split",
    "Varna",
    "Lille",
    "Bonn",
    "Cadiz",
    "Brno",
]
SHAPES = (
    "{p} bought a {t} in {l} for {n} euros",
    "{p} keeps the {t} in the flat in {l}, number {n}",
    "Ticket {n}: the {t} of {p} was sent to {l}",
    "{p} hat in {l} eine Wohnung mit {n} Quadratmetern",
    "{p} repariert seit {n} Tagen einen {t} in {l}",
    "{p} vive en {l} durante {n} meses y busca un {t}",
    "{p} a trouvé {n} photos de {l} dans un carton",
    "{p} 在 {l} 工作了 {n} 天",
    "The {t} in {l} was measured {n} times by {p}",
    "{p} reads page {n} of a book about {l} every evening",
)
GREETINGS = ("Hi there! {} Thanks a lot.", "Good morning, I was wondering: {}")
BUDGET = 300
CHATS = 100


def others(count: int, seed: int) -> list[str]:
    """Facts that nobody asks for, all different."""
    chance = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        shape = chance.choice(SHAPES)
        fact = shape.format(
            p=chance.choice(PEOPLE),
            t=chance.choice(THINGS),
            l=chance.choice(PLACES),
            n=chance.randrange(10 * count),
        )
        found[fact] = None
    return list(found)


def services_in(folder: str, embedder: str = "off") -> Services:
    """A toolbox's services with a store of their own."""
    store = {"url": f"sqlite:///{folder}/store.db"}
    return Services(Config.model_validate({"store": store, "embeddings": {"use": embedder}}))


class PlainFts:
    """FTS5 as it comes: its default tokenizer, the words of the question joined by OR."""

    def __init__(self, facts: Sequence[str], path: str = ":memory:") -> None:
        self._connection = sqlite3.connect(path)
        self._connection.execute("CREATE VIRTUAL TABLE fact USING fts5(text)")
        self._connection.executemany(
            "INSERT INTO fact (rowid, text) VALUES (?, ?)", list(enumerate(facts))
        )
        self._connection.commit()

    def search(self, question: str, limit: int) -> list[int]:
        """The numbers of the best facts."""
        words = ["".join(c for c in word if c.isalnum()) for word in question.split()]
        requested = " OR ".join(f'"{word}"' for word in words if word)
        rows = self._connection.execute(
            "SELECT rowid FROM fact WHERE fact MATCH ? ORDER BY rank LIMIT ?", (requested, limit)
        )
        return [row[0] for row in rows]


async def recall_figures() -> None:
    """R@5 beside plain FTS5, and what a first turn is given beside the newest 50."""
    facts = [*(fact for _, fact, _ in PAIRS), *others(1000 - len(PAIRS), 1)]
    order = random.Random(2).sample(range(len(facts)), len(facts))
    with tempfile.TemporaryDirectory() as folder:
        services = services_in(folder)
        memories = services.use(Memories)
        for number in order:
            await memories.save(MemoryDraft(facts[number]), Origin())
        await _recall(memories, facts)
        await _first_turn(memories, facts, order)
        await services.close()


async def vector_figures() -> None:
    """R@5 by words and vectors, beside plain FTS5."""
    facts = [*(fact for _, fact, _ in PAIRS), *others(1000 - len(PAIRS), 1)]
    with tempfile.TemporaryDirectory() as folder:
        services = services_in(folder, "local")
        memories = services.use(Memories)
        await memories.save_all([MemoryDraft(fact) for fact in facts], Origin())
        await memories.search("warm up", 5, (USER,), 0.15)
        began = time.process_time()
        index = services.use(Indexes).index("memories")
        while not await index.embed_missing():  # the background is at it
            await asyncio.sleep(1)
        status = await index.status()
        print(
            f"{status.chunks:,} memories, {status.vectors:.0%} with vectors of {status.model},"
            f" weight {status.weight}, {time.process_time() - began:.0f} s of CPU"
        )
        await _recall(memories, facts)
        await services.close()


async def _recall(memories: Memories, facts: Sequence[str]) -> None:
    plain = PlainFts(facts)
    for kind in ("stem", "other"):
        for quarantined in (False, True):
            requested = [
                pair for n, pair in enumerate(PAIRS) if pair[0] == kind and n % 2 == quarantined
            ]
            ours = theirs = 0
            for _, fact, question in requested:
                hits = (await memories.search(question, 5, (USER,), 0.15)).hits
                ours += fact in [hit.memory.fact for hit in hits]
                theirs += fact in [facts[n] for n in plain.search(question, 5)]
            part = "kept aside" if quarantined else "seen"
            ours, theirs = ours / len(requested), theirs / len(requested)
            print(f"R@5 {kind}, {part}: {ours:.2f}; FTS5 {theirs:.2f}")


async def session_figures() -> None:
    """The right session among 200, each with four or five facts that were talked about."""
    noise = others(800, 5)
    with tempfile.TemporaryDirectory() as folder:
        services = services_in(folder)
        records = services.use(SessionRecords)
        ids = []
        for number in range(200):
            facts = noise[number * 4 : number * 4 + 4]
            facts[2:2] = [PAIRS[number][1]] if number < len(PAIRS) else []
            parts = {"task": f"Talk {number}", "done": ". ".join(facts)}
            ids.append((await records.save(f"s{number}", 1, Origin(), parts)).id)
        for kind in ("stem", "other"):
            met = []
            for number, (of, _, question) in enumerate(PAIRS):
                if of == kind:
                    found, _ = await records.search(question, 5, 1)
                    met.append(ids[number] in [record.id for record in found])
            print(f"sessions, R@5 {kind}: {sum(met) / len(met):.2f}")
        await services.close()


async def _first_turn(memories: Memories, facts: Sequence[str], order: Sequence[int]) -> None:
    stems = [pair for pair in PAIRS if pair[0] == "stem"]
    chats = [
        (GREETINGS[n % 2].format(question), fact) for n, (_, fact, question) in enumerate(stems * 3)
    ][:CHATS]
    spent = needed = present = 0
    newest = {facts[number] for number in order[-50:]}
    fifty = 0
    for message, fact in chats:
        found = await recall(memories, message, (USER,), BUDGET)
        there = any(memory.fact == fact for memory in found.memories)
        present += there
        spent += found.tokens
        needed += estimate(f"- {fact} (2026-01-01)") + 1 if there else 0
        fifty += fact in newest
    print(f"first turn, {len(chats)} chats: share of tokens {needed / spent:.2f}, "
          f"needed fact present {present / len(chats):.2f}, "
          f"{spent / len(chats):.0f} tokens a chat")  # fmt: skip
    tokens = sum(estimate(f"- {fact} (2026-01-01)") + 1 for fact in newest)
    print(f"newest 50: present {fifty / len(chats):.2f}, {tokens} tokens a chat")


async def cost_figures(many: int) -> None:
    """A save over a bare insert, and a search among many over the bare query; in turns."""
    facts = others(many, 3)
    with tempfile.TemporaryDirectory() as folder:
        services = services_in(folder)
        memories = services.use(Memories)
        bare = sqlite3.connect(f"{folder}/bare.db", isolation_level=None)
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = NORMAL")
        bare.execute("CREATE TABLE fact (id INTEGER PRIMARY KEY, scope, text, tags, time)")
        await memories.save(MemoryDraft("the first"), Origin())
        ours, theirs = [], []
        for fact in facts[:1000]:
            began = time.perf_counter()
            bare.execute("BEGIN IMMEDIATE")
            row = (USER, fact, "[]", time.time())
            bare.execute("INSERT INTO fact (scope, text, tags, time) VALUES (?, ?, ?, ?)", row)
            bare.execute("COMMIT")
            theirs.append(time.perf_counter() - began)
            began = time.perf_counter()
            await memories.save(MemoryDraft(fact), Origin())
            ours.append(time.perf_counter() - began)
        _ratio("save over a bare insert", ours, theirs)
        for start in range(1000, many, 5000):
            drafts = [MemoryDraft(fact) for fact in facts[start : start + 5000]]
            await memories.save_all(drafts, Origin())
        plain = PlainFts(facts, f"{folder}/fts.db")
        questions = [question for _, _, question in PAIRS[:20]]
        questions += [" ".join(fact.split()[:4]) for fact in facts[:20]]
        await memories.search("warm up", 5, (USER,), 0.15)
        ours, theirs = [], []
        for question in questions * 2:
            began = time.perf_counter()
            plain.search(question, 5)
            theirs.append(time.perf_counter() - began)
            began = time.perf_counter()
            await memories.search(question, 5, (USER,), 0.15)
            ours.append(time.perf_counter() - began)
        _ratio(f"search among {many:,} over FTS5", ours, theirs)
        await services.close()


def _ratio(what: str, ours: Sequence[float], theirs: Sequence[float]) -> None:
    mine, bare = statistics.median(ours), statistics.median(theirs)
    print(f"{what}: {mine / bare:.1f}x ({mine * 1e6:,.0f} us to {bare * 1e6:,.0f})")


def main() -> None:
    """Print what was asked for; without words all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", choices=["recall", "vectors", "cost", []], default=[])
    parser.add_argument("--many", type=int, default=100_000)
    options = parser.parse_args()
    if not options.what or "recall" in options.what:
        asyncio.run(recall_figures())
        asyncio.run(session_figures())
    if not options.what or "vectors" in options.what:
        asyncio.run(vector_figures())
    if not options.what or "cost" in options.what:
        asyncio.run(cost_figures(options.many))


if __name__ == "__main__":
    main()
