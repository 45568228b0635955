"""What a picture is, by its header and notes. Runs in a worker's child."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from PIL import ExifTags, Image

from toolcrib.core.errors import UnsupportedContent
from toolcrib.documents.xml_tree import read_tree
from toolcrib.files.content.pixels import (
    bits_of,
    decoding,
    frame_count,
    is_animation,
    is_drawing,
    load_codecs,
    open_picture,
)

MAX_TEXT_CHARS = 300
MAX_NOTES = 30
MAX_FRAMES_TIMED = 500
"""Frames of which the time is added up."""
DRAWING_BYTES = 2_000_000
MODES = {
    "1": "black and white",
    "L": "gray",
    "LA": "gray with transparency",
    "P": "palette",
    "RGB": "RGB",
    "RGBA": "RGB with transparency",
    "CMYK": "CMYK",
    "YCbCr": "YCbCr",
    "LAB": "Lab",
    "F": "gray, floating point",
}
TURNED = (5, 6, 7, 8)
"""Values of `Orientation` with which a viewer shows width and height exchanged."""
_PLACE = re.compile(r"GPS.?(?:latitude|longitude|position|coordinates)", re.IGNORECASE)
"""How the notes of XMP and of PNG name a position."""
_HIDDEN_TAGS = {"ExifOffset", "GPSInfo", "MakerNote", "UserComment", "PrintImageMatching"}


def prepare() -> None:
    """Load the codecs, and read a drawing once."""
    load_codecs()
    describe({"position": False}, b"<svg xmlns='http://www.w3.org/2000/svg' width='1'/>")


def describe(request: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
    """Facts of a picture; with `position` also where it was taken.

    Raises:
        UnsupportedContent: it is no picture.
        TooLarge: it has more pixels than are decoded.
    """
    if is_drawing(data):
        return _drawing(data), b""
    image = open_picture(data)
    facts: dict[str, Any] = {
        "format": "JPEG" if image.format == "MPO" else image.format,
        "media_type": Image.MIME.get(image.format or "", ""),
        "width": image.width,
        "height": image.height,
        "colors": MODES.get(image.mode, "gray" if image.mode.startswith("I") else image.mode),
        "bits": bits_of(image, data),
    }
    if image.format == "MPO":
        facts["media_type"] = "image/jpeg"
    with decoding():
        frames = frame_count(image)
        if frames > 1:
            facts |= {"frames": frames, "animated": is_animation(image)}
            seconds = _seconds(image, frames)
            facts |= {"seconds": seconds} if seconds else {}
    facts |= _notes(image, position=bool(request["position"]))
    try:
        with decoding():
            if frames > 1:
                image.seek(0)
            image.load()
    except UnsupportedContent as error:
        facts["damage"] = error.message
    return facts, b""


def _seconds(image: Image.Image, frames: int) -> float:
    total = 0.0
    for number in range(min(frames, MAX_FRAMES_TIMED)):
        image.seek(number)
        if image.format == "WEBP":  # of which the decoder alone knows the times
            image.load()
        total += float(image.info.get("duration", 0) or 0)
    image.seek(0)
    return round(total / 1000, 3)


def _notes(image: Image.Image, *, position: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if dpi := image.info.get("dpi"):
        facts["dpi"] = [round(float(value), 1) for value in dpi[:2]]
    if image.info.get("icc_profile"):
        facts["color_profile"] = True
    facts |= {name: value for name, value in _texts(image, position=position).items() if value}
    try:
        with decoding():
            exif = image.getexif()
            inner, place = exif.get_ifd(ExifTags.IFD.Exif), exif.get_ifd(ExifTags.IFD.GPSInfo)
    except UnsupportedContent:
        return facts | {"exif_damage": True}
    if any(map(_tells_place, [*exif.values(), *inner.values()])):
        facts["has_position"] = True
    named = {**_named(dict(exif), position), **_named(inner, position)}
    if exif.get(ExifTags.Base.Orientation) in TURNED:
        facts["turned_size"] = [image.height, image.width]
    if named:
        facts["exif"] = dict(list(named.items())[:MAX_NOTES])
    if place:
        facts["has_position"] = True
        if position and (found := _position(place)):
            facts["position"] = found
    return facts


def _texts(image: Image.Image, *, position: bool) -> dict[str, Any]:
    """The texts beside the pixels, of which those that tell a position wait to be asked for."""
    texts: dict[Any, Any] = {}
    # Asked for its texts, a PNG reads on to its end.
    with suppress(UnsupportedContent), decoding():
        texts = dict(getattr(image, "text", None) or {})
    comment = image.info.get("comment")
    if isinstance(comment, bytes | str) and comment:
        texts["comment"] = comment
    placed = {name for name, value in texts.items() if _tells_place(value)}
    visible = [name for name in texts if position or name not in placed]
    notes = {
        str(name)[:60]: _text(_from_place(texts[name]) if name in placed else texts[name])
        for name in visible[:MAX_NOTES]
    }
    return {"notes": notes, "has_position": bool(placed)}


def _tells_place(value: Any) -> bool:
    return bool(_from_place(value))


def _from_place(value: Any) -> str:
    """A note from where it tells a position; empty where it tells none."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    text = text.replace("\0", "")
    found = _PLACE.search(text)
    return text[found.start() :] if found is not None else ""


def _named(tags: dict[int, Any], position: bool) -> dict[str, str]:
    found = {}
    for tag, value in tags.items():
        if not position and _tells_place(value):
            continue
        name = ExifTags.TAGS.get(tag, "")
        if name and name not in _HIDDEN_TAGS and (text := _text(value)):
            found[name] = text
    return found


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    text = "".join(c if c.isprintable() else " " for c in str(value))
    return " ".join(text.split())[:MAX_TEXT_CHARS]


def _position(place: dict[int, Any]) -> dict[str, float]:
    """Degrees north and east, metres above the sea."""
    try:
        found = {
            "latitude": _degrees(place[2], place.get(1, "N"), "S"),
            "longitude": _degrees(place[4], place.get(3, "E"), "W"),
        }
        if 6 in place:
            found["altitude"] = round(float(place[6]), 1)
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return {}
    return found


def _degrees(parts: Any, side: Any, negative: str) -> float:
    degrees, minutes, seconds = (float(part) for part in parts)
    value = degrees + minutes / 60 + seconds / 3600
    return round(-value if str(side).strip("\0 ") == negative else value, 6)


def _drawing(data: bytes) -> dict[str, Any]:
    """An SVG: how large it wants to be, and whether a program is in it."""
    root = read_tree(data[:DRAWING_BYTES].decode("utf-8", "replace")).root
    facts: dict[str, Any] = {"format": "SVG", "media_type": "image/svg+xml"}
    if root is None:
        return facts | {"damage": "It is no well-formed XML."}
    for name in ("width", "height", "viewBox"):
        if value := root.attrs.get(name, "")[:60]:
            facts[name if name == "viewBox" else f"{name}_text"] = value
    nodes = [part for part, is_end in root.walk() if not is_end and not isinstance(part, str)]
    facts["scripts"] = any(
        node.name.lower() in ("script", "foreignobject")
        or any(
            name.lower().startswith("on") or "javascript:" in value.lower()
            for name, value in node.attrs.items()
        )
        for node in nodes
    )
    facts["elements"] = len(nodes)
    return facts
