"""Pictures that a run shows: a folder of ours that it may write, read when it is over."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from toolcrib.core.result import Image
from toolcrib.execution.sandbox.preparation import Scratch
from toolcrib.files.content.kinds import kind_of

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
        return Path(self.scratch.path)

    def pictures(self) -> list[Image]:
        """What the run left there: files alone, whatever their names lead to."""
        found = (self._read(name) for name in sorted(place.name for place in self.path.iterdir()))
        return first_pictures(content for content in found if content)

    def _read(self, name: str) -> bytes:
        try:
            fd = os.open(self.path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return b""
        with os.fdopen(fd, "rb") as file:
            is_file = stat.S_ISREG(os.fstat(fd).st_mode)
            return file.read(MAX_PICTURE_BYTES + 1) if is_file else b""

    def remove(self) -> None:
        """Remove it with all that is in it."""
        self.scratch.remove()


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
