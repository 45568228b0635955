"""Documents that are text: mail, notebooks, tables, JSON, XML, feeds and plain text."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, cast

from toolcrib.core.errors import UnsupportedContent
from toolcrib.documents.feeds import format_feed, read_feed
from toolcrib.documents.html_text import page_markdown
from toolcrib.documents.text import (
    MAX_TEXT_CHARS,
    DocumentPage,
    DocumentText,
    first_heading,
    within_limits,
)
from toolcrib.files.content.kinds import charset_of
from toolcrib.text.cleaner import one_line
from toolcrib.text.display import counted, delimiter_of, formatted_json, markdown_table, rows_of

HEADERS = ("From", "To", "Cc", "Date", "Subject")
FORWARDED = "message/rfc822"
MAX_FORWARDED = 1
"""Of one in another no third one is looked for: `walk` finds it too."""
MAILBOX = re.compile(rb"From [^\r\n]+\r?\n[\w-]+:")
_BETWEEN = re.compile(rb"\r?\n\r?\n(?=From [^\r\n]+\r?\n[\w-]+:)")
MAX_MESSAGES = 2_000
MAX_PARTS = 500
MAX_LISTED = 50


def convert_mail(data: bytes) -> DocumentText:
    """A message: its headers, its text (or its HTML as Markdown), its attachments by name.

    Of a mailbox (see RFC 4155) all messages, each under its subject.
    """
    if MAILBOX.match(data):
        return _mailbox(data)
    message = message_from_bytes(data, policy=policy.default)
    attached = _attached(message)
    metadata = {"from": _header(message, "From"), "date": _header(message, "Date")}
    title = _header(message, "Subject")
    return _limited(made("eml", _message(message), title, **metadata, attachments=len(attached)))


def _mailbox(data: bytes) -> DocumentText:
    parts = _BETWEEN.split(data)
    texts = []
    for part in parts[:MAX_MESSAGES]:
        source = re.sub(rb"(?m)^>(?=>*From )", b"", part.partition(b"\n")[2])
        message = message_from_bytes(source, policy=policy.default)
        texts.append(f"# {_header(message, 'Subject') or '(no subject)'}\n\n{_message(message)}")
    cut = [f"Only the first {MAX_MESSAGES:,} messages are given."] * (len(parts) > MAX_MESSAGES)
    title = counted(len(parts), "message")
    return _limited(made("eml", "\n\n".join(texts), title, *cut, messages=len(parts)))


def _message(message: EmailMessage, depth: int = 0) -> str:
    """All of a message in words, and of those that were sent on in it."""
    lines = [f"{name}: {value}" for name in HEADERS if (value := _header(message, name))]
    parts = ["\n".join(lines), _body(message)]
    if attached := _attached(message):
        parts.append("Attachments:\n" + "\n".join(f"- {line}" for line in attached))
    for part in message.walk() if message.is_multipart() and depth < MAX_FORWARDED else ():
        inner = part.get_payload() if part.get_content_type() == FORWARDED else None
        if isinstance(inner, list) and inner and isinstance(inner[0], EmailMessage):
            parts.append(f"Forwarded message:\n\n{_message(inner[0], MAX_FORWARDED)}")
    return "\n\n".join(filter(None, parts))


def _limited(document: DocumentText) -> DocumentText:
    """A document whose text is cut where it is too long."""
    pages, cut = within_limits(document.pages)
    return replace(document, pages=pages, warnings=(*document.warnings, *cut))


def _header(message: EmailMessage, name: str) -> str:
    try:
        return one_line(str(message.get(name, "")), 500)
    except (ValueError, LookupError, AttributeError, IndexError, TypeError):
        # Some broken headers make the parser itself fail.
        return ""


def _body(message: EmailMessage) -> str:
    try:
        part = message.get_body(preferencelist=("plain", "html"))
    except (AttributeError, KeyError, ValueError):
        part = None
    if part is None:
        return "" if message.is_multipart() else _content(message)
    return _content(cast("EmailMessage", part))


def _content(part: EmailMessage) -> str:
    raw = part.get_payload(decode=True)
    data = raw if isinstance(raw, bytes) else str(part.get_payload()).encode("utf-8", "replace")
    charset = part.get_content_charset() or "utf-8"
    try:
        text = data.decode(charset, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    if part.get_content_type() == "text/html":
        return page_markdown(text)
    return text.replace("\r\n", "\n").strip()


def _attached(message: EmailMessage) -> list[str]:
    """What is attached: name, type and size."""
    found: list[str] = []
    for number, part in enumerate(message.walk()):
        if number > MAX_PARTS or len(found) == MAX_LISTED:
            found.append("and more")
            break
        name = part.get_filename()
        if part.is_multipart() and part.get_content_type() != FORWARDED:
            continue
        if not name and part.get_content_disposition() != "attachment":
            continue
        raw = part.get_payload(decode=True)
        size = f", {len(raw):,} bytes" if isinstance(raw, bytes) else ""
        listed_name = one_line(name or "(no name)", 200)
        found.append(f"{listed_name} ({one_line(part.get_content_type(), 80)}{size})")
    return found


MAX_OUTPUT = 20_000
"""Characters of one output."""
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def convert_notebook(data: bytes) -> DocumentText:
    """A notebook in the order of its cells.

    Raises:
        UnsupportedContent: it is no notebook.
    """
    try:
        book = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnsupportedContent(
            f"The Jupyter notebook is damaged: {error}"[:200] + ".", hint="Use another copy of it."
        ) from None
    cells = book.get("cells") if isinstance(book, dict) else None
    if cells is None and isinstance(book, dict) and isinstance(book.get("worksheets"), list):
        sheets = [sheet for sheet in book["worksheets"] if isinstance(sheet, dict)]
        cells = [cell for sheet in sheets for cell in sheet.get("cells") or []]
    if not isinstance(cells, list):
        raise UnsupportedContent(
            "The Jupyter notebook has no cells.", hint="Use another copy of it."
        )
    language = _language(book)
    parts: list[str] = []
    for cell in cells:
        if isinstance(cell, dict):
            parts += _cell(cell, language)
    text = "\n\n".join(filter(None, parts))
    title = first_heading([text])
    return _limited(made("ipynb", text, title, language=language, cells=len(cells)))


def _language(book: Mapping[str, Any]) -> str:
    metadata = book.get("metadata")
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        found = metadata.get(part) if isinstance(metadata, dict) else None
        if isinstance(found, dict) and isinstance(found.get(key), str):
            return str(found[key])[:30]
    return "python"


def _cell(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input", "")))
    kind = cell.get("cell_type")
    if kind != "code":
        yield f"```\n{source}\n```" if kind == "raw" and source.strip() else source.strip()
        return
    if source.strip():
        yield fenced_code(source, language)
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else []:
        if isinstance(output, dict):
            text = _ANSI.sub("", _output(output)).strip("\n")
            if len(text) > MAX_OUTPUT:
                left_out = f"\n[{len(text) - MAX_OUTPUT:,} characters left out]"
                text = text[:MAX_OUTPUT] + left_out
            if text:
                yield f"Output:\n\n{fenced_code(text, '')}"


def _output(output: Mapping[str, Any]) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return _joined(output.get("text", ""))
    if kind in ("error", "pyerr"):
        trace = output.get("traceback")
        listed = "\n".join(map(str, trace)) if isinstance(trace, list) else ""
        return listed or f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
    data = output.get("data")
    if not isinstance(data, dict):
        return _joined(output.get("text", ""))
    for form in ("text/plain", "text/markdown", "text/latex", "application/json"):
        if form in data:
            return _joined(data[form])
    return ", ".join(f"[{form}]" for form in list(data)[:5] if isinstance(form, str))


def _joined(source: Any) -> str:
    if isinstance(source, list):
        return "".join(map(str, source))
    return source if isinstance(source, str) else json.dumps(source, ensure_ascii=False)


def fenced_code(text: str, language: str) -> str:
    """A block of code in Markdown, whatever fences are in it."""
    text = text.strip("\n")
    run_length = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (run_length + 1)
    return f"{fence}{language}\n{text}\n{fence}"


MAX_CELLS = 1_000_000
MAX_FIELD = 1_000_000
MAX_COLUMNS = 60
"""Above this the rows of a table stay as they are."""
MAX_ITEMS = 1_000


def convert_text(request: dict[str, Any], data: bytes) -> DocumentText:
    """A document that is text, by its `kind`; `charset` is that of its headers.

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
    found = _limited(READERS.get(kind, _text)(source, kind))
    return replace(found, metadata={**found.metadata, "encoding": encoding.label})


def made(kind: str, text: str, title: str = "", *warnings: str, **metadata: Any) -> DocumentText:
    """A document of one page."""
    return DocumentText(
        kind,
        title,
        pages=(DocumentPage(1, text.strip("\n")),),
        metadata=metadata,
        warnings=warnings,
    )


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
        message = f"It is not valid JSON: {error}"[:200]
        return made(kind, source, "", f"{message.rstrip('.')}.", valid=False)
    text, whole = formatted_json(value, MAX_TEXT_CHARS) or (source, True)
    cut = () if whole else (f"Only the first {MAX_TEXT_CHARS:,} characters are kept.",)
    return made(kind, text, "", *cut, valid=True)


def _xml(source: str, kind: str) -> DocumentText:
    """The source as it is: entities stay unexpanded."""
    return made(kind, source)


def _feed(source: str, kind: str) -> DocumentText:
    """Each item under a heading with link, date, author and text; else the XML."""
    feed = read_feed(source, "", MAX_ITEMS, contents=True)
    if feed is None:
        return made("xml", source)
    text, _ = format_feed(feed, "markdown")
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
