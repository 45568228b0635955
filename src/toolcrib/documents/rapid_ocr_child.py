"""Text of pictures by rapidocr, whose models are in its wheel. A child runs this module."""

from __future__ import annotations

import logging
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from toolcrib.files.content.pixels import eight_bit, load_codecs, on_white, open_picture

MAX_SIDE = 4000
_ENGINE: list[Any] = []


def prepare() -> None:
    """Load the models and use them once: later no file can be opened."""
    import numpy as np
    from rapidocr import RapidOCR  # type: ignore[import-not-found,unused-ignore]

    logging.disable(logging.CRITICAL)
    load_codecs()
    engine = RapidOCR()
    page = Image.new("RGB", (320, 64), "white")
    ImageDraw.Draw(page).text((10, 10), "Words 123", "black", ImageFont.load_default(30))
    engine(np.asarray(page))
    _ENGINE.append(engine)


def recognise(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """The lines of a picture, each with its confidence and its box.

    Raises:
        TooLarge, UnsupportedContent: of the picture.
    """
    del request
    import numpy as np

    image = on_white(eight_bit(open_picture(data))).convert("RGB")
    scale = min(1.0, MAX_SIDE / max(image.size))
    if scale < 1:
        image = image.resize((round(image.width * scale), round(image.height * scale)))
    found = _ENGINE[0](np.asarray(image)[:, :, ::-1], use_cls=False)
    lines = []
    texts = found.txts if found.txts is not None else ()
    for text, score, box in zip(texts, found.scores or (), _boxes(found.boxes), strict=False):
        lines.append([str(text), float(score) * 100, *(round(n / scale) for n in box)])
    return {"lines": lines}, b""


def _boxes(corners: Any) -> list[tuple[float, float, float, float]]:
    """Left, top, width and height of each four corners."""
    found = []
    for box in corners if corners is not None else ():
        across, down = [float(p[0]) for p in box], [float(p[1]) for p in box]
        found.append((min(across), min(down), max(across) - min(across), max(down) - min(down)))
    return found
