"""One file, opened and told apart: text, a picture, a document, or nothing to read."""

from __future__ import annotations

import io
from dataclasses import replace

from toolcrib.core.call import Image
from toolcrib.core.errors import BadInput, TooLarge, UnsupportedContent
from toolcrib.documents.kinds import BINARY, is_document, labelled_kind
from toolcrib.files.content.kinds import SAMPLE_BYTES, Kind, kind_of, picture_of
from toolcrib.files.content.lines import TextFile
from toolcrib.files.handles import Handle
from toolcrib.files.paths import SafePath
from toolcrib.system.threads import Checkpoint
from toolcrib.tools.files.reader.focus import focus_on
from toolcrib.tools.files.reader.pages import page_of
from toolcrib.tools.files.reader.request import Part, Request

MAX_IMAGE_BYTES = 5_000_000
MAX_DOCUMENT_BYTES = 100_000_000


def read_part(
    path: SafePath, request: Request, room: int, check: Checkpoint, *, refuse_binary: bool = True
) -> Part:
    """What a file gives; a document as bytes that are still to be converted.

    Args:
        path: the file.
        request: which part of it.
        room: tokens that the text may fill.
        check: called between the steps.
        refuse_binary: whether what is no text is an error and not read as if it were.

    Raises:
        UnsupportedContent: it is binary; the message says what it is.
        TooLarge: a picture or document has too many bytes.
        NoResults: nothing in it is about the words of the focus.
        BadInput: it is a folder, or has fewer lines.
        PathDenied, NotFound: see `Gate.open`.
    """
    with _open(path) as handle:
        seen = (handle.absolute, handle.fingerprint)
        head = handle.file.read(SAMPLE_BYTES)
        kind = kind_of(head)
        if _needs_reader(head, kind, path.name):
            part = _document(path, handle, kind)
        elif kind is not None and (kind.image or refuse_binary):
            part = _not_text(path, handle, kind)
        else:
            text = TextFile(handle.file, path.display, check)
            part = text_part(text, path.display, handle.size, request, room, check)
        return replace(part, seen=seen)


def text_part(
    text: TextFile, display: str, size: int, request: Request, room: int, check: Checkpoint
) -> Part:
    """What is asked of a text."""
    if request.focus:
        return focus_on(text, display, size, request.focus, room, check)
    return page_of(text, display, size, request, room)


def converted_part(
    part: Part, markdown: str, request: Request, room: int, check: Checkpoint
) -> Part:
    """What is asked of a document, of its Markdown."""
    display, size = part.data["path"], part.data["size"]
    text = TextFile(io.BytesIO(markdown.encode("utf-8", "replace")), display, check)
    shown = text_part(text, display, size, request, room, check)
    return replace(shown, data=shown.data | part.data, seen=part.seen, source=display)


def _open(path: SafePath) -> Handle:
    handle = path.open()
    if handle.kind == "file":
        return handle
    handle.close()
    raise BadInput(f"{path.display} is a folder.", hint="list_directory shows what it holds.")


def _needs_reader(head: bytes, kind: Kind | None, name: str) -> bool:
    if kind is None:
        return is_document(head)
    # The names of its parts may stand further in than the first bytes of an archive.
    packed = kind.name == "ZIP archive" and labelled_kind(name) in BINARY
    return packed or is_document(kind.name)


def _document(path: SafePath, handle: Handle, kind: Kind | None) -> Part:
    name = kind.name if kind else "RTF document"
    refusal = f"{path.display}: {name}, {handle.size:,} bytes; documents are read up to"
    content = _whole(handle, MAX_DOCUMENT_BYTES, refusal)
    data = {"path": path.display, "kind": name, "size": len(content)}
    return Part(data=data, document=content)


def _not_text(path: SafePath, handle: Handle, kind: Kind) -> Part:
    described = f"{path.display}: {kind.name}, {handle.size:,} bytes"
    data = {"path": path.display, "kind": kind.name, "size": handle.size}
    if kind.image:
        content = _whole(handle, MAX_IMAGE_BYTES, f"{described}; images are read up to")
        return Part(_pictured(described, content), data, image=Image(content, kind.image))
    raise UnsupportedContent(
        f"{described}; it is not text.",
        hint="read_file reads text, documents, and PNG, JPEG, GIF and WebP images.",
        kind=kind.name,
        size=handle.size,
    )


def _pictured(described: str, content: bytes) -> str:
    head = picture_of(content)
    return f"{described}, {head.width} x {head.height}" if head and head.width else described


def _whole(handle: Handle, most: int, refusal: str) -> bytes:
    handle.file.seek(0)
    data = handle.file.read(most + 1)
    if len(data) > most:
        raise TooLarge(f"{refusal} {most:,} bytes.")
    return data
