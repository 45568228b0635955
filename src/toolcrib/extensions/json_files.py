"""Small JSON files among the state: read whole, replaced whole."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from toolcrib.core.errors import StorageFailure

MAX_BYTES = 50_000_000


def read_object(file: Path) -> dict[str, Any]:
    """The object in a file; an empty one where it is missing or broken."""
    try:
        if file.stat().st_size > MAX_BYTES:
            return {}
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def write_object(file: Path, content: dict[str, Any]) -> None:
    """Put an object in its place, for the user alone.

    Raises:
        StorageFailure: it cannot be written.
    """
    beside: Path | None = None
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        beside = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump(content, out, ensure_ascii=False)
        beside.replace(file)
    except OSError as error:
        if beside is not None:
            beside.unlink(missing_ok=True)
        raise StorageFailure(f"{file} cannot be written: {error.strerror or error}.") from None
