"""Fonts of the machine, for text in pictures. Runs in a worker's child."""

from __future__ import annotations

from functools import cache, lru_cache
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
_contents: list[bytes] = []


def load() -> None:
    """Read one font of each kind, while files can still be opened."""
    for places in FONT_PLACES:
        found = next((Path(place) for place in places if Path(place).is_file()), None)
        if found is not None:
            _contents.append(found.read_bytes())


@cache
def _fonts(size: int) -> list[tuple[Font, bytes]]:
    """The fonts in a size, each with how it draws what it has not."""
    found = [ImageFont.truetype(BytesIO(content), size) for content in _contents]
    if not found and isinstance(own := ImageFont.load_default(size), Font):
        found = [own]
    return [(font, bytes(font.getmask("\U0010fffd"))) for font in found]


def stretches(text: str, size: int, missing: str = "") -> list[tuple[str, Font]]:
    """A line in parts, each with a font that has all its characters.

    Args:
        text: the line.
        size: of the letters, in pixels.
        missing: stands for characters that no font has.

    Raises:
        BadInput: no font has one, and nothing stands for it.
    """
    fonts = _fonts(size)
    found: list[tuple[str, Font]] = []
    for given in text:
        char, usable = given, [font for font, none in fonts if _has(font, given, none)]
        if not usable and missing:
            char, usable = missing, [fonts[0][0]]
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


@lru_cache(8192)
def _has(font: Font, char: str, missing: bytes) -> bool:
    return char.isspace() or bytes(font.getmask(char)) != missing
