"""Codes in pictures, and pictures made fit for a model. Runs in a worker's child."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from PIL import Image

from toolcrib.files.content.pixels import (
    eight_bit,
    fitted,
    load_codecs,
    on_white,
    open_picture,
    preview,
)

MAX_CODES = 100
LARGE_SIDE = 3000
"""A picture is looked at this small too: codes in large photographs are found sooner."""


def prepare() -> None:
    """Load the codecs, and the reader where it is installed."""
    load_codecs()
    with suppress(ImportError):
        import zxingcpp

        zxingcpp.read_barcodes(Image.new("L", (32, 32), 255))


def read(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The codes of a picture: kind, text, and where they are.

    Raises:
        TooLarge, UnsupportedContent: of the picture.
    """
    import zxingcpp

    del request
    image = on_white(eight_bit(open_picture(data))).convert("L")
    for side in dict.fromkeys((max(image.size), min(max(image.size), LARGE_SIDE), 800)):
        small = fitted(image, side)
        scale = image.width / small.width
        codes = zxingcpp.read_barcodes(small)
        if codes:
            return {"codes": [_code(code, scale) for code in codes[:MAX_CODES]]}, b""
    return {"codes": []}, b""


def _code(code: Any, scale: float) -> dict[str, Any]:
    place = code.position
    corners = [place.top_left, place.top_right, place.bottom_right, place.bottom_left]
    across, down = (
        [corner.x * scale for corner in corners],
        [corner.y * scale for corner in corners],
    )
    box = [min(across), min(down), max(across) - min(across), max(down) - min(down)]
    return {
        "kind": str(code.format).rpartition(".")[2],
        "text": code.text,
        "box": [round(number) for number in box],
    }


def small(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """A picture no larger than `side`, as a model is sent it, and its media type.

    Raises:
        TooLarge, UnsupportedContent: of the picture.
    """
    image = open_picture(data)
    content, media_type = preview(eight_bit(image), request["side"])
    return {"media_type": media_type, "old": list(image.size)}, content
