"""One entry in a JSON file that belongs to another program: read, put in, taken out."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from toolcrib.core.errors import Conflict, StorageFailure, ToolError


def as_json(value: Any) -> str:
    """JSON as these files are written by hand."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def add(file: Path, key: str, name: str, entry: dict[str, Any]) -> Path | None:
    """Put `entry` at `key`, `name` of the file, and keep everything else as it is.

    What the file had at that place keeps the fields that the entry does not name
    (an `env` that the user added). Nothing is written when nothing changes.

    Returns:
        The copy of the file as it was; the file itself where it did not exist before;
        None when nothing had to change.

    Raises:
        Conflict: the file is not valid JSON or has another shape, and was not touched.
        StorageFailure: it cannot be read or written.
    """
    before, tree, servers = _read(file, key)
    old = servers.get(name)
    new = {**old, **entry} if isinstance(old, dict) else entry
    if before is not None and old == new:
        return None
    servers[name] = new
    return _write(file, before, tree)


def remove(file: Path, key: str, name: str) -> Path | None:
    """Take the entry at `key`, `name` out of the file, and keep everything else as it is.

    Returns:
        The copy of the file as it was; None where there was no such entry.

    Raises:
        Conflict, StorageFailure: as `add`.
    """
    before, tree, servers = _read(file, key)
    if name not in servers:
        return None
    del servers[name]
    return _write(file, before, tree)


def find(file: Path, key: str, name: str) -> dict[str, Any] | None:
    """The entry at `key`, `name` of the file; None without one.

    Raises:
        Conflict, StorageFailure: as `add`.
    """
    _, _, servers = _read(file, key)
    found = servers.get(name)
    return found if isinstance(found, dict) else None


def _read(file: Path, key: str) -> tuple[bytes | None, dict[str, Any], dict[str, Any]]:
    """What the file holds: as it is, as a tree, and its part at `key`."""
    target = Path(os.path.realpath(file))
    try:
        content = target.read_bytes() if target.exists() else None
    except OSError as error:
        raise StorageFailure(f"{file} cannot be read: {error.strerror}.") from None
    tree = _parsed(file, content)
    servers = tree.setdefault(key, {})
    if not isinstance(servers, dict):
        raise _untouched(file, f"'{key}' is not an object")
    return content, tree, servers


def _write(file: Path, before: bytes | None, tree: dict[str, Any]) -> Path:
    """Replace the file; the copy of what it was, the file itself where it is new."""
    # A link to the real file stays a link.
    target = Path(os.path.realpath(file))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        backup = file if before is None else _backed_up(target, before)
        replace_content(target, as_json(tree).encode() + b"\n")
    except OSError as error:
        raise StorageFailure(f"{file} cannot be written: {error.strerror}.") from None
    return backup


def _parsed(file: Path, content: bytes | None) -> dict[str, Any]:
    if content is None or not content.strip():
        return {}
    try:
        tree = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        comments = b"//" in content or b"/*" in content
        reason = "it may hold comments, which would be lost" if comments else str(error)
        raise _untouched(file, f"it is not valid JSON ({reason})") from None
    if not isinstance(tree, dict):
        raise _untouched(file, "it does not hold an object")
    return tree


def _untouched(file: Path, reason: str) -> ToolError:
    return Conflict(
        f"{file} was not touched: {reason}.",
        hint="Correct it, or change the entry by hand: toolcrib install HOST --print shows it.",
    )


def _backed_up(target: Path, content: bytes) -> Path:
    """A copy beside the file that no earlier copy is lost to."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    for count in range(1000):
        name = f"{target.name}.{stamp}{f'-{count}' if count else ''}.bak"
        copy = target.with_name(name)
        with contextlib.suppress(FileExistsError):
            mode = target.stat().st_mode & 0o777
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            return copy
    raise FileExistsError(17, "too many copies", str(target))


def replace_content(target: Path, content: bytes) -> None:
    """Write beside the file and rename over it, so that it is never half written."""
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    fresh = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _make_alike(fresh, target)
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _make_alike(fresh: Path, target: Path) -> None:
    """The mode and the owner that the file had; a new one is readable like any other."""
    if not target.exists():
        fresh.chmod(0o644)
        return
    status = target.stat()
    fresh.chmod(status.st_mode & 0o777)
    if hasattr(os, "chown"):
        with contextlib.suppress(PermissionError):
            os.chown(fresh, status.st_uid, status.st_gid)
