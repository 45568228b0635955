"""Rendered pages whose text is known, for OCR."""

from __future__ import annotations

from io import BytesIO

from PIL import Image, ImageDraw, ImageFont


def page(text: str, size: int = 28, width: int = 900) -> Image.Image:
    """Lines of black text on white, in the font that Pillow brings."""
    font = ImageFont.load_default(size)
    lines = text.splitlines()
    image = Image.new("L", (width, 80 + int(size * 1.6) * len(lines)), 255)
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((40, 40 + number * int(size * 1.6)), line, 0, font)
    return image


def png(image: Image.Image) -> bytes:
    buffer = BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
