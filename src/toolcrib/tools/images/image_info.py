"""`image_info`: what a picture is, without showing it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, tool
from toolcrib.files.paths import WorkspacePath
from toolcrib.images.pictures import DESCRIBE, FORMATS, read_picture, run
from toolcrib.system.threads import in_thread
from toolcrib.text.display import size_of


@tool(
    group="images",
    rights=READ,
    keywords=("picture", "photo", "exif", "metadata", "dimensions", "resolution", "gps", "dpi"),
    aliases=("describe_image", "image_metadata", "get_image_info"),
    argument_aliases={"image_path": "path", "file_path": "path", "file": "path", "gps": "position"},
)
async def image_info(
    path: WorkspacePath,
    position: Annotated[bool, Param("Tell where it was taken.", unlisted=True)] = False,
    *,
    ctx: Ctx,
) -> Result:
    """Tell format, size in pixels, times and camera notes of a picture.

    It does not show the picture: read_file does. Its text is read by ocr_image. The position
    is told only where it is asked for.
    """
    content, _ = await read_picture(path, ctx)
    status = await in_thread(lambda _: path.stat(), ctx.deadline)
    facts, _ = await run(DESCRIBE, {"position": position}, content, ctx)
    known: dict[str, Any] = {
        "path": path.display,
        **facts,
        "bytes": len(content),
        "modified": datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds"),
    }
    if made := getattr(status, "st_birthtime", None):
        known["created"] = datetime.fromtimestamp(made, UTC).isoformat(timespec="seconds")
    expected = FORMATS.get(path.name.rpartition(".")[2].lower(), facts["format"])
    if expected != facts["format"]:
        known["misnamed"] = f"It is {facts['format']}, whatever its name says."
    return Result(text="\n".join(_lines(known)), data=known, private=True)


def _size(facts: dict[str, Any]) -> str:
    size = f", {facts['width']} x {facts['height']} pixels" if "width" in facts else ""
    if "turned_size" in facts:
        across, down = facts["turned_size"]
        size += f" (shown turned, {across} x {down}, as edit_image counts)"
    return size


def _lines(facts: dict[str, Any]) -> list[str]:
    lines = [f"{facts['path']}: {facts['format']}{_size(facts)}, {size_of(facts['bytes'])}"]
    lines += [facts["misnamed"]] if "misnamed" in facts else []
    if "damage" in facts:
        lines.append(f"Only its header can be read. {facts['damage']}")
    if "colors" in facts:
        lines.append(f"colors: {facts['colors']}, {facts['bits']} bits a channel")
    if "frames" in facts:
        took = f", {facts['seconds']:g} s" if "seconds" in facts else ""
        lines.append(f"{'frames' if facts['animated'] else 'pages'}: {facts['frames']}{took}")
    for name in ("dpi", "viewBox", "width_text", "height_text", "scripts", "modified", "created"):
        if name in facts:
            value = facts[name]
            text = " x ".join(f"{n:g}" for n in value) if isinstance(value, list) else value
            lines.append(f"{name}: {text}")
    lines += [f"{name}: {value}" for name, value in facts.get("exif", {}).items()]
    lines += [f"note {name}: {value}" for name, value in facts.get("notes", {}).items()]
    if facts.get("exif_damage"):
        lines.append("Its camera notes are damaged.")
    if "position" in facts:
        place = facts["position"]
        high = f", {place['altitude']:g} m" if "altitude" in place else ""
        lines.append(f"position: {place['latitude']}, {place['longitude']}{high}")
    elif facts.get("has_position"):
        lines.append("It says where it was taken: position=true tells it.")
    return lines
