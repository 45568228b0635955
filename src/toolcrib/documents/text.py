"""The text of a document: its pages as Markdown, its metadata, and which pages are meant."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from toolcrib.core.errors import BadInput, UnsupportedContent
from toolcrib.text.display import counted

MAX_TEXT_CHARS = 2_000_000
"""Characters of a document at most; the rest is cut."""
MAX_PAGES = 20_000
NO_TEXT = "(no text)"
_RANGE = re.compile(r"(\d{1,6})?\s*(-|\u2013|\.\.)?\s*(\d{1,6})?")


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """A page, slide or sheet. `number` counts from 1 in the whole document."""

    number: int
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document as text.

    Attributes:
        kind: "pdf", "docx", "csv" ...; see `kinds`.
        title: as the document has it, or its first heading.
        unit: what a page is: "page", "slide", "sheet", or nothing where the document has
            no such parts and is one page here.
        pages: those that were asked for, in order, as Markdown.
        total: how many the whole document has.
        rest: the pages that were asked for and not read yet, as `7-12`; empty for none.
        scanned: numbers of pages that show a picture and have no text.
        metadata: what else is known: author, dates, rows, encoding ...
        warnings: lines that a reader should know of.
    """

    kind: str
    title: str = ""
    unit: str = ""
    pages: tuple[DocumentPage, ...] = ()
    total: int = 1
    rest: str = ""
    scanned: tuple[int, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def markdown(self) -> str:
        """The whole text; pages are under `## Page n`."""
        return "\n\n".join(self.headed(page) for page in self.pages).strip()

    def headed(self, page: DocumentPage) -> str:
        """A page under its heading."""
        if not self.unit:
            return page.text
        name = f": {page.name}" if page.name else ""
        return f"## {self.unit.capitalize()} {page.number}{name}\n\n{page.text or NO_TEXT}"

    @property
    def non_empty(self) -> int:
        """How many of the pages have text."""
        return sum(1 for page in self.pages if page.text)

    @property
    def readable(self) -> bool:
        """Whether there is any text."""
        return self.non_empty > 0

    @property
    def diagnostic(self) -> str:
        """What is wrong with the text, or nothing."""
        if self.scanned:
            some = f"{len(self.scanned):,} of {len(self.pages):,} pages are pictures without text"
            return f"It looks scanned: {some}. Reading those needs OCR (documents.ocr)."
        return "" if self.readable else "It has no text."

    def to_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `to_json` gave."""
        pages = tuple(DocumentPage(**page) for page in values["pages"])
        scanned, warnings = tuple(values["scanned"]), tuple(values["warnings"])
        return cls(**{**values, "pages": pages, "scanned": scanned, "warnings": warnings})


def damaged_error(name: str, why: str = "") -> UnsupportedContent:
    """The error for a file that cannot be opened."""
    reason = f": {' '.join(why.split())[:200].rstrip('.')}" if why else ""
    return UnsupportedContent(
        f"The {name} is damaged or incomplete{reason}.", hint="Use another copy of the file."
    )


def page_numbers(spec: str, total: int, unit: str = "page") -> list[int]:
    """The pages that `3-5,9` or `7-` or `-2` means, in order and once each; all for nothing.

    Raises:
        BadInput: it is spelt otherwise, or means no page of the document.
    """
    if not spec.strip():
        return list(range(1, total + 1))
    chosen: set[int] = set()
    for part in re.split(
        r"[,;\s]+(?![-\u2013.])", re.sub(r"\s*(-|\u2013|\.\.)\s*", r"\1", spec.strip())
    ):
        match = _RANGE.fullmatch(part)
        if match is None or not (match[1] or match[3]):
            raise BadInput(
                f"'{spec[:80]}' does not name pages.",
                hint='Write pages like "3" or "3-5,9" or "7-".',
            )
        first = int(match[1] or 1)
        last = int(match[3] or total) if match[2] else first
        chosen.update(range(max(first, 1), min(last, total) + 1))
    if not chosen:
        raise BadInput(
            f"There is no {unit} {spec.strip()[:80]}.",
            hint=f"The document has {counted(total, unit)}.",
            total=total,
        )
    return sorted(chosen)


def first_heading(texts: Sequence[str]) -> str:
    """The text of the first Markdown heading on the first pages."""
    for text in texts[:3]:
        match = re.search(r"^#{1,3} +(.{1,300})$", text[:20_000], re.MULTILINE)
        if match:
            return match[1].strip(" *#")
    return ""


def within_limits(pages: Sequence[DocumentPage]) -> tuple[tuple[DocumentPage, ...], list[str]]:
    """As many pages as the limits allow, the last one cut, and a warning where that is not all."""
    given: list[DocumentPage] = []
    room = MAX_TEXT_CHARS
    for page in pages:
        if len(page.text) > room or len(given) >= MAX_PAGES:
            if room > 0 and len(given) < MAX_PAGES:
                given.append(DocumentPage(page.number, page.text[:room], page.name))
            size = sum(len(p.text) for p in pages)
            return tuple(given), [
                f"Only the first {MAX_TEXT_CHARS:,} of {size:,} characters are kept."
            ]
        given.append(page)
        room -= len(page.text)
    return tuple(given), []
