"""Pictures that a run shows: a folder of ours that it may write, read when it is over."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from toolcrib.core.result import Image
from toolcrib.execution.sandbox.preparation import Scratch
from toolcrib.files.content.kinds import kind_of
from toolcrib.files.handles import read_plain

if TYPE_CHECKING and sys.platform == "win32":  # nothing here is called there: see `Runs`
    raise ImportError

MAX_PICTURES = 4
MAX_PICTURE_BYTES = 1_500_000
VARIABLE = "TOOLCRIB_PICTURES"


def picture(content: bytes) -> Image | None:
    """A picture that a model can see; None for what is none, or is too large."""
    kind = kind_of(content)
    if kind is None or not kind.image or len(content) > MAX_PICTURE_BYTES:
        return None
    return Image(content, kind.image)


@dataclass(slots=True)
class PictureFolder:
    """The folder; blocking to make, to read and to remove."""

    scratch: Scratch

    @classmethod
    def make(cls) -> Self:
        """A new one, which another process removes should this one die."""
        return cls(Scratch.make())

    @property
    def path(self) -> Path:
        """Where it is, inside of the run too."""
        return self.scratch.path

    def pictures(self) -> list[Image]:
        """What the run left there: files alone, whatever their names lead to."""
        return first_pictures(_content(place) for place in sorted(self.path.iterdir()))

    def remove(self) -> None:
        """Remove it with all that is in it."""
        self.scratch.remove()


def _content(place: Path) -> bytes:
    with suppress(OSError):
        return read_plain(place, MAX_PICTURE_BYTES + 1, follow=False)
    return b""


def first_pictures(contents: Iterable[bytes]) -> list[Image]:
    """As many as one result shows."""
    found: list[Image] = []
    for content in contents:
        image = picture(content)
        if image is not None:
            found.append(image)
        if len(found) == MAX_PICTURES:
            break
    return found
