"""A picture made ready for OCR, or read by rapidocr. Another process, a child, runs this module."""

from __future__ import annotations

from typing import Any

from PIL import Image, ImageFilter, ImageOps, ImageStat

from toolcrib.files.content.pixels import eight_bit, load_codecs, on_white, open_picture, saved

MAX_PAGE_PIXELS = 40_000_000
DARK = 100
"""A mean gray below it is light text on a dark ground."""


def prepare() -> None:
    """Load the codecs."""
    load_codecs()
    ready(
        {"scale": 2.0, "median": True, "quarters": 1, "max_enlarged": 9},
        saved(Image.new("RGB", (8, 8)), "PNG"),
    )


def ready(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """A picture upright, in gray, dark on light, `scale` times as large, as PGM.

    `median` takes single specks out, `quarters` turns it clockwise, and it is enlarged to
    `max_enlarged` pixels at most. The answer has the size that it had, and the scale.

    Raises:
        TooLarge, UnsupportedContent: of the picture.
    """
    # Nothing is cut of the dark end: of a page with few words, that is the words.
    gray = on_white(eight_bit(open_picture(data))).convert("L")
    image = ImageOps.autocontrast(gray, cutoff=(0, 0.5))
    width, height = image.size
    if ImageStat.Stat(image).mean[0] < DARK:
        image = ImageOps.invert(image)
    scale = min(float(request["scale"]), (MAX_PAGE_PIXELS / (width * height)) ** 0.5)
    if scale > 1:
        scale = max(1.0, min(scale, (request["max_enlarged"] / (width * height)) ** 0.5))
    if request["median"]:
        image = image.filter(ImageFilter.MedianFilter(3))
    if scale != 1:
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        image = image.resize(size, Image.Resampling.LANCZOS)
    if request["quarters"]:
        image = image.rotate(-90 * request["quarters"], expand=True)
    return {"width": width, "height": height, "scale": scale}, saved(image, "PPM")
