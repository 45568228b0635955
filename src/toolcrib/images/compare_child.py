"""Two pictures compared pixel by pixel. Runs in a worker's child."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageChops, ImageStat

from toolcrib.files.content.pixels import (
    MAX_ALL_PIXELS,
    bits_of,
    decoding,
    eight_bit,
    fitted,
    frame_count,
    load_codecs,
    open_picture,
    preview,
    saved,
)

PICTURE_SIDE = 1600
Area = tuple[int, int, int, int]


def prepare() -> None:
    """Load the codecs."""
    load_codecs()


@dataclass(slots=True)
class _Frame:
    """How one frame differs from another: the mean of the differences, and where they are."""

    mean: float
    differing: int
    mask: Image.Image
    picture: Image.Image


def compare(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """How like two pictures are, and a picture of where they differ: in the first such frame.

    `data` holds both files, the first of `first` bytes; a pixel differs where a channel is
    further than `tolerance` away. The second is brought to the size of the first.

    Raises:
        TooLarge, UnsupportedContent: of one of them.
    """
    contents = data[: request["first"]], data[request["first"] :]
    one, two = map(open_picture, contents)
    with decoding():
        counts = [frame_count(one), frame_count(two)]
    compared = min(*counts, max(MAX_ALL_PIXELS // (one.width * one.height * 2), 1))
    means, differing, numbers, area = [], 0, [], (0, 0, 0, 0)
    pixels = 0
    sizes: list[list[int]] = []
    drawn: _Frame | None = None
    for number in range(compared):
        frame, sizes = _compared(one, two, number, request["tolerance"])
        pixels += frame.mask.width * frame.mask.height
        means.append(frame.mean)
        if frame.differing:
            differing += frame.differing
            numbers.append(number + 1)
            area = _union(area, frame.mask.getbbox())
            drawn = drawn or frame
    answer = {
        "sizes": sizes,
        "pixels": pixels,
        "differing": differing,
        "similarity": round(100 * (1 - sum(means) / len(means) / 255), 4),
        "area": list(area) if differing else [],
        "file": 0,
        "frames": counts,
        "frames_compared": compared,
        "differing_frames": numbers,
        "bits": max(map(bits_of, (one, two), contents)),
    }
    if drawn is None:
        return answer, b""
    picture = _drawn(drawn)
    content = saved(picture, "PNG", optimize=False)
    small, answer["preview"] = preview(fitted(picture, PICTURE_SIDE))
    answer["file"] = len(content)
    return answer, content + small


def _compared(
    one: Image.Image, two: Image.Image, number: int, tolerance: int
) -> tuple[_Frame, list[list[int]]]:
    """A frame of both, and the sizes that it has in them."""
    pictures = []
    for image in (one, two):
        if number:
            with decoding():
                image.seek(number)
        pictures.append(eight_bit(image).convert("RGBA"))
    a, b = pictures
    sizes = [list(a.size), list(b.size)]
    if a.size != b.size:
        b = b.resize(a.size, Image.Resampling.LANCZOS)
    bands = ImageChops.difference(a, b).split()
    worst = bands[0]
    for band in bands[1:]:
        worst = ImageChops.lighter(worst, band)
    mask = worst.point([255 if n > tolerance else 0 for n in range(256)])
    mean = sum(ImageStat.Stat(band).mean[0] for band in bands) / len(bands)
    return _Frame(mean, mask.histogram()[255], mask, a), sizes


def _union(one: Area, other: Area | None) -> Area:
    if other is None or not any(one):
        return other or one
    lows = [min(pair) for pair in zip(one[:2], other[:2], strict=True)]
    highs = [max(pair) for pair in zip(one[2:], other[2:], strict=True)]
    return lows[0], lows[1], highs[0], highs[1]


def _drawn(frame: _Frame) -> Image.Image:
    """The frame in pale gray, and what differs in red."""
    size = frame.picture.size
    return Image.composite(
        Image.new("RGB", size, "#e00000"),
        Image.blend(
            frame.picture.convert("L").convert("RGB"), Image.new("RGB", size, "white"), 0.6
        ),
        frame.mask,
    )
