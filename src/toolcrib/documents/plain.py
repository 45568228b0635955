"""Documents that are text: tables, JSON, XML, feeds and anything else that can be read."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from typing import Any

from toolcrib.core.errors import UnsupportedContent
from toolcrib.documents.markup.feeds import read_feed, written
from toolcrib.documents.text import MAX_TEXT, DocumentText, Page, first_heading
from toolcrib.files.content.charset import charset_of
from toolcrib.files.content.json_text import laid_out
from toolcrib.files.content.tables import delimiter_of, markdown_table, rows_of
from toolcrib.text.cleaner import one_line

MAX_CELLS = 1_000_000
MAX_FIELD = 1_000_000
MAX_COLUMNS = 60
"""Above this the rows of a table stay as they are."""
MAX_ITEMS = 1_000


def convert(request: dict[str, Any], data: bytes) -> DocumentText:
    """A document that is text, by its `kind`; `charset` is what headers say of it.

    Raises:
        UnsupportedContent: the bytes are no text.
    """
    kind = request["kind"]
    encoding = charset_of(data, request["charset"])
    source = encoding.decode(data).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    head = source[:4096]
    if sum(c < " " and c not in "\n\t\f\x1b" for c in head) * 20 > len(head):
        raise UnsupportedContent(
            "The file is binary, and of no kind that is known as a document.",
            hint="Documents are PDF, office files, EPUB, RTF, mail, notebooks, tables and text.",
        )
    if not source.strip():
        return DocumentText(kind, metadata={"encoding": encoding.label})
    reader = READERS.get(kind, _text)
    found = reader(source, kind)
    return DocumentText(
        found.kind,
        found.title,
        pages=tuple(Page(1, _kept(page.text)) for page in found.pages),
        metadata={**found.metadata, "encoding": encoding.label},
        warnings=(*found.warnings, *_cut(found)),
    )


def made(kind: str, text: str, title: str = "", *warnings: str, **metadata: Any) -> DocumentText:
    """A document of one page."""
    return DocumentText(
        kind, title, pages=(Page(1, text.strip("\n")),), metadata=metadata, warnings=warnings
    )


def _kept(text: str) -> str:
    return text[:MAX_TEXT]


def _cut(found: DocumentText) -> list[str]:
    size = sum(len(page.text) for page in found.pages)
    if size <= MAX_TEXT:
        return []
    return [f"Only the first {MAX_TEXT:,} of {size:,} characters are kept."]


def _text(source: str, kind: str) -> DocumentText:
    return made(kind, source, first_heading([source]))


def _table(source: str, kind: str) -> DocumentText:
    """Rows as a Markdown table; the header and the number of rows as metadata."""
    csv.field_size_limit(MAX_FIELD)
    rows = rows_of(source, "\t" if kind == "tsv" else delimiter_of(source))
    if rows is None:
        return made(kind, source, "", "Its quotes do not match, so the rows stand as they are.")
    columns = max(map(len, rows), default=0)
    metadata = {"rows": max(len(rows) - 1, 0), "columns": columns}
    header = [one_line(cell, 200) for cell in rows[0][:MAX_COLUMNS]] if rows else []
    if not 1 < columns <= MAX_COLUMNS or len(rows) * columns > MAX_CELLS:
        return made(kind, source, "", header=header, **metadata)
    return made(kind, markdown_table(rows, columns), "", header=header, **metadata)


def _json(source: str, kind: str) -> DocumentText:
    """The value laid out; `valid` says whether it is JSON."""
    try:
        value = json.loads(source)
    except (ValueError, RecursionError) as error:
        told = f"It is not valid JSON: {error}"[:200]
        return made(kind, source, "", f"{told.rstrip('.')}.", valid=False)
    text, whole = laid_out(value, MAX_TEXT) or (source, True)
    cut = () if whole else (f"Only the first {MAX_TEXT:,} characters are kept.",)
    return made(kind, text, "", *cut, valid=True)


def _xml(source: str, kind: str) -> DocumentText:
    """The source as it is: entities stay unexpanded."""
    return made(kind, source)


def _feed(source: str, kind: str) -> DocumentText:
    """Each item under a heading with link, date, author and text; else the XML."""
    feed = read_feed(source, "", MAX_ITEMS, contents=True)
    if feed is None:
        return made("xml", source)
    text, _ = written(feed, "markdown")
    warnings = [f"The feed is not well formed, {feed.broken}."] if feed.broken else []
    if feed.total > MAX_ITEMS:
        warnings.append(f"Only the first {MAX_ITEMS:,} of {feed.total:,} items.")
    return made(kind, text, feed.title, *warnings, items=feed.total)


READERS: Mapping[str, Callable[[str, str], DocumentText]] = {
    "csv": _table,
    "tsv": _table,
    "json": _json,
    "xml": _xml,
    "rss": _feed,
    "atom": _feed,
}
