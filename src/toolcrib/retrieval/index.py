"""An index: one file of entries, found by their words and, where there is an embedder, meaning."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from toolcrib.core.errors import StorageFailure, ToolError
from toolcrib.retrieval.embedders import RestingEmbedder
from toolcrib.retrieval.entries import (
    EntryFilter,
    EntryInfo,
    FoundPassage,
    IndexEntry,
    PassageRanking,
)
from toolcrib.retrieval.fusion import (
    WEIGHT,
    measured_weight,
    reciprocal_rank_fusion,
    sample_question,
)
from toolcrib.retrieval.lexical import (
    ENTRY_COLUMNS,
    MAX_ENTRIES,
    LexicalMatch,
    best_ids_of_each,
    chunk_rows,
    embedded_text,
    entry_info,
    keys_with_all,
    match,
    put_entries,
    rarity,
    remove_entries,
    words_met,
)
from toolcrib.retrieval.schema import SCHEMA
from toolcrib.retrieval.terms import query_words
from toolcrib.retrieval.vectors import (
    Space,
    VectorFile,
    chunks_of_slots,
    coverage,
    make_space,
    only_writer,
    pending,
    remove_file,
    slots_within,
    space_of,
)
from toolcrib.state.store import Store, remove_store

POOL = 50
"""Chunks of each ranking that are looked at more closely, at least."""
MIN_SCORE = 0.3
"""Passages that meet less of a question are no answer to it."""
MAX_WORDS_MET = 6
"""A passage that meets so many of the rarest words meets the whole of a long question."""
QUERY_SECONDS = 3.0
"""For so long a search waits for the vector of its question."""
MAX_QUERIES = 64
CALIBRATION_SAMPLES = 40
MIN_CALIBRATED_CHUNKS = 50
MIN_SPREAD = 0.015
BY_CHANCE = 0.8
"""A passage has to be nearer than so much of what the nearest is by chance."""
BY_CHANCE_BESIDE = 0.65
"""The same for one beside a passage that is good."""
LEADING = 10
"""Passages of the ranking by words that are asked how much of the question they meet."""
MIN_WORDS_COUNT = 0.1
T = TypeVar("T")
OnProgress = Callable[[int], Awaitable[None]]
"""Is told how many vectors were made."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What an index holds. `vectors` is the share of chunks that have one."""

    entries: int
    chunks: int
    chars: int
    bytes: int
    model: str = ""
    vectors: float = 0.0
    weight: float | None = None


class Index:
    """Entries and their chunks in one SQLite file, for any number of processes.

    Args:
        path: the file; None keeps everything in memory, without vectors.
        embedder: what makes vectors; None for words alone.
    """

    def __init__(self, path: Path | None, embedder: RestingEmbedder | None = None) -> None:
        self.path = path
        self.embedder = embedder if path is not None else None
        self._store = Store(path, rebuildable=True)
        self._known_terms: set[str] = set()
        self._queries: OrderedDict[str, list[float]] = OrderedDict()
        self._files: dict[int, VectorFile] = {}
        self._coverage: tuple[tuple[object, ...], float] | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know: a broken index that was set aside."""
        return self._store.warnings

    async def put(self, entries: Sequence[IndexEntry]) -> None:
        """Write entries, all or none; those of the same key are replaced.

        Raises:
            StorageFailure: nothing was written.
        """

        def work(connection: sqlite3.Connection) -> set[str]:
            known = set(self._known_terms)
            put_entries(connection, entries, known)
            return known

        self._known_terms = await self._write(work)

    async def remove(self, keys: Iterable[str]) -> int:
        """Remove entries by key; how many there were."""
        listed = list(keys)
        return await self._write(lambda c: remove_entries(c, listed))

    async def clear(self) -> int:
        """Remove everything, the files too; how many entries there were."""
        entries = (await self.status()).entries
        files = await self._read(lambda c: c.execute("SELECT file FROM space").fetchall())
        old, self._store = self._store, Store(self.path, rebuildable=True)
        self._known_terms = set()
        await old.close()
        if self.path is not None:
            await asyncio.to_thread(remove_store, self.path)
        for (number,) in files:
            self._close_file(number)
            await asyncio.to_thread(remove_file, self._vector_path(number))
        return entries

    async def entries(self, entries: EntryFilter | None = None) -> list[EntryInfo]:
        """The entries for which a filter holds, by key."""
        condition, values = (entries or EntryFilter()).sql()
        where = f" WHERE {condition}" if condition else ""
        sql = f"SELECT {ENTRY_COLUMNS} FROM entry{where} ORDER BY key"  # noqa: S608
        return await self._read(lambda c: [entry_info(row) for row in c.execute(sql, values)])

    async def fingerprints(self, entries: EntryFilter | None = None) -> dict[str, str]:
        """What tells of each entry whether its source has changed, by key."""
        condition, values = (entries or EntryFilter()).sql()
        where = f" WHERE {condition}" if condition else ""
        sql = f"SELECT key, fingerprint FROM entry{where}"  # noqa: S608
        return await self._read(lambda c: dict(c.execute(sql, values).fetchall()))

    async def set_fingerprints(self, fingerprints: Mapping[str, str]) -> None:
        """Note that the sources of entries look otherwise by now, and hold the same."""
        rows = [(fingerprint, key) for key, fingerprint in fingerprints.items()]
        sql = "UPDATE entry SET fingerprint = ? WHERE key = ?"
        await self._write(lambda c: c.executemany(sql, rows))

    async def passages(self, key: str) -> list[FoundPassage]:
        """All chunks of an entry, in their order."""

        def work(connection: sqlite3.Connection) -> list[FoundPassage]:
            ids = [
                row[0]
                for row in connection.execute(
                    "SELECT chunk.id FROM chunk JOIN entry ON entry.id = chunk.entry"
                    " WHERE entry.key = ? ORDER BY chunk.number",
                    (key,),
                )
            ]
            rows = chunk_rows(connection, ids)
            return [FoundPassage(*rows[number], score=1.0) for number in ids]

        return await self._read(work)

    async def status(self) -> IndexStatus:
        """What it holds."""

        def work(connection: sqlite3.Connection) -> IndexStatus:
            entries, chunks, chars = connection.execute(
                "SELECT count(*), coalesce(sum(chunks), 0), coalesce(sum(chars), 0) FROM entry"
            ).fetchone()
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            size = pages * connection.execute("PRAGMA page_size").fetchone()[0]
            found = IndexStatus(entries, chunks, chars, size)
            space = space_of(connection, self.embedder.model) if self.embedder else None
            if space is None:
                return found
            share = self._share(connection, space)
            return replace(found, model=space.model, vectors=share, weight=space.weight)

        return await self._read(work)

    async def search(
        self,
        question: str,
        limit: int = 5,
        entries: EntryFilter | None = None,
        min_score: float = MIN_SCORE,
    ) -> PassageRanking:
        """The passages that answer a question best.

        An embedder that is down or slow is left out, and a note says so.

        Args:
            question: in any language; nothing in it is syntax.
            limit: how many passages at most.
            entries: which entries are looked at; None for all.
            min_score: where no passage reaches it, there are none; beside one that does,
                those are given, too, that have half of it.

        Raises:
            StorageFailure: the index cannot be read.
        """
        notes: list[str] = []
        query = await self._query_vector(question, notes) if self.embedder else None
        wanted = entries or EntryFilter()
        words = query_words(question)
        pool = max(POOL, limit * 4)

        def work(connection: sqlite3.Connection) -> PassageRanking:
            found = match(connection, words, wanted, pool)
            near = self._near(connection, query, wanted, pool) if query else None
            return _ranking(connection, found, near, limit, min_score, min_score / 2)

        ranking = await self._read(work)
        if query is not None and self.embedder is not None:
            await self._follow_dims(self.embedder.model, len(query))
        return replace(ranking, notes=tuple(notes))

    async def best_of_each(
        self, question: str, entries: EntryFilter | None = None, min_score: float = MIN_SCORE
    ) -> PassageRanking:
        """The best passage by words of every entry that answers a question, best first.

        Args:
            question: as for `search`.
            entries: which entries are looked at; None for all.
            min_score: entries whose best passage is below are left out.

        Raises:
            StorageFailure: the index cannot be read.
        """
        words, wanted = query_words(question), entries or EntryFilter()

        def work(connection: sqlite3.Connection) -> PassageRanking:
            found = match(connection, words, wanted, 0)
            found = replace(found, ids=best_ids_of_each(connection, found, wanted))
            ranking = _ranking(connection, found, None, len(found.ids), min_score, min_score)
            with_all = keys_with_all(connection, found)
            complete = len(found.ids) < MAX_ENTRIES
            return replace(ranking, complete=complete, with_all=with_all)

        return await self._read(work)

    async def embed_missing(self, on_progress: OnProgress | None = None) -> bool:
        """Make the vectors that are missing; whether all are there now.

        What is made is written batch by batch, so that it goes on where it was ended. Where
        another process is at it, nothing is done.

        Raises:
            ToolError: the embedder cannot be used now.
        """
        if self.embedder is None or self.path is None:
            return True
        with ExitStack() as stack:
            lock = only_writer(self.path.with_name(f"{self.path.name}.embedding"))
            if not await asyncio.to_thread(stack.enter_context, lock):
                return False
            done = after = 0
            # From the beginning again until nothing is missing: chunks come and go meanwhile.
            while True:
                count, last = await self._embed_batch(self.embedder, after)
                if not count and not after:
                    break
                done, after = done + count, last if count else 0
                if on_progress is not None and count:
                    await on_progress(done)
            await self._calibrate(self.embedder)
            await self._drop_old_spaces(self.embedder.model)
        return True

    async def close(self) -> None:
        """Close the files."""
        for number in list(self._files):
            self._close_file(number)
        await self._store.close()

    # Vectors.

    async def _query_vector(self, question: str, notes: list[str]) -> list[float] | None:
        assert self.embedder is not None
        known = self._queries.get(question)
        if known is not None:
            return known
        space = await self._read(
            lambda c: space_of(c, self.embedder.model) if self.embedder else None
        )
        if space is None:
            return None
        try:
            vector = await self.embedder.embed_query(question, QUERY_SECONDS)
        except ToolError as error:
            notes.append(f"Searched by words alone: {error.message}")
            return None
        self._queries[question] = vector
        while len(self._queries) > MAX_QUERIES:
            self._queries.popitem(last=False)
        return vector

    async def _follow_dims(self, model: str, dims: int) -> None:
        """Begin a new space where the same model gives vectors of another length by now."""
        space = await self._read(lambda c: space_of(c, model))
        if space is not None and space.dims != dims:
            await self._write(lambda c: make_space(c, model, dims))

    def _near(
        self,
        connection: sqlite3.Connection,
        query: Sequence[float],
        entries: EntryFilter,
        limit: int,
    ) -> _Near | None:
        """The chunks nearest to a question; None where there are no vectors to compare."""
        assert self.embedder is not None
        space = space_of(connection, self.embedder.model)
        if space is None or space.dims != len(query):
            return None
        count = _filled(connection, space)
        file = self._file(space)
        if not count or not file.holds(count):
            return None
        condition, values = entries.sql()
        only = slots_within(connection, space, condition, values) if condition else None
        slots = dict(file.nearest(query, count, limit * 2, only))
        cosines: dict[int, float] = {}
        for slot, number in chunks_of_slots(connection, space, list(slots)):
            cosines[number] = slots[slot]
        ranked = sorted(cosines, key=lambda number: -cosines[number])[:limit]
        weight = WEIGHT if space.weight is None else space.weight
        weight *= self._share(connection, space)
        usual, spread = file.background(query, count)
        by_chance = max(spread, MIN_SPREAD) * math.sqrt(2 * math.log(count + 2))
        nearness = {number: (cosines[number] - usual) / by_chance for number in ranked}
        return _Near(ranked, nearness, weight)

    def _share(self, connection: sqlite3.Connection, space: Space) -> float:
        """The share of chunks that have a vector, counted where the index has changed alone.

        Of 100,000 chunks the count takes ten times as long as finding the nearest.
        """
        (version,) = connection.execute("PRAGMA data_version").fetchone()  # of other processes
        state = (connection, version, connection.total_changes, space.id)
        if self._coverage is None or self._coverage[0] != state:
            self._coverage = state, coverage(connection, space)
        return self._coverage[1]

    async def _embed_batch(self, embedder: RestingEmbedder, after: int) -> tuple[int, int]:
        """Make vectors of some chunks behind an id; how many, and the last id."""

        def missing(
            connection: sqlite3.Connection,
        ) -> tuple[Space | None, list[tuple[int, bytes, str, str, str]]]:
            space = space_of(connection, embedder.model)
            if space is not None and not self._file(space).holds(_filled(connection, space)):
                return space, []  # the file is gone, and its slots with it
            return space, pending(connection, space, after, embedder.batch)

        space, rows = await self._read(missing)
        if not rows:
            return (await self._forget_lost(space) if space is not None else 0), 0
        texts = [embedded_text(text, around, title) for _, _, text, around, title in rows]
        vectors = await embedder.embed(texts, "passage")
        dims = len(vectors[0])
        place = await self._write(lambda c: make_space(c, embedder.model, dims))
        first = await self._read(lambda c: _filled(c, place))
        await asyncio.to_thread(self._file(place).write, first, vectors)

        def commit(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT OR IGNORE INTO vector VALUES (?, ?, ?)",
                [(place.id, row[1], first + n) for n, row in enumerate(rows)],
            )

        await self._write(commit)
        return len(rows), rows[-1][0]

    async def _forget_lost(self, space: Space) -> int:
        """Forget the slots of a file that is gone or cut short; 1 if there were any."""

        def work(connection: sqlite3.Connection) -> int:
            if self._file(space).holds(_filled(connection, space)):
                return 0
            connection.execute("DELETE FROM vector WHERE space = ?", (space.id,))
            return 1

        lost = await self._write(work)
        if lost:
            self._close_file(space.file)
        return lost

    async def _calibrate(self, embedder: RestingEmbedder) -> None:
        """Measure on the index itself what its vectors are worth, once they are there."""
        space = await self._read(lambda c: space_of(c, embedder.model))
        if space is None or space.weight is not None:
            return

        def sample(connection: sqlite3.Connection) -> list[tuple[int, str]]:
            total = connection.execute("SELECT count(*) FROM chunk").fetchone()[0]
            if total < MIN_CALIBRATED_CHUNKS:
                return []
            step = max(total // CALIBRATION_SAMPLES, 1)
            rows = connection.execute(
                "SELECT rowid, text FROM words WHERE rowid IN (SELECT id FROM (SELECT id,"
                " row_number() OVER (ORDER BY id) AS n FROM chunk) WHERE n % ? = 0) LIMIT ?",
                (step, CALIBRATION_SAMPLES),
            )
            return [(number, q) for number, text in rows if (q := sample_question(text, number))]

        samples = await self._read(sample)
        if len(samples) < CALIBRATION_SAMPLES // 4:
            return
        vectors = []
        for start in range(0, len(samples), embedder.batch):
            texts = [question for _, question in samples[start : start + embedder.batch]]
            vectors += await embedder.embed(texts, "query")
        await self._write(lambda c: self._settle_weight(c, space, samples, vectors))

    def _settle_weight(
        self,
        connection: sqlite3.Connection,
        space: Space,
        samples: Sequence[tuple[int, str]],
        vectors: Sequence[Sequence[float]],
    ) -> None:
        measured = []
        for (number, question), vector in zip(samples, vectors, strict=True):
            found = match(connection, query_words(question), EntryFilter(), POOL)
            near = self._near(connection, vector, EntryFilter(), POOL)
            measured.append((number, found.ids, near.ids if near else []))
        weight = measured_weight(measured)
        connection.execute("UPDATE space SET weight = ? WHERE id = ?", (weight, space.id))

    async def _drop_old_spaces(self, model: str) -> None:
        """Remove the vectors of other models, now that all are there of this one."""

        def work(connection: sqlite3.Connection) -> list[int]:
            space = space_of(connection, model)
            if space is None:
                return []
            old = connection.execute("SELECT file FROM space WHERE id != ?", (space.id,)).fetchall()
            connection.execute("DELETE FROM vector WHERE space != ?", (space.id,))
            connection.execute("DELETE FROM space WHERE id != ?", (space.id,))
            return [row[0] for row in old]

        for number in await self._write(work):
            self._close_file(number)
            await asyncio.to_thread(remove_file, self._vector_path(number))

    def _file(self, space: Space) -> VectorFile:
        if space.file not in self._files:
            self._files[space.file] = VectorFile(self._vector_path(space.file), space.dims)
        return self._files[space.file]

    def _close_file(self, number: int) -> None:
        file = self._files.pop(number, None)
        if file is not None:
            file.close()

    def _vector_path(self, number: int) -> Path:
        if self.path is None:
            raise StorageFailure("An index in memory has no vectors.", hint="Set store.url.")
        return self.path.with_name(f"{self.path.name}.vectors-{number}")

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._store.read(SCHEMA, work)

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._store.write(SCHEMA, work)


@dataclass(frozen=True, slots=True)
class _Near:
    """Chunks by vectors, best first.

    Attributes:
        nearness: of each, where the nearest of as many is at about 1 by chance.
        weight: what they count beside words.
    """

    ids: list[int]
    nearness: dict[int, float]
    weight: float


def _filled(connection: sqlite3.Connection, space: Space) -> int:
    """The slots of a space that are taken, or were."""
    row = connection.execute(
        "SELECT coalesce(max(slot) + 1, 0) FROM vector WHERE space = ?", (space.id,)
    ).fetchone()
    return int(row[0])


def _ranking(
    connection: sqlite3.Connection,
    found: LexicalMatch,
    near: _Near | None,
    limit: int,
    min_score: float,
    min_beside: float,
) -> PassageRanking:
    """The passages of both rankings, with their scores; `min_beside` is for those after a good."""
    total = connection.execute("SELECT count(*) FROM chunk").fetchone()[0]
    weights = {word.text: rarity(found.counts[word.text], total) for word in found.words}
    whole = sum(sorted(weights.values())[-MAX_WORDS_MET:]) or 1.0

    def share(words: Iterable[str]) -> float:
        return min(sum(weights[word] for word in words) / whole, 1.0)

    ids, nearness = found.ids, near.nearness if near else {}
    if near:
        # Words count as much as the best of them meets of the question.
        leading = words_met(connection, found, ids[:LEADING]).values()
        counts = max((MIN_WORDS_COUNT, *map(share, leading)))
        ids = reciprocal_rank_fusion(ids, near.ids, near.weight / counts)
    ids = ids[: max(limit * 2, 20)]
    met = words_met(connection, found, ids)
    rows = chunk_rows(connection, ids)
    passages = []
    for number in ids:
        score = max(share(met[number]), min(nearness.get(number, 0.0) - BY_CHANCE, 1.0))
        passages.append(
            FoundPassage(*rows[number], score=round(score, 3), words=tuple(met[number]))
        )
    best = max((passage.score for passage in passages), default=0.0)
    least = min_beside if best >= min_score else min_score
    good = [
        passage
        for number, passage in zip(ids, passages, strict=True)
        if passage.score >= least
        or (best >= min_score and nearness.get(number, 0.0) >= BY_CHANCE_BESIDE)
    ]
    method = "words and vectors" if near else "words"
    return PassageRanking(tuple(good[:limit]), best, found.missing, found.instead, method)
