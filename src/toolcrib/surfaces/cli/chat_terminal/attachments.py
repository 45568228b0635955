"""Files that a person attaches to what they say: texts, pictures, documents."""

from __future__ import annotations

import base64
from pathlib import Path

from toolcrib.agents.chat_session import AttachedFile
from toolcrib.core.errors import BadInput, NotFound, TooLarge, UnsupportedContent
from toolcrib.core.result import well_formed
from toolcrib.surfaces.cli.screen import visible

MAX_TEXT_BYTES = 2_000_000
MAX_IMAGE_BYTES = 20_000_000
SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
)
DOCUMENTS = (".pdf", ".docx", ".xlsx", ".pptx", ".odt", ".epub", ".rtf")


def attachment_of(name: str) -> AttachedFile:
    """A file as it goes with a message.

    Raises:
        NotFound, TooLarge, UnsupportedContent, BadInput: it cannot be attached.
    """
    path = Path(name).expanduser()
    named = visible(path.name)
    try:
        if not path.exists():
            raise NotFound(
                f"There is no file {visible(str(path))}.",
                hint="Give its path from here, or a whole one.",
            )
        if not path.is_file():
            raise BadInput(f"{named} is no file.", hint="Attach files; name folders in words.")
        with path.open("rb") as file:
            data = file.read(MAX_IMAGE_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{named} cannot be read: {error.strerror or error}.") from None
    kind = _image_kind(data)
    if kind:
        if len(data) > MAX_IMAGE_BYTES:
            raise TooLarge(f"{named} is larger than {MAX_IMAGE_BYTES:,} bytes.")
        encoded = base64.b64encode(data).decode("ascii")
        return AttachedFile(named, image=f"data:{kind};base64,{encoded}")
    if path.suffix.lower() in DOCUMENTS or b"\0" in data[:8192]:
        raise UnsupportedContent(
            f"{named} is neither text nor a picture.",
            hint="Put it into the workspace and name it: read_document reads documents.",
        )
    if len(data) > MAX_TEXT_BYTES:
        raise TooLarge(
            f"{named} is larger than {MAX_TEXT_BYTES:,} bytes.",
            hint="Put it into the workspace and name it, so that it is read in parts.",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return AttachedFile(named, well_formed(text).replace("\r\n", "\n"))


def attachments_of(names: list[str]) -> list[AttachedFile]:
    """All of these files.

    Raises:
        ToolError: one of them cannot be attached.
    """
    return [attachment_of(name) for name in names]


def _image_kind(data: bytes) -> str:
    for signature, kind in SIGNATURES:
        if data.startswith(signature):
            return kind
    return "image/webp" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else ""
