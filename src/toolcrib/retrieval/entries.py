"""What an index holds and gives: entries with their chunks, filters, passages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolcrib.retrieval.chunks import ChunkSize, TextChunk, split_text


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One document or note, as it is put into an index.

    Attributes:
        key: its name in the index; what had the same name is replaced.
        chunks: its passages in their order. Neighbours help to find each other, so the turns
            of a conversation are chunks of one entry.
        title: searched too, like the headings and the date.
        kind: any word, to filter by.
        date: when it is from, as `time.time()`; 0 for no date.
        fingerprint: what tells whether the source has changed since.
        labels: words to filter by: scopes, tags.
        facts: small JSON values that come back with each passage.
    """

    key: str
    chunks: Sequence[TextChunk]
    title: str = ""
    kind: str = ""
    date: float = 0.0
    fingerprint: str = ""
    labels: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def note(
        cls,
        key: str,
        text: str,
        *,
        title: str = "",
        kind: str = "",
        date: float = 0.0,
        labels: tuple[str, ...] = (),
        facts: Mapping[str, Any] | None = None,
    ) -> IndexEntry:
        """A short text, cut into chunks only where it is long."""
        chunks = split_text(text, ChunkSize())
        return cls(key, chunks, title, kind, date, "", labels, facts or {})


@dataclass(frozen=True, slots=True)
class EntryInfo:
    """What an index knows of one entry, without its text. `indexed` is when it was put in."""

    key: str
    title: str
    kind: str
    date: float
    fingerprint: str
    facts: Mapping[str, Any]
    chars: int
    chunks: int
    indexed: float


@dataclass(frozen=True, slots=True)
class EntryFilter:
    """Which entries a search looks at; each part that is given must hold.

    Attributes:
        prefix: the key begins with one of these, or is one of `keys`.
        keys: see there.
        kinds: the kind is one of these.
        labels: it has all of these labels.
        since: it is dated then or later; entries without a date are left out.
        until: it is dated then or earlier; entries without a date are left out.
    """

    prefix: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None

    def sql(self) -> tuple[str, list[Any]]:
        """The condition on the table `entry`, and its values; empty for no condition."""
        parts: list[str] = []
        values: list[Any] = []
        if self.prefix or self.keys:
            # A range, since LIKE takes % and _ of the key for signs of its own.
            named = ["entry.key >= ? AND entry.key < ?"] * len(self.prefix)
            named += ["entry.key IN (SELECT value FROM json_each(?))"] if self.keys else []
            parts.append(f"({' OR '.join(named)})")
            for prefix in self.prefix:
                values += [prefix, f"{prefix}\U0010ffff"]
            values += [json.dumps(self.keys)] if self.keys else []
        if self.kinds:
            parts.append(f"entry.kind IN ({_marks(self.kinds)})")
            values += self.kinds
        for label in self.labels:
            parts.append("entry.id IN (SELECT entry FROM label WHERE label = ?)")
            values.append(label)
        if self.since is not None:
            parts.append("entry.date > 0 AND entry.date >= ?")
            values.append(self.since)
        if self.until is not None:
            parts.append("entry.date > 0 AND entry.date <= ?")
            values.append(self.until)
        return " AND ".join(parts), values


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A chunk that was found.

    Attributes:
        entry: where it stands.
        chunk: the passage with its place.
        number: which chunk of the entry it is, from 0 on.
        score: from 0 to 1: the share of the question that it meets, rare words counting more,
            or how near its meaning is, whichever is more.
        words: the words of the question that it has.
    """

    entry: EntryInfo
    chunk: TextChunk
    number: int
    score: float
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PassageRanking:
    """Passages, best first.

    Attributes:
        passages: none where the best was below `min_score`.
        best: the score of the best passage there is, even where that is too low.
        missing: words of the question that nothing has, nor anything like them.
        instead: words that were searched for in the place of missing ones.
        method: `words`, or `words and vectors`.
        notes: what the caller should know, such as a server of embeddings that is down.
        complete: whether a list of all that match has them all.
        with_all: of such a list, the keys of entries that have every word itself, in whatever
            passage; what was searched for in the place of a word does not count.
    """

    passages: tuple[FoundPassage, ...] = ()
    best: float = 0.0
    missing: tuple[str, ...] = ()
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    method: str = "words"
    notes: tuple[str, ...] = ()
    complete: bool = True
    with_all: frozenset[str] = frozenset()
