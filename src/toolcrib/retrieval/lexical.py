"""The words of an index: writing entries, and finding chunks by the words of a question."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from hashlib import blake2b

from toolcrib.retrieval.chunks import TextChunk
from toolcrib.retrieval.entries import EntryFilter, EntryInfo, IndexEntry
from toolcrib.retrieval.terms import (
    MIN_TERM_CHARS,
    QueryWord,
    any_of,
    parts_of,
    quoted,
    vocabulary,
    words_of,
)

NEIGHBOURS = 2
"""Chunks on each side that help to find a chunk."""
ALONE_CHARS = 20
"""A chunk up to this length is embedded with its neighbours."""
SHORT_CHARS = 400
"""A chunk up to this length stands whole beside its neighbours; of a longer one so much: """
EDGE_CHARS = 200
OWN_COLUMNS = "{text title parts}"
"""What a chunk has itself, and not beside its neighbours."""
READ_WHOLE = 100
"""To look one chunk up takes as long as to read so many in a row."""
MAX_COUNTED = 3000
"""Chunks up to which those with a word are counted; more are as good as so many."""
MAX_ALIKE = 3
MAX_ENTRIES = 10_000
"""Entries that are listed for one question."""
MIN_LIKENESS = 0.75
ALIKE_CANDIDATES = 40


@dataclass(frozen=True, slots=True)
class LexicalMatch:
    """Chunks by their ids, best first, and how many chunks have each word of the question."""

    ids: list[int]
    counts: Mapping[str, int]
    words: Sequence[QueryWord]
    missing: tuple[str, ...]
    instead: Mapping[str, tuple[str, ...]]


def put_entries(
    connection: sqlite3.Connection, entries: Iterable[IndexEntry], known_terms: set[str]
) -> None:
    """Write entries with their chunks; those of the same key are replaced.

    Args:
        connection: within a transaction.
        entries: what is written.
        known_terms: what `vocabulary` knows that the index has for sure.
    """
    new: set[str] = set()
    for entry in entries:
        remove_entries(connection, [entry.key])
        chars = sum(len(chunk.text) for chunk in entry.chunks)
        facts = json.dumps(dict(entry.facts), ensure_ascii=False)
        row = connection.execute(
            "INSERT INTO entry (key, title, kind, date, fingerprint, facts, chars, chunks, indexed)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (entry.key, entry.title, entry.kind, entry.date, entry.fingerprint, facts, chars,
             len(entry.chunks), time.time()),
        )  # fmt: skip
        number = row.lastrowid
        assert number is not None
        connection.executemany(
            "INSERT OR IGNORE INTO label VALUES (?, ?)", [(label, number) for label in entry.labels]
        )
        new |= _put_chunks(connection, number, entry, known_terms)
    _put_terms(connection, new)


def _put_terms(connection: sqlite3.Connection, terms: set[str]) -> None:
    last = connection.execute("SELECT coalesce(max(id), 0) FROM term").fetchone()[0]
    connection.executemany(
        "INSERT OR IGNORE INTO term (term) VALUES (?)", [(term,) for term in sorted(terms)]
    )
    # All at once: one by one, trigrams cost more than all other words together.
    connection.execute(
        "INSERT INTO term_trigrams (rowid, term) SELECT id, term FROM term WHERE id > ?", (last,)
    )


def _put_chunks(
    connection: sqlite3.Connection, entry_id: int, entry: IndexEntry, known_terms: set[str]
) -> set[str]:
    """Write the chunks of an entry; the words that are new in the index."""
    first = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM chunk").fetchone()[0]
    date = _date(entry)
    rows, texts = [], []
    new: set[str] = set()
    for place, chunk in enumerate(entry.chunks):
        title = _title(entry, chunk, date)
        around = _around(entry.chunks, place)
        digest = text_digest(embedded_text(chunk.text, around, title))
        headings = json.dumps(chunk.headings, ensure_ascii=False) if chunk.headings else ""
        rows.append(
            (first + place, entry_id, place, chunk.start, chunk.end, chunk.line, chunk.last_line,
             chunk.page, chunk.last_page, headings, digest)
        )  # fmt: skip
        words = words_of(chunk.text)
        new |= vocabulary(words, known_terms)
        texts.append((first + place, chunk.text, around, title, parts_of(chunk.text, words)))
    connection.executemany("INSERT INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    connection.executemany(
        "INSERT INTO words (rowid, text, around, title, parts) VALUES (?, ?, ?, ?, ?)", texts
    )
    return new


def remove_entries(connection: sqlite3.Connection, keys: Iterable[str]) -> int:
    """Remove entries by their keys; how many there were."""
    removed = 0
    for key in keys:
        row = connection.execute("SELECT id FROM entry WHERE key = ?", (key,)).fetchone()
        if row is None:
            continue
        connection.execute(
            "DELETE FROM words WHERE rowid IN (SELECT id FROM chunk WHERE entry = ?)", row
        )
        connection.execute("DELETE FROM chunk WHERE entry = ?", row)
        connection.execute("DELETE FROM entry WHERE id = ?", row)
        removed += 1
    return removed


def _title(entry: IndexEntry, chunk: TextChunk, date: str) -> str:
    """What names a chunk: title, headings and date."""
    parts = [entry.title, *(h for h in chunk.headings if h != entry.title), date]
    return " > ".join(part for part in parts if part)


def _date(entry: IndexEntry) -> str:
    """A date in the words that somebody may ask for it by; empty for none."""
    if not entry.date:
        return ""
    return datetime.fromtimestamp(entry.date, UTC).strftime("%Y-%m-%d %d %B %Y %A")


def _around(chunks: Sequence[TextChunk], place: int) -> str:
    """What stands before and after a chunk, where it is not in the chunk itself."""
    before: list[str] = []
    for chunk in reversed(chunks[max(place - NEIGHBOURS, 0) : place]):
        whole = len(chunk.text) <= SHORT_CHARS
        before.append(chunk.text if whole else _edge(chunk.text[-EDGE_CHARS:], "first"))
        if not whole:
            break
    after: list[str] = []
    for chunk in chunks[place + 1 : place + 1 + NEIGHBOURS]:
        whole = len(chunk.text) <= SHORT_CHARS
        after.append(chunk.text if whole else _edge(chunk.text[:EDGE_CHARS], "last"))
        if not whole:
            break
    return "\n".join([*reversed(before), *after])


def _edge(text: str, cut_word: str) -> str:
    """Some of a text without the word that was cut through."""
    if cut_word == "first":
        return text.split(maxsplit=1)[-1]
    return text.rsplit(maxsplit=1)[0] if text.split() else ""


def embedded_text(text: str, around: str, title: str) -> str:
    """What is embedded for a chunk: a word or two are nothing without what stands around them."""
    return "\n".join(filter(None, [title, text, around if len(text) <= ALONE_CHARS else ""]))


def text_digest(text: str) -> bytes:
    """What vectors are known by."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


# Finding.


def match(
    connection: sqlite3.Connection,
    words: Sequence[QueryWord],
    entries: EntryFilter,
    limit: int,
) -> LexicalMatch:
    """The chunks that have words of a question, by BM25.

    A word that nothing has is looked for as its likes: other words with much the same
    trigrams, which mends slips and finds parts of identifiers.
    """
    counts: dict[str, int] = {}
    instead: dict[str, tuple[str, ...]] = {}
    missing: list[str] = []
    searched: list[QueryWord] = []
    for word in words:
        count = _count(connection, word.expression)
        if not count and word.optional:
            continue
        if not count:
            likes = _alike(connection, word.text)
            if likes:
                instead[word.text] = likes
                either = " OR ".join(map(quoted, likes))
                word = QueryWord(word.text, f"({either})")  # noqa: PLW2901 - the same word
                count = _count(connection, word.expression)
            else:
                missing.append(word.text)
        counts[word.text] = count
        searched.append(word)
    present = [word for word in searched if counts[word.text]]
    ids: list[int] = []
    if present:
        ids = _ranked(connection, any_of(present), entries, limit)
    return LexicalMatch(ids, counts, searched, tuple(missing), instead)


def _ranked(
    connection: sqlite3.Connection, expression: str, entries: EntryFilter, limit: int
) -> list[int]:
    condition, values = entries.sql()
    # The plus keeps SQLite from looking each of them up in the index of words.
    within = f" AND +rowid IN ({CHUNKS_WHERE} {condition})" if condition else ""
    rows = connection.execute(
        f"SELECT rowid FROM words WHERE words MATCH ?{within} ORDER BY rank LIMIT ?",  # noqa: S608
        (expression, *values, limit),
    )
    return [row[0] for row in rows]


def best_ids_of_each(
    connection: sqlite3.Connection, found: LexicalMatch, entries: EntryFilter
) -> list[int]:
    """Of each entry the chunk that ranks best, in the order of their ranks."""
    present = [word for word in found.words if found.counts[word.text]]
    if not present:
        return []
    condition, values = entries.sql()
    where = f" WHERE {condition}" if condition else ""
    rows = connection.execute(
        "SELECT found.rowid, min(found.rank) AS best FROM"  # noqa: S608
        " (SELECT rowid, rank FROM words WHERE words MATCH ?) AS found"
        " JOIN chunk ON chunk.id = found.rowid JOIN entry ON entry.id = chunk.entry"
        f"{where} GROUP BY entry.id ORDER BY best LIMIT ?",
        (any_of(present), *values, MAX_ENTRIES),
    )
    return [row[0] for row in rows]


def keys_with_all(connection: sqlite3.Connection, found: LexicalMatch) -> frozenset[str]:
    """The keys of entries that have every word of a question itself, in whatever passage."""
    words = [word for word in found.words if not word.optional]
    if not words or found.missing or found.instead:
        return frozenset()
    having = (
        "SELECT chunk.entry FROM words JOIN chunk ON chunk.id = words.rowid WHERE words MATCH ?"
    )
    rows = connection.execute(
        f"SELECT key FROM entry WHERE id IN ({' INTERSECT '.join([having] * len(words))})",  # noqa: S608
        [word.expression for word in words],
    )
    return frozenset(key for (key,) in rows)


CHUNKS_WHERE = "SELECT chunk.id FROM chunk JOIN entry ON entry.id = chunk.entry WHERE"


def _count(connection: sqlite3.Connection, expression: str) -> int:
    row = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)",
        (f"{OWN_COLUMNS} : ({expression})", MAX_COUNTED),
    ).fetchone()
    return int(row[0])


def _alike(connection: sqlite3.Connection, word: str) -> tuple[str, ...]:
    """Words of the index that are much like one that it does not have."""
    word = word.casefold()
    if len(word) < MIN_TERM_CHARS or not word.isalnum():
        return ()
    trigrams = {word[i : i + 3] for i in range(len(word) - 2)}
    rows = connection.execute(
        "SELECT term FROM term_trigrams WHERE term_trigrams MATCH ? ORDER BY rank LIMIT ?",
        (" OR ".join(map(quoted, sorted(trigrams))), ALIKE_CANDIDATES),
    )
    scored = []
    for (term,) in rows:
        likeness = SequenceMatcher(None, word, term, autojunk=False).ratio()
        if word in term:
            likeness = max(likeness, MIN_LIKENESS)
        if likeness >= MIN_LIKENESS:
            scored.append((-likeness, term))
    found = [term for _, term in sorted(scored)[:MAX_ALIKE]]
    return tuple(term for term in found if _count(connection, quoted(term)))


def words_met(
    connection: sqlite3.Connection, found: LexicalMatch, ids: Sequence[int]
) -> dict[int, list[str]]:
    """Which words of the question each of some chunks has."""
    met: dict[int, list[str]] = {number: [] for number in ids}
    listed = json.dumps(list(ids))
    for word in found.words:
        if not found.counts[word.text] or not ids:
            continue
        # A rare word is read whole; of one that many chunks have, each chunk is looked up.
        sign = "+" if found.counts[word.text] < READ_WHOLE * len(ids) else ""
        rows = connection.execute(
            f"SELECT rowid FROM words WHERE words MATCH ? AND {sign}rowid IN"  # noqa: S608 - ours
            " (SELECT value FROM json_each(?))",
            (word.expression, listed),
        )
        for (number,) in rows:
            met[number].append(word.text)
    return met


def rarity(count: int, total: int) -> float:
    """What a word counts that so many of all chunks have; one that none has, as one of one."""
    count = max(min(count, total), 1)
    return math.log(1 + (total - count + 0.5) / (count + 0.5))


def chunk_rows(
    connection: sqlite3.Connection, ids: Sequence[int]
) -> dict[int, tuple[EntryInfo, TextChunk, int]]:
    """Chunks by id, each with its entry and its number there."""
    rows = connection.execute(
        "SELECT chunk.id, chunk.number, chunk.start, chunk.stop, chunk.line, chunk.last_line,"  # noqa: S608
        " chunk.page, chunk.last_page, chunk.headings, words.text,"
        f" {ENTRY_COLUMNS}"
        " FROM chunk JOIN entry ON entry.id = chunk.entry JOIN words ON words.rowid = chunk.id"
        " WHERE chunk.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    found = {}
    for row in rows:
        number, place, start, stop, line, last_line, page, last_page, headings, text = row[:10]
        path = tuple(json.loads(headings)) if headings else ()
        chunk = TextChunk(text, start, stop, path, line, last_line, page, last_page)
        found[number] = (entry_info(row[10:]), chunk, place)
    return found


ENTRY_COLUMNS = (
    "entry.key, entry.title, entry.kind, entry.date, entry.fingerprint, entry.facts,"
    " entry.chars, entry.chunks, entry.indexed"
)


def entry_info(row: Sequence[object]) -> EntryInfo:
    """An entry by `ENTRY_COLUMNS`."""
    key, title, kind, date, fingerprint, facts, chars, chunks, indexed = row
    values = json.loads(str(facts))
    return EntryInfo(key, title, kind, date, fingerprint, values, chars, chunks, indexed)  # type: ignore[arg-type]
