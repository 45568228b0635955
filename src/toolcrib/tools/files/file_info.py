"""`file_info`: what is known of a file without reading it to the model."""

from __future__ import annotations

import hashlib
import stat
from datetime import UTC, datetime
from typing import Annotated, Any

from toolcrib.core.context import Ctx
from toolcrib.core.result import Result
from toolcrib.core.tool import READ, Param, other_names, tool
from toolcrib.files.content.kinds import SAMPLE_BYTES, kind_of, media_type_of, picture_of
from toolcrib.files.content.lines import MAX_COUNTED_BYTES, TextFile
from toolcrib.files.handles import Handle, special_kind_name
from toolcrib.files.handles import kind_of as kind_of_mode
from toolcrib.files.paths import SafePath, WorkspacePath
from toolcrib.system.threads import Checkpoint, in_thread
from toolcrib.text.display import counted, printable, size_of

MAX_HASHED_BYTES = 512_000_000
"""Bytes of a file up to which it is hashed."""
BLOCK_BYTES = 1 << 20
HEAD_BYTES = 1 << 16


@tool(
    group="files",
    rights=READ,
    keywords=("stat", "metadata", "properties", "mime", "encoding", "hash", "checksum", "sha256"),
    aliases=("file_metadata", "file_stat", "stat_file", "path_info"),
    argument_aliases=other_names(
        path=("file_path", "file_name", "filename", "file", "directory", "folder")
    ),
)
async def file_info(
    path: Annotated[WorkspacePath, Param("File or folder.")], *, ctx: Ctx
) -> Result:
    """Tell size, times, kind, encoding, line ends and hash of a file.

    Use it before reading something big, or to see whether a file changed. What is in it
    is read with read_file.
    """
    data = await in_thread(lambda check: _facts(path, check), ctx.deadline)
    return Result(text="\n".join(f"{name}: {value}" for name, value in _described(data)), data=data)


def _facts(path: SafePath, check: Checkpoint) -> dict[str, Any]:
    status = path.stat()
    kind = kind_of_mode(status.st_mode)
    found: dict[str, Any] = {"path": path.display, "kind": kind}
    target = path.link()
    if target:
        found["target"] = printable(target)
    found |= {
        "size": status.st_size,
        "modified": _moment(status.st_mtime),
        "changed": _moment(status.st_ctime),
        "accessed": _moment(status.st_atime),
        "mode": stat.filemode(status.st_mode),
        "links": status.st_nlink,
    }
    if kind == "other":
        found["type"] = special_kind_name(status.st_mode)
        return found
    with path.open() as handle:
        if handle.kind == "folder":
            found["entries"] = path.count()
        else:
            found |= _content(path, handle, check)
    return found


def _content(path: SafePath, handle: Handle, check: Checkpoint) -> dict[str, Any]:
    head = handle.file.read(HEAD_BYTES)
    kind = kind_of(head[:SAMPLE_BYTES])
    found: dict[str, Any] = {
        "type": kind.name if kind else "text" if head else "empty",
        "media_type": media_type_of(head, path.name),
    }
    picture = picture_of(head)
    if picture is not None and picture.width:
        found |= {"width": picture.width, "height": picture.height}
    if kind is None and head:
        text = TextFile(handle.file, path.display, check)
        found |= {"encoding": text.encoding.name, "guessed": text.encoding.guessed}
        found |= {"bom": bool(text.encoding.mark), "eol": text.eol}
        found["lines"] = text.count() if text.size <= MAX_COUNTED_BYTES else None
    found["sha256"] = sha256_of(handle, check)
    return found


def sha256_of(handle: Handle, check: Checkpoint) -> str | None:
    """The hash of a file in hexadecimal digits; None for one that is too large."""
    if handle.size > MAX_HASHED_BYTES:
        return None
    digest, left = hashlib.sha256(), MAX_HASHED_BYTES
    handle.file.seek(0)
    while block := handle.file.read(BLOCK_BYTES):
        check()
        left -= len(block)
        if left < 0:
            return None  # it has grown since
        digest.update(block)
    return digest.hexdigest()


def _moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return ""


def _described(data: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts in words, each with its name, without what goes without saying."""
    facts = [(data["path"], data.get("type") or data["kind"])]
    if "target" in data:
        facts.append(("link to", data["target"]))
    if data["kind"] == "file":
        facts.append(("size", _exact(data["size"])))
    facts.append(("modified", data["modified"]))
    facts.append(("mode", data["mode"]))
    if data["kind"] == "file" and data["links"] > 1:
        facts.append(("hard links", str(data["links"])))
    if "entries" in data:
        facts.append(("entries", f"{data['entries']:,}"))
    if data.get("media_type"):
        facts.append(("media type", data["media_type"]))
    if "width" in data:
        facts.append(("picture", f"{data['width']} x {data['height']} pixels"))
    if "encoding" in data:
        facts += _text_facts(data)
    if "sha256" in data:
        facts.append(("sha256", data["sha256"] or "not computed, the file is too large"))
    return facts


def _text_facts(data: dict[str, Any]) -> list[tuple[str, str]]:
    encoding = data["encoding"] + (" (guessed)" if data["guessed"] else "")
    mark = ", with byte order mark" if data["bom"] else ""
    facts = [("encoding", encoding + mark), ("line ends", data["eol"] or "none")]
    if data["lines"] is not None:
        facts.append(("lines", f"{data['lines']:,}"))
    return facts


def _exact(size: int) -> str:
    rounded = size_of(size)
    exact = counted(size, "byte")
    return exact if rounded == exact else f"{exact} ({rounded})"
