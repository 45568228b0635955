"""Pictures of the workspace, worked on in a worker's child: its tasks, and what goes to them."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from toolcrib.core.context import Ctx
from toolcrib.core.errors import BadInput, MissingExtra, TooLarge, UnsupportedContent
from toolcrib.core.result import Image
from toolcrib.execution.workers import Task, Workers
from toolcrib.files.content.kinds import VISIBLE_MEDIA_TYPES, kind_of
from toolcrib.files.paths import SafePath
from toolcrib.system.threads import in_thread

EXTRA = "images"
MAX_PICTURE_BYTES = 100_000_000
MAX_VISIBLE_BYTES = 1_500_000
"""Bytes of a picture that is shown to the model as it is; of a larger one a small copy is."""
SMALLER_HINT = "Use a smaller picture."
_ROOM = "toolcrib.images"


def _task(function: str, what: str, megabytes: int = 3000) -> Task:
    return Task(f"{_ROOM}.{function}", what, 60.0, megabytes, 120_000_000, SMALLER_HINT)


DESCRIBE = _task("facts_child:describe", "Looking at the picture")
EDIT = _task("edit_child:edit", "Editing the picture", 4000)
COMPARE = _task("compare_child:compare", "Comparing the pictures", 5000)
CODES = _task("codes_child:read", "Looking for codes")
SMALL = _task("codes_child:small", "Making the picture smaller")
FORMATS = {
    "png": "PNG", "apng": "PNG", "jpg": "JPEG", "jpeg": "JPEG", "webp": "WEBP", "gif": "GIF",
    "avif": "AVIF", "bmp": "BMP", "tif": "TIFF", "tiff": "TIFF", "ico": "ICO", "ppm": "PPM",
}  # fmt: skip
"""What the ending of a name is written as."""


def need_extra(module: str, needed_for: str) -> None:
    """Check that a module of the extra is there.

    Raises:
        MissingExtra: it is not.
    """
    if find_spec(module) is None:
        raise MissingExtra(EXTRA, needed_for)


_DOCUMENT = re.compile("pdf|document|sheet|presentation|epub")


async def read_picture(path: SafePath, ctx: Ctx) -> tuple[bytes, str]:
    """The bytes of a picture, and the fingerprint that the file has.

    Raises:
        MissingExtra: nothing that decodes pictures is installed.
        TooLarge, NotFound, PathDenied, BadInput: of the file.
        UnsupportedContent: it is empty.
    """
    need_extra("PIL", "Working on pictures")

    def work(_: object) -> tuple[bytes, str]:
        with path.open_read() as handle:
            return handle.file.read(MAX_PICTURE_BYTES + 1), handle.fingerprint

    content, mark = await in_thread(work, ctx.deadline)
    if len(content) > MAX_PICTURE_BYTES:
        raise TooLarge(
            f"{path.display} has more than {MAX_PICTURE_BYTES:,} bytes.", hint=SMALLER_HINT
        )
    if not content:
        raise UnsupportedContent(f"{path.display} is empty.")
    kind = kind_of(content)
    if kind is not None and kind.media_type and not kind.media_type.startswith("image/"):
        raise UnsupportedContent(
            f"{path.display} is no picture: {kind.name}.",
            hint="read_document reads it."
            if _DOCUMENT.search(kind.media_type)
            else "Name a picture, such as a PNG or JPEG.",
        )
    return content, mark


async def run(
    task: Task, request: dict[str, Any], data: bytes, ctx: Ctx
) -> tuple[dict[str, Any], bytes]:
    """What a task makes of a picture; see `Workers.run`."""
    return await ctx.use(Workers).run(task, request, data, ctx.deadline)


def format_of(path: SafePath) -> str:
    """The format that the name of a file asks for.

    Raises:
        BadInput: it is none that is written.
    """
    found = FORMATS.get(path.name.rpartition(".")[2].lower(), "")
    if not found:
        hint = "End the name in .png, .jpg, .webp, .gif, .avif, .tiff, .bmp or .ico."
        if path.name.lower().endswith(".pdf"):
            hint = f'create_document does: path="{path.display}", content="![](picture.png)".'
        raise BadInput(f"A picture is not saved as {path.name}.", hint=hint)
    return found


def visible(content: bytes, media_type: str, small: bytes, small_type: str) -> tuple[Image, ...]:
    """The picture that a model is shown: the file itself, or a small one where it is too large."""
    if media_type in VISIBLE_MEDIA_TYPES and len(content) <= MAX_VISIBLE_BYTES:
        return (Image(content, media_type),)
    if small and len(small) <= MAX_VISIBLE_BYTES:
        return (Image(small, small_type),)
    return ()
