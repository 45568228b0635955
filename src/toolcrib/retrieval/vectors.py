"""Vectors of an index: spaces of one embedder each, and exact search over a mapped file.

The vectors of a space stand one behind another in a file beside the index, as 16-bit floats;
the table `vector` says which slot holds the vector of which content. Only one process at a
time writes, holding the file's lock, and what it wrote counts once its slots are committed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib.state.store import make_private
from toolcrib.system.file_locks import NOT_INHERITED, take_lock

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

EXACT_ROWS = 8000
"""Up to so many vectors are compared whole; of more, first their signs."""
CANDIDATES = 1500
"""Vectors with the nearest signs that are compared whole."""
BYTES_PER_VALUE = 2
BLOCK_ROWS = 4096
BACKGROUND_ROWS = 1000
"""Vectors by which it is seen how near a question is to any of them."""
MIDDLE_ROWS = 2000
"""Vectors whose mean stands for that of all."""
FEW_ROWS = 20
"""The mean of so many vectors counts half: of one alone nothing but itself would be left."""
MIN_LENGTH = 1e-3


@dataclass(frozen=True, slots=True)
class Space:
    """Vectors that can be compared: of one model, one length, one side.

    Attributes:
        weight: what the vectors count beside the words; None until it is calibrated.
    """

    id: int
    model: str
    dims: int
    file: int
    weight: float | None


SPACE_COLUMNS = "id, model, dims, file, weight"


def space_of(connection: sqlite3.Connection, model: str) -> Space | None:
    """The space of a model, the newest where its length changed."""
    row = connection.execute(
        f"SELECT {SPACE_COLUMNS} FROM space WHERE model = ? AND side = 'passage'"  # noqa: S608
        " ORDER BY id DESC LIMIT 1",
        (model,),
    ).fetchone()
    return Space(*row) if row else None


def make_space(connection: sqlite3.Connection, model: str, dims: int) -> Space:
    """The space of a model and a length, made where it is missing."""
    connection.execute(
        "INSERT OR IGNORE INTO space (model, dims, side, file) VALUES (?, ?, 'passage',"
        " (SELECT coalesce(max(file), 0) + 1 FROM space))",
        (model, dims),
    )
    row = connection.execute(
        f"SELECT {SPACE_COLUMNS} FROM space WHERE model = ? AND dims = ?",  # noqa: S608
        (model, dims),
    ).fetchone()
    return Space(*row)


def pending(
    connection: sqlite3.Connection, space: Space | None, after: int, limit: int
) -> list[tuple[int, bytes, str, str, str]]:
    """Chunks without a vector: id, digest, text, what stands around it, title.

    Args:
        connection: within a transaction.
        space: where vectors are looked for; None where there is none yet.
        after: chunks up to this id are passed over.
        limit: how many at most.
    """
    rows = connection.execute(
        "SELECT chunk.id, chunk.digest, words.text, words.around, words.title FROM chunk"
        " JOIN words ON words.rowid = chunk.id WHERE chunk.id > ? AND NOT EXISTS"
        " (SELECT 1 FROM vector WHERE space = ? AND digest = chunk.digest)"
        " ORDER BY chunk.id LIMIT ?",
        (after, space.id if space else 0, limit),
    )
    return rows.fetchall()


def coverage(connection: sqlite3.Connection, space: Space) -> float:
    """The share of all chunks that have a vector."""
    total = connection.execute("SELECT count(*) FROM chunk").fetchone()[0]
    having = connection.execute(
        "SELECT count(*) FROM chunk WHERE digest IN (SELECT digest FROM vector WHERE space = ?)",
        (space.id,),
    ).fetchone()[0]
    return float(having / total) if total else 0.0


def chunks_of_slots(
    connection: sqlite3.Connection, space: Space, slots: Sequence[int]
) -> list[tuple[int, int]]:
    """Slots with the chunks that have their vectors."""
    return connection.execute(
        "SELECT vector.slot, chunk.id FROM vector JOIN chunk ON chunk.digest = vector.digest"
        " WHERE vector.space = ? AND vector.slot IN (SELECT value FROM json_each(?))",
        (space.id, json.dumps(list(slots))),
    ).fetchall()


def slots_within(
    connection: sqlite3.Connection, space: Space, condition: str, values: Sequence[Any]
) -> list[int]:
    """The slots of chunks of entries for which a condition holds."""
    rows = connection.execute(
        "SELECT DISTINCT vector.slot FROM entry JOIN chunk ON chunk.entry = entry.id"  # noqa: S608
        " JOIN vector ON vector.digest = chunk.digest AND vector.space = ?"
        f" WHERE {condition} ORDER BY vector.slot",
        (space.id, *values),
    )
    return [row[0] for row in rows]


class VectorFile:
    """The vectors of a space, appended by one process and mapped by any.

    Args:
        path: the file; made with the first vectors.
        dims: values of a vector.
    """

    def __init__(self, path: Path, dims: int) -> None:
        self.path = path
        self.dims = dims
        self._mapped: NDArray[Any] | None = None
        self._signs: NDArray[Any] | None = None
        self._middle: NDArray[float32] | None = None
        self._middle_rows = 0

    def write(self, slot: int, vectors: Sequence[Sequence[float]]) -> None:
        """Write vectors from a slot on, brought to length one, and see them onto the disk."""
        import numpy as np

        rows = np.asarray(vectors, np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1)
        make_private(self.path.parent)
        flags = os.O_RDWR | os.O_CREAT | NOT_INHERITED | getattr(os, "O_BINARY", 0)
        fd = os.open(self.path, flags, 0o600)
        try:
            os.lseek(fd, slot * self.dims * BYTES_PER_VALUE, os.SEEK_SET)
            rest = memoryview(rows.astype("<f2").tobytes())
            while rest:
                rest = rest[os.write(fd, rest) :]
            os.fsync(fd)
        finally:
            os.close(fd)

    def holds(self, count: int) -> bool:
        """Whether so many slots are there."""
        try:
            size = self.path.stat().st_size
        except OSError:
            return not count
        return size >= count * self.dims * BYTES_PER_VALUE

    def nearest(
        self, query: Sequence[float], count: int, limit: int, only: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """The slots whose vectors are nearest to a question, with their nearness.

        That is the cosine of what is left of both without the mean of all vectors: those of
        some models (e5) all point in much the same direction, which tells nothing.

        Args:
            query: its vector.
            count: slots that are filled.
            limit: how many are wanted.
            only: the slots to look at, in their order; None for all.
        """
        import numpy as np

        rows = self._rows(count)
        wanted, middle = _unit(query), self._mean(rows)
        slots = None if only is None else np.asarray(only, np.int64)
        if slots is None and count > EXACT_ROWS:
            slots = self._near_signs(rows, wanted, middle)
        scores = _cosines(rows, wanted, middle, slots)
        best = np.argsort(-scores, kind="stable")[:limit]
        numbers = best if slots is None else slots[best]
        return [(int(n), float(scores[place])) for n, place in zip(numbers, best, strict=True)]

    def background(self, query: Sequence[float], count: int) -> tuple[float, float]:
        """How near a question is to any vector: on average, and how far it is off from that."""
        import numpy as np

        rows = self._rows(count)
        some = np.arange(0, count, max(count // BACKGROUND_ROWS, 1))
        nearness = _cosines(rows, _unit(query), self._mean(rows), some)
        return float(nearness.mean()), float(nearness.std())

    def close(self) -> None:
        """Let go of the file."""
        self._mapped = self._signs = self._middle = None

    def _rows(self, count: int) -> NDArray[Any]:
        import numpy as np

        if not count:
            return np.empty((0, self.dims), np.float16)
        if self._mapped is None or len(self._mapped) < count:
            self._mapped = np.memmap(self.path, "<f2", "r", shape=(count, self.dims))
        return self._mapped[:count]

    def _mean(self, rows: NDArray[Any]) -> NDArray[float32]:
        """The mean of all vectors, again where they have become twice as many."""
        import numpy as np

        if self._middle is None or len(rows) >= 2 * self._middle_rows:
            sample = np.asarray(rows[:: max(len(rows) // MIDDLE_ROWS, 1)], np.float32)
            share = len(rows) / (len(rows) + FEW_ROWS)
            self._middle = np.sum(sample, axis=0) / max(len(sample), 1) * np.float32(share)
            self._middle_rows, self._signs = len(rows), None
        return self._middle

    def _near_signs(
        self, rows: NDArray[Any], wanted: NDArray[float32], middle: NDArray[float32]
    ) -> NDArray[Any]:
        """The slots whose signs, seen from the mean, differ least from those of the question."""
        import numpy as np

        if self._signs is None:
            self._signs = np.empty((0, -(-self.dims // 64)), np.uint64)
        if len(self._signs) < len(rows):
            new = [
                _packed(np.asarray(rows[start : start + BLOCK_ROWS], np.float32) > middle)
                for start in range(len(self._signs), len(rows), BLOCK_ROWS)
            ]
            self._signs = np.concatenate([self._signs, *new])
        question = _packed((wanted > middle)[None, :])[0]
        differing = np.zeros(len(rows), np.uint16)
        for column in range(self._signs.shape[1]):
            differing += np.bitwise_count(self._signs[: len(rows), column] ^ question[column])
        near = np.argpartition(differing, CANDIDATES)[:CANDIDATES]
        near.sort()
        return near


def _unit(vector: Sequence[float]) -> NDArray[float32]:
    """A vector brought to length one."""
    import numpy as np

    values = np.asarray(vector, np.float32)
    return values / np.float32(np.linalg.norm(values) or 1)


def _packed(signs: NDArray[Any]) -> NDArray[Any]:
    """Signs as 64-bit numbers, row by row."""
    import numpy as np

    packed = np.packbits(signs, axis=1)
    short = -packed.shape[1] % 8
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, short)))).view(np.uint64)


def _cosines(
    rows: NDArray[Any],
    wanted: NDArray[float32],
    middle: NDArray[float32],
    slots: NDArray[Any] | None,
) -> NDArray[float32]:
    """The cosines of vectors of length one and a question, all seen from the mean."""
    import numpy as np

    question = wanted - middle
    question /= max(float(np.linalg.norm(question)), MIN_LENGTH)
    both = np.stack((question, middle), axis=1)
    count = len(rows) if slots is None else len(slots)
    scores = np.empty(count, np.float32)
    for start in range(0, count, BLOCK_ROWS):
        end = min(start + BLOCK_ROWS, count)
        block = rows[start:end] if slots is None else rows[slots[start:end]]
        along, shared = (np.asarray(block, np.float32) @ both).T
        # |row - middle|, of a row of length one
        lengths = np.sqrt(np.maximum(1 - 2 * shared + middle @ middle, MIN_LENGTH**2))
        scores[start:end] = (along - middle @ question) / lengths
    return scores


@contextmanager
def only_writer(path: Path) -> Iterator[bool]:
    """Be the one process that writes vectors; whether this is it. The lock ends with it."""
    make_private(path.parent)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | NOT_INHERITED, 0o600)
    try:
        yield take_lock(fd)
    finally:
        os.close(fd)


def remove_file(path: Path) -> None:
    """Remove a file of vectors that no space has any more."""
    with suppress(OSError):
        path.unlink()
