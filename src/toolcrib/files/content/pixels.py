"""Pixels of whatever picture a file holds, bounded by its header. Runs in a worker's child."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import cast

from PIL import Image, ImageCms, ImageOps, TiffImagePlugin, UnidentifiedImageError

from toolcrib.core.errors import TooLarge, UnsupportedContent

FORMATS = (
    *("PNG", "JPEG", "GIF", "WEBP", "BMP", "DIB", "TIFF", "ICO", "AVIF", "JPEG2000"),
    "PPM",
)
"""What is decoded. Others run programs (EPS), or nothing in the bytes says that they are meant."""
MAX_PIXELS = 120_000_000
MAX_SIDE = 60_000
MAX_ALL_PIXELS = 240_000_000
"""Of all the frames of an animation together."""
_DAMAGES = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    LookupError,
    TypeError,
    ArithmeticError,
    AssertionError,
    struct.error,
    zlib.error,
)
"""What Pillow's decoders raise where the bytes are not as they should be."""


def load_codecs() -> None:
    """Load all that opens and saves, and use it once: later no file can be opened."""
    Image.MAX_IMAGE_PIXELS = None  # judged here, with a message of our own
    Image.init()
    ImageCms.createProfile("sRGB")
    for kind in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "ICO", "AVIF"):
        if kind in Image.SAVE:
            buffer = BytesIO()
            Image.new("RGB", (16, 16)).save(buffer, kind)
            Image.open(BytesIO(buffer.getvalue())).load()


def open_picture(data: bytes) -> Image.Image:
    """A picture of which only the header is read.

    Raises:
        UnsupportedContent: it is none that is decoded.
        TooLarge: its header says that it has more pixels than are decoded.
    """
    if is_drawing(data):
        raise UnsupportedContent(
            "It is an SVG, a drawing without pixels.",
            hint="read_file shows its text; browser_screenshot makes a picture of it.",
        )
    try:
        image = Image.open(BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError:
        raise UnsupportedContent(
            "It is no picture of a kind that is decoded.",
            hint="Kinds: PNG, JPEG, GIF, WebP, AVIF, TIFF, BMP, ICO, JPEG 2000, PPM.",
        ) from None
    except _DAMAGES as error:
        raise damaged(error) from None
    width, height = image.size
    if width * height > MAX_PIXELS or max(width, height) > MAX_SIDE:
        raise TooLarge(
            f"The picture has {width:,} x {height:,} pixels, more than are decoded.",
            hint=f"Use one of up to {MAX_PIXELS // 1_000_000} million pixels.",
            width=width,
            height=height,
        )
    return image


def is_drawing(data: bytes) -> bool:
    """Whether a file is SVG, by how it begins."""
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"<") and b"<svg" in data[:65_536]


def damaged(error: BaseException) -> UnsupportedContent:
    """The refusal of a picture whose bytes are not as they should be."""
    reason = " ".join(str(error).split())[:120] or type(error).__name__
    return UnsupportedContent(
        f"The picture is damaged or cut off: {reason}.",
        hint="Get the file anew; a viewer may still show a part of it.",
    )


@contextmanager
def decoding() -> Iterator[None]:
    """Around work that decodes.

    Raises:
        UnsupportedContent: the picture is damaged.
    """
    try:
        yield
    except MemoryError:
        raise
    except _DAMAGES as error:
        raise damaged(error) from None


def frame_count(image: Image.Image) -> int:
    """Frames of an animation, or pages; 1 for a plain picture."""
    if image.format == "MPO":  # a photograph with a second view of it
        return 1
    return int(getattr(image, "n_frames", 1))


def is_animation(image: Image.Image) -> bool:
    """Whether its frames are shown one after the other, which the pages of a TIFF are not."""
    return image.format != "TIFF" and frame_count(image) > 1


def bits_of(image: Image.Image, data: bytes) -> int:
    """Bits of a channel, as the file says; Pillow shows colours of 16 bits as 8."""
    if image.format == "PNG":
        return data[24]
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        found = image.tag_v2.get(258, 8)
        return int(max(found) if isinstance(found, tuple) else found)
    return {"1": 1, "F": 32, "I": 32}.get(image.mode, 16 if "16" in image.mode else 8)


def eight_bit(image: Image.Image) -> Image.Image:
    """Upright as a viewer shows it, in L, RGB or RGBA, whatever it was."""
    with decoding():
        image.load()
        upright: Image.Image = ImageOps.exif_transpose(image)
        return _plain_mode(upright)


def _plain_mode(image: Image.Image) -> Image.Image:
    mode = image.mode
    if mode in ("L", "RGB", "RGBA"):
        if mode != "RGBA" and "transparency" in image.info:
            return image.convert("RGBA")
        return image
    if mode == "1":
        return image.convert("L")
    if mode.startswith("I") or mode == "F":
        return _scaled_gray(image)
    if mode in ("LA", "La", "PA", "RGBa") or "transparency" in image.info:
        return image.convert("RGBA")
    if mode == "CMYK" and image.info.get("icc_profile"):
        return _by_profile(image)
    return image.convert("RGB")


def _scaled_gray(image: Image.Image) -> Image.Image:
    """Gray of 16 bits or more as 8; Pillow's own conversion would cut all bright parts off."""
    wide = image.convert("F")
    low, high = (float(value) for value in cast("tuple[float, float]", wide.getextrema()))
    if image.mode.startswith("I") and low >= 0 and high <= 65_535:
        low, high = 0.0, 65_535.0 if high > 255 or "16" in image.mode else 255.0
    scale = 255.0 / (high - low) if high > low else 0.0
    return wide.point(lambda value: value * scale + (-low * scale)).convert("L")


def _by_profile(image: Image.Image) -> Image.Image:
    """CMYK with the colours that its profile means."""
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(image.info["icc_profile"]))
        target = ImageCms.createProfile("sRGB")
        found = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return image.convert("RGB")
    return found if found is not None else image.convert("RGB")


def on_white(image: Image.Image) -> Image.Image:
    """Without transparency: what is seen through is white."""
    if image.mode != "RGBA":
        return image
    ground = Image.new("RGBA", image.size, "white")
    ground.alpha_composite(image)
    return ground.convert("RGB")


def fitted(image: Image.Image, side: int) -> Image.Image:
    """No larger than so many pixels on each side."""
    if max(image.size) <= side:
        return image
    scale = side / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.LANCZOS)


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    """A picture as the bytes of a file."""
    buffer = BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def preview(image: Image.Image, side: int = 1024) -> tuple[bytes, str]:
    """A small picture of it, and its media type."""
    small = fitted(image, side)
    if small.mode == "RGBA":
        return saved(small, "PNG"), "image/png"
    return saved(small, "JPEG", quality=85), "image/jpeg"
