"""Scanned pages and images as text, by the program tesseract. Only where it is configured."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from toolcrib.core.errors import ConfigError, TimedOut, ToolError, Unavailable, UnsupportedContent
from toolcrib.documents.text import DocumentPage, DocumentText
from toolcrib.execution.workers import Task, Workers
from toolcrib.system.processes import Processes

if TYPE_CHECKING:
    from toolcrib.core.context import Services
    from toolcrib.core.settings import DocumentsConfig

SMALLER_HINT = "Ask for fewer pages, or use a smaller document."
RENDER_TASK = Task(
    "toolcrib.documents.conversion:render", "Drawing the page", 20.0, 1500,
    max_bytes=120_000_000, hint=SMALLER_HINT,
)  # fmt: skip
PAGE_SECONDS = 30.0
RESERVE_SECONDS = 1.0
"""Seconds of a deadline that are left for what comes after."""
DPI = 200
MAX_PIXELS = 40_000_000
MAX_OUTPUT = 1_000_000
_LANGUAGE = re.compile(r"\w+([+/]\w+)*", re.ASCII)


class Ocr:
    """A service: runs tesseract, a page at a time."""

    def __init__(self, processes: Processes, workers: Workers, config: DocumentsConfig) -> None:
        self._processes = processes
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
        if not _LANGUAGE.fullmatch(config.ocr_language):
            raise ConfigError("documents.ocr_language is a name like eng, or several: deu+eng.")
        return cls(services.use(Processes), services.use(Workers), config)

    async def image(self, data: bytes, deadline: float | None) -> DocumentText:
        """The text of a picture.

        Raises:
            UnsupportedContent: tesseract cannot read it.
            Unavailable: tesseract or its language is not installed.
            TimedOut: it takes too long.
        """
        text = await self._recognised(data, deadline)
        return DocumentText(
            "image", pages=(DocumentPage(1, text),), metadata={"ocr": self._language}
        )

    async def completed(
        self, document: DocumentText, data: bytes, deadline: float | None
    ) -> DocumentText:
        """A PDF with the text of its scanned pages; as many as the time allows."""
        texts: dict[int, str] = {}
        warnings = list(document.warnings)
        for number in document.scanned[: self._max_pages]:
            if texts and deadline is not None and deadline - time.monotonic() < RESERVE_SECONDS * 3:
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
        return await self._recognised(picture, deadline)

    async def _recognised(self, picture: bytes, deadline: float | None) -> str:
        seconds = PAGE_SECONDS
        if deadline is not None:
            seconds = min(seconds, deadline - time.monotonic() - RESERVE_SECONDS)
        if seconds <= 0:
            raise TimedOut("The time for OCR is used up.")
        done = await self._processes.run(
            ["tesseract", "stdin", "stdout", "-l", self._language],
            cwd="/",
            env={"OMP_THREAD_LIMIT": "1"},
            stdin=picture,
            timeout=seconds,
            max_output=MAX_OUTPUT,
            passed_on=("PATH", "LANG", "LC_*", "TESSDATA_PREFIX"),
        )
        if done.timed_out:
            raise TimedOut(f"OCR was stopped after {done.seconds:.0f} s.")
        if done.exit_code:
            raise _failure(str(done.stderr), self._language)
        return re.sub(r"\n{3,}", "\n\n", str(done.stdout).replace("\f", "")).strip()


def _failure(stderr: str, language: str) -> ToolError:
    if "traineddata" in stderr or "languages" in stderr:
        return Unavailable(
            f"tesseract does not have the language {language}.",
            hint="Install it (Debian: tesseract-ocr-<language>), or set documents.ocr_language.",
        )
    return UnsupportedContent(
        "tesseract cannot read this picture.", hint="Use it as PNG, JPEG or TIFF."
    )


def _listed(numbers: list[int]) -> str:
    listed = ", ".join(map(str, numbers[:20]))
    return f"page{'s' if len(numbers) > 1 else ''} {listed}" + (" …" if len(numbers) > 20 else "")
