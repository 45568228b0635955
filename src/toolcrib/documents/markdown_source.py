"""Files as the Markdown that another document is made from: flowing text, without page numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from toolcrib.core.errors import TooLarge
from toolcrib.documents.documents import Documents
from toolcrib.documents.file_entries import MARKDOWN, PROSE
from toolcrib.documents.text import DocumentText
from toolcrib.documents.text_formats import fenced_code
from toolcrib.files.content.outline import ending_of

DATA_KINDS = ("json", "yaml", "toml", "xml")
"""Text whose lines are no Markdown, beside code."""
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n(?:[^\n]*\n){1,100}?---[ \t]*\n")
_STRUCTURE = re.compile(
    r"^ {0,3}(?:#{1,6} +\S|[-*+] +\S|\d+[.)] +\S|```|\|.+\||(?:=+|-+)[ \t]*$)|!\[|\]\(",
    re.MULTILINE,
)
_MARKS = re.compile(r"([\\`*_\[\]<>|~#&])")
INDENT = "\u00a0"


@dataclass(frozen=True, slots=True)
class MarkdownSource:
    """What a file holds.

    Attributes:
        text: as Markdown.
        title: of the document; "" for none.
        names_pictures: whether its pictures are files that it names, and not within it.
        notes: what is missing of it, a line each.
    """

    text: str
    title: str = ""
    names_pictures: bool = False
    notes: tuple[str, ...] = ()


async def markdown_source(
    documents: Documents, data: bytes, name: str, deadline: float | None
) -> MarkdownSource:
    """What a file holds as Markdown.

    Args:
        documents: reads it.
        data: the whole file.
        name: of the file; its ending says what text it is.
        deadline: a `time.monotonic()` value after which it stops, or None.

    Raises:
        TooLarge: not all pages can be read at once.
        ToolError: as of `Documents.read`.
    """
    document = await documents.read(data, name=name, deadline=deadline)
    if document.rest:
        raise TooLarge(
            f"Only pages up to {document.pages[-1].number:,} of {name} could be read in time.",
            hint="Convert a part of it: read_document has it in parts, with pages.",
        )
    notes = tuple(filter(None, [*document.warnings, document.diagnostic]))
    if document.kind in DATA_KINDS:
        return MarkdownSource(fenced_code(document.markdown, document.kind), notes=notes)
    if document.kind != "text":
        pictures = document.kind == "html"
        return MarkdownSource(_flowing(document), document.title, pictures, notes)
    text, ending = document.markdown, ending_of(name)
    if ending not in PROSE:
        return MarkdownSource(fenced_code(text, ending), notes=notes)
    if ending in MARKDOWN:
        text = _FRONT_MATTER.sub("", text)
    elif not _STRUCTURE.search(text):
        text = _plain_lines(text)
    return MarkdownSource(text, document.title, names_pictures=True, notes=notes)


def _flowing(document: DocumentText) -> str:
    """Pages one after the other; a sheet under its name."""
    names = document.unit == "sheet"
    return "\n\n".join(
        f"## {page.name}\n\n{page.text}" if names and page.name else page.text
        for page in document.pages
    ).strip()


def _plain_lines(text: str) -> str:
    """Plain text with its lines, in which no character means anything."""
    lines = [_plain_line(line.expandtabs(4).rstrip()) for line in text.splitlines()]
    followed = zip(lines, [*lines[1:], ""], strict=True)
    return "\n".join(f"{line}\\" if line and after else line for line, after in followed)


def _plain_line(line: str) -> str:
    words = line.lstrip(" ")
    return INDENT * (len(line) - len(words)) + _MARKS.sub(r"\\\1", words)
