"""The service that reads documents as text: in a child process, once for the same bytes."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from toolcrib.core.errors import MissingExtra, NotConfigured, TooLarge, UnsupportedContent
from toolcrib.documents.kinds import NAMES, OFFICE_KINDS, kind_of_document
from toolcrib.documents.ocr import SMALLER_HINT, Ocr
from toolcrib.documents.text import DocumentText
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.content.kinds import kind_of

if TYPE_CHECKING:
    from toolcrib.core.context import Services
    from toolcrib.core.settings import DocumentsConfig

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

    def __init__(self, workers: Workers, ocr: Ocr | None, config: DocumentsConfig) -> None:
        self._workers = workers
        self._ocr = ocr
        self._config = config
        self._cached: OrderedDict[bytes, DocumentText] = OrderedDict()

    @classmethod
    def open(cls, services: Services) -> Self:
        """Nothing is loaded before the first document."""
        config = services.config.documents
        ocr = services.use(Ocr) if config.ocr == "tesseract" else None
        return cls(services.use(Workers), ocr, config)

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
        if found.scanned and self._ocr is not None:
            return await self._ocr.completed(found, data, deadline)
        return found

    async def _read_image(self, data: bytes, deadline: float | None) -> DocumentText:
        if self._ocr is None:
            raise NotConfigured(
                "This is an image; its text can be read only by OCR, which is off.",
                hint='The user turns it on with documents.ocr = "tesseract".',
            )
        return await self._ocr.image(data, deadline)

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
