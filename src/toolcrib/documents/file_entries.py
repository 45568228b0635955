"""Files of the workspace as entries of an index: which there are, and what is in each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from toolcrib.core.errors import Cancelled, NotFound, ToolError, UnsupportedContent
from toolcrib.documents.documents import Documents
from toolcrib.documents.kinds import kind_of_document, labelled_kind
from toolcrib.documents.text import DocumentText
from toolcrib.files.content.faithful import FaithfulText
from toolcrib.files.content.kinds import SAMPLE_BYTES, kind_of
from toolcrib.files.content.outline import ending_of
from toolcrib.files.content.outline import outline as line_outline
from toolcrib.files.handles import fingerprint
from toolcrib.files.paths import SafePath
from toolcrib.files.search.globs import Globs
from toolcrib.files.search.scope import scope_of, suspects, walk
from toolcrib.retrieval.chunks import ChunkSize, TextChunk, split_text
from toolcrib.retrieval.entries import IndexEntry
from toolcrib.system import openat
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.cleaner import clean
from toolcrib.text.passages import Heading, outline

MAX_LISTED = 200_000
MAX_TEXT_BYTES = 20_000_000
"""Bytes of a file of plain text or code that is read."""
MAX_TITLE_CHARS = 200
MAX_HEADING_CHARS = 160
MAX_PARTS = 5000
"""Headings or definitions of one file."""
PROSE = frozenset(
    ["", "txt", "text", "md", "markdown", "mdx", "rst", "adoc", "org", "tex", "log", "srt", "vtt"]
)
"""Endings of plain text that is no code."""
MARKDOWN = frozenset(["md", "markdown", "mdx"])
_DATES = ("published", "date", "created", "modified")
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}))?")
_PIPED = re.compile(r"^\|(.+)\|[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was listed. `key` is its real path, `mark` its fingerprint."""

    path: SafePath
    key: str
    mark: str
    size: int
    modified: float


@dataclass(slots=True)
class FileListing:
    """The files of a folder, or one file.

    Attributes:
        prefix: how the keys of all that lies there begin.
        files: those that are wanted, by key, in order.
        others: keys of more files that are there, which the glob leaves out.
        unread: folders that could not be looked into.
        complete: whether none was left out for their number.
    """

    prefix: str
    files: dict[str, FileState] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)
    complete: bool = True


def list_files(path: SafePath, glob: str, check: Checkpoint) -> FileListing:
    """The files at a path without what is hidden, ignored, generated or protected. It blocks.

    Raises:
        NotFound, PathDenied: it cannot be opened.
    """
    with path.open() as handle:
        if handle.kind == "file":
            state = _state(path, handle.absolute, handle.status)
            return FileListing(handle.absolute, {state.key: state})
    scope = scope_of(path)
    wanted = Globs([glob] if glob else [])
    real = scope.real.root.real.rstrip("/")
    prefix = "/".join([real, *scope.real.parts]) + "/"
    listing = FileListing(prefix)
    with scope.real.open() as top:
        for level in walk(scope, top, check, unread=listing.unread):
            for name in level.files:
                if name.startswith(".") and not glob.startswith("."):
                    continue
                key = f"{prefix}{level.prefix}{name}"
                if glob and not wanted.fits(f"{level.prefix}{name}"):
                    listing.others.add(key)
                    continue
                if labelled_kind(name) == "image":
                    continue
                try:
                    status = openat.stat(name, dir_fd=level.fd, follow_symlinks=False)
                except OSError:  # gone by now
                    continue
                listing.files[key] = _state(scope.file(f"{level.prefix}{name}"), key, status)
            if len(listing.files) > MAX_LISTED:
                listing.complete = False
                break
    barred = suspects(scope, [key[len(prefix) :] for key in listing.files])
    for name in barred:
        del listing.files[prefix + name]
    return listing


def _state(path: SafePath, key: str, status: Any) -> FileState:
    return FileState(path, key, fingerprint(status), status.st_size, status.st_mtime)


# What is in a file.


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file with where its parts are.

    Attributes:
        text: all of it.
        kind: `pdf`, `docx`, `code`, `text` ...
        title: what the document calls itself; empty for none.
        date: when it is from, as `time.time()`; 0 for unknown.
        headings: headings, definitions, sheets.
        pages: offset and number of each page.
        unit: what a page is called; empty where there are none.
        notes: what a reader should know.
    """

    text: str
    kind: str
    title: str = ""
    date: float = 0.0
    headings: Sequence[Heading] = ()
    pages: Sequence[tuple[int, int]] = ()
    unit: str = ""
    notes: Sequence[str] = ()


class NoDocument(Exception):
    """The file has no text to index, and nobody expects one: a program, a picture."""


async def read_entry(
    state: FileState, size: ChunkSize, documents: Documents, known_mark: str = ""
) -> IndexEntry | str:
    """A file as an entry of an index; one that cannot be read has no chunks, and says why.

    Args:
        state: the file.
        size: of its chunks.
        documents: reads what is no plain text.
        known_mark: what `entry_mark` gave when it was last read.

    Returns:
        The entry; its new mark alone where its content is the same as then.

    Raises:
        NoDocument: it is none.
        NotFound: it is gone.
        Cancelled: nobody waits any more.
    """
    try:
        data = await in_thread(lambda _: _content(state, documents.max_bytes))
        mark = entry_mark(state, size, blake2b(data, digest_size=12).hexdigest())
        if known_mark.partition("|")[2] == mark.partition("|")[2]:
            return mark
        found = await read_text(data, state.path.name, documents)
        return await in_thread(lambda _: _entry(state, found, size, mark))
    except (NotFound, Cancelled):
        raise
    except ToolError as error:
        # Whoever shows it names the file as it is called there.
        message = error.message.replace(state.path.display, state.path.name)
        facts = {"error": message, "hint": error.hint}
        kind = labelled_kind(state.path.name) or "text"
        mark = entry_mark(state, size, "")
        return IndexEntry(state.key, (), state.path.name, kind, state.modified, mark, (), facts)


def entry_mark(state: FileState, size: ChunkSize, digest: str) -> str:
    """What tells whether a file must be read again: how it looks, its chunks, its content."""
    return f"{state.mark}|{size.chars}-{size.overlap}|{digest}"


def chunk_size_of(mark: str) -> ChunkSize | None:
    """The size of chunks that a mark tells of."""
    parts = mark.split("|")
    if len(parts) != 3:
        return None
    chars, _, overlap = parts[1].partition("-")
    return ChunkSize(int(chars), int(overlap))


def _content(state: FileState, max_bytes: int) -> bytes:
    """All of a file.

    Raises:
        NoDocument: its first bytes are those of a program or a picture.
        TooLarge, NotFound, PathDenied: it cannot be read.
    """
    with state.path.open_read() as handle:
        head = handle.file.read(SAMPLE_BYTES)
    kind = kind_of_document(head, state.path.name)
    is_binary = kind == "image" or (not kind and kind_of(head) is not None)
    # The parts of an office file may be named at its end alone: then the ending tells.
    if (is_binary or not head) and labelled_kind(state.path.name) in ("", "image", "text"):
        raise NoDocument
    return state.path.read_bytes(max_bytes)


async def read_text(data: bytes, name: str, documents: Documents) -> FileText:
    """The text of a file.

    Raises:
        ToolError: it cannot be read.
    """
    kind = kind_of_document(data, name)
    if kind == "text" or (not kind and kind_of(data[:SAMPLE_BYTES]) is None):
        return await in_thread(lambda _: _plain_text(data, name))
    document = await documents.read(data, name=name)
    return await in_thread(lambda _: document_text(document))


def _plain_text(data: bytes, name: str) -> FileText:
    if len(data) > MAX_TEXT_BYTES:
        raise UnsupportedContent(
            f"{name} has {len(data):,} bytes of text, more than {MAX_TEXT_BYTES:,}.",
            hint="search_files finds lines in it.",
        )
    text = FaithfulText.of(data, name).text
    ending = ending_of(name)
    if ending in MARKDOWN:
        headings = outline(text)
        return FileText(text, "text", headings[0].text if headings else "", headings=headings)
    is_code = ending not in PROSE and labelled_kind(name) in ("", "text")
    kind = "code" if is_code else "text"
    return FileText(text, kind, headings=_definitions(text, name))


def _definitions(text: str, name: str) -> list[Heading]:
    """Headings of plain text and definitions of code, by where their lines start."""
    lines = text.split("\n")
    entries = line_outline(lines, name)[:MAX_PARTS]
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    found = []
    for entry in entries:
        title = " ".join(entry.text.split()).strip("#= {:")[:MAX_HEADING_CHARS]
        found.append(Heading(title, entry.level + 1, starts[entry.line - 1]))
    return found


def document_text(document: DocumentText) -> FileText:
    """A document that was read, with its pages and headings as places in one text."""
    parts: list[str] = []
    pages: list[tuple[int, int]] = []
    headings: list[Heading] = []
    at = 0
    for page in document.pages:
        text = clean(page.text).text
        if document.unit:
            pages.append((at, page.number))
        name = f"{page.name}: {_columns(text)}".rstrip(": ") if page.name else ""
        if name:
            headings.append(Heading(name[:MAX_HEADING_CHARS], 1, at))
        lower = 1 if name else 0
        headings += [Heading(h.text, h.level + lower, at + h.start) for h in outline(text)]
        parts.append(text)
        at += len(text) + 2
    notes = [document.diagnostic] if document.diagnostic else []
    return FileText(
        "\n\n".join(parts),
        document.kind,
        document.title,
        _date(document.metadata),
        headings[:MAX_PARTS],
        pages,
        document.unit,
        [*notes, *document.warnings],
    )


def _columns(text: str) -> str:
    """The names of the columns of a table that a text begins with."""
    first = _PIPED.match(text)
    return ", ".join(cell.strip() for cell in first[1].split("|")) if first else ""


def _date(metadata: Mapping[str, Any]) -> float:
    for name in _DATES:
        found = _DAY.search(str(metadata.get(name) or ""))
        if found:
            year, month, day, hour, minute = (int(part or 0) for part in found.groups())
            try:
                return datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp()
            except ValueError:
                continue
    return 0.0


def _entry(state: FileState, found: FileText, size: ChunkSize, mark: str) -> IndexEntry:
    chunks: list[TextChunk] = split_text(found.text, size, found.headings, found.pages)
    facts: dict[str, Any] = {}
    if found.unit:
        facts["unit"] = found.unit
    if found.notes:
        facts["notes"] = [note[:MAX_TITLE_CHARS] for note in found.notes[:3]]
    if not chunks:
        facts["error"] = found.notes[0] if found.notes else "It has no text."
    if found.date:
        facts["dated"] = True
    title = " ".join(found.title.split())[:MAX_TITLE_CHARS]
    name = state.path.name
    # The words of a file's name are searched too: `annual-report_2023.pdf`.
    named = title if title.casefold() in name.casefold() else f"{title} ({name})" if title else ""
    return IndexEntry(
        state.key,
        chunks,
        named or name,
        found.kind,
        found.date or state.modified,
        mark,
        tuple(filter(None, [ending_of(name)])),
        facts,
    )
