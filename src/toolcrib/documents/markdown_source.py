"""Files as the Markdown that another document is made from: flowing text, without page numbers."""

from __future__ import annotations

import re

from toolcrib.documents.documents import Documents
from toolcrib.documents.file_entries import MARKDOWN, PROSE
from toolcrib.documents.text import DocumentText
from toolcrib.documents.text_formats import fenced_code
from toolcrib.files.content.outline import ending_of

DATA_KINDS = ("json", "yaml", "toml", "xml")
"""Text whose lines are no Markdown, beside code."""
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n(?:[^\n]*\n){1,100}?---[ \t]*\n")
_STRUCTURE = re.compile(
    r"^ {0,3}(?:#{1,6} +\S|[-*+] +\S|\d+[.)] +\S|```|\|.+\|)|!\[|\]\(", re.MULTILINE
)
_MARKS = re.compile(r"([\\`*_\[\]<>|~#])")


async def markdown_source(
    documents: Documents, data: bytes, name: str, deadline: float | None
) -> tuple[str, str]:
    """What a file holds as Markdown, and its title.

    Args:
        documents: reads it.
        data: the whole file.
        name: of the file; its ending says what text it is.
        deadline: a `time.monotonic()` value after which it stops, or None.

    Raises:
        ToolError: as of `Documents.read`.
    """
    document = await documents.read(data, name=name, deadline=deadline)
    if document.kind in DATA_KINDS:
        return fenced_code(document.markdown, document.kind), ""
    if document.kind != "text":
        return _flowing(document), document.title
    text, ending = document.markdown, ending_of(name)
    if ending in MARKDOWN:
        return _FRONT_MATTER.sub("", text), document.title
    if ending not in PROSE:
        return fenced_code(text, ending), ""
    return (text if _STRUCTURE.search(text) else _plain_lines(text)), document.title


def _flowing(document: DocumentText) -> str:
    """Pages one after the other; a sheet under its name."""
    names = document.unit == "sheet"
    return "\n\n".join(
        f"## {page.name}\n\n{page.text}" if names and page.name else page.text
        for page in document.pages
    ).strip()


def _plain_lines(text: str) -> str:
    """Plain text with its lines, in which no character means anything."""
    lines = [_MARKS.sub(r"\\\1", line.strip()) for line in text.splitlines()]
    followed = zip(lines, [*lines[1:], ""], strict=True)
    return "\n".join(f"{line}\\" if line and after else line for line, after in followed)
