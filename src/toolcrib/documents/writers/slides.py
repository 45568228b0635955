"""Markdown as PPTX, by python-pptx. Another process, a child, runs this module.

Each heading of the first two levels begins a slide; what stands in a quote becomes the notes of
the speaker.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolcrib.documents.writers.blocks import (
    PIXEL,
    MarkdownBlock,
    Run,
    Runs,
    blocks_of,
    missing_pictures,
    plain,
    sent,
)

if TYPE_CHECKING:
    from pptx.presentation import Presentation
    from pptx.slide import Slide

TITLE_LAYOUT, CONTENT_LAYOUT, TITLE_ONLY_LAYOUT = 0, 1, 5
SLIDE_LEVELS = 2
"""Headings of so many levels begin a slide."""
MAX_TEXT_LEVEL = 4
MARGIN_INCHES = 0.5
ROW_INCHES = 0.4
LEAST_PICTURE_INCHES = 1.5
CODE_FONT = "Courier New"
# How many lines a slide has room for at a size; smaller text for more.
SIZES = ((8, 24), (12, 20), (16, 16), (24, 12), (1_000_000, 9))
LINE_CHARS = 60
_TEMPLATE: list[bytes] = []


@dataclass(slots=True)
class SlideContent:
    """One slide: its title, its lines with their levels, its tables and pictures, its notes."""

    title: Runs
    lines: list[tuple[int, Runs]] = field(default_factory=list)
    tables: list[MarkdownBlock] = field(default_factory=list)
    pictures: Runs = ()
    notes: list[str] = field(default_factory=list)


def prepare() -> None:
    """Load the library and its template, while files can be opened."""
    import pptx

    buffer = io.BytesIO()
    template = pptx.Presentation()
    # The master of all notes is made from files of the library.
    template.slides.add_slide(template.slide_layouts[TITLE_LAYOUT]).notes_slide  # noqa: B018
    template.save(buffer)
    _TEMPLATE.append(buffer.getvalue())
    _remember_notes()
    text = b"# one\n\n- two ![](p)\n\n> note\n\n# three\n\n|a|\n|-|\n|b|"
    create({"title": "", "pictures": [["p", len(PIXEL)]]}, text + PIXEL)


def _remember_notes() -> None:
    """Let the library make notes from memory: it reads a file for those of each slide."""
    elements: Any = import_module("pptx.oxml.slide")
    notes = elements.parse_from_template("notes")
    elements.parse_from_template = lambda _name: deepcopy(notes)


def create(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The presentation; `request` has `title`."""
    import pptx

    presentation = pptx.Presentation(io.BytesIO(_TEMPLATE[0]))
    _drop_first_slide(presentation)
    text, pictures = sent(request, data)
    blocks = blocks_of(text, {t: p for t, p in pictures.items() if _is_readable(p)})
    slides = list(map(_with_pictures, _slides(blocks)))
    properties = presentation.core_properties
    properties.title = request["title"] or (plain(slides[0].title)[:255] if slides else "")
    properties.author = ""
    # The template's own dates are years old.
    properties.created = properties.modified = datetime.now(UTC)
    for number, content in enumerate(slides):
        _add_slide(presentation, content, first=not number)
    buffer = io.BytesIO()
    presentation.save(buffer)
    return {"notes": [], "missing": missing_pictures(blocks)}, buffer.getvalue()


def _slides(blocks: Sequence[MarkdownBlock]) -> Iterator[SlideContent]:
    current: SlideContent | None = None
    for block in blocks:
        begins = block.kind == "heading" and block.level <= SLIDE_LEVELS
        if begins or block.kind == "rule":  # a rule and a heading begin one slide together
            if current is not None:
                yield current
            current = SlideContent(block.runs) if begins else None
            continue
        if current is None:
            current = SlideContent(())
        if block.kind == "table":
            current.tables.append(block)
        elif block.kind == "quote":
            current.notes += [
                plain(line) for inner in block.items[0] for _, line in _lines(inner, 0)
            ]
        else:
            current.lines += _lines(block, 0)
    if current is not None:
        yield current


def _is_readable(picture: bytes) -> bool:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(picture)) as image:
            return image.format in ("PNG", "JPEG")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return False


def _with_pictures(slide: SlideContent) -> SlideContent:
    """A slide whose pictures stand beside its text and tables, not in them."""
    cells = [cell for table in slide.tables for row in table.rows for cell in row]
    texts = [slide.title, *(runs for _, runs in slide.lines), *cells]
    slide.pictures = tuple(run for runs in texts for run in runs if run.picture)
    if slide.pictures:
        slide.title = _without_pictures(slide.title)
        lines = [(level, _without_pictures(runs)) for level, runs in slide.lines]
        slide.lines = [(level, runs) for level, runs in lines if plain(runs).strip()]
    return slide


def _without_pictures(runs: Runs) -> Runs:
    return tuple(run for run in runs if not run.picture)


def _lines(block: MarkdownBlock, level: int) -> Iterator[tuple[int, Runs]]:
    if block.kind == "heading":
        yield level, tuple(Run(run.text, bold=True) for run in block.runs)
    elif block.kind == "text":
        yield level, block.runs
    elif block.kind == "code":
        for line in plain(block.runs).split("\n"):
            yield level, (Run(line, code=True),)
    else:
        for number, item in enumerate(block.items, block.start):
            for place, inner in enumerate(item):
                lines = _lines(inner, min(level + bool(place), MAX_TEXT_LEVEL))
                if block.ordered and not place:
                    depth, runs = next(lines, (level, ()))
                    yield depth, (Run(f"{number}. "), *runs)
                yield from lines


def _add_slide(presentation: Presentation, content: SlideContent, *, first: bool) -> None:
    beside = bool(content.tables or content.pictures)
    only_title = not beside and all(level == 0 for level, _ in content.lines)
    opening = first and only_title and len(content.lines) <= 2
    layout = TITLE_LAYOUT if opening else CONTENT_LAYOUT if content.lines else TITLE_ONLY_LAYOUT
    slide = presentation.slides.add_slide(presentation.slide_layouts[layout])
    if slide.shapes.title is not None:
        _fill(slide.shapes.title.text_frame, [(0, content.title)], 0)
    top = 0
    if content.lines:
        body = slide.placeholders[1]
        lines = sum(1 + len(plain(runs)) // LINE_CHARS for _, runs in content.lines)
        size = next(size for limit, size in SIZES if lines <= limit)
        _fill(body.text_frame, content.lines, 0 if opening else size)
        if beside:
            left, top, width, height = body.left, body.top, body.width, body.height // 2
            # All four: where one is set, the library takes the others for nothing.
            body.left, body.top, body.width, body.height = left, top, width, height
            top += height
    elif layout == TITLE_LAYOUT:
        empty = slide.placeholders[1]
        empty.element.getparent().remove(empty.element)
    for table in content.tables:
        top = _add_table(presentation, slide, table, top)
    _add_pictures(presentation, slide, content.pictures, top)
    if content.notes:
        slide.notes_slide.notes_text_frame.text = "\n".join(content.notes)


def _fill(frame: Any, lines: Sequence[tuple[int, Runs]], size: int) -> None:
    from pptx.util import Pt

    for number, (level, runs) in enumerate(lines):
        paragraph = frame.add_paragraph() if number else frame.paragraphs[0]
        paragraph.level = level
        for run in runs:
            added = paragraph.add_run()
            added.text = run.text.replace("\n", " ")
            added.font.bold, added.font.italic = run.bold or None, run.italic or None
            if size:
                added.font.size = Pt(size)
            if run.code:
                added.font.name = CODE_FONT
            if run.link and not run.link.startswith("#"):
                added.hyperlink.address = run.link


def _add_table(presentation: Presentation, slide: Slide, block: MarkdownBlock, top: int) -> int:
    """Put a table on a slide; where it ends."""
    from pptx.util import Inches, Length, Pt

    columns = max(map(len, block.rows), default=0)
    if not columns:
        return top
    margin = Inches(MARGIN_INCHES)
    top = top or Inches(1.6)
    width = Length((presentation.slide_width or Inches(10)) - 2 * margin)
    height = Length(Inches(ROW_INCHES) * len(block.rows))
    area = (margin, Length(top), width, height)
    frame = slide.shapes.add_table(len(block.rows), columns, *area)
    for number, row in enumerate(block.rows):
        for place, runs in enumerate(row):
            text = frame.table.cell(number, place).text_frame
            _fill(text, [(0, runs)], 0)
            for run in text.paragraphs[0].runs:
                run.font.size = Pt(14 if len(block.rows) <= 10 else 10)
    return int(top + height + Inches(0.2))


def _add_pictures(presentation: Presentation, slide: Slide, pictures: Runs, top: int) -> None:
    """Put pictures side by side on what is left of a slide, each as large as fits."""
    from pptx.util import Inches, Length

    if not pictures:
        return
    margin = int(Inches(MARGIN_INCHES))
    width, height = presentation.slide_width or 0, presentation.slide_height or 0
    top = min(top or int(Inches(1.6)), height - int(Inches(LEAST_PICTURE_INCHES)) - margin)
    place = (width - margin) // len(pictures)
    for number, run in enumerate(pictures):
        shape: Any = slide.shapes.add_picture(io.BytesIO(run.picture), Length(0), Length(0))
        share = min(0.9 * place / shape.width, (height - margin - top) / shape.height)
        shape.width, shape.height = int(shape.width * share), int(shape.height * share)
        shape.left, shape.top = margin + number * place, top
        shape._element.nvPicPr.cNvPr.set("descr", run.text)  # noqa: SLF001 - it has no such thing


def _drop_first_slide(presentation: Presentation) -> None:
    """Take out the slide that the template has for its notes."""
    listed = presentation.slides._sldIdLst  # noqa: SLF001 - the library cannot remove slides
    presentation.part.drop_rel(listed[0].rId)
    del listed[0]
