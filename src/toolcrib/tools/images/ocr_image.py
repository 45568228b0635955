"""`ocr_image`: the text in a picture, with boxes and confidence."""

from __future__ import annotations

from typing import Annotated

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, other_names, tool
from toolcrib.documents.ocr import Ocr, OcrText, language_of
from toolcrib.files.paths import WorkspacePath
from toolcrib.images.pictures import DESCRIBE, read_picture, run

UNSURE = 70.0
"""A confidence below which the reader is warned."""


@tool(
    group="images",
    rights=READ,
    keywords=("picture", "scan", "screenshot", "recognize", "tesseract", "extract", "photo"),
    aliases=("image_to_text", "read_text_from_image", "extract_text_from_image"),
    argument_aliases=other_names(
        path=("image_path", "file_path", "file"), language=("lang", "languages")
    ),
)
async def ocr_image(
    path: WorkspacePath,
    language: Annotated[str, Param("As deu+eng.")] = "",
    boxes: Annotated[bool, Param("Where each line is.")] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Read the text in a picture.

    By tesseract, where it is installed with that language; else by the extra ocr for English
    and Chinese. Pages of PDF are read by read_document. Boxes are x,y width x height in pixels.
    """
    content, _ = await read_picture(path, ctx)
    await run(DESCRIBE, {"position": False}, content, ctx)  # refuses what is no picture
    wanted = language_of(language or ctx.config.documents.ocr_language)
    found = await ctx.use(Ocr).read(content, wanted, ctx.deadline, rapid=True)
    if not found.text.strip():
        raise NoResults(
            f"{path.display} has no text that {found.engine} can read as {wanted}.",
            hint="Is it another language? A larger or sharper picture may help.",
        )
    facts = {
        "text": found.text,
        "confidence": round(found.confidence, 1),
        "engine": found.engine,
        "language": wanted,
        "words": len(found.text.split()),
        "lines": [
            {"text": line.text, "confidence": round(line.confidence, 1), "box": list(line.box)}
            for line in found.lines
        ],
    }
    return Result("\n".join(_lines(found, boxes=boxes)), facts, private=True)


def _lines(found: OcrText, *, boxes: bool) -> list[str]:
    head = f"Read by {found.engine} ({found.language}), confidence {found.confidence:.0f} %"
    unsure = sum(line.confidence < UNSURE for line in found.lines)
    head += f"; {unsure} of {len(found.lines)} lines are unsure." if unsure else "."
    if not boxes:
        return [head, "", found.text]
    return [
        head,
        *(
            f"{x},{y} {width} x {height} {line.confidence:.0f} %: {line.text}"
            for line in found.lines
            for x, y, width, height in [line.box]
        ),
    ]
