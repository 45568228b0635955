"""Rows of JSON, objects or lists, as columns and cells."""

from __future__ import annotations

import csv
import io
import json
from contextlib import suppress
from typing import Any

from toolcrib.core.errors import BadInput
from toolcrib.data.json_lines import json_or_lines
from toolcrib.data.tables import from_records

DELIMITERS = "\t;,"
MIN_ROWS = 2
MAX_ROWS = 20_000


def json_value(text: str) -> Any:
    """The value of a text of JSON, JSON lines, or rows of CSV under a head.

    Raises:
        ValueError: it is none of them.
        RecursionError: its JSON is nested too deep.
    """
    try:
        return json_or_lines(text)
    except ValueError:
        if text.lstrip().startswith(("{", "[")):  # JSON with a slip in it
            raise
        for delimiter in DELIMITERS:
            with suppress(csv.Error):
                lines = io.StringIO(text.strip(), newline="")
                read = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
                rows = [row for row in read if any(row)]
                if len(rows) >= MIN_ROWS and len(rows[0]) > 1 and len(set(map(len, rows))) == 1:
                    return rows
        raise


def json_rows(data: Any) -> list[Any]:
    """The rows of a JSON value, or of a text as of `json_value`.

    Raises:
        BadInput: it holds none, or too many.
    """
    if isinstance(data, str):
        try:
            data = json_value(data)
        except (ValueError, RecursionError):
            raise BadInput(
                "'data' is not JSON.", hint='Send it like [{"a": 1}, {"a": 2}].'
            ) from None
    data = [data] if isinstance(data, dict) else data
    if not isinstance(data, list) or not data:
        raise BadInput("'data' has no rows.", hint='Send it like [{"a": 1}, {"a": 2}].')
    if len(data) > MAX_ROWS:
        raise BadInput(f"'data' has more than {MAX_ROWS:,} rows.", hint="Use convert_format.")
    return data


def laid_out(
    rows: list[Any], headers: list[str] | None = None
) -> tuple[list[str], list[list[Any]]]:
    """The columns and cells of rows that are objects or lists; without heads the first is one."""
    if any(isinstance(row, dict) for row in rows):
        table = from_records([row if isinstance(row, dict) else {"value": row} for row in rows])
        if headers and len(headers) == len(table.columns) and set(headers) - set(table.columns):
            return headers, [list(row) for row in table.rows]
        columns = headers or table.columns
        places = {name: n for n, name in enumerate(table.columns)}
        return columns, [
            [row[places[name]] if name in places else "" for name in columns] for row in table.rows
        ]
    lists = [row if isinstance(row, list) else [row] for row in rows]
    width = max(map(len, lists))
    head = list(map(str, lists[0])) if headers is None else list(headers)
    body = lists[1:] if headers is None else lists
    width = max(width, len(head))
    head += [""] * (width - len(head))
    texts = [[c if not isinstance(c, dict | list) else json.dumps(c) for c in row] for row in body]
    return head, [row + [""] * (width - len(row)) for row in texts]
