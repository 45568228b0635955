"""Office files and books, by xberg, in a child: bytes only, no OCR, nothing downloaded."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from toolcrib.core.errors import TooLarge, ToolError, UnsupportedContent
from toolcrib.documents.archives import Archive, damaged
from toolcrib.documents.kinds import BY_MEDIA_TYPE, NAMES
from toolcrib.documents.slides import Deck
from toolcrib.documents.text import DocumentText, Page, bounded, first_heading, selected
from toolcrib.files.content.codecs import load_codecs

if TYPE_CHECKING:
    from xberg import ExtractedDocument

ARCHIVES = frozenset(("docx", "pptx", "xlsx", "odt", "ods", "odp", "epub"))
SHEETS = frozenset(("xlsx", "xls", "ods"))
OLD = b"\xd0\xcf\x11\xe0"
LOCKED = "EncryptedPackage".encode("utf-16-le")
"""The part of a compound file that holds an office file under a password."""
MAX_CELLS = 2_000_000
SECONDS = 40
_HEADED = re.compile(r"\s*#{1,6} +([^\n]+)(?:\n+|$)")
_RULE = re.compile(r"\A\s*-{3,}\s*\n+")


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """One loop for all calls: a further one would need files, and none can be opened."""
    return asyncio.new_event_loop()


def prepare() -> None:
    """Load xberg, and let it start its threads."""
    load_codecs()
    for data in (b"{", b"PK"):
        with suppress(ToolError):
            convert({"kind": "docx" if data == b"PK" else "rtf", "pages": ""}, data)
    convert({"kind": "rtf", "pages": ""}, rb"{\rtf1\ansi one\par}")


def convert(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """A document as `DocumentText`; `request` has its `kind` and the `pages` wanted.

    Raises:
        UnsupportedContent: it is damaged, encrypted or something else.
        TooLarge: it unpacks to too much.
        BadInput: it has no such pages.
    """
    kind, spec = request["kind"], request["pages"]
    if data.startswith(OLD) and LOCKED in data:
        raise _failure(kind, "encrypted")
    archive = Archive(data, NAMES[kind]) if kind in ARCHIVES else None
    found = _extracted(kind, data)
    pages, unit = _pages(kind, found, archive)
    warnings = [w.message for w in found.processing_warnings[:5]]
    wanted = pages
    if spec and unit:
        numbers = set(selected(spec, len(pages), unit))
        wanted = [page for page in pages if page.number in numbers]
    elif spec:
        warnings.append(f"A {NAMES[kind]} has no fixed pages: all of it is given.")
    kept, cut = bounded(wanted)
    meta = found.metadata
    metadata = {
        "author": ", ".join(meta.authors or [])[:300],
        "created": meta.created_at,
        "modified": meta.modified_at,
        "language": meta.language,
        "subject": meta.subject,
    }
    return DocumentText(
        kind,
        (meta.title or "").strip()[:300] or first_heading([page.text for page in kept]),
        unit,
        kept,
        len(pages),
        metadata={name: value for name, value in metadata.items() if value},
        warnings=(*warnings, *cut),
    ).to_json(), b""


def _extracted(kind: str, data: bytes) -> ExtractedDocument:
    import xberg

    config = xberg.ExtractionConfig(
        output_format="markdown",
        disable_ocr=True,
        use_cache=False,
        enable_quality_processing=False,
        escape_markdown=False,
        max_archive_depth=0,
        concurrency=xberg.ConcurrencyConfig(max_threads=2),
        extraction_timeout_secs=SECONDS,
        pages=xberg.PageConfig(extract_pages=True),
        security_limits=xberg.SecurityLimits(
            max_table_cells=MAX_CELLS, max_content_size=400_000_000
        ),
    )
    asked = xberg.ExtractInput(kind="bytes", bytes=data, mime_type=BY_MEDIA_TYPE[kind])
    try:
        result = _loop().run_until_complete(xberg.extract(asked, config))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - its errors have no class in common
        raise _failure(kind, str(error)) from None
    if not result.results:
        raise _failure(kind, result.errors[0].message if result.errors else "")
    document: ExtractedDocument = result.results[0]
    return document


def _failure(kind: str, told: str) -> UnsupportedContent | TooLarge:
    low = told.lower()
    if "encrypt" in low or "password" in low:
        return UnsupportedContent(
            f"The {NAMES[kind]} is encrypted.",
            hint="Use a copy that was saved without a password.",
        )
    if any(sign in low for sign in ("limit", "too large", "bomb", "exceed", "security")):
        return TooLarge(f"The {NAMES[kind]} is too large: {' '.join(told.split())[:200]}")
    return damaged(NAMES[kind], told)


def _pages(kind: str, found: ExtractedDocument, archive: Archive | None) -> tuple[list[Page], str]:
    parts = found.pages or []
    if kind == "pptx" and archive is not None:
        return _slides(found, Deck(archive)), "slide"
    if kind in SHEETS and parts:
        names = ((part.sheet_name or "").strip()[:300] for part in parts)
        return [
            Page(n, part.content.strip(), name)
            for n, (part, name) in enumerate(zip(parts, names, strict=True), 1)
        ], "sheet"
    if kind == "ppt" and len(parts) > 1:
        return [_slide(n, part.content) for n, part in enumerate(parts, 1)], "slide"
    return [Page(1, _RULE.sub("", found.content).strip())], ""


def _slides(found: ExtractedDocument, deck: Deck) -> list[Page]:
    """The slides in the order in which they are shown, each with its notes."""
    parts = {part.page_number: part.content for part in found.pages or []}
    texts = {name: parts.get(n, "") for n, name in enumerate(deck.stored, 1)}
    pages = []
    for number, name in enumerate(deck.slides, 1):
        page = _slide(number, deck.in_order(name, texts[name]))
        notes = deck.notes(name)
        text = f"{page.text}\n\n### Notes\n\n{notes}".strip() if notes else page.text
        pages.append(Page(number, text, page.name))
    return pages


def _slide(number: int, text: str) -> Page:
    """A slide; the heading that it begins with is its name."""
    match = _HEADED.match(text)
    if match is None:
        return Page(number, text.strip())
    return Page(number, text[match.end() :].strip(), match[1].strip()[:300])
