"""`edit_image`: pictures cropped, turned, resized, marked, converted, made smaller."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, WRITE, Param, other_names, tool
from toolcrib.files.changes.changes import Changes
from toolcrib.files.changes.step import ANYTHING, Step
from toolcrib.files.paths import SafePath, WritablePath
from toolcrib.images.pictures import EDIT, format_of, read_picture, run, visible
from toolcrib.text.display import size_of

MAX_MARKS = 200
_RESIZE = re.compile(
    r"(?:(\d+(?:\.\d+)?)\s*%|(\d*)\s*[x\u00d7*,]\s*(\d*)\s*(!?)|(\d+))", re.IGNORECASE
)
OPERATIONS = {
    **dict.fromkeys(("resize", "scale"), ("resize", "size", "width", "height")),
    "crop": ("crop", "x"),
    "rotate": ("rotate", "angle", "degrees"),
    "convert": ("output", "outputpath", "saveto", "format"),
    "compress": ("quality", "maxkb", "maxsizekb"),
    "annotate": ("marks", "annotations"),
}
"""Words for what is to be done, with the arguments of which one does it."""
_NUMBER = re.compile(r"-?\d+")
COLORS = {
    "red": (224, 0, 0), "green": (0, 140, 0), "blue": (0, 80, 220), "black": (0, 0, 0),
    "white": (255, 255, 255), "yellow": (255, 210, 0), "orange": (245, 130, 0),
}  # fmt: skip
_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})", re.IGNORECASE)


class ImageMark(TypedDict, total=False):
    """Text, or a box with a text or without, in pixels of the finished picture."""

    text: str
    x: int
    y: int
    width: int
    height: int
    color: Annotated[str, Param("As red or #e00000.", unlisted=True)]
    size: Annotated[int, Param(minimum=1, maximum=2000, unlisted=True)]


def _adapt(arguments: dict[str, Any]) -> None:
    """Sizes and parts as lists or objects; width and height are a size to fit.

    A word for what is to be done says no more than the arguments that do it.
    """
    for name in ("operation", "action"):
        if set(OPERATIONS.get(str(arguments.get(name)).lower(), ())).intersection(arguments):
            del arguments[name]
    for name, join in (("resize", "x"), ("crop", ",")):
        given = arguments.get(name)
        if isinstance(given, dict):
            keys = ("width", "height") if name == "resize" else ("x", "y", "width", "height")
            given = [given.pop(key, "") for key in keys] if given.keys() <= set(keys) else given
        if isinstance(given, list):
            arguments[name] = join.join(map(str, given))
    if arguments.get("x") is not None and arguments.get("y") is not None:
        keys = ("x", "y", "width", "height")
        arguments["crop"] = ",".join(str(arguments.pop(key, "")) for key in keys)
    if arguments.get("resize") or not (arguments.get("width") or arguments.get("height")):
        return
    width, height = arguments.pop("width", None), arguments.pop("height", None)
    arguments["resize"] = f"{width or ''}x{height or ''}"


@tool(
    group="images",
    rights=READ | WRITE,
    keywords=(
        *("resize", "crop", "rotate", "convert", "compress", "annotate", "scale", "shrink"),
        *("thumbnail", "photo", "picture", "jpeg", "webp", "optimize"),
    ),
    aliases=("resize_image", "convert_image", "crop_image", "rotate_image"),
    argument_aliases=other_names(
        path=("image_path", "file_path", "file"),
        output=("output_path", "save_to"),
        marks=("annotations",),
        max_kb=("max_size_kb",),
    ),
    argument_adapter=_adapt,
)
async def edit_image(
    path: WritablePath,
    output: Annotated[WritablePath | None, Param("Else in place.")] = None,
    crop: Annotated[str, Param("x,y,width,height")] = "",
    rotate: Annotated[float, Param("Degrees clockwise.", minimum=-360, maximum=360)] = 0,
    resize: Annotated[str, Param("800x600 to fit, 800x, 50%.")] = "",
    marks: Annotated[list[ImageMark] | None, Param("Texts, boxes.")] = None,
    quality: Annotated[int | None, Param("1 to 100.", minimum=1, maximum=100, plain=True)] = None,
    max_kb: Annotated[int | None, Param("Of the file.", minimum=1, plain=True)] = None,
    format: Annotated[str, Param("Of a new picture beside it.", unlisted=True)] = "",  # noqa: A002
    *,
    ctx: Ctx,
) -> Result:
    """Crop, rotate, resize, annotate, convert or compress a picture.

    The order is: crop, rotate, resize, marks. resize=800x600! is exact. Notes of the camera, the
    position among them, are left out. All frames of an animation are edited. undo_changes takes
    it back.
    """
    beside = None if output else _beside(path, format)
    if output and format and _beside(output, format):
        raise BadInput("output and format are of different kinds.", hint="Send output alone.")
    output = output or beside
    target = output or path
    request: dict[str, Any] = {
        "format": format_of(output) if output is not None else "",
        "crop": _crop(crop),
        "rotate": float(rotate),
        "resize": _resize(resize),
        "marks": _marks(marks or ()),
        "quality": quality or 0,
        "max_bytes": (max_kb or 0) * 1000,
    }
    if output is None and not any(request.values()):
        raise BadInput("Nothing is to be done.", hint="Such as resize=800x600, or output=new.jpg.")
    content, mark = await read_picture(path, ctx)
    answer, data = await run(EDIT, request, content, ctx)
    made, small = data[: answer["file"]], data[answer["file"] :]
    step = Step(edit_image.name)
    in_place = target.absolute == path.absolute
    if in_place:
        step.write(target, made, expected=mark)
    else:  # a name that nobody wrote replaces nothing
        step.write(target, made, expected="" if beside else ANYTHING)
    applied = await ctx.use(Changes).apply(step, ctx)
    where = target.display if in_place else applied.place(target)
    width, height = answer["size"]
    frames = f", {answer['frames']} frames" if answer["frames"] > 1 else ""
    line = (
        f"Saved to {where}: {answer['format']}, {width} x {height} pixels{frames}, "
        f"{size_of(len(made))} (it was {answer['old'][0]} x {answer['old'][1]}, "
        f"{size_of(len(content))})."
    )
    facts = {
        "path": target.display,
        "step": applied.step,
        "format": answer["format"],
        "width": width,
        "height": height,
        "bytes": len(made),
        "bytes_before": len(content),
    }
    pictures = visible(made, answer["media_type"], small, answer["preview"])
    return Result("\n".join([line, *answer["notes"]]), facts, pictures, private=True)


def _beside(path: SafePath, ending: str) -> SafePath | None:
    """A picture of another format beside a picture; None where no other format is named."""
    stem, _, old = path.name.rpartition(".")
    new = ending.strip().lower().lstrip(".")
    is_same = new.replace("jpeg", "jpg") == old.lower().replace("jpeg", "jpg")
    return path.parent.child(f"{stem or old}.{new}") if new and not is_same else None


def _crop(text: str) -> list[int] | None:
    if not text.strip():
        return None
    numbers = [int(n) for n in _NUMBER.findall(text)]
    if len(numbers) != 4 or re.search(r"[^\d\s,;x()\[\]-]", text):
        raise BadInput(f"crop={text[:60]} is no part.", hint="crop=x,y,width,height, in pixels.")
    return numbers


def _resize(text: str) -> dict[str, Any] | None:
    """What the size asked for means: percent, or width and height with 0 for what is free."""
    if not text.strip():
        return None
    found = _RESIZE.fullmatch(text.strip())
    percent, width, height, exact, alone = found.groups() if found else ("", "", "", "", "")
    sides = [int(part or 0) for part in (alone or width, height)]
    if not (percent or any(sides)) or max(sides) > 60_000 or float(percent or 1) > 10_000:
        raise BadInput(f"resize={text[:60]} is no size.", hint="Such as 800x600, 800x, x600, 50%.")
    if exact and not all(sides):
        raise BadInput("An exact size has two sides.", hint="Such as resize=800x600!")
    if percent and not float(percent):
        raise BadInput("0 % of a picture is nothing.", hint="Such as resize=50%.")
    return {
        "percent": float(percent or 0),
        "width": sides[0],
        "height": sides[1],
        "exact": bool(exact),
    }


def _marks(marks: Sequence[ImageMark]) -> list[dict[str, Any]]:
    if len(marks) > MAX_MARKS:
        raise BadInput(f"More than {MAX_MARKS} marks.", hint="Send them in several calls.")
    found = []
    for mark in marks:
        text = mark.get("text", "")[:2000]
        width, height = mark.get("width", 0), mark.get("height", 0)
        if not text and not (width > 0 and height > 0):
            raise BadInput(
                "A mark has text, or width and height.",
                hint='Such as marks=[{"x": 10, "y": 10, "width": 90, "height": 40, "text": "A"}].',
            )
        found.append(
            {
                "text": text,
                "x": mark.get("x", 0),
                "y": mark.get("y", 0),
                "width": max(width, 0),
                "height": max(height, 0),
                "color": _color(mark.get("color", "red")),
                "size": mark.get("size", 0),
            }
        )
    return found


def _color(name: str) -> tuple[int, int, int]:
    name = name.strip().lower()
    if name in COLORS:
        return COLORS[name]
    if not _HEX.fullmatch(name):
        raise BadInput(
            f"{name[:40]} is no colour.", hint=f'Colours are "#e00000" or {", ".join(COLORS)}.'
        )
    digits = name[1:] if len(name) == 7 else "".join(c * 2 for c in name[1:])
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
