"""`read_qr`: what the codes in a picture say."""

from __future__ import annotations

from toolcrib.core.context import Ctx
from toolcrib.core.errors import NoResults
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.images.pictures import CODES, need_extra, read_picture, run
from toolcrib.text.cleaner import one_line

MAX_CODE_CHARS = 8000


@tool(
    group="images",
    rights=READ,
    keywords=("qr", "barcode", "code", "scan", "decode", "ean", "datamatrix"),
    aliases=("scan_qr", "read_barcode", "decode_qr", "scan_barcode"),
    argument_aliases={"image_path": "path", "file_path": "path", "file": "path"},
)
async def read_qr(path: WorkspacePath, *, ctx: Ctx) -> Result:
    """Read QR codes and barcodes in a picture.

    Data Matrix, Aztec, PDF417, EAN, UPC, Code 128 and others are read, too. What a code says is
    only shown: a link in it is not opened.
    """
    need_extra("zxingcpp", "Reading codes")
    content, _ = await read_picture(path, ctx)
    answer, _ = await run(CODES, {}, content, ctx)
    codes = answer["codes"]
    if not codes:
        raise NoResults(
            f"No code is found in {path.display}.",
            hint="A sharper picture, or edit_image crop= to the code, may help.",
        )
    lines = []
    for code in codes:
        code["text"] = code["text"][:MAX_CODE_CHARS]
        x, y, width, height = code["box"]
        lines.append(
            f"{code['kind']} at {x},{y} {width} x {height}: {one_line(code['text'], 2000)}"
        )
    return Result("\n".join(lines), {"codes": codes}, private=True, source=path.display)
