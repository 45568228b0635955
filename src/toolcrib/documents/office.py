"""Office files and books as Markdown, by xberg. Another process, a child, runs this module."""

from __future__ import annotations

import asyncio
import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from toolcrib.core.errors import TooLarge, ToolError, UnsupportedContent
from toolcrib.documents.kinds import BY_MEDIA_TYPE, NAMES
from toolcrib.documents.text import (
    DocumentPage,
    DocumentText,
    damaged_error,
    first_heading,
    page_numbers,
    within_limits,
)
from toolcrib.documents.workbook import Workbook
from toolcrib.files.content.kinds import load_codecs

if TYPE_CHECKING:
    from xberg import ExtractedDocument


MAX_ENTRIES = 20_000
MAX_UNPACKED_BYTES = 400_000_000
MAX_RATIO = 200
FREE_BYTES = 20_000_000
"""Unpacked bytes up to which the ratio does not matter."""
MAX_PART_BYTES = 20_000_000


class OfficeArchive:
    """A zip archive, checked before anything unpacks it; `read` gives its parts.

    Raises:
        UnsupportedContent: it is damaged or encrypted.
        TooLarge: it would unpack to too much.
    """

    def __init__(self, data: bytes, name: str) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise damaged_error(name, str(error)) from None
        entries = self._zip.infolist()
        self.names: Sequence[str] = self._zip.namelist()
        self.size = size = sum(entry.file_size for entry in entries)
        if len(entries) > MAX_ENTRIES:
            raise TooLarge(f"The {name} has {len(entries):,} parts, more than {MAX_ENTRIES:,}.")
        if size > MAX_UNPACKED_BYTES or (size > FREE_BYTES and size > MAX_RATIO * len(data)):
            raise TooLarge(
                f"The {name} has {len(data):,} bytes and would unpack to {size:,}.",
                hint="It looks like a bomb of compressed data. Use another file.",
            )
        if any(entry.flag_bits & 1 for entry in entries):
            raise UnsupportedContent(
                f"The {name} is encrypted.", hint="Use a copy that was saved without a password."
            )

    def read(self, name: str) -> bytes:
        """A part; empty where there is none, or it is damaged or too long."""
        try:
            with self._zip.open(name) as part:
                data = part.read(MAX_PART_BYTES + 1)
        except (KeyError, zipfile.BadZipFile, OSError, NotImplementedError, EOFError, ValueError):
            return b""
        return data if len(data) <= MAX_PART_BYTES else b""


MAX_NOTE_CHARS = 20_000
"""Characters of the notes of one slide."""
_PRESENTATION = "ppt/presentation.xml"
_NUMBER = re.compile(r"(\d+)\.xml$")


class Presentation:
    """A presentation. `slides` are the names of its slides, as they are shown."""

    def __init__(self, archive: OfficeArchive) -> None:
        self._archive = archive
        stored = (n for n in archive.names if re.fullmatch(r"ppt/slides/slide\d+\.xml", n))
        self.stored = sorted(stored, key=_number)
        ordered = [name for name in self._slide_order() if name in self.stored]
        self.slides = ordered or self.stored

    def _slide_order(self) -> Iterator[str]:
        targets = dict(self._related(_PRESENTATION, "/slide"))
        root = _parsed(self._archive.read(_PRESENTATION))
        for node in _named(root, "sldId"):
            mark = next((v for k, v in node.attrib.items() if k.endswith("}id")), "")
            if mark in targets:
                yield targets[mark]

    def notes(self, slide: str) -> str:
        """The notes of the speaker, a paragraph a line."""
        for _, name in self._related(slide, "/notesSlide"):
            root = _parsed(self._archive.read(name))
            lines = [
                text
                for shape in _named(root, "sp")
                if not _is_frame(shape)
                for text in (_text(paragraph) for paragraph in _named(shape, "p"))
            ]
            return "\n".join(filter(None, lines))[:MAX_NOTE_CHARS]
        return ""

    def in_order(self, slide: str, text: str) -> str:
        """The Markdown of a slide with each table after the text that it follows on the slide."""
        blocks = text.strip().split("\n\n")
        tables = [block for block in blocks if block.startswith("|")]
        if not tables:
            return text
        root = _parsed(self._archive.read(slide))
        before = [_last_before(root, table) for table in _named(root, "tbl")]
        others = [block for block in blocks if not block.startswith("|")]
        if len(before) != len(tables):
            return text
        first = 1 if others and others[0].startswith("#") else 0
        for table, words in zip(reversed(tables), reversed(before), strict=True):
            after = (n + 1 for n, block in enumerate(others) if words in " ".join(block.split()))
            others.insert(max(first, next(after, len(others)) if words else 0), table)
        return "\n\n".join(others)

    def _related(self, part: str, kind: str) -> Iterator[tuple[str, str]]:
        """The parts of a kind that a part refers to, by the marks that it uses for them."""
        folder, _, file = part.rpartition("/")
        root = _parsed(self._archive.read(f"{folder}/_rels/{file}.rels"))
        for node in _named(root, "Relationship"):
            if node.get("Type", "").endswith(kind) and node.get("TargetMode") != "External":
                target = posixpath.normpath(posixpath.join("/", folder, node.get("Target", "")))
                yield node.get("Id", ""), target.lstrip("/")


MAX_MARGIN_PARTS = 20
MAX_MARGIN_CHARS = 1_000
"""Characters of all headers, or of all footers."""
MAX_PASSED_ITEMS = 50
"""Numbered paragraphs passed over in search of the one that a line stands for, as of tables."""
_ORDERED = re.compile(r"^\d{1,6}\. (.*)$", re.MULTILINE)
_FIRST = re.compile(r"^1\. ", re.MULTILINE)
_LINK = re.compile(r"\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)")


class WordDocument:
    """What the converter leaves out of a text document: margins, and how lists go on."""

    def __init__(self, archive: OfficeArchive) -> None:
        self._archive = archive

    def with_margins(self, text: str) -> str:
        """The text with headers before and footers behind it, each once."""
        header, footer = self._margin("header"), self._margin("footer")
        parts = (f"Header: {header}" if header else "", text, f"Footer: {footer}" if footer else "")
        return "\n\n".join(filter(None, parts))

    def _margin(self, kind: str) -> str:
        names = (n for n in self._archive.names if re.fullmatch(rf"word/{kind}\d*\.xml", n))
        texts: dict[str, None] = {}
        for name in sorted(names, key=_number)[:MAX_MARGIN_PARTS]:
            root = _parsed(self._archive.read(name))
            lines = filter(None, map(_text, _named(root, "p")))
            texts[" / ".join(lines)] = None
        # The number of the page alone says nothing.
        telling = (text for text in texts if any(map(str.isalpha, text)))
        return " | ".join(telling)[:MAX_MARGIN_CHARS]

    def with_numbers(self, text: str) -> str:
        """The Markdown with the numbers that its items have: a list may go on after other text."""
        if len(_FIRST.findall(text)) < 2:
            return text
        items, at = list(self._items()), 0

        def numbered(match: re.Match[str]) -> str:
            nonlocal at
            words = _letters(_LINK.sub(r"\1", match[1]))
            for place in range(at, min(at + MAX_PASSED_ITEMS, len(items))):
                if words and items[place][0].startswith(words):
                    at = place + 1
                    return f"{items[place][1]}. {match[1]}"
            return match[0]

        return _ORDERED.sub(numbered, text)

    def _items(self) -> Iterator[tuple[str, int]]:
        """The letters of each numbered paragraph of the outermost level, and its number."""
        lists, styles = self._lists(), self._styles()
        counts: dict[str, int] = {}
        begun: set[str] = set()
        for paragraph in _named(_parsed(self._archive.read("word/document.xml")), "p"):
            style = next((_value(node) for node in _named(paragraph, "pStyle")), "")
            numbering = next(_named(paragraph, "numPr"), None)
            level, name = _place_in_list(numbering)
            name = name or styles.get(style, "")
            if level != "0" or name not in lists:
                continue
            shared, start, restart = lists[name]
            if restart is not None and name not in begun:
                counts[shared] = restart - 1
            begun.add(name)
            counts[shared] = counts.get(shared, start - 1) + 1
            yield _letters(_text(paragraph)), counts[shared]

    def _styles(self) -> dict[str, str]:
        """The list that a style puts its paragraphs into."""
        root = _parsed(self._archive.read("word/styles.xml"))
        found = {}
        for style in _named(root, "style"):
            name = _place_in_list(next(_named(style, "numPr"), None))[1]
            found[_mark(style, "styleId")] = name
        return found

    def _lists(self) -> dict[str, tuple[str, int, int | None]]:
        """The decimal lists: what they count by, where that begins, and where they begin anew."""
        root = _parsed(self._archive.read("word/numbering.xml"))
        starts: dict[str, int] = {}
        for shared in _named(root, "abstractNum"):
            level = next(_named(shared, "lvl"), None)
            if level is None or next(map(_value, _named(level, "numFmt")), "") != "decimal":
                continue
            starts[_mark(shared, "abstractNumId")] = _first_number(level, "start") or 1
        found = {}
        for listed in _named(root, "num"):
            by = next(map(_value, _named(listed, "abstractNumId")), "")
            if by in starts:
                restart = _first_number(listed, "startOverride")
                found[_mark(listed, "numId")] = (by, starts[by], restart)
        return found


def _mark(node: ET.Element, name: str) -> str:
    return next((v for k, v in node.attrib.items() if k.endswith(f"}}{name}")), "")


def _value(node: ET.Element) -> str:
    return _mark(node, "val")


def _first_number(node: ET.Element, name: str) -> int | None:
    text = next(map(_value, _named(node, name)), "")
    return int(text) if text.isdecimal() and len(text) < 7 else None


def _place_in_list(numbering: ET.Element | None) -> tuple[str, str]:
    """The level, and the list; "" where none is named."""
    level = next(map(_value, _named(numbering, "ilvl")), "0")
    return level, next(map(_value, _named(numbering, "numId")), "")


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _number(name: str) -> int:
    match = _NUMBER.search(name)
    return int(match[1]) if match else 0


def _parsed(xml: bytes) -> ET.Element | None:
    """A part as a tree; office files have no document type, so none is let in."""
    if not xml or b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        return None
    try:
        return ET.fromstring(xml)  # noqa: S314 - nothing that could be expanded gets here
    except ET.ParseError:
        return None


def _named(root: ET.Element | None, name: str) -> Iterator[ET.Element]:
    if root is not None:
        yield from (node for node in root.iter() if node.tag.rpartition("}")[2] == name)


def _is_frame(shape: ET.Element) -> bool:
    """Whether a shape holds the number, date or picture of the slide, not words."""
    return any(
        node.get("type") in ("sldNum", "sldImg", "dt", "hdr", "ftr") for node in _named(shape, "ph")
    )


def _last_before(root: ET.Element | None, table: ET.Element) -> str:
    """The words of the last paragraph with any that stands before a table, outside of tables."""
    last = ""
    inside: set[ET.Element] = set()
    for node in root.iter() if root is not None else ():
        if node is table:
            break
        if node.tag.endswith("}tbl"):
            inside.update(node.iter())
        elif node.tag.endswith("}p") and node not in inside:
            last = _text(node) or last
    return last


def _text(paragraph: ET.Element) -> str:
    parts = (
        " " if node.tag.endswith("}br") else node.text or ""
        for node in paragraph.iter()
        if node.tag.endswith(("}t", "}br"))
    )
    return " ".join("".join(parts).split())


ARCHIVE_KINDS = frozenset(("docx", "pptx", "xlsx", "odt", "ods", "odp", "epub"))
SHEET_KINDS = frozenset(("xlsx", "xls", "ods"))
OLE_MAGIC = b"\xd0\xcf\x11\xe0"
ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
"""The part of a compound file that holds an office file under a password."""
MAX_CELLS = 2_000_000
EXTRACTION_SECONDS = 40
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


def _numbers_of_sheets(spec: str, pages: Sequence[DocumentPage]) -> list[int]:
    """The sheets that are named; none where it is no name of one, or a list with another in it."""
    names = {page.name.casefold(): page.number for page in pages if page.name}
    for parts in ([spec], spec.split(",")):
        found = [names.get(part.strip().casefold(), 0) for part in parts]
        if all(found):
            return found
    return []


def convert(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """A document as `DocumentText`; `request` has its `kind` and the requested `pages`.

    Raises:
        UnsupportedContent: it is damaged, encrypted or something else.
        TooLarge: it unpacks to too much.
        BadInput: it has no such pages.
    """
    kind, spec = request["kind"], request["pages"]
    if data.startswith(OLE_MAGIC) and ENCRYPTED_STREAM in data:
        raise _failure(kind, "encrypted")
    archive = OfficeArchive(data, NAMES[kind]) if kind in ARCHIVE_KINDS else None
    found = _extracted(kind, data)
    pages, unit = _pages(kind, found, archive)
    warnings = [w.message for w in found.processing_warnings[:5]]
    wanted = pages
    if spec and unit:
        numbers = set(_numbers_of_sheets(spec, pages) or page_numbers(spec, len(pages), unit))
        wanted = [page for page in pages if page.number in numbers]
    elif spec:
        warnings.append(f"A {NAMES[kind]} has no fixed pages: all of it is given.")
    pages_given, cut = within_limits(wanted)
    if kind == "xlsx" and archive is not None and archive.size <= MAX_PART_BYTES:
        warnings += _formula_notes(data, pages_given)
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
        (meta.title or "").strip()[:300] or first_heading([page.text for page in pages_given]),
        unit,
        pages_given,
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
        extraction_timeout_secs=EXTRACTION_SECONDS,
        pages=xberg.PageConfig(extract_pages=True),
        security_limits=xberg.SecurityLimits(
            max_table_cells=MAX_CELLS, max_content_size=400_000_000
        ),
    )
    source = xberg.ExtractInput(kind="bytes", bytes=data, mime_type=BY_MEDIA_TYPE[kind])
    try:
        result = _loop().run_until_complete(xberg.extract(source, config))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - its errors have no class in common
        raise _failure(kind, str(error)) from None
    if not result.results:
        raise _failure(kind, result.errors[0].message if result.errors else "")
    document: ExtractedDocument = result.results[0]
    return document


def _failure(kind: str, message: str) -> UnsupportedContent | TooLarge:
    low = message.lower()
    if "encrypt" in low or "password" in low:
        return UnsupportedContent(
            f"The {NAMES[kind]} is encrypted.", hint="Use a copy that was saved without a password."
        )
    if any(sign in low for sign in ("limit", "too large", "bomb", "exceed", "security")):
        return TooLarge(f"The {NAMES[kind]} is too large: {' '.join(message.split())[:200]}")
    return damaged_error(NAMES[kind], message)


def _pages(
    kind: str, found: ExtractedDocument, archive: OfficeArchive | None
) -> tuple[list[DocumentPage], str]:
    parts = found.pages or []
    if kind == "pptx" and archive is not None:
        return _slides(found, Presentation(archive)), "slide"
    if kind in SHEET_KINDS and parts:
        names = ((part.sheet_name or "").strip()[:300] for part in parts)
        return [
            DocumentPage(n, part.content.strip(), name)
            for n, (part, name) in enumerate(zip(parts, names, strict=True), 1)
        ], "sheet"
    if kind == "ppt" and len(parts) > 1:
        return [_slide(n, part.content) for n, part in enumerate(parts, 1)], "slide"
    text = _RULE.sub("", found.content).strip()
    if kind == "docx" and archive is not None:
        word = WordDocument(archive)
        text = word.with_margins(word.with_numbers(text))
    return [DocumentPage(1, text)], ""


def _formula_notes(data: bytes, pages: Sequence[DocumentPage]) -> Iterator[str]:
    """What is said of sheets with formulas whose values a file does not hold."""
    with suppress(ToolError):
        book = Workbook(data, NAMES["xlsx"])
        for page in pages:
            for note in book.formula_notes(page.name):
                yield f"{page.name}: {note}" if len(book.names) > 1 else note


def _slides(found: ExtractedDocument, deck: Presentation) -> list[DocumentPage]:
    """The slides in the order in which they are shown, each with its notes."""
    parts = {part.page_number: part.content for part in found.pages or []}
    texts = {name: parts.get(n, "") for n, name in enumerate(deck.stored, 1)}
    pages = []
    for number, name in enumerate(deck.slides, 1):
        page = _slide(number, deck.in_order(name, texts[name]))
        notes = deck.notes(name)
        text = f"{page.text}\n\n### Speaker notes\n\n{notes}".strip() if notes else page.text
        pages.append(DocumentPage(number, text, page.name))
    return pages


def _slide(number: int, text: str) -> DocumentPage:
    """A slide; the heading that it begins with is its name."""
    match = _HEADED.match(text)
    if match is None:
        return DocumentPage(number, text.strip())
    return DocumentPage(number, text[match.end() :].strip(), match[1].strip()[:300])
