"""Two pictures compared pixel by pixel. Runs in a worker's child."""

from __future__ import annotations

from typing import Any

from PIL import Image, ImageChops, ImageStat

from toolcrib.files.content.pixels import (
    eight_bit,
    fitted,
    load_codecs,
    open_picture,
    preview,
    saved,
)

PICTURE_SIDE = 1600


def prepare() -> None:
    """Load the codecs."""
    load_codecs()


def compare(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """How like two pictures are, and a picture of where they differ.

    `data` holds both files, the first of `first` bytes; a pixel differs where a channel is
    further than `tolerance` away. The second is brought to the size of the first.

    Raises:
        TooLarge, UnsupportedContent: of one of them.
    """
    one, two = data[: request["first"]], data[request["first"] :]
    pictures = [eight_bit(open_picture(content)).convert("RGBA") for content in (one, two)]
    sizes = [list(picture.size) for picture in pictures]
    a, b = pictures
    if a.size != b.size:
        b = b.resize(a.size, Image.Resampling.LANCZOS)
    bands = ImageChops.difference(a, b).split()
    worst = bands[0]
    for band in bands[1:]:
        worst = ImageChops.lighter(worst, band)
    mask = worst.point([255 if n > request["tolerance"] else 0 for n in range(256)])
    differing = mask.histogram()[255]
    mean = sum(ImageStat.Stat(band).mean[0] for band in bands) / len(bands)
    answer = {
        "sizes": sizes,
        "pixels": a.width * a.height,
        "differing": differing,
        "similarity": round(100 * (1 - mean / 255), 4),
        "area": list(mask.getbbox() or ()),
        "file": 0,
    }
    if not differing:
        return answer, b""
    drawn = Image.composite(
        Image.new("RGB", a.size, "#e00000"),
        Image.blend(a.convert("L").convert("RGB"), Image.new("RGB", a.size, "white"), 0.6),
        mask,
    )
    content = saved(drawn, "PNG", optimize=False)
    small, answer["preview"] = preview(fitted(drawn, PICTURE_SIDE))
    answer["file"] = len(content)
    return answer, content + small
