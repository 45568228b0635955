"""What stood in the workspace when it was tried to make the changes of a run, and failed.

Taking back what was done of them brings back the very same files, but the system notes a
change of each. By this they are known again, and not taken for changed by others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from toolcrib.files.changes.deltas import Delta
from toolcrib.files.tree_images import Image

NAME = "tried"
Looks = list[list[str]]


def looks(images: Sequence[Image]) -> Looks:
    """A tree as it is after its names were changed and changed back."""
    return [
        [image.path, image.kind, image.mark if image.kind == "file" else image.inode]
        for image in images
    ]


def remember(folder: Path, deltas: Iterable[Delta]) -> None:
    """Note what stands where changes are about to be made."""
    found = {str(delta.path): looks(delta.before) for delta in deltas if delta.before}
    with suppress(OSError):
        (folder / NAME).write_text(json.dumps(found), "ascii")


def recall(folder: Path) -> dict[str, Looks]:
    """What was noted; nothing where no try was made."""
    with suppress(OSError, ValueError):
        found = json.loads((folder / NAME).read_text("ascii"))
        if isinstance(found, dict):
            return found
    return {}
