"""Tables, JSON, plain text and images as pages."""

from __future__ import annotations

import json
import re

from toolcrib.core.errors import UnsupportedContent
from toolcrib.files.content.kinds import VISIBLE_MEDIA_TYPES, PictureHead, kind_of, picture_of
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import (
    counted,
    delimiter_of,
    formatted_json,
    markdown_table,
    rows_of,
)
from toolcrib.web.page import MAX_PAGE_CHARS, Page, RawPage, decode

_GUARD = re.compile(r"\s*(?:\)\]\}'?,?|for\s?\(;;\);|while\s?\(1\);)\s*")
"""What some services write first, so that no script can use the answer."""
MAX_DRAWING_CHARS = 20_000
"""Characters that are kept of the texts of a drawing."""
MAX_ROWS = 200
MAX_COLUMNS = 12
MAX_TABLE_CHARS = 20_000
"""Characters; above one of these three the rows stay as they are."""


def convert_csv(raw: RawPage) -> Page:
    """A small table as Markdown, a wide or long one as its rows; the size as a note."""
    source, encoding = decode(raw)
    source = source.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    plain = Page(source, "csv", encoding=encoding)
    rows = rows_of(source, _delimiter(raw, source))
    if rows is None or not rows:
        return plain
    columns = max(map(len, rows))
    plain.notes.append(f"{counted(len(rows), 'row')}, {counted(columns, 'column')}.")
    if raw.format != "markdown" or not 1 < columns <= MAX_COLUMNS or len(rows) > MAX_ROWS:
        return plain
    table = markdown_table(rows, columns)
    if len(table) > MAX_TABLE_CHARS:
        return plain
    return Page(table, "csv", encoding=encoding, notes=plain.notes)


def _delimiter(raw: RawPage, source: str) -> str:
    if "tab-separated" in raw.media_type or raw.media_type == "text/tsv":
        return "\t"
    return delimiter_of(source)


def convert_text(raw: RawPage) -> Page:
    """Plain text, Markdown, source code, lines of JSON: as it is, with line feeds as line ends."""
    text, encoding = decode(raw)
    return Page(text.replace("\r\n", "\n"), "text", encoding=encoding)


def convert_json(raw: RawPage) -> Page:
    """JSON with two spaces a level; deep or huge values on one line.

    Raises:
        UnsupportedContent: not valid JSON.
    """
    text, encoding = decode(raw)
    try:
        guard = _GUARD.match(text)
        value = json.loads(text[guard.end() if guard else 0 :])
    except (ValueError, RecursionError) as error:
        raise UnsupportedContent(
            "JSON could not be parsed. "
            f"The page is labelled as {raw.kind} and is not valid JSON: {error}.",
            hint='Use another source, or fetch_url with format="raw" to see it as it is.',
            content_type=raw.kind,
        ) from None
    laid, whole = formatted_json(value, MAX_PAGE_CHARS) or ("", False)
    # A deep or huge one would be multiplied, and a reader gains nothing.
    displayed = laid if whole else json.dumps(value, ensure_ascii=False)
    return Page(displayed, "json", encoding=encoding)


def convert_image(raw: RawPage) -> Page:
    """Format, size in pixels and bytes of an image; of SVG also its texts.

    The first bytes decide on the format, whatever the headers say. `image` of the
    page says that the body can be shown as it is.

    Raises:
        UnsupportedContent: the bytes are no image of a known format.
    """
    head = picture_of(raw.body)
    if head is None:
        kind = kind_of(raw.body)
        raise UnsupportedContent(
            f"The page is labelled as {raw.kind} and is {_named(kind.name if kind else 'text')}.",
            hint="PNG, JPEG, GIF, WebP, BMP, TIFF, AVIF and SVG images are known.",
            content_type=raw.kind,
        )
    facts = _image_facts(head, raw)
    notes = []
    if raw.media_type not in ("", "image/jpg", head.media_type):
        notes.append(f"It is labelled as {raw.kind}.")
    if head.media_type != "image/svg+xml":
        displayed = head.media_type if head.media_type in VISIBLE_MEDIA_TYPES else ""
        return Page(facts, "image", notes=notes, image=displayed)
    source, encoding = decode(raw)
    title, words = _drawing_words(source)
    return Page(f"{facts}\n\n{words}".strip(), "image", title, encoding, notes)


def _named(what: str) -> str:
    return what if what == "text" else f"a {what}"


def _image_facts(head: PictureHead, raw: RawPage) -> str:
    size = f"{head.width} x {head.height} pixels, " if head.width and head.height else ""
    return f"{head.name}, {size}{len(raw.body):,} bytes"


def _drawing_words(source: str) -> tuple[str, str]:
    """The title of a drawing and its texts, one a line."""
    from turbohtml import parse

    tree = parse(source, positions=False)
    tree.remove("script, style, foreignObject script")
    found = [one_line(part.text, 500) for part in tree.select("title, desc, text")[:2_000]]
    title = tree.select_one("title")
    lines = list(dict.fromkeys(filter(None, found)))
    return one_line(title.text, 300) if title else "", "\n".join(lines)[:MAX_DRAWING_CHARS]
