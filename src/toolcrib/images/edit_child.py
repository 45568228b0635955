"""Pictures cropped, turned, resized, marked and saved anew. Runs in a worker's child."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PIL import Image, ImageDraw, ImageSequence

from toolcrib.core.errors import BadInput, TooLarge
from toolcrib.files.content.pixels import (
    MAX_ALL_PIXELS,
    MAX_PIXELS,
    bits_of,
    decoding,
    eight_bit,
    fitted,
    frame_count,
    is_animation,
    load_codecs,
    on_white,
    open_picture,
    preview,
    saved,
)
from toolcrib.images import fonts

ANIMATED = ("GIF", "WEBP", "PNG")
LOSSY = ("JPEG", "WEBP", "AVIF")
OPAQUE = ("JPEG", "BMP", "PPM")
OPTIONS: dict[str, dict[str, Any]] = {
    "JPEG": {"optimize": True, "progressive": True},
    "PNG": {"optimize": True},
    "TIFF": {"compression": "tiff_deflate"},
}
USUAL_QUALITY = 88
ICON_SIDE = 256
MIN_QUALITY = 20
"""Below it a picture is no use; a smaller one is."""
PALETTE_COLORS = 256


def prepare() -> None:
    """Load the codecs and the fonts of the machine."""
    load_codecs()
    fonts.load()
    _written(Image.new("RGB", (40, 40)), "a", (1, 1), 12, (0, 0, 0))


def edit(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """A picture edited and saved: crop, rotate, resize, mark, in this order.

    `request` has `format` (of Pillow), `crop`, `rotate`, `resize`, `marks`, `quality` and
    `max_bytes`, each None or 0 for nothing. The answer counts the bytes of the file, which
    come first, and those of a preview.

    Raises:
        BadInput: a part of it is outside of the picture.
        TooLarge, UnsupportedContent: of the picture.
    """
    image = open_picture(data)
    kind = request["format"] or _same_kind(image)
    with decoding():
        frames = frame_count(image)
    animated = kind in ANIMATED and is_animation(image)
    notes = _losses(image, data, 1 if animated else frames)
    if animated:
        pictures, times, loop = _frames(image, frames)
    else:
        loop, times = 0, []
        pictures = [eight_bit(image)]
    old = pictures[0].size
    pictures = [_edited(picture, request) for picture in pictures]
    if kind == "ICO" and max(pictures[0].size) > ICON_SIDE:
        pictures = [fitted(picture, ICON_SIDE) for picture in pictures]
        notes.append(f"Made smaller: an icon has up to {ICON_SIDE} pixels a side.")
    profile = image.info.get("icc_profile") if image.mode in ("RGB", "RGBA", "L", "P") else None
    if kind in OPAQUE and any(picture.mode == "RGBA" for picture in pictures):
        notes.append(f"What was transparent became white: {kind} has no transparency.")
    if dict(image.getexif()):
        notes.append("Notes of the camera are not kept.")
    save = _saver(pictures, kind, {"times": times, "loop": loop, "profile": profile})
    try:
        content = _within(save, kind, request, notes)
    except TooLarge as error:
        width, height = (max(side // 2, 1) for side in pictures[0].size)
        hint = f"{error.hint}resize={width}x{height}."
        raise TooLarge(error.message, hint=hint) from None
    small, media_type = preview(pictures[0])
    answer = {
        "format": kind,
        "media_type": Image.MIME[kind],
        "old": old,
        "size": pictures[0].size,
        "frames": len(pictures),
        "notes": notes,
        "file": len(content),
        "preview": media_type,
    }
    return answer, content + small


def _losses(image: Image.Image, data: bytes, frames: int) -> list[str]:
    """What is lost of a picture of which one frame is kept."""
    notes = []
    if frames > 1:
        parts = "frames" if is_animation(image) else "pages"
        notes.append(f"Only the first of {frames} {parts} is kept.")
    if bits_of(image, data) > 8:
        is_gray = image.mode[0] in "ILF"
        notes.append(f"Its {'gray' if is_gray else 'colours'} of more than 8 bits became 8.")
    if image.mode == "CMYK":
        notes.append("Its colours, CMYK, became RGB.")
    return notes


def _same_kind(image: Image.Image) -> str:
    kind = image.format or ""
    kind = {"MPO": "JPEG", "DIB": "BMP"}.get(kind, kind)
    if kind not in Image.SAVE:
        raise BadInput(
            f"{kind} is read, not written.", hint="Give output, such as output=picture.png."
        )
    return kind


def _frames(image: Image.Image, count: int) -> tuple[list[Image.Image], list[int], int]:
    width, height = image.size
    if width * height * count > MAX_ALL_PIXELS:
        raise TooLarge(
            f"The animation has {count:,} frames of {width:,} x {height:,} pixels.",
            hint="Give output=picture.jpg to take its first frame.",
        )
    pictures, times = [], []
    with decoding():
        for frame in ImageSequence.Iterator(image):
            pictures.append(frame.convert("RGBA"))  # after which WebP knows the time, too
            times.append(int(frame.info.get("duration", 100) or 100))
    return pictures, times, int(image.info.get("loop", 0) or 0)


def _edited(image: Image.Image, request: dict[str, Any]) -> Image.Image:
    if request["crop"]:
        image = _cropped(image, request["crop"])
    if degrees := request["rotate"] % 360:
        image = _rotated(image, degrees)
    if request["resize"]:
        image = image.resize(_new_size(image.size, request["resize"]), Image.Resampling.LANCZOS)
    for mark in request["marks"] or ():
        image = _marked(image, mark)
    return image


def _cropped(image: Image.Image, area: list[int]) -> Image.Image:
    left, top, width, height = area
    if left < 0 or top < 0 or width < 1 or height < 1:
        raise BadInput("The part to keep is empty or begins outside.", hint=_size_hint(image))
    if left + width > image.width or top + height > image.height:
        raise BadInput("The part to keep goes beyond the picture.", hint=_size_hint(image))
    return image.crop((left, top, left + width, top + height))


def _size_hint(image: Image.Image) -> str:
    return f"The picture has {image.width} x {image.height} pixels; crop is x,y,width,height."


def _rotated(image: Image.Image, degrees: float) -> Image.Image:
    turns = {
        90: Image.Transpose.ROTATE_270,
        180: Image.Transpose.ROTATE_180,
        270: Image.Transpose.ROTATE_90,
    }
    if degrees in turns:
        return image.transpose(turns[int(degrees)])
    if image.mode != "RGBA":
        fill: int | tuple[int, ...] = 255 if image.mode == "L" else (255, 255, 255)
    else:
        fill = (255, 255, 255, 0)
    _need_room(int((image.width + image.height) ** 2 / 2))
    return image.rotate(-degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=fill)


def _need_room(pixels: int) -> None:
    if pixels > MAX_PIXELS:
        raise TooLarge(
            f"The result would have {pixels:,} pixels.",
            hint=f"Up to {MAX_PIXELS // 1_000_000} million are made.",
        )


def _new_size(old: tuple[int, int], wanted: dict[str, Any]) -> tuple[int, int]:
    """The size asked for: a share, within a box, or exactly."""
    width, height = wanted["width"], wanted["height"]
    if wanted["percent"]:
        scale = wanted["percent"] / 100
        width, height = old[0] * scale, old[1] * scale
    elif not wanted["exact"]:
        scale = min(width / old[0] if width else 1e9, height / old[1] if height else 1e9)
        width, height = old[0] * scale, old[1] * scale
    size = (max(1, round(width)), max(1, round(height)))
    _need_room(size[0] * size[1])
    return size


def _marked(image: Image.Image, mark: dict[str, Any]) -> Image.Image:
    if image.mode == "L":
        image = image.convert("RGB")
    draw = ImageDraw.Draw(image)
    side = max(image.size)
    x, y = mark["x"], mark["y"]
    if not (0 <= x < image.width and 0 <= y < image.height):
        raise BadInput(
            f"A mark at {x},{y} is outside of the picture.",
            hint=f"It has {image.width} x {image.height} pixels when the marks are drawn.",
        )
    color = tuple(mark["color"])
    line = max(2, side // 300)
    if mark["width"] and mark["height"]:
        right, bottom = x + mark["width"], y + mark["height"]
        draw.rectangle((x, y, right, bottom), outline=color, width=line)
    if text := mark["text"]:
        size = mark["size"] or max(14, side // 32)
        boxed = bool(mark["width"] and mark["height"])
        above = y - size * 1.4
        spot = (x, int(above)) if boxed and above > 0 else (x + line * 2 * boxed, y)
        _written(image, *_inside(image, text, spot, size), size, color)
    return image


def _inside(
    image: Image.Image, text: str, spot: tuple[int, int], size: int
) -> tuple[str, tuple[int, int]]:
    """A text in lines no longer than the picture, and where it is not cut off."""
    rim = max(1, size // 14)
    room = image.width - 2 * rim
    lines: list[str] = []
    for line in text.splitlines():
        lines.append("")
        for word in line.split(" "):
            longer = f"{lines[-1]} {word}" if lines[-1] else word
            if lines[-1] and _width(longer, size) > room:
                lines.append(word)
            else:
                lines[-1] = longer
    right = image.width - rim - max((_width(line, size) for line in lines), default=0)
    bottom = image.height - rim - len(lines) * size * 1.25
    left, top = min(spot[0], int(right)), min(spot[1], int(bottom))
    return "\n".join(lines), (max(left, min(spot[0], rim)), max(top, min(spot[1], rim)))


def _width(line: str, size: int) -> float:
    return sum(font.getlength(part) for part, font in fonts.stretches(line, size))


def _written(
    image: Image.Image, text: str, spot: tuple[int, int], size: int, color: tuple[int, ...]
) -> None:
    """Write lines, each stretch of them in a font that has its characters, with a rim."""
    draw = ImageDraw.Draw(image)
    rim = "white" if sum(color[:3]) < 384 else "black"
    top = float(spot[1])
    for line in text.splitlines():
        left = float(spot[0])
        for part, font in fonts.stretches(line, size):
            draw.text(
                (left, top), part, color, font, stroke_width=max(1, size // 14), stroke_fill=rim
            )
            left += font.getlength(part)
        top += size * 1.25


Save = Callable[[int], bytes]


def _saver(pictures: list[Image.Image], kind: str, facts: dict[str, Any]) -> Save:
    def save(quality: int) -> bytes:
        options = dict(OPTIONS.get(kind, {}))
        first, *others = pictures
        if kind in LOSSY:
            options["quality"] = quality
        if kind in OPAQUE:
            first = on_white(first)
        elif kind == "PNG" and quality < USUAL_QUALITY and not others:
            first = first.quantize(PALETTE_COLORS, Image.Quantize.FASTOCTREE)
        elif kind == "ICO":
            options["sizes"] = [first.size]
        if others:
            options |= {"save_all": True, "append_images": others}
            options |= {"duration": facts["times"], "loop": facts["loop"]}
            options |= {"disposal": 2} if kind == "GIF" else {}
        if facts["profile"] and kind in ("JPEG", "PNG", "WEBP", "TIFF", "AVIF"):
            options["icc_profile"] = facts["profile"]
        return saved(first, kind, **options)

    return save


def _within(save: Save, kind: str, request: dict[str, Any], notes: list[str]) -> bytes:
    """The file, of the best quality that fits into the bytes asked for."""
    quality, limit = request["quality"] or 0, request["max_bytes"] or 0
    content = save(quality or USUAL_QUALITY)
    if kind == "PNG" and quality and quality < USUAL_QUALITY:
        notes.append(f"It has {PALETTE_COLORS} colours now.")
    if not limit or len(content) <= limit:
        return content
    if kind not in LOSSY:
        raise TooLarge(
            f"As {kind} it has {len(content):,} bytes.",
            hint="Save it as .jpg or .webp, or smaller with resize.",
        )
    low, high = MIN_QUALITY, (quality or USUAL_QUALITY) - 1
    best, chosen = b"", 0
    while low <= high:
        middle = (low + high) // 2
        content = save(middle)
        if len(content) <= limit:
            best, chosen, low = content, middle, middle + 1
        else:
            high = middle - 1
    if not best:
        raise TooLarge(
            f"Even at quality {MIN_QUALITY} it has more than {limit:,} bytes.",
            hint="Make it smaller with ",
        )
    notes.append(f"Saved at quality {chosen}.")
    return best
