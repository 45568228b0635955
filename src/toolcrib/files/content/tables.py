"""Tables written as text, in CSV and its kin."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence

DELIMITERS = ",;\t|"
SAMPLE = 65_536
"""Characters by which the delimiter is found."""
MAX_LINES = 200
"""Line ends in one field; more comes from a quote that nobody closed."""


def delimiter_of(source: str) -> str:
    """The character that parts the most lines of the start alike."""
    sample = source[:SAMPLE]
    if len(source) > SAMPLE:
        sample = sample.rpartition("\n")[0] or sample

    def score(delimiter: str) -> float:
        rows = rows_of(sample, delimiter) or []
        widths = Counter(map(len, rows))
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        return count / len(rows) * (1 + min(width, 20) / 100) if width > 1 else 0.0

    return max(DELIMITERS, key=score)


def rows_of(source: str, delimiter: str) -> list[list[str]] | None:
    """The rows that are not empty; None where quotes do not match, or a field is too long.

    Args:
        source: the text, its line ends line feeds.
        delimiter: what parts the fields.
    """
    lines = (f"{line}\n" for line in source.split("\n"))
    try:
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        rows = [row for row in reader if any(row)]
    except csv.Error:
        return None
    if any(field.count("\n") > MAX_LINES for row in rows for field in row):
        return None
    return rows


def markdown_table(rows: Sequence[Sequence[str]], columns: int) -> str:
    """Rows as a table of Markdown, the first one as its head; short ones are filled up."""

    def laid_out(row: Sequence[str]) -> str:
        cells = [" ".join(field.split()).replace("|", "\\|") for field in row]
        return f"| {' | '.join(cells + [''] * (columns - len(cells)))} |"

    head, *body = map(laid_out, rows)
    return "\n".join([head, "|" + " --- |" * columns, *body])
