"""PDF files as Markdown by pdf-oxide, with pypdfium2 where that fails or sees less."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from toolcrib.core.errors import TooLarge, UnsupportedContent
from toolcrib.documents.archives import damaged
from toolcrib.documents.kinds import NAMES
from toolcrib.documents.layout import Layout
from toolcrib.documents.text import MAX_TEXT, DocumentText, Page, first_heading, selected

if TYPE_CHECKING:
    from pdf_oxide import PdfDocument
    from pypdfium2 import PdfDocument as Pdfium  # type: ignore[import-untyped]

T = TypeVar("T")
NAME = NAMES["pdf"]
SECONDS = 20.0
"""Time for the pages of one call; the rest is left to another."""
MORE = 1.3
"""pypdfium2's text of a page is taken where it has so many times the letters."""
SPARE = 40
SAMPLED = 40
"""Pages by which the size of the running text is found."""
MAX_ATTACHED = 20
_WORDS = re.compile(r"[^\W_]")
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]")


def convert(request: dict[str, Any], data: bytes) -> DocumentText:
    """A PDF by its pages; `request` has the `pages` wanted.

    Raises:
        UnsupportedContent: it is damaged or encrypted.
        BadInput: it has no such pages.
    """
    return _Reading(data).document(request["pages"])


class _Reading:
    """A PDF opened by both libraries, of which one may not be able to."""

    def __init__(self, data: bytes) -> None:
        self.fine = _opened_by_fine(data)
        self.plain, locked = _opened_by_plain(data)
        self.pages_of_fine = _try(self._count, 0)
        if locked and not self._is_open():
            raise UnsupportedContent(
                f"The {NAME} is encrypted.", hint="Use a copy that opens without a password."
            )
        self.total = max(self.pages_of_fine, len(self.plain) if self.plain else 0)
        if not self.total:
            raise damaged(NAME)
        self.warnings: list[str] = []
        if self.plain is None and not locked:
            self.warnings.append("The file is damaged: some of it may be missing.")
        self.layout = Layout()

    def _count(self) -> int:
        count = self.fine.page_count if self.fine else 0
        return int(count() if callable(count) else count)

    def _is_open(self) -> bool:
        """Whether pdf-oxide can read what pypdfium2 wants a password for."""
        fine = self.fine
        if fine is None:
            return False
        first = range(min(self.pages_of_fine, 3))
        return any(_try(partial(fine.extract_text, n), "") for n in first)

    def document(self, spec: str) -> DocumentText:
        """The pages that are wanted, as many as the time allows."""
        wanted = selected(spec, self.total)
        self._measure()
        end = time.monotonic() + SECONDS
        pages: list[Page] = []
        size, rest = 0, ""
        for number in wanted:
            if pages and (time.monotonic() > end or size > MAX_TEXT):
                rest = f"{number}-{wanted[-1]}"
                self.warnings.append(
                    f"Only pages up to {pages[-1].number:,} of {self.total:,} were read: "
                    f'pages="{rest}" reads on.'
                )
                break
            text = self._page(number - 1)
            size += len(text)
            pages.append(Page(number, text[:MAX_TEXT]))
        if self.plain is None and not any(page.text for page in pages):
            raise damaged(NAME)
        metadata = self._metadata()
        title = metadata.pop("title", "") or first_heading([page.text for page in pages])
        self._note_attached()
        return DocumentText(
            "pdf",
            title,
            "page",
            tuple(pages),
            self.total,
            rest,
            tuple(p.number for p in pages if not p.text and self._shows(p.number - 1)),
            metadata,
            tuple(self.warnings),
        )

    def _measure(self) -> None:
        fine, count = self.fine, self.pages_of_fine
        if fine is not None:
            for index in range(0, count, max(1, count // SAMPLED)):
                self.layout.add(_try(partial(fine.extract_spans, index), []))

    def _page(self, index: int) -> str:
        text = _try(lambda: self._by_fine(index), "")
        other = _try(lambda: self._by_plain(index), "")
        if len(_WORDS.findall(other)) > MORE * len(_WORDS.findall(text)) + SPARE:
            text = other
        return _ODD.sub("", text).strip()

    def _by_fine(self, index: int) -> str:
        fine = self.fine
        if fine is None or index >= self.pages_of_fine:
            return ""
        text: str = fine.to_markdown(index, include_images=False, embed_images=False)
        with suppress(Exception):
            return self.layout.mended(text, fine.extract_spans(index), fine.extract_text(index))
        return text

    def _by_plain(self, index: int) -> str:
        if self.plain is None or index >= len(self.plain):
            return ""
        page = self.plain[index]
        reader = page.get_textpage()
        try:
            text: str = reader.get_text_range()
        finally:
            reader.close()
            page.close()
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _shows(self, index: int) -> bool:
        """Whether a page draws a picture."""

        def look() -> bool:
            assert self.plain is not None
            page = self.plain[index]
            return next(iter(page.get_objects(filter=[3], max_depth=3)), None) is not None

        return self.plain is not None and _try(look, default=False)

    def _metadata(self) -> dict[str, Any]:
        told: dict[str, str] = _try(self.plain.get_metadata_dict, {}) if self.plain else {}
        known = {
            "title": told.get("Title", ""),
            "author": told.get("Author", ""),
            "subject": told.get("Subject", ""),
            "created": _date(told.get("CreationDate", "")),
            "modified": _date(told.get("ModDate", "")),
        }
        return {k: " ".join(v.split())[:300] for k, v in known.items() if v and v.strip()}

    def _note_attached(self) -> None:
        plain = self.plain
        count = _try(plain.count_attachments, 0) if plain else 0
        names = [_try(partial(_attached, plain, n), "") for n in range(min(count, MAX_ATTACHED))]
        listed = list(filter(None, names))
        if listed:
            self.warnings.append(f"Files attached to it were not read: {', '.join(listed)}.")


def render(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """One page as a picture in grey, in the PGM format; `request` has its `page` and `dpi`.

    Raises:
        UnsupportedContent: it cannot be drawn.
        TooLarge: the page is larger than a wall.
    """
    import pypdfium2

    try:
        page = pypdfium2.PdfDocument(data)[request["page"] - 1]
        scale = request["dpi"] / 72
        width, height = (int(side * scale) for side in page.get_size())
        if width * height > request["pixels"]:
            raise TooLarge(f"Page {request['page']} has {width:,} x {height:,} pixels.")
        drawn = page.render(scale=scale, grayscale=True)
    except pypdfium2.PdfiumError as error:
        raise damaged(NAME, str(error)) from None
    lines = memoryview(drawn.buffer).cast("B")
    rows = [
        bytes(lines[y * drawn.stride : y * drawn.stride + drawn.width]) for y in range(drawn.height)
    ]
    return {}, f"P5 {drawn.width} {drawn.height} 255\n".encode() + b"".join(rows)


def _opened_by_fine(data: bytes) -> PdfDocument | None:
    import pdf_oxide

    return _try(lambda: pdf_oxide.PdfDocument.from_bytes(data), None)


def _opened_by_plain(data: bytes) -> tuple[Pdfium | None, bool]:
    """The document, and whether it wants a password."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
        len(document)
    except pypdfium2.PdfiumError as error:
        return None, "password" in str(error).lower() or "security" in str(error).lower()
    return document, False


def _try(work: Callable[[], T], default: T) -> T:
    """What foreign code gives, or a default where it fails in whatever way."""
    try:
        return work()
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - a panic of its language is no Exception
        return default


def _attached(document: Pdfium, number: int) -> str:
    return " ".join(str(document.get_attachment(number).get_name()).split())[:100]


def _date(text: str) -> str:
    """`D:20260131120000Z` as 2026-01-31."""
    match = re.match(r"D:(\d{4})(\d\d)?(\d\d)?", text)
    return "-".join(filter(None, match.groups())) if match else text
