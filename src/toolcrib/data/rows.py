"""The rows of a database as JSON values, counted and saved. Children of workers use it."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import zip_longest
from typing import Any

from toolcrib.core.errors import TooLarge
from toolcrib.data.formats import written_table
from toolcrib.data.tables import column_names
from toolcrib.text.values import column_format, type_of

BATCH = 1000
MAX_COUNT_SECONDS = 2.0
"""How long rows are counted that nobody sees."""
MAX_SAVED_ROWS = 2_000_000
MAX_ANSWER_CHARS = 20_000_000
MAX_BLOB_BYTES = 32

Fetch = Callable[[int], Sequence[Sequence[Any]]]


def plain_value(value: Any) -> Any:
    """A value of a database as one of JSON."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # JSON has no infinity
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
        more = f"\u2026 ({len(data):,} bytes)" if len(data) > MAX_BLOB_BYTES else ""
        return f"x'{data[:MAX_BLOB_BYTES].hex()}'{more}"
    if isinstance(value, Decimal):
        number = float(value)
        return number if Decimal(repr(number)) == value else str(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def answer_of(
    names: Sequence[str], types: Sequence[str], fetch: Fetch, limit: int, save_as: str
) -> tuple[dict[str, Any], bytes]:
    """The first rows of a cursor with their types, how many there are, and all as a file.

    Args:
        names: of the columns.
        types: of the columns; where one is empty or missing, its values say it.
        fetch: gives at most so many further rows, none at the end.
        limit: rows of the answer.
        save_as: the format of the file; "" for none.

    Raises:
        TooLarge: the rows take too much room.
    """
    rows: list[list[Any]] = []
    wanted = MAX_SAVED_ROWS if save_as else limit
    size = 0
    while len(rows) < wanted:
        part = fetch(min(BATCH, wanted - len(rows)))
        if not part:
            break
        for row in part:
            values = [plain_value(value) for value in row]
            size += sum(len(v) if isinstance(v, str) else 8 for v in values)
            rows.append(values)
        if size > MAX_ANSWER_CHARS * (5 if save_as else 1):
            raise TooLarge("The rows take too much room.", hint="Take fewer columns or rows.")
    total, complete = len(rows), True
    end = time.monotonic() + MAX_COUNT_SECONDS
    while total >= wanted and (part := fetch(BATCH)):
        total += len(part)
        if time.monotonic() > end:
            complete = False
            break
    columns = [
        described_column(name, declared, [row[number] for row in rows[:200]])
        for number, (name, declared) in enumerate(zip_longest(names, types, fillvalue=""))
    ]
    saved = b""
    if save_as:  # rows of JSON have each name once
        saved = written_table(column_names(names, len(names)), rows, save_as)
    answer = {
        "columns": columns,
        "rows": rows[:limit],
        "total": total,
        "complete": complete,
        "notes": [],
    }
    return answer, saved


def described_column(
    name: str, declared: str, sample: Sequence[Any], *marks: str
) -> dict[str, str]:
    """A column with its type and a note: some marks, and what its texts are, as dates or numbers.

    Args:
        name: of the column.
        declared: its type; where that is empty, its values say it.
        sample: some of its values.
        marks: what else is to be noted; empty ones are left out.
    """
    kind, note = _kind_and_note(declared, sample)
    return {"name": name, "type": kind, "note": ", ".join(filter(None, (*marks, note)))}


def _kind_and_note(declared: str, sample: Sequence[Any]) -> tuple[str, str]:
    texts = [value for value in sample if isinstance(value, str) and value]
    note = ""
    if texts and len(texts) == sum(value not in (None, "") for value in sample):
        form = column_format(texts)
        if form.type in ("date", "number", "integer"):
            note = f"{form.type}s as text" + (f", {form.note}" if form.note else "")
        if declared and any(w in declared.lower() for w in ("date", "time", "numeric", "decimal")):
            note = ""
    if declared:
        return declared.lower()[:40], note
    types = {type_of(value) for value in sample} - {"empty"}
    kind = types.pop() if len(types) == 1 else "number" if types == {"integer", "number"} else ""
    return kind or ("mixed" if types else "empty"), note
