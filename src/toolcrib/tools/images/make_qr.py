"""`make_qr`: a QR code of a text."""

from __future__ import annotations

from io import BytesIO
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, TooLarge
from toolcrib.core.result import Image, Result
from toolcrib.core.tool import WRITE, Param, other_names, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import Step
from toolcrib.files.paths import WritablePath
from toolcrib.images.pictures import need_extra
from toolcrib.system.threads import in_thread
from toolcrib.text.display import size_of

BORDER = 4
"""Modules of white around it, as readers want it."""
MAX_BYTES = 2953


@tool(
    group="images",
    rights=WRITE,
    keywords=("qr", "code", "barcode", "generate", "create", "link", "wifi"),
    aliases=("generate_qr", "create_qr", "qr_code", "generate_qr_code"),
    argument_aliases=other_names(
        text=("data", "content", "url"), output=("path", "output_path"), size=("scale",)
    ),
)
async def make_qr(
    text: str,
    output: Annotated[WritablePath, Param("PNG or SVG.")],
    size: Annotated[int, Param("Pixels of a module.", minimum=1, maximum=60, unlisted=True)] = 8,
    *,
    ctx: Ctx,
) -> Result:
    """Make a QR code of a text or a link.

    The picture is shown and saved. The code corrects as many errors as its size allows.
    """
    need_extra("segno", "Making codes")
    kind = output.name.rpartition(".")[2].lower()
    if kind not in ("png", "svg"):
        raise BadInput(f"{output.name} is no picture.", hint="End the name in .png or .svg.")
    if not text:
        raise BadInput("There is no text.", hint="Give the text or the link of the code.")
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise TooLarge(
            f"A code holds {MAX_BYTES:,} bytes; the text has {len(text.encode()):,}.",
            hint="Shorten it, or put it on a page and make a code of the link.",
        )
    content, picture, facts = await in_thread(lambda _: _made(text, kind, size), ctx.deadline)
    step = Step(make_qr.name)
    step.write(output, content)
    applied = await ctx.use(Changes).apply(step, ctx)
    line = (
        f"Saved to {applied.place(output)}: {size_of(len(content))}, version {facts['version']}, "
        f"error correction {facts['error']}, {facts['pixels']} x {facts['pixels']} pixels."
    )
    facts |= {"path": output.display, "step": applied.step, "bytes": len(content)}
    return Result(line, facts, (Image(picture, "image/png"),))


def _made(text: str, kind: str, size: int) -> tuple[bytes, bytes, dict[str, Any]]:
    import segno

    try:
        code = segno.make_qr(text)
    except segno.DataOverflowError:
        raise TooLarge("The text does not fit into a code.", hint="Shorten it.") from None
    picture, drawing = BytesIO(), BytesIO()
    code.save(picture, kind="png", scale=size, border=BORDER)
    code.save(drawing, kind="svg", scale=size, border=BORDER)
    facts = {
        "version": code.version,
        "error": code.error,
        "pixels": code.symbol_size(scale=size, border=BORDER)[0],
    }
    content = drawing.getvalue() if kind == "svg" else picture.getvalue()
    return content, picture.getvalue(), facts
