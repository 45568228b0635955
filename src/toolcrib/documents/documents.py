"""Documents as text, by a child process, once for the same bytes; scans by tesseract."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from toolcrib.core.errors import (
    ConfigError,
    MissingExtra,
    NotConfigured,
    TooLarge,
    ToolError,
    Unavailable,
    UnsupportedContent,
)
from toolcrib.documents.kinds import NAMES, OFFICE_KINDS, kind_of_document
from toolcrib.documents.ocr import LANGUAGE, Ocr
from toolcrib.documents.text import DocumentPage, DocumentText
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.content.kinds import kind_of

if TYPE_CHECKING:
    from toolcrib.core.context import Services
    from toolcrib.core.document_settings import DocumentsConfig


# Scanned pages and images as text, by the program tesseract. Only where it is configured.

SMALLER_HINT = "Ask for fewer pages, or use a smaller document."
RENDER_TASK = Task(
    "toolcrib.documents.conversion:render", "Drawing the page", 20.0, 1500,
    max_bytes=120_000_000, hint=SMALLER_HINT,
)  # fmt: skip
RESERVE_SECONDS = 3.0
"""Seconds of a deadline below which no further page is begun."""
DPI = 200
MAX_PIXELS = 40_000_000


class Scans:
    """A service: the scanned pages of documents, and pictures, read by OCR."""

    def __init__(self, ocr: Ocr, workers: Workers, config: DocumentsConfig) -> None:
        self._ocr = ocr
        self._workers = workers
        self._language = config.ocr_language
        self._max_pages = config.ocr_pages

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing runs before the first page.

        Raises:
            ConfigError: the language is no name.
        """
        config = services.config.documents
        if not LANGUAGE.fullmatch(config.ocr_language):
            raise ConfigError("documents.ocr_language is a name like eng, or several: deu+eng.")
        return cls(services.use(Ocr), services.use(Workers), config)

    async def image(self, data: bytes, deadline: float | None) -> DocumentText:
        """The text of a picture.

        Raises:
            UnsupportedContent: tesseract cannot read it.
            Unavailable: tesseract or its language is not installed.
            TimedOut: it takes too long.
        """
        found = await self._ocr.read(data, self._language, deadline)
        return DocumentText(
            "image", pages=(DocumentPage(1, found.text),), metadata={"ocr": self._language}
        )

    async def completed(
        self, document: DocumentText, data: bytes, deadline: float | None
    ) -> DocumentText:
        """A PDF with the text of its scanned pages; as many as the time allows."""
        texts: dict[int, str] = {}
        warnings = list(document.warnings)
        for number in document.scanned[: self._max_pages]:
            if texts and deadline is not None and deadline - time.monotonic() < RESERVE_SECONDS:
                break
            try:
                texts[number] = await self._page(data, number, deadline)
            except Unavailable:
                raise
            except ToolError as error:
                warnings.append(f"Page {number}: {error.message}")
        left = [n for n in document.scanned if n not in texts]
        if texts:
            warnings.append(f"Read by OCR: {_listed(sorted(texts))}.")
        if left:
            warnings.append(f'Scanned and not read: {_listed(left)}. Ask for them with "pages".')
        pages = tuple(
            replace(page, text=texts[page.number]) if page.number in texts else page
            for page in document.pages
        )
        metadata = {**document.metadata, "ocr": self._language}
        return replace(
            document, pages=pages, scanned=tuple(left), metadata=metadata, warnings=tuple(warnings)
        )

    async def _page(self, data: bytes, number: int, deadline: float | None) -> str:
        request = {"page": number, "dpi": DPI, "pixels": MAX_PIXELS}
        _, picture = await self._workers.run(RENDER_TASK, request, data, deadline)
        return (await self._ocr.read(picture, self._language, deadline)).text


def _listed(numbers: list[int]) -> str:
    listed = ", ".join(map(str, numbers[:20]))
    return f"page{'s' if len(numbers) > 1 else ''} {listed}" + (" …" if len(numbers) > 20 else "")


_ROOM = "toolcrib.documents"
TEXT_TASK = Task(
    f"{_ROOM}.conversion:convert", "Reading the document", 40.0, 1500, hint=SMALLER_HINT
)
OFFICE_TASK = Task(f"{_ROOM}.office:convert", "Reading the document", 40.0, 3000, hint=SMALLER_HINT)
HTML_TASK = Task(f"{_ROOM}.webpage:convert", "Reading the page", 30.0, 1500, hint=SMALLER_HINT)
MAX_CACHED_DOCUMENTS = 12
MAX_CACHED_CHARS = 16_000_000
"""Characters of documents that this process remembers."""


class Documents:
    """A service: documents as text. See `read`."""

    def __init__(self, workers: Workers, scans: Scans | None, config: DocumentsConfig) -> None:
        self._workers = workers
        self._scans = scans
        self._config = config
        self._cached: OrderedDict[bytes, DocumentText] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is loaded before the first document."""
        config = services.config.documents
        scans = services.use(Scans) if config.ocr == "tesseract" else None
        return cls(services.use(Workers), scans, config)

    @property
    def max_bytes(self) -> int:
        """Bytes of a document that is read."""
        return self._config.max_bytes

    async def read(
        self,
        data: bytes,
        *,
        name: str = "",
        media_type: str = "",
        pages: str | None = None,
        deadline: float | None = None,
    ) -> DocumentText:
        """The text of a document.

        Args:
            data: the whole file.
            name: its name or path; the ending helps to tell what text it is.
            media_type: what a server said, with a charset or without.
            pages: which pages, slides or sheets, as `3-5,9`; all for None.
            deadline: a `time.monotonic()` value after which it stops, or None.

        Raises:
            UnsupportedContent: it is empty, damaged, encrypted, or no document.
            MissingExtra: this kind needs an optional package.
            NotConfigured: it is a picture, and there is no OCR.
            TooLarge, TimedOut: it is too large, or takes too long.
            BadInput: it has no such pages.
        """
        if not data:
            raise UnsupportedContent(f"{name or 'The document'} is empty.")
        if len(data) > self._config.max_bytes:
            raise TooLarge(
                f"The document has {len(data):,} bytes, more than {self._config.max_bytes:,}.",
                hint="The user can raise documents.max_bytes.",
            )
        kind = kind_of_document(data, name, media_type)
        request = {"kind": kind, "pages": pages or "", "charset": _charset(media_type)}
        key = hashlib.blake2b(repr(request).encode() + b"\0" + data, digest_size=16).digest()
        known = self._cached.get(key)
        if known is None:
            known = await self._read(kind, request, data, deadline)
            self._remember(key, known)
        self._cached.move_to_end(key)
        return known

    async def _read(
        self, kind: str, request: dict[str, Any], data: bytes, deadline: float | None
    ) -> DocumentText:
        if kind == "image":
            return await self._read_image(data, deadline)
        task = HTML_TASK if kind == "html" else TEXT_TASK
        if kind in OFFICE_KINDS:
            if find_spec("xberg") is None:
                raise MissingExtra("documents", f"Reading a file of this kind ({NAMES[kind]})")
            task = OFFICE_TASK
        elif not kind:
            raise _refusal(data)
        answer, _ = await self._workers.run(task, request, data, deadline)
        found = DocumentText.from_json(answer)
        if found.scanned and self._scans is not None:
            return await self._scans.completed(found, data, deadline)
        return found

    async def _read_image(self, data: bytes, deadline: float | None) -> DocumentText:
        if self._scans is None:
            raise NotConfigured(
                "This is an image; its text can be read only by OCR, which is off.",
                hint='The user turns it on with documents.ocr = "tesseract".',
            )
        return await self._scans.image(data, deadline)

    def forget(self) -> None:
        """Forget the texts of documents that were read."""
        self._cached.clear()

    def _remember(self, key: bytes, document: DocumentText) -> None:
        self._cached[key] = document
        while len(self._cached) > 1 and (
            len(self._cached) > MAX_CACHED_DOCUMENTS
            or sum(map(_size, self._cached.values())) > MAX_CACHED_CHARS
        ):
            self._cached.popitem(last=False)


def _size(document: DocumentText) -> int:
    return sum(len(page.text) + 100 for page in document.pages)


def _charset(media_type: str) -> str:
    for part in media_type.split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'").lower()[:40]
    return ""


def _refusal(data: bytes) -> UnsupportedContent:
    found = kind_of(data)
    what = f"a {found.name}" if found is not None and found.name != "binary file" else "binary"
    return UnsupportedContent(
        f"The file is {what}, which is no document.",
        hint="Documents are PDF, office files, EPUB, RTF, mail, notebooks, tables and text.",
        kind=found.name if found else "",
    )
