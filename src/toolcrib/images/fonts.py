"""Fonts of the machine, for text in pictures. Runs in a worker's child."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import ImageFont

from toolcrib.core.errors import BadInput

Font = ImageFont.FreeTypeFont
# A font for most scripts and one for those of East Asia, wherever systems keep them.
FONT_PLACES = (
    (
        "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
        "/usr/share/fonts/TTF/DejaVuSans.ttf",
        "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
        "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
        "/System/Library/Fonts/Supplemental/Arial Unicode.ttf",
        "C:/Windows/Fonts/arial.ttf",
    ),
    (
        "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
        "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
        "/usr/share/fonts/google-noto-sans-cjk-fonts/NotoSansCJK-Regular.ttc",
        "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
        "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
        "/System/Library/Fonts/PingFang.ttc",
        "/System/Library/Fonts/STHeiti Light.ttc",
        "C:/Windows/Fonts/msyh.ttc",
        "C:/Windows/Fonts/simsun.ttc",
    ),
)
_fonts: list[bytes] = []


def load() -> None:
    """Read one font of each kind, while files can still be opened."""
    for places in FONT_PLACES:
        found = next((Path(place) for place in places if Path(place).is_file()), None)
        if found is not None:
            _fonts.append(found.read_bytes())


def stretches(text: str, size: int) -> list[tuple[str, Font]]:
    """A line in parts, each with a font that has all its characters.

    Raises:
        BadInput: no font has them.
    """
    fonts = [ImageFont.truetype(BytesIO(content), size) for content in _fonts]
    if not fonts and isinstance(own := ImageFont.load_default(size), Font):
        fonts = [own]
    missing = [bytes(font.getmask("\U0010fffd")) for font in fonts]
    found: list[tuple[str, Font]] = []
    for char in text:
        usable = [f for f, none in zip(fonts, missing, strict=True) if _has(f, char, none)]
        if not usable:
            raise BadInput(
                f"No font on this machine has the character {char}.",
                hint="Leave it out, or have a font such as Noto Sans CJK installed.",
            )
        if found and (found[-1][1] in usable):
            found[-1] = (found[-1][0] + char, found[-1][1])
        else:
            found.append((char, usable[0]))
    return found


def _has(font: Font, char: str, missing: bytes) -> bool:
    return char.isspace() or bytes(font.getmask(char)) != missing
