"""Markdown as DOCX, by python-docx. Another process, a child, runs this module."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from toolcrib.documents.writers.blocks import (
    PIXEL,
    MarkdownBlock,
    Run,
    blocks_of,
    missing_pictures,
    plain,
    sent,
    title_of,
)

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

MAX_LIST_LEVEL = 3
"""Levels of lists that the template has styles for."""
PAGE_INCHES, HIGHEST_INCHES = 6.0, 8.0
"""What a picture may take of a page."""
CODE_FONT = "Courier New"
_TEMPLATE: list[bytes] = []


def prepare() -> None:
    """Load the library and its template, while files can be opened."""
    import docx

    buffer = io.BytesIO()
    docx.Document().save(buffer)
    _TEMPLATE.append(buffer.getvalue())
    text = b"# one\n\n- two [x](https://e.example/) ![](p)\n\n|a|\n|-|\n|b|"
    create({"title": "", "pictures": [["p", len(PIXEL)]]}, text + PIXEL)


def create(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The document; `request` has `title`."""
    import docx

    document = docx.Document(io.BytesIO(_TEMPLATE[0]))
    text, pictures = sent(request, data)
    blocks = blocks_of(text, {t: p for t, p in pictures.items() if _is_readable(p)})
    properties = document.core_properties
    properties.title = (request["title"] or title_of(blocks))[:255]
    properties.author = properties.comments = ""
    # The template's own dates are years old.
    properties.created = properties.modified = datetime.now(UTC)
    _add_blocks(document, blocks, level=0)
    buffer = io.BytesIO()
    document.save(buffer)
    return {"notes": [], "missing": missing_pictures(blocks)}, buffer.getvalue()


def _is_readable(picture: bytes) -> bool:
    from docx.image.image import Image

    try:
        image = Image.from_blob(picture)
        size = int(image.width), int(image.height)
    except Exception:  # noqa: BLE001 - of a damaged file the library raises anything
        return False
    return min(size) > 0


def _add_blocks(
    document: Document, blocks: Iterable[MarkdownBlock], level: int, style: str = ""
) -> None:
    for block in blocks:
        if block.kind == "heading":
            _add_runs(document.add_heading(level=min(block.level, 9)), block.runs)
        elif block.kind == "text":
            _add_runs(document.add_paragraph(style=style or None), block.runs)
        elif block.kind == "code":
            for line in plain(block.runs).split("\n"):
                document.add_paragraph(style="No Spacing").add_run(line).font.name = CODE_FONT
        elif block.kind == "quote":
            _add_blocks(document, block.items[0], level, "Quote")
        elif block.kind == "list":
            _add_list(document, block, level)
        elif block.kind == "table":
            _add_table(document, block)
        else:
            document.add_paragraph("\u2014" * 3)


def _add_list(document: Document, block: MarkdownBlock, level: int) -> None:
    depth = min(level + 1, MAX_LIST_LEVEL)
    style = f"List {'Number' if block.ordered else 'Bullet'}{f' {depth}' if depth > 1 else ''}"
    for item in block.items:
        first = item[0] if item else None
        if first is not None and first.kind == "text":
            _add_runs(document.add_paragraph(style=style), first.runs)
            item = item[1:]  # noqa: PLW2901 - what follows the first line
        _add_blocks(document, item, level + 1, "List Continue")


def _add_table(document: Document, block: MarkdownBlock) -> None:
    columns = max(map(len, block.rows), default=0)
    if not columns:
        return
    table = document.add_table(rows=len(block.rows), cols=columns, style="Table Grid")
    for number, row in enumerate(block.rows):
        cells = table.rows[number].cells
        for place, runs in enumerate(row):
            paragraph = cells[place].paragraphs[0]
            _add_runs(paragraph, runs, PAGE_INCHES / columns)
            if not number:
                for run in paragraph.runs:
                    run.bold = True
    document.add_paragraph()


def _add_runs(paragraph: Paragraph, runs: Sequence[Run], inches: float = PAGE_INCHES) -> None:
    for run in runs:
        if run.picture:
            _add_picture(paragraph, run, inches)
            continue
        if run.link:
            _add_link(paragraph, run)
            continue
        added = paragraph.add_run(run.text)
        # None is what the style says: a heading is bold without it.
        added.bold, added.italic = run.bold or None, run.italic or None
        added.font.strike = run.strike or None
        if run.code:
            added.font.name = CODE_FONT


def _add_picture(paragraph: Paragraph, run: Run, inches: float) -> None:
    """Put a picture into a line, no wider than so much and no higher than a page."""
    from docx.shared import Inches, Length

    shape = paragraph.add_run().add_picture(io.BytesIO(run.picture))
    share = min(Inches(inches) / shape.width, Inches(HIGHEST_INCHES) / shape.height, 1)
    shape.width, shape.height = Length(int(shape.width * share)), Length(int(shape.height * share))
    shape._inline.docPr.set("descr", run.text)  # noqa: SLF001 - the library has no such thing


def _add_link(paragraph: Paragraph, run: Run) -> None:
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import RGBColor

    added = paragraph.add_run(run.text)
    added.font.color.rgb = RGBColor(0x05, 0x63, 0xC1)
    if run.link.startswith("#"):
        return
    link = OxmlElement("w:hyperlink")
    target = paragraph.part.relate_to(run.link, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    link.set(qn("r:id"), target)
    added._r.addprevious(link)  # noqa: SLF001 - the library has no links of its own
    link.append(added._r)  # noqa: SLF001
